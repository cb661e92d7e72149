"""The clients of a run, each a process with a history, and the verdict over all histories."""

import collections
import pathlib
import signal
import subprocess
import sys

from checker import check, check_reads, check_sets

HERE = pathlib.Path(__file__).resolve().parent
TOPICS = ["orders:3", "inventory:2"]
SETS = ["payments:1", "ledger:1"]
PRODUCERS = 2
END_S = 180
# What the writer of spoiled sets provokes: a broker that does not lead, an unknown partition, a record too large, a broken one.
MUST_BE_REFUSED_WITH = (6, 17, 18, 87)


def partitions_of(topics):
    return [(topic, p) for topic, _, count in (one.partition(":") for one in topics) for p in range(int(count))]


class Client:
    def __init__(self, kind, name, folder, command, topics):
        self.kind, self.name, self.path = kind, name, folder / f"{name}.txt"
        self.process = subprocess.Popen([*command, str(self.path), *topics])

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
    def __init__(self, folder, bootstrap, java, sets=True):
        self.folder, self.bootstrap, self.java = folder, bootstrap, java
        self.topics = TOPICS + (SETS if sets else [])
        self.set_topics = SETS if sets else []
        self.all = []

    def start(self):
        for i in range(PRODUCERS):
            self.add("producer", f"p{i}", self.load("producer"), TOPICS)
        self.add("producer", "j0", [
            "java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx128m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
            "-cp", f"{self.java}/*", str(HERE / "Writer.java")], TOPICS)
        if self.set_topics:
            self.add("sets", "s0", self.load("sets"), SETS)
            self.add("spoiled", "s1", self.load("spoiled"), SETS)
        self.add("reader", "r0", [sys.executable, str(HERE / "reader.py")], self.topics)

    @staticmethod
    def load(kind):
        return [sys.executable, str(HERE / "load.py"), kind]

    def add(self, kind, name, command, topics):
        self.all.append(Client(kind, name, self.folder, [*command, name, self.bootstrap], topics))

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

    def judge(self, read):
        """The verdict, and what would make it worth nothing."""
        acknowledged, sets, refused, sent = [], [], {}, {}
        for client in (one for one in self.all if one.kind != "reader"):
            for line in client.lines():
                what, *words = line.split()
                if what == "sent":
                    sent[words[0]] = int(words[1])
                elif what == "refused":
                    refused[(words[0], int(words[1]))] = int(words[2])
                elif client.kind == "producer":
                    acknowledged.append((words[0], words[1], int(words[2]), int(words[3]), int(words[4])))
                else:
                    sets.append((words[0], int(words[1])))
        verdict = check(acknowledged, {one: read[one] for one in partitions_of(TOPICS)}, sent)
        lacking = []
        if self.set_topics:
            check_sets(sets, refused, read, partitions_of(SETS), sent, verdict)
            codes = collections.Counter(refused.values())
            print(f"{len(sets)} atomic sets among them; {len(refused)} more were refused for certain: "
                  + ", ".join(f"{count} with error {code}" for code, count in sorted(codes.items())))
            lacking += [f"no set was refused with error {code}" for code in MUST_BE_REFUSED_WITH if not codes[code]]
        java = sum(1 for one in acknowledged if one[0].startswith("j"))
        print(f"{java} records of Java's producer among them")
        if not java:
            lacking.append("no record of Java's producer was acknowledged")
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


def events(lines):
    for line in lines:
        what, topic, partition, rest = line.split(" ", 3)
        if what == "read":
            offset, value = rest.split(" ", 1)
            yield what, topic, int(partition), int(offset), value
        else:
            yield what, topic, int(partition), int(rest) if what == "from" else rest
