"""Apache Kafka as a peer of tests: three combined brokers and controllers from its own jars (`make build/deps/kafka/.stamp`).

    kafka = Kafka(jars, folder, ["127.0.0.11", "127.0.0.12", "127.0.0.13"])
    kafka.start()                # returns when every broker knows all of them
    kafka.brokers[0].kill()      # pause(), go_on(), stop(); start() again, then kafka.wait_ready()
    kafka.close()                # ends all; the folder is the caller's

Kafka's defaults but for what three replicas need: a record is acknowledged by two of three, from memory.
"""

import base64
import pathlib
import signal
import subprocess
import sys
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import kafka_raw  # noqa: E402

CLIENT_PORT, CONTROLLER_PORT = 9092, 9093
READY_S = 120
# As kafka-server-start.sh has them, but for the heap.
JVM = ["-Xmx512m", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
       "-Djava.awt.headless=true", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true",
       "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS"]
OF_THREE = {
    "default.replication.factor": 3, "min.insync.replicas": 2, "unclean.leader.election.enable": "false",
    "offsets.topic.replication.factor": 3, "transaction.state.log.replication.factor": 3, "transaction.state.log.min.isr": 2,
    "share.coordinator.state.topic.replication.factor": 3, "share.coordinator.state.topic.min.isr": 2,
    "auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0}


class Broker:
    """One node. Its process may be killed and started again; its data stays in `folder`."""

    def __init__(self, jars, folder, number, host, prefix=()):
        self.jars, self.folder, self.id, self.host, self.prefix = jars, pathlib.Path(folder), number, host, list(prefix)
        self.config, self.log = self.folder / "server.properties", self.folder / "log.txt"
        self.process = None

    @property
    def bootstrap(self):
        return f"{self.host}:{CLIENT_PORT}"

    def command(self, name, *arguments):
        return [*self.prefix, "java", *JVM, "-cp", f"{self.jars}/*", name, *map(str, arguments)]

    def write_config(self, hosts, settings):
        self.folder.mkdir(parents=True, exist_ok=True)
        all_settings = {
            "node.id": self.id, "process.roles": "broker,controller",
            "controller.quorum.voters": ",".join(f"{i}@{host}:{CONTROLLER_PORT}" for i, host in enumerate(hosts)),
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://{self.host}:{CONTROLLER_PORT}",
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
            "controller.listener.names": "CONTROLLER", "inter.broker.listener.name": "PLAINTEXT",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": self.folder / "data", **OF_THREE, **settings}
        self.config.write_text("".join(f"{key}={value}\n" for key, value in all_settings.items()))

    def format(self, cluster_id):
        """Starts the tool that makes the data folder; an existing one is left as it is."""
        with open(self.log, "ab") as log:
            return subprocess.Popen(self.command("kafka.tools.StorageTool", "format", "--ignore-formatted", "-t", cluster_id,
                                                 "-c", self.config), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start(self):
        """Waits for nothing."""
        with open(self.log, "ab") as log:
            # A group of its own: Ctrl-C on the runner must not reach it before the runner cleans up.
            self.process = subprocess.Popen(self.command("kafka.Kafka", self.config), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)

    def runs(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """SIGKILL, and gone."""
        if self.runs():
            self.process.kill()
        if self.process:
            self.process.wait()

    def stop(self, seconds=60):
        """SIGTERM: it hands its partitions over first. The exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        if self.runs():
            self.process.send_signal(signal.SIGCONT)

    def last_words(self):
        return self.log.read_text(errors="replace")[-2000:]

    def known(self):
        """Ids of the brokers that this one tells its clients of: those which may take part. None while it does not answer."""
        try:
            with kafka_raw.Connection((self.host, CLIENT_PORT), timeout=5) as connection:
                return {broker for broker, _, _ in connection.brokers()}
        except (OSError, AssertionError, kafka_raw.Closed):
            return None

    def resident_mib(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0


class Kafka:
    """`settings`: of every broker, on top of ours. `folders` and `prefixes`: of each broker, where its data lies if not below
    `folder`, and the beginning of the command that starts it (nsenter ...)."""

    def __init__(self, jars, folder, hosts, settings=None, folders=None, prefixes=None):
        if not list(pathlib.Path(jars).glob("kafka_2.13-*.jar")):
            raise RuntimeError(f"no Apache Kafka in {jars}: run `make build/deps/kafka/.stamp`")
        self.cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "_")
        self.brokers = []
        for i, host in enumerate(hosts):
            own = pathlib.Path(folders[i]) if folders else pathlib.Path(folder) / str(i)
            self.brokers.append(Broker(pathlib.Path(jars).resolve(), own.resolve(), i, host, prefixes[i] if prefixes else ()))
            self.brokers[-1].write_config(hosts, settings or {})

    @property
    def bootstrap(self):
        return ",".join(broker.bootstrap for broker in self.brokers)

    def start(self):
        formats = [broker.format(self.cluster_id) for broker in self.brokers]
        for broker, tool in zip(self.brokers, formats):
            if tool.wait(READY_S) != 0:
                raise RuntimeError(f"broker {broker.id} is not formatted:\n{broker.last_words()}")
        for broker in self.brokers:
            broker.start()
        return self.wait_ready()

    def wait_ready(self, seconds=READY_S):
        everyone = {broker.id for broker in self.brokers}
        end = time.monotonic() + seconds
        while True:
            known = [broker.known() for broker in self.brokers]
            if all(ids == everyone for ids in known):
                return self
            for broker in self.brokers:
                if not broker.runs():
                    raise RuntimeError(f"broker {broker.id} has ended:\n{broker.last_words()}")
            if time.monotonic() > end:
                raise RuntimeError(f"not all brokers know all others after {seconds} s: {known}")
            time.sleep(0.1)  # another process is asked, and nothing tells

    def close(self):
        for broker in self.brokers:
            broker.go_on()
            broker.kill()
