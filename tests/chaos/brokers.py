"""Three brokers as processes, each in its namespace and on its volume."""

import http.client
import json
import pathlib
import signal
import subprocess
import time
import urllib.error
import urllib.request

from network import Network
from volume import Volume

SECRET = "c" * 40
READY_S = 60


class Broker:
    def __init__(self, program, folder, network, broker, voters):
        self.program, self.network, self.id = program, network, broker
        self.folder = pathlib.Path(folder) / str(broker)
        self.folder.mkdir(parents=True)
        self.volume = Volume(self.folder, mib=4096)
        self.host = network.host(broker)
        secret = self.folder / "secret"
        secret.write_text(SECRET + "\n")
        self.config = self.folder / "broker.yaml"
        settings = {
            "broker.id": broker, "listeners": f"PLAINTEXT://{self.host}:9092", "admin.listener": f"{self.host}:9644",
            "controller.quorum.voters": voters, "controller.listener": f"{self.host}:9095", "braid.listener": f"{self.host}:9094",
            "braid.secret.file": secret, "data.dir": self.volume.path / "data", "wal.dir": self.volume.path / "wal",
            # Many checkpoints, and space kept for none but them.
            "braid.checkpoint.bytes": 16 << 20, "braid.disk.reserve.bytes": 64 << 20, "braid.shards": 1}
        self.config.write_text("".join(f"{key}: {value}\n" for key, value in settings.items()))
        self.log = self.folder / "log.txt"
        self.process = None
        self.busy = False  # a fault is about it

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.network.enter(self.id), str(self.program), "--config", str(self.config)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def runs(self):
        return self.process is not None and self.process.poll() is None

    def last_words(self):
        return self.log.read_text(errors="replace")[-2000:]

    def kill(self):
        if self.runs():
            self.process.kill()
        if self.process:
            self.process.wait()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        if self.runs():
            self.process.send_signal(signal.SIGCONT)

    def get(self, path, timeout=2):
        with urllib.request.urlopen(f"http://{self.host}:9644{path}", timeout=timeout) as answer:
            return json.loads(answer.read())

    def is_ready(self):
        try:
            return self.get("/readyz")["status"] == "ready"
        except (OSError, ValueError, KeyError, http.client.HTTPException, urllib.error.HTTPError):
            return False

    def braid(self):
        try:
            return self.get("/v1/cluster")["braids"][0]
        except (OSError, ValueError, LookupError, http.client.HTTPException):
            return None


class Cluster:
    def __init__(self, program, folder, size=3):
        self.network = Network(size)
        voters = ",".join(f"{i}@{self.network.host(i)}:9095" for i in range(size))
        self.brokers = [Broker(program, folder, self.network, i, voters) for i in range(size)]
        self.bootstrap = ",".join(f"{self.network.host(i)}:9092" for i in range(size))

    def start(self):
        for broker in self.brokers:
            broker.start()
        self.wait_ready()

    def wait_ready(self, seconds=READY_S):
        end = time.monotonic() + seconds
        while not all(broker.is_ready() for broker in self.brokers):
            for broker in self.brokers:
                if not broker.runs():
                    raise RuntimeError(f"broker {broker.id} has ended:\n{broker.last_words()}")
            if time.monotonic() > end:
                states = "; ".join(f"broker {b.id}: {'ready' if b.is_ready() else b.log.read_text(errors='replace')[-300:]}"
                                   for b in self.brokers)
                raise RuntimeError(f"not all brokers are ready after {seconds} s: {states}")
            time.sleep(0.1)  # another process is asked, and nothing tells

    def leader(self):
        for broker in self.brokers:
            seen = broker.braid() if broker.runs() and not broker.busy else None
            if seen and seen["leader"] >= 0:
                return self.brokers[seen["leader"]]
        return None

    def wait_leader(self, but_not, seconds=READY_S):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            leader = self.leader()
            if leader is not None and leader.id not in but_not and leader.runs():
                return leader
            time.sleep(0.1)  # another process is asked, and nothing tells
        raise RuntimeError(f"nobody but {sorted(but_not)} leads after {seconds} s")

    def wait_level(self, seconds=READY_S):
        """All replicas stand at one entry."""
        end = time.monotonic() + seconds
        while True:
            indexes = [(broker.braid() or {}).get("appliedIndex") for broker in self.brokers]
            if None not in indexes and len(set(indexes)) == 1:
                return
            if time.monotonic() > end:
                raise RuntimeError(f"replicas do not come to the same entry within {seconds} s: {indexes}")
            time.sleep(0.1)

    def close(self):
        for broker in self.brokers:
            broker.go_on()
            broker.kill()
        for broker in self.brokers:
            broker.volume.close()
        self.network.close()
