"""How long acknowledgements stay away when the leader of three brokers of BraidMQ is killed, and when it hands over as planned."""

import pathlib
import subprocess
import sys
import threading
import time

from report import Row, load_average, median, words_of
from systems import Braid, java, wait_until

HERE = pathlib.Path(__file__).resolve().parent
PARTITIONS, RATE = 3, 500
# A client flows again when each partition has had so many acknowledgements: half a second's.
FLOWING = RATE // PARTITIONS // 2
MOST_OF_KILLS_S, WORST_OF_KILLS_S = 1.2, 3.0


class Steady:
    """A client at a fixed rate in a process of its own, and when it saw each acknowledgement."""

    def __init__(self, braid, topic, command):
        braid.topic(topic, PARTITIONS)
        self.braid, self.topic, self.errors = braid, topic, []
        self.acks = [[] for _ in range(PARTITIONS)]  # seconds since 1970, of each partition
        self.process = subprocess.Popen([*command, braid.bootstrap, topic, str(PARTITIONS), str(RATE)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.wait_flowing(since=0)

    def read(self):
        for line in self.process.stdout:
            what, _, rest = line.strip().partition(" ")
            if what == "ack":
                partition, at = rest.split()
                self.acks[int(partition)].append(int(at) / 1e6)
            else:
                self.errors.append(rest)

    def wait_flowing(self, since):
        def flows():
            return all(len(acks) >= FLOWING and acks[-FLOWING] > since for acks in self.acks)

        def fail_if_ended():
            if self.process.poll() is not None:
                raise RuntimeError(f"the client ended with {self.process.returncode}")
        wait_until(flows, "acknowledgements flow", check=fail_if_ended)

    def gap(self, since):
        """The longest time without an acknowledgement, of the partition that had to wait longest."""
        return max(later - earlier for acks in self.acks for earlier, later in zip(acks, acks[1:]) if later > since)

    def end(self):
        """What is under way is answered before; the acknowledged records must all be there, each once."""
        self.process.stdin.close()
        code = self.process.wait(90)
        self.reader.join()
        if code != 0:
            raise RuntimeError(f"the client ended with {code}")
        self.braid.written[self.topic] = sum(map(len, self.acks))
        self.braid.check_written()


def wait_level(cluster):
    """All have what the leader has now: whoever is next in office has nothing to catch up with."""
    target = cluster.braid(cluster[cluster.leader()])["appliedIndex"]
    wait_until(lambda: all(cluster.braid(broker)["appliedIndex"] >= target for broker in cluster.brokers), "replicas caught up")


def kill(_, cluster, leader, client):
    since = time.time()
    cluster[leader].kill()
    client.wait_flowing(since)
    gap = client.gap(since)
    cluster.restart(leader)
    return gap


def hand_over(t, cluster, leader, client):
    since = time.time()
    code, said, words = t.ctl(cluster[leader], "drain")
    if code != 0 or cluster.leader() == leader:
        raise RuntimeError(f"broker {leader} still leads after a drain: {said}{words}")
    client.wait_flowing(time.time())
    gap = client.gap(since)
    cluster[leader].terminate()
    cluster.restart(leader)  # a broker that starts is not draining
    return gap


def gaps(t, braid, topic, command, change, times):
    client = Steady(braid, topic, command)
    seen = []
    try:
        for _ in range(times):
            wait_level(braid.cluster)
            client.wait_flowing(time.time())
            seen.append(change(t, braid.cluster, braid.cluster.leader(), client))
        client.end()
    finally:
        client.process.kill()
        client.process.wait()
    return seen, client


def librdkafka():
    return [sys.executable, str(HERE / "steady.py")]


def note_of(client, before):
    """Broken promises between the changes, when brokers come back, would show as the longest of all."""
    return (f"{RATE} records a second; longest at any time {client.gap(since=0) * 1e3:.0f} ms; {len(client.errors)} client errors; "
            f"load average {words_of(before)}")


def kills(t, braid, _, options):
    before = load_average()
    seen, client = gaps(t, braid, "killed", librdkafka(), kill, options.kills)
    return Row(f"Acknowledgements stay away after SIGKILL of the leader, median and worst of {len(seen)}",
               f"{median(seen):.2f} s, {max(seen):.2f} s", f"<= {MOST_OF_KILLS_S} s, {WORST_OF_KILLS_S} s",
               median(seen) <= MOST_OF_KILLS_S and max(seen) <= WORST_OF_KILLS_S,
               note_of(client, before), gaps_s=seen, errors=client.errors[:10])


def drains(name, command, most_ms):
    def row(t, braid, jars, options):
        before = load_average()
        seen, client = gaps(t, braid, f"drained-{name}", command(jars), hand_over, options.drains)
        seen_ms = [gap * 1e3 for gap in seen]
        return Row(f"The same after braidctl drain of the leader, {name}, median of {len(seen)}", f"{median(seen_ms):.0f} ms",
                   f"<= {most_ms} ms, no error", median(seen_ms) <= most_ms and not client.errors,
                   f"worst {max(seen_ms):.0f} ms; {note_of(client, before)}", gaps_ms=seen_ms, errors=client.errors[:10])
    return row


ROWS = {"kills": kills,
        "drains-java": drains("java", lambda jars: java(jars, "Steady.java"), 50),
        "drains-librdkafka": drains("librdkafka", lambda _: librdkafka(), 200)}


def measure(names, t, jars, options, show):
    braid = Braid(t)
    for name in names:
        show(ROWS[name](t, braid, jars, options))
