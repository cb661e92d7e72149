"""The refusal map of the atomic write (test_atomic_produce.py has it for a raw client) through clients that others wrote.

Each row spoils the third of five sets that are in flight together (all of them when a topic is gone), by a proxy that holds
requests and can damage one slice on its way. Afterwards: no Produce request is there by half, the codes are those of the map, what is refused is not sent
again, and the same producer goes on.

A set is one request, and so whole, where the client can send one:

  java          if records wait together and each batch holds what one set has for its partition
  franz-go      likewise
  sarama        with a ProduceRequest of one's own; through its AsyncProducer a set is torn over requests by chance, each of
                which is whole
  kafkajs       by sendBatch, to one broker
"""

import collections
import subprocess
import threading
import time

import produce_proxy
from confluent_kafka.admin import AdminClient
from harness import HERE, equal, wait_until
from kafka_raw import read_batches
from test_atomic_produce import (BAD_CODEC, IN_FLIGHT, INVALID_RECORD, INVALID_REQUEST, INVALID_TIMESTAMP, INVALID_TOPIC,
                                 LIST_TOO_LARGE, NOT_ATTEMPTED, SPOILED)

SIZE, TOO_LARGE, LARGE = 6_100, 11_000, 9_000
# Three of SIZE fit into an entry, three of LARGE do not. The broker's default, because a topic that is gone has no setting.
SETTINGS = {"produce_atomic": "true", "message_max_bytes": 10_000, "braid_entry_max_bytes": 20_000}
DAY_MS = 86_400_000

# `idempotent`: whether its batches have sequences; `one_request`: whether a set is one; `primed`: whether it takes five
# requests that wait for their answers until it keeps five sets back, to send them one by one.
Kind = collections.namedtuple("Kind", "command idempotent one_request primed")
# name: (code of the culprit; None: 55 of all. How: a spoiling of the proxy, or the place of the record instead)
Row = collections.namedtuple("Row", "code spoil idempotent_only", defaults=(None, False))
ROWS = {
    # First, for a client that hears of it refuses such a record by itself and sends the rest of the set alone.
    "lost-partition": Row(INVALID_TOPIC),
    "deleted-topic": Row(INVALID_TOPIC),
    "corrupt": Row(INVALID_RECORD, produce_proxy.break_crc),
    "no-records": Row(INVALID_RECORD, produce_proxy.take_records),
    "too-large": Row(LIST_TOO_LARGE),
    "far-ahead": Row(INVALID_TIMESTAMP),
    "codec": Row(BAD_CODEC, produce_proxy.set_codec_5),
    "transactional": Row(INVALID_REQUEST, produce_proxy.make_transactional),
    "larger-than-an-entry": Row(LIST_TOO_LARGE),
    "gap": Row(None, produce_proxy.leave_a_gap, idempotent_only=True),
    "stale-epoch": Row(None, produce_proxy.age_epoch, idempotent_only=True),
}


class Client:
    """A client as a program (go/sets/sets.go says how it is spoken to)."""

    def __init__(self, command, log):
        self.log = log
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=open(log, "wb"), text=True)
        self.codes, self.taken = {}, 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            name, *codes = line.split()
            if name == "sent" and not codes:
                self.taken += 1
            else:
                self.codes[name] = [int(code) if code.lstrip("-").isdigit() else code for code in codes]

    def check(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the client ended with {self.process.returncode}: {self.log.read_text()[-2000:]}")

    def send(self, sets):
        """Hands over {name: [(topic, partition, size, time)]}; returns when the client has taken all."""
        before = self.taken
        for name, places in sets.items():
            self.process.stdin.write(" ".join([name, *(":".join(map(str, place)) for place in places)]) + "\n")
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        wait_until(lambda: self.taken > before, f"{list(sets)} taken", check=self.check)

    def answers(self, names):
        wait_until(lambda: all(name in self.codes for name in names), f"answers for {names}, only {list(self.codes)[-8:]}",
                   check=self.check)
        return [self.codes[name] for name in names]

    def end(self):
        self.process.stdin.close()
        try:
            equal(self.process.wait(30), 0, self.log.read_text()[-2000:])
        finally:
            self.process.kill()


class Trial:
    """One client against one broker."""

    def __init__(self, t, name, kind):
        self.t, self.name, self.kind = t, name, kind
        self.proxy = produce_proxy.ProduceProxy()
        self.broker = t.own_broker(advertised_listeners=f"PLAINTEXT://{self.proxy.bootstrap}", **SETTINGS)
        self.proxy.broker = self.broker.address
        self.topics = [self.topic() for _ in range(3)]
        self.primer = self.topic()
        self.culprits = {row: self.topic(partitions=2) for row in ("lost-partition", "deleted-topic")}
        self.seen = {topic: [] for topic in self.topics}  # names, by offset
        command = [self.proxy.bootstrap if part == "BOOTSTRAP" else part for part in kind.command(t)]
        self.client = Client(command, t.folder / "client.log")
        self.number = 0

    def topic(self, partitions=1):
        return self.t.topic(self.broker, partitions)

    def ids(self, topic):
        """What a request may call it."""
        with self.broker.connect() as c:
            return topic, c.metadata([topic])[topic][1]

    def ordinary(self, *places):
        """A write of its own that must succeed."""
        self.number += 1
        name = f"ordinary-{self.number}"
        self.client.send({name: places})
        equal(self.client.answers([name]), [[0] * len(places)], f"{self.name}: an ordinary write")
        return name

    def set_of(self, size=SIZE, at=-1):
        return [(topic, 0, size, at) for topic in self.topics]

    def remove(self, topic):
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap})
        admin.delete_topics([topic], request_timeout=20)[topic].result(30)

    def sets(self, row, place):
        """{name: places} and the names of the spoiled ones; the proxy knows what it has to do."""
        sets = {f"{row}-{i}": self.set_of() for i in range(IN_FLIGHT)}
        spoiled = sets[f"{row}-{SPOILED}"]
        if row in self.culprits:
            culprit = self.culprits[row]
            self.remove(culprit)
            if row == "lost-partition":
                with self.broker.connect() as c:
                    equal(c.create_topic(culprit, 1)[0], 0)
            for one in sets.values():  # a client fills its requests with what it has for each topic
                one[place] = (culprit, 1, SIZE, -1)
            return sets, list(sets)
        elif row == "too-large":
            spoiled[place] = (self.topics[place], 0, TOO_LARGE, -1)
        elif row == "far-ahead":
            spoiled[place] = (self.topics[place], 0, SIZE, int(time.time() * 1000) + DAY_MS)
        elif row == "larger-than-an-entry":
            spoiled[:] = self.set_of(LARGE)
        else:
            self.proxy.spoil = (f"{row}-{SPOILED}", self.ids(self.topics[place]), ROWS[row].spoil)
        return sets, [f"{row}-{SPOILED}"]

    def send_together(self, sets):
        """All of them in flight at once, where the client sends each as a request."""
        if not self.kind.one_request:
            return self.client.send(sets)
        self.proxy.hold()
        if self.kind.primed:
            for i in range(IN_FLIGHT):
                self.number += 1
                self.client.send({f"primer-{self.number}": [(self.primer, 0, SIZE, -1)]})
                self.proxy.await_held(i + 1, "primers", self.client.check)
        self.client.send(sets)
        if self.kind.primed:
            self.proxy.release(keep_holding=True)
        self.proxy.await_held(IN_FLIGHT, f"{list(sets)} in flight", self.client.check)
        self.proxy.release()

    def look(self):
        """Reads what is new in the topics; {topic: its names so far}."""
        with self.broker.connect() as c:
            for topic, names in self.seen.items():
                error, end, data = c.fetch(topic, len(names))
                equal(error, 0)
                names += [produce_proxy.NAME.match(value).group(1).decode() for _, value in read_batches(data)]
                equal(len(names), end, f"records of {topic}")
                equal(len(set(names)), len(names), f"{topic}: a record stands twice: {names}")
        return self.seen

    def check_requests(self, requests, where):
        """Each request of the client is there or is not."""
        known = {key: topic for topic in self.topics for key in self.ids(topic)}
        for slices in requests:
            there = {name in self.seen[known[one.topic]] for one in slices if one.topic in known for name in one.names}
            assert len(there) <= 1, f"{where}: a request is there by half: {slices}"

    def check_codes(self, row, place, names, spoiled, codes):
        for i, (name, found) in enumerate(zip(names, codes)):
            where = f"{self.name}: set {name}: {codes}"
            there = [name in self.seen[topic] for topic in self.topics]
            if name in spoiled:
                self.check_culprit(row, place, found, there, where)
            elif self.kind.one_request:
                if i < SPOILED or not self.kind.idempotent:
                    equal((set(found), there), ({0}, [True] * 3), where)
                # Those behind a gap may be refused, as a whole. franz-go says of them what it heard first of the partition.
                refused = 0 not in found and set(found) <= {NOT_ATTEMPTED, ROWS[row].code}
                equal(there, [False] * 3 if refused else [True] * 3, where)
                equal(set(found) == {0}, not refused, where)
            else:
                assert set(found) <= {0, ROWS[row].code, NOT_ATTEMPTED}, where  # who shares a request with the culprit
                equal([code == 0 for code in found], there, where)

    def check_culprit(self, row, place, found, there, where):
        code = ROWS[row].code
        expected = [NOT_ATTEMPTED] * 3
        if row == "larger-than-an-entry" and self.kind.one_request:
            expected = [code] * 3
        elif row == "transactional" and not self.kind.idempotent:
            expected[place] = INVALID_RECORD  # it has no producer id
        elif code is not None:
            expected[place] = code
        if len(found) == 1:
            assert found[0] in expected, where  # a client that says no more of a set
        elif self.kind.one_request:
            equal(found, expected, where)
        elif row != "larger-than-an-entry":  # which is no set any more when it is torn
            equal(found[place], expected[place], where)
            assert set(found) <= {0, *expected}, where
        if self.kind.one_request:
            equal(there, [False] * 3, where)

    def run(self, number, row):
        place = number % 3
        sets, spoiled = self.sets(row, place)
        first = len(self.proxy.requests)
        self.send_together(sets)
        names = list(sets)
        codes = self.client.answers(names)
        requests = [slices for slices in self.proxy.requests[first:] if any(set(one.names) & set(sets) for one in slices)]
        assert self.proxy.spoil is None, f"{row}: the slice to be spoiled did not come by"
        if self.kind.one_request:
            for name in names:
                of_set = [[one.names for one in slices] for slices in requests if any(name in one.names for one in slices)]
                equal(of_set, [[[name]] * 3], f"{self.name}: requests of {name}")
        self.look()
        self.check_requests(requests, f"{self.name}: {row}")
        self.check_codes(row, place, names, spoiled, codes)
        after = self.ordinary(*self.set_of())
        assert all(after in there for there in self.look().values()), f"{self.name}: {row}: {after}"


def drive(t, name, kind):
    trial = Trial(t, name, kind)
    try:
        for topic in (*trial.topics, trial.primer):
            trial.ordinary((topic, 0, SIZE, -1))
        for topic in trial.culprits.values():
            trial.ordinary((topic, 1, SIZE, -1))
        for number, row in enumerate(ROWS):
            if kind.idempotent or not ROWS[row].idempotent_only:
                trial.run(number, row)
        trial.client.end()
        trial.broker.kill()
        trial.broker.start()
        before = {topic: list(names) for topic, names in trial.seen.items()}
        trial.seen = {topic: [] for topic in trial.topics}
        equal(trial.look(), before, "what is there after a kill")
    finally:
        trial.client.process.kill()
        trial.proxy.close()


def clients(t):
    folder = t.java_folder.parent / "clients"
    assert (folder / "franz").exists(), f"no clients in {folder}: run `make deps`"
    return folder


def node(t):
    return ["env", f"NODE_PATH={clients(t) / 'node_modules'}", clients(t) / "node", HERE / "node/sets.js", "BOOTSTRAP"]


def test_java(t):
    drive(t, "java", Kind(lambda t: t.java_command("Sets.java", "BOOTSTRAP"), True, True, True))


def test_franz_go(t):
    drive(t, "franz-go", Kind(lambda t: [clients(t) / "franz", "BOOTSTRAP"], True, True, True))


def test_sarama_requests(t):
    drive(t, "sarama", Kind(lambda t: [clients(t) / "sarama", "requests", "BOOTSTRAP"], False, True, False))


def test_sarama_producer(t):
    drive(t, "sarama's producer", Kind(lambda t: [clients(t) / "sarama", "producer", "BOOTSTRAP"], True, False, False))


def test_kafkajs(t):
    drive(t, "kafkajs", Kind(node, False, True, False))
