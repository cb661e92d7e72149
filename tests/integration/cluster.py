"""Three brokers that form a cluster, as processes on loopback addresses of their own.

Each broker has an address of its own in 127/8, so that ports need not be searched for and no other test has them.
"""

import itertools
import json
import os
import threading

import kafka_raw
from harness import Broker, Skip, wait_until

SECRET = "c" * 40
numbers = itertools.count()
lock = threading.Lock()


def network():
    """The first three bytes of addresses that nobody else on this machine uses now."""
    with lock:
        number = next(numbers)
    return f"127.{64 + os.getpid() % 128}.{number % 250}"


class Cluster:
    """`settings`: of every broker, dots written as underscores."""

    def __init__(self, t, brokers=3, **settings):
        if t.external:
            raise Skip("needs brokers of its own")
        self.t = t
        net = network()
        hosts = [f"{net}.{i + 1}" for i in range(brokers)]
        secret_file = t.folder / "cluster-secret"
        secret_file.write_text(SECRET + "\n")
        voters = ",".join(f"{i}@{host}:9095" for i, host in enumerate(hosts))
        self.brokers = []
        for i, host in enumerate(hosts):
            broker = Broker(t.program, t.folder / f"{net}-{i}", {
                "broker.id": i, "listeners": f"PLAINTEXT://{host}:9092", "admin.listener": f"{host}:9644",
                "controller.quorum.voters": voters, "controller.listener": f"{host}:9095",
                "braid.listener": f"{host}:9094", "braid.secret.file": secret_file,
                **{key.replace("_", "."): value for key, value in settings.items()}})
            # Known before it is ready.
            broker.address, broker.admin = (host, 9092), (host, 9644)
            broker.secret_file = secret_file
            self.brokers.append(broker)
            t.brokers.append(broker)

    def __getitem__(self, broker_id):
        return self.brokers[broker_id]

    @property
    def bootstrap(self):
        return ",".join(broker.bootstrap for broker in self.brokers)

    def start(self):
        for broker in self.brokers:
            broker.spawn()
        return self.wait_ready()

    def wait_ready(self, *ids):
        for broker in [self.brokers[i] for i in ids] or self.brokers:
            def has_failed(broker=broker):
                if not broker.alive():
                    raise AssertionError(f"broker ended with {broker.process.returncode}:\n{broker.output()[-3000:]}")
            wait_until(lambda broker=broker: ready(broker)[0], f"broker {broker.settings['broker.id']} is ready",
                       check=has_failed)
        return self

    def restart(self, broker_id):
        self.brokers[broker_id].spawn()
        self.wait_ready(broker_id)

    def running(self):
        return [broker for broker in self.brokers if broker.process and broker.alive()]

    def braid(self, broker):
        return json.loads(broker.http("/v1/cluster")[1])["braids"][0]

    def leader(self, but_not=None):
        """The id of the broker that leads the braid, on which all that are asked agree."""
        def agreed():
            try:
                seen = {self.braid(broker)["leader"] for broker in self.running()
                        if broker.settings["broker.id"] != but_not}
            except OSError:
                return None
            return seen if len(seen) == 1 and not seen & {-1, but_not} else None
        return next(iter(wait_until(agreed, "all know the same leader")))

    def wait_same_index(self):
        """Until all have applied what the leader has."""
        def same():
            indexes = {self.braid(broker)["appliedIndex"] for broker in self.brokers}
            return len(indexes) == 1
        wait_until(same, "all brokers have applied the same entries")

    def topic(self, name, partitions=1, by=0):
        with kafka_raw.Connection(self.brokers[by].address) as connection:
            error, message = connection.create_topic(name, partitions)
        assert error == 0, f"CreateTopics {name}: error {error} {message}"
        return name


def ready(broker):
    """(whether it is, why not)."""
    try:
        status, text = broker.http("/readyz")
    except OSError as e:
        return False, [str(e)]
    return status == 200, json.loads(text).get("reasons", [])
