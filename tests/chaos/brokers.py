"""Three brokers as processes, each in its namespace and on its volume."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import time
import urllib.error
import urllib.request

from network import Network, run
from volume import Volume

SECRET = "c" * 40
READY_S = 60
# A broker whose disk has failed ends within a second (test_failed_sync.py); here two processors carry three of them and their load.
ENDS_WITHIN_S = 2
SYNC_WITHIN_S = 20


def build_shim(folder):
    """What makes syncs fail, for LD_PRELOAD."""
    shim = pathlib.Path(folder) / "failing_sync.so"
    source = pathlib.Path(__file__).resolve().parents[1] / "integration/failing_sync.c"
    run("cc", "-shared", "-fPIC", "-O1", "-o", str(shim), str(source), "-ldl")
    return shim


def wait_until(condition, seconds):
    """Whether it came true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)  # another process does it, and nothing tells
    return True


class Broker:
    def __init__(self, program, folder, network, broker, voters, shim):
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
        self.sync_fails = self.folder / "sync-fails"
        self.environment = {**os.environ, "LD_PRELOAD": str(shim), "FAIL_WHEN": str(self.sync_fails),
                            "FAIL_BELOW": str(self.volume.path / "wal")}
        self.process = None
        self.busy = False  # a fault is about it

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.network.enter(self.id), str(self.program), "--config", str(self.config)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)

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

    def fail_sync(self):
        """What it writes to its logs is lost, and the next sync of one fails, once. Waits until it has ended by itself; False when it was
        killed because nothing came to be synced."""
        hit = pathlib.Path(f"{self.sync_fails}.hit")
        hit.unlink(missing_ok=True)
        self.sync_fails.touch()
        try:
            if not wait_until(hit.exists, SYNC_WITHIN_S):
                self.kill()  # before a sync succeeds of what was lost
                return False
            failed_at = time.monotonic()
            if not wait_until(lambda: not self.runs(), ENDS_WITHIN_S):
                raise RuntimeError(f"broker {self.id} still runs {ENDS_WITHIN_S} s after a sync had failed: {self.last_words()}")
            if self.process.returncode != 1 or "sync" not in self.last_words():
                raise RuntimeError(f"broker {self.id} ended with {self.process.returncode} when a sync had failed: {self.last_words()}")
            print(f"          broker {self.id} ended {time.monotonic() - failed_at:.2f} s after its failed sync", flush=True)
            return True
        finally:
            self.sync_fails.unlink()

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
        shim = build_shim(folder)
        self.brokers = [Broker(program, folder, self.network, i, voters, shim) for i in range(size)]
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
