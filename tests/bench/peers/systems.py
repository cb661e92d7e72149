"""The two that are compared: three brokers each, on this machine, behind one interface."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
for folder in ("integration", "kafka"):
    sys.path.insert(0, str(HERE.parents[1] / folder))
import confluent_kafka  # noqa: E402
import kafka_raw  # noqa: E402
from cluster import Cluster, network  # noqa: E402
import harness  # noqa: E402
from harness import wait_until  # noqa: E402
from kafka import Kafka  # noqa: E402


class System:
    """`bootstrap`; `at`: the address of one broker; `written`: what was acknowledged, by topic."""

    def __init__(self):
        self.written, self.partitions = {}, {}

    def topic(self, name, partitions=1, counted=True):
        """`counted`: in the end there are as many records in it as were acknowledged. Kafka's transactions add their own."""
        with kafka_raw.Connection(self.at, timeout=60) as connection:
            error, words = connection.create_topic(name, partitions)
            if error:
                raise RuntimeError(f"{self.name}: CreateTopics {name}: {words}")
            wait_until(lambda: self.leaders(connection, name, partitions), f"{self.name}: all of {name} is led")
        self.partitions[name] = partitions
        if counted:
            self.written[name] = 0

    @staticmethod
    def leaders(connection, name, partitions):
        """Of each partition; None while there is one without."""
        found = dict(connection.metadata([name])[name][2])
        return found if len(found) == partitions and min(found.values()) >= 0 else None

    def check_written(self):
        """Acknowledged is what can be read: otherwise the figures are void."""
        reader = confluent_kafka.Consumer({"bootstrap.servers": self.bootstrap, "group.id": "unused", "log_level": 0})
        for name, count in self.written.items():
            there = sum(reader.get_watermark_offsets(confluent_kafka.TopicPartition(name, p), timeout=30)[1]
                        for p in range(self.partitions[name]))
            if there != count:
                raise RuntimeError(f"{self.name}: {there} records in {name}, {count} were acknowledged")
        reader.close()


class Braid(System):
    name = "BraidMQ"

    def __init__(self, t):
        """`t`: a harness.Test, which ends the brokers."""
        super().__init__()
        self.cluster = Cluster(t, braid_shards=1).start()
        self.bootstrap, self.at = self.cluster.bootstrap, self.cluster[0].address

    def leader(self):
        return self.cluster[self.cluster.leader()].bootstrap

    def resident_mib(self):
        return [broker.memory_kib() / 1024 for broker in self.cluster.brokers]


class ApacheKafka(System):
    name = "Kafka"

    def __init__(self, jars, folder, settings=None):
        super().__init__()
        net = network()
        self.jars = jars
        self.kafka = Kafka(jars, folder, [f"{net}.{i + 1}" for i in range(3)], settings)
        self.bootstrap, self.at = self.kafka.bootstrap, (self.kafka.brokers[0].host, 9092)

    def start(self):
        self.kafka.start()

    def resident_mib(self):
        return [broker.resident_mib() for broker in self.kafka.brokers]

    def close(self):
        self.kafka.close()


class Load:
    """kafka_load, one round after the other."""

    def __init__(self, program):
        self.program = program

    def __call__(self, kind, system, topic, seconds, *more, bootstrap=None, also=()):
        command = [self.program, kind, "--bootstrap", bootstrap or system.bootstrap, "--topic", topic, "--partitions",
                   system.partitions[topic], "--seconds", seconds, "--warm-up", min(1, seconds / 5), *more]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=seconds + 120, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{system.name}: kafka_load {kind}: {done.stderr.strip()}")
        said = json.loads(done.stdout)
        for name in (topic, *also):
            system.written[name] += said["sent"]
        return said


class Transactions:
    """Transactions.java, one round after the other."""

    def __init__(self, system, *topics):
        self.process = subprocess.Popen(java(system.jars, "Transactions.java", system.bootstrap, *topics), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def __call__(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"Transactions.java ended with {self.process.wait()}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:  # it waits for a broker that is gone
            self.process.kill()
            self.process.wait()


def java(jars, program, *arguments):
    """A command that runs one of the programs beside this file, with a compiler that may take its time."""
    return ["java", "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", f"{jars}/*", str(HERE / program),
            *map(str, arguments)]
