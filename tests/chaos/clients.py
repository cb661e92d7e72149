"""The clients of a run, each a process with a history, and the verdict over all histories."""

import collections
import pathlib
import signal
import subprocess
import sys
import time

from checker import check, check_reads, check_sets
from topics import partitions_of

HERE = pathlib.Path(__file__).resolve().parent
TOPICS = ["orders:3", "inventory:2"]
SETS = ["payments:1", "ledger:1"]
PRODUCERS = 2
BEGIN_S, END_S = 60, 180
# What the writer of spoiled sets provokes: a broker that does not lead, an unknown partition, a record too large, a broken one.
MUST_BE_REFUSED_WITH = (6, 17, 18, 87)


class Client:
    def __init__(self, kind, name, folder, command, topics):
        self.kind, self.name, self.path = kind, name, folder / f"{name}.txt"
        self.process = subprocess.Popen([*command, str(self.path), *topics])

    def has_begun(self):
        return self.path.exists() and self.path.stat().st_size > 0

    def end(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self):
        if self.process.wait(END_S) != 0:
            raise RuntimeError(f"{self.path.name}: {self.kind} {self.name} ended with {self.process.returncode}")

    def lines(self):
        with open(self.path, encoding="ascii") as history:
            for line in history:
                yield line.rstrip("\n")


class Clients:
    def __init__(self, folder, bootstrap):
        self.folder, self.bootstrap = folder, bootstrap
        self.all = []

    def start_producers(self, kind, topics):
        for i in range(PRODUCERS):
            self.add(kind, f"p{i}", self.load(kind), topics)

    def start_java(self, jars, topics):
        self.add("java", "j0", [
            "java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx128m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
            "-cp", f"{jars}/*", str(HERE / "Writer.java")], topics)

    def start_sets(self, topics):
        self.add("sets", "s0", self.load("sets"), topics)
        self.add("spoiled", "s1", self.load("spoiled"), topics)

    def start_reader(self, topics):
        self.add("reader", "r0", [sys.executable, str(HERE / "reader.py")], topics)

    @staticmethod
    def load(kind):
        return [sys.executable, str(HERE / "load.py"), kind]

    def add(self, kind, name, command, topics):
        self.all.append(Client(kind, name, self.folder, [*command, name, self.bootstrap], topics))

    def wait_java(self):
        """Until something of it was acknowledged: it takes long to start."""
        writer = next(one for one in self.all if one.kind == "java")
        end = time.monotonic() + BEGIN_S
        while not writer.has_begun():
            if time.monotonic() > end or writer.process.poll() is not None:
                raise RuntimeError("nothing of Java was acknowledged")
            time.sleep(0.1)  # another process writes, and nothing tells

    def stop(self):
        """The writers first: what they wrote is there to be read."""
        readers = [one for one in self.all if one.kind == "reader"]
        for group in ([one for one in self.all if one not in readers], readers):
            for one in group:
                one.end()
            for one in group:
                one.wait()

    def kill(self):
        for one in self.all:
            if one.process.poll() is None:
                one.process.kill()
                one.process.wait()

    def judge(self, read, sets=()):
        """The verdict, and what would make it worth nothing. `sets`: their topics."""
        histories = Histories()
        for client in self.all:
            if client.kind != "reader":
                histories.add(client)
        verdict = check(histories.acknowledged, {one: read[one] for one in read if one not in partitions_of(sets)}, histories.sent)
        lacking = [f"nothing of {one.kind} {one.name} was acknowledged" for one in self.all
                   if one.kind != "reader" and histories.acknowledged_of[one.name] == 0]
        if sets:
            check_sets(histories.sets, histories.refused, read, partitions_of(sets), histories.sent, verdict)
            codes = collections.Counter(histories.refused.values())
            lacking += [f"no set was refused with error {code}" for code in MUST_BE_REFUSED_WITH if not codes[code]]
            print("sets refused for certain: " + ", ".join(f"{count} with error {code}" for code, count in sorted(codes.items())))
        print("acknowledgements: " + ", ".join(f"{count} of {name}" for name, count in sorted(histories.acknowledged_of.items())))
        return verdict, lacking + self.judge_readers(read, verdict)

    def judge_readers(self, read, verdict):
        lacking = []
        for client in (one for one in self.all if one.kind == "reader"):
            seen = check_reads(events(client.lines()), read, verdict)
            there = sum(len(values) for values in read.values())
            print(f"reader {client.name} saw {seen} of {there} records while they were written")
            if seen < there / 2:
                lacking.append(f"reader {client.name} saw {seen} of {there} records, half of them are needed")
        return lacking


class Histories:
    """What the writers noted."""

    def __init__(self):
        self.acknowledged, self.sets, self.refused, self.sent = [], [], {}, {}
        self.acknowledged_of = collections.Counter()  # by the writer's name

    def add(self, client):
        self.acknowledged_of[client.name] += 0
        for line in client.lines():
            what, *words = line.split()
            if what == "sent":
                self.sent[words[0]] = int(words[1])
            elif what == "refused":
                self.refused[(words[0], int(words[1]))] = int(words[2])
            else:
                self.acknowledged_of[client.name] += 1
                if client.kind in ("sets", "spoiled"):
                    self.sets.append((words[0], int(words[1])))
                else:
                    self.acknowledged.append((words[0], words[1], int(words[2]), int(words[3]), int(words[4])))


def events(lines):
    for line in lines:
        what, topic, partition, rest = line.split(" ", 3)
        if what == "read":
            offset, value = rest.split(" ", 1)
            yield what, topic, int(partition), int(offset), value
        else:
            yield what, topic, int(partition), int(rest) if what == "from" else rest
