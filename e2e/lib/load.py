"""A load that runs beside a promise, and the check of everything that was acknowledged."""

import json
import pathlib
import subprocess

from lib.base import Broken, equal, expect, run, wait_for

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build/deps/venv/bin/python3"
CLIENT = pathlib.Path(__file__).with_name("load_client.py")


class Load:
    """`with Load(...) as load:` writes until the end of the block, or until finish()."""

    def __init__(self, folder, bootstrap, topic, partitions, per_second=400, socket_timeout_s=10):
        self.target = [bootstrap, topic, str(partitions)]
        self.socket_timeout_s = str(socket_timeout_s)
        self.acked = folder / f"{topic}.acknowledged"
        self.stalls = folder / f"{topic}.acknowledged.stalls"
        for path in (self.acked, self.stalls):
            path.write_text("")
        self.log = folder / f"{topic}.load.log"
        self.rate = per_second
        self.process = None

    def __enter__(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([PYTHON, CLIENT, "produce", *self.target, str(self.rate), self.acked,
                                             self.socket_timeout_s],
                                            stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL, text=True)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def acknowledged(self):
        return self.acked.read_bytes().count(b"\n")

    def check_alive(self):
        if self.process.poll() is not None:
            raise Broken(f"the load ended early: {self.process.stdout.read()} {self.log.read_text()[-2000:]}")

    def await_more(self, count, seconds=60):
        """Until `count` more records are acknowledged."""
        goal = self.acknowledged() + count
        wait_for(f"{count} more records acknowledged", lambda: (self.acknowledged() >= goal, f"{self.acknowledged()} of {goal}"),
                 seconds, self.check_alive)

    def longest_stall(self, since):
        """Seconds without an acknowledgement, of the longest such time that ended after `since` (of the monotonic clock)."""
        return self.longest_stall_and_its_end(since)[0]

    def longest_stall_and_its_end(self, since):
        whole = [line for line in self.stalls.read_text().splitlines(keepends=True) if line.endswith("\n")]
        ended = [(float(length), float(end)) for end, length in map(str.split, whole)]
        return max((one for one in ended if one[1] > since), default=(0.0, since))

    def finish(self, seconds=330):
        """Ends the load once all that was sent is answered; its figures."""
        self.process.terminate()
        try:
            text, _ = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Broken(f"the load does not end: {self.log.read_text()[-2000:]}") from None
        figures = json.loads(text.splitlines()[-1])
        expect(figures["failed"] == 0 and figures["unanswered"] == 0 and self.process.returncode == 0,
               f"records were given up: {figures}")
        equal(figures["acknowledged"], self.acknowledged(), "acknowledgements noted")
        return figures

    def check(self, bootstrap=None):
        """Every acknowledged record is there once, at its offset, and in order. Returns what the check counted."""
        target = [bootstrap or self.target[0], *self.target[1:]]
        text = run([PYTHON, CLIENT, "check", *target, self.acked], 180, ok=(0, 1))
        counted = json.loads(text.splitlines()[-1])
        expect(not counted["faults"], f"{counted['fault_count']} faults among {counted['read']} records: {counted['faults']}")
        expect(counted["acknowledged"] > 0, "nothing was acknowledged, so nothing was checked")
        return counted
