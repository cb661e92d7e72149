"""The atomic write: a request with tag 9001, and the setting produce.atomic, over the wire. A refused one leaves nothing
behind, no slice of it looks retriable, and its producer goes on."""

import json
import struct
import subprocess
import threading
import time

import kafka_raw
from harness import equal, wait_until

INVALID_TOPIC, LIST_TOO_LARGE, INVALID_TIMESTAMP, INVALID_REQUEST, BAD_CODEC, INVALID_RECORD = 17, 18, 32, 42, 76, 87
NOT_ATTEMPTED = 55
NOT_LEADER = 6
IN_FLIGHT = 5
SPOILED = 2  # which of them has the culprit


def batch(name, producer, **options):
    return kafka_raw.record_batch([name.encode()], producer=producer, **options)


def break_crc(raw):
    raw[-1] ^= 1


def set_codec_5(raw):
    raw[22] |= 5
    struct.pack_into(">I", raw, 17, kafka_raw.crc32c(raw[21:]))


def make_transactional(raw):
    raw[22] |= 0x10
    struct.pack_into(">I", raw, 17, kafka_raw.crc32c(raw[21:]))


# name: (the culprit's slice instead of the good one, its code; None: 55 everywhere)
ROWS = {
    "unknown-topic": (lambda topic, name, who: ("nowhere", 0, batch(name, who)), INVALID_TOPIC),
    "unknown-partition": (lambda topic, name, who: (topic, 99, batch(name, who)), INVALID_TOPIC),
    "corrupt": (lambda topic, name, who: (topic, 0, batch(name, who, change=break_crc)), INVALID_RECORD),
    "no-records": (lambda topic, name, who: (topic, 0, None), INVALID_RECORD),
    "too-large": (lambda topic, name, who: (topic, 0, batch(name * 200_000, who)), LIST_TOO_LARGE),
    "far-ahead": (lambda topic, name, who: (topic, 0, batch(name, who, timestamp=int(time.time() * 1000) + 10 ** 8)),
                  INVALID_TIMESTAMP),
    "codec": (lambda topic, name, who: (topic, 0, batch(name, who, change=set_codec_5)), BAD_CODEC),
    "transactional": (lambda topic, name, who: (topic, 0, batch(name, who, change=make_transactional)), INVALID_REQUEST),
    "gap": (lambda topic, name, who: (topic, 0, batch(name, (who[0], who[1], who[2] + 7))), None),
    "stale-epoch": (lambda topic, name, who: (topic, 0, batch(name, (who[0], who[1] - 1, who[2]))), None),
}

REASONS = {"unknown-topic": "unknown_topic", "unknown-partition": "unknown_topic", "corrupt": "invalid_record",
           "no-records": "invalid_record", "too-large": "too_large", "far-ahead": "invalid_timestamp",
           "codec": "unsupported_compression", "transactional": "other", "gap": "sequence", "stale-epoch": "sequence"}


def whole_sets(connection, topics):
    """Names of the sets that are there; fails when one is in some of the topics only, or twice."""
    found = [[value.decode() for value in connection.read_all(topic)] for topic in topics]
    equal(found[1], found[0], "a half set, or another order")
    equal(found[2], found[0], "a half set, or another order")
    equal(len(set(found[0])), len(found[0]), "a set stands twice")
    return found[0]


def test_three_topics_in_one_request(t):
    broker = t.own_broker()
    topics = [t.topic(broker) for _ in range(3)]
    with broker.connect() as c:
        for i in range(20):
            answers = c.produce_set([(topic, 0, batch(f"set-{i}", (-1, -1, -1))) for topic in topics])
            equal([(error, base) for error, base, _ in answers], [(0, i)] * 3)
        equal(whole_sets(c, topics), [f"set-{i}" for i in range(20)])


def run_row(t, broker, topics, row, number, place):
    make, code = ROWS[row]
    producer = 5000 + number
    with broker.connect() as c:
        before = whole_sets(c, topics)

        def set_of(sequence, spoiled=False):
            who = (producer, 1, sequence)
            slices = [(topic, 0, batch(f"{row}-{sequence}", who)) for topic in topics]
            if spoiled:
                slices[place] = make(topics[place], f"{row}-{sequence}", who)
            return slices

        sent = [c.send_produce_set(set_of(i, spoiled=i == SPOILED)) for i in range(IN_FLIGHT)]
        answers = [c.read_produce_set(correlation) for correlation in sent]
        for i in range(SPOILED):
            equal([error for error, _, _ in answers[i]], [0] * 3, f"{row}: set {i}")
        expected = [NOT_ATTEMPTED] * 3
        if code is not None:
            expected[place] = code
        equal([error for error, _, _ in answers[SPOILED]], expected, f"{row}: the spoiled set: {answers[SPOILED]}")
        # Those behind it have a gap now: refused whole too, with the reason in words.
        for i in range(SPOILED + 1, IN_FLIGHT):
            equal([error for error, _, _ in answers[i]], [NOT_ATTEMPTED] * 3, f"{row}: set {i}")
            assert all("sequence number out of order" in message for _, _, message in answers[i]), answers[i]
        for _, base, message in answers[SPOILED]:
            equal(base, -1)
            assert message, row
        equal(whole_sets(c, topics), before + [f"{row}-{i}" for i in range(SPOILED)], row)
        # The same producer goes on where nothing was written.
        for i in range(SPOILED, IN_FLIGHT):
            equal([error for error, _, _ in c.produce_set(set_of(i))], [0] * 3, f"{row}: set {i} again")
        equal(whole_sets(c, topics), before + [f"{row}-{i}" for i in range(IN_FLIGHT)], row)


def test_every_refusal_with_five_sets_in_flight(t):
    broker = t.own_broker()
    topics = [t.topic(broker) for _ in range(3)]
    for number, row in enumerate(ROWS):
        run_row(t, broker, topics, row, number, place=number % 3)
    broker.kill()
    broker.start()
    with broker.connect() as c:
        equal(len(whole_sets(c, topics)), IN_FLIGHT * len(ROWS), "after a kill")


def test_refusals_are_counted_by_reason_and_told(t):
    if t.external:
        return
    broker = t.broker()
    topics = [t.topic(broker) for _ in range(2)]
    with broker.connect() as c:
        equal([a[0] for a in c.produce_set([(topics[0], 0, batch("good", (6000, 1, 0)))])], [0])
        for number, row in enumerate(ROWS):
            spoiled = ROWS[row][0](topics[0], "spoiled", (6000, 1, 1))
            for _ in range(number + 1):
                answers = c.produce_set([(topics[1], 0, batch("innocent", (-1, -1, -1))), spoiled])
                assert all(error for error, _, _ in answers), f"{row}: {answers}"
    counts = dict.fromkeys(REASONS.values(), 0)
    for number, row in enumerate(ROWS):
        counts[REASONS[row]] += number + 1
    text = broker.http("/metrics")[1]
    for reason, count in counts.items():
        assert f'braidmq_atomic_write_refusals_total{{reason="{reason}"}} {count}\n' in text, (reason, count, text)
    lines = [line for line in broker.output().splitlines() if "atomic write of client" in line]
    assert lines and "refused (unknown_topic): nothing of this atomic write was written, because of partition 0 of 'nowhere'" \
        in lines[0], lines
    assert len(lines) < sum(counts.values()) / 2, "each of them is told"


def test_a_duplicate_counts_as_done(t):
    broker = t.own_broker()
    topics = [t.topic(broker) for _ in range(2)]
    first = [(topic, 0, batch("first", (4712, 0, 0))) for topic in topics]
    with broker.connect() as c:
        equal([a[:2] for a in c.produce_set(first)], [(0, 0)] * 2)
    broker.kill()
    broker.start()
    with broker.connect() as c:
        mixed = [first[0], (topics[1], 0, batch("second", (4712, 0, 1)))]
        equal([a[:2] for a in c.produce_set(mixed)], [(0, 0), (0, 1)])
        equal([a[:2] for a in c.produce_set(first)], [(0, 0)] * 2)


def test_an_unknown_topic_is_waited_for_a_second(t):
    broker = t.own_broker()
    topic = t.topic(broker)
    with broker.connect() as c, broker.connect() as other:
        began = time.monotonic()
        equal([a[0] for a in c.produce_set([(topic, 0, batch("a", (-1, -1, -1))), ("late", 0, batch("a", (-1, -1, -1)))])],
              [NOT_ATTEMPTED, INVALID_TOPIC])
        assert time.monotonic() - began >= 1
        sent = c.send_produce_set([(topic, 0, batch("b", (-1, -1, -1))), ("late", 0, batch("b", (-1, -1, -1)))])
        equal(other.create_topic("late", 1)[0], 0)
        equal([a[:2] for a in c.read_produce_set(sent)], [(0, 0), (0, 0)])


def test_larger_than_an_entry_is_refused_whole(t):
    if t.external:
        return
    broker = t.broker(message_max_bytes=100_000, braid_entry_max_bytes=200_000)
    topics = [t.topic(broker) for _ in range(3)]
    large = [(topic, 0, batch("x" * 90_000, (-1, -1, -1))) for topic in topics]
    with broker.connect() as c:
        equal([a[0] for a in c.produce_set(large)], [LIST_TOO_LARGE] * 3)
        equal(whole_sets(c, topics), [])
        equal([a[0] for a in c.produce_set(large[:2])], [0, 0])


def test_the_setting_of_topics(t):
    broker = t.own_broker()
    atomic = [t.topic(broker, configs={"produce.atomic": "true"}) for _ in range(2)]
    plain = t.topic(broker)
    anonymous = (-1, -1, -1)

    def produce(c, *slices):
        return [a[0] for a in c.produce_set([(topic, p, batch("v", anonymous)) for topic, p in slices], atomic=False)]

    with broker.connect() as c:
        equal(produce(c, (atomic[0], 0), (plain, 9), (atomic[1], 0)), [0, 3, 0])  # the others fail alone, as in Kafka
        equal(produce(c, (atomic[0], 0), (plain, 0), (atomic[1], 9)), [NOT_ATTEMPTED, 0, INVALID_TOPIC])
        equal([len(c.read_all(topic)) for topic in (*atomic, plain)], [1, 1, 1])
        # What is not there has no setting but the broker's.
        equal(produce(c, (atomic[0], 0), ("absent", 0), (atomic[1], 0)), [0, 3, 0])
    said = t.java("Admin.java", broker.bootstrap, "config", atomic[0], "produce.atomic")
    assert "produce.atomic=true DYNAMIC_TOPIC_CONFIG BOOLEAN" in said and "without effect" not in said, said


def test_the_default_of_the_broker(t):
    if t.external:
        return
    broker = t.broker(produce_atomic="true")
    topics = [t.topic(broker) for _ in range(2)]
    apart = t.topic(broker, configs={"produce.atomic": "false"})
    anonymous = (-1, -1, -1)
    with broker.connect() as c:
        slices = [(topics[0], 0), (topics[1], 9), (apart, 0)]
        answers = c.produce_set([(topic, p, batch("v", anonymous)) for topic, p in slices], atomic=False)
        equal([a[0] for a in answers], [NOT_ATTEMPTED, INVALID_TOPIC, 0])


def over_lives(broker, stop, step):
    """step(connection, number), with numbers from 1 on, until `stop` is set; on a new connection when the broker was down."""
    number = 0
    while not stop.is_set():
        try:
            with broker.connect() as c:
                while not stop.is_set():
                    number += 1
                    step(c, number)
        except (OSError, kafka_raw.Closed):
            stop.wait(0.05)  # it is down


def test_sets_are_whole_after_kills(t):
    """Sets go out from two connections, as fast as they can; the broker is killed in the middle, three times."""
    broker = t.own_broker()
    topics = [t.topic(broker) for _ in range(3)]
    acknowledged, stop = [], threading.Event()

    def load(who):
        def step(c, number):
            name = f"{who}-{number}"
            answers = c.produce_set([(topic, 0, batch(name, (-1, -1, -1))) for topic in topics])
            if [a[0] for a in answers] == [0] * 3:
                acknowledged.append(name)

        over_lives(broker, stop, step)

    threads = [threading.Thread(target=load, args=(who,)) for who in ("a", "b")]
    for thread in threads:
        thread.start()
    try:
        for kill in range(1, 4):
            wait_until(lambda: len(acknowledged) >= kill * 50, f"{kill * 50} sets")
            broker.kill()
            broker.start()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    with broker.connect() as c:
        found = set(whole_sets(c, topics))
    equal(set(acknowledged) - found, set(), "acknowledged sets are lost")


def test_java_shares_a_request(t):
    """Java has no tag: with the setting, what its producer puts into one request is written whole or not at all."""
    broker = t.own_broker()
    atomic = {"produce.atomic": "true"}
    topics = [t.topic(broker, configs=atomic), t.topic(broker, configs={**atomic, "max.message.bytes": "2000"}),
              t.topic(broker, configs=atomic)]
    said = t.java("Atomic.java", broker.bootstrap, *topics)
    assert "atomic: all as expected" in said, said
    with broker.connect() as c:
        whole_sets(c, topics)


def ctl(t, broker, *arguments, stdin=None):
    program = t.program.parents[1] / "ctl/braidctl"
    done = subprocess.run([str(program), "produce", "--bootstrap", broker.bootstrap, *arguments], input=stdin,
                          capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_braidctl_writes_a_set(t):
    if t.external:
        return
    broker = t.broker()
    topics = [t.topic(broker, partitions=2) for _ in range(2)]
    code, out, err = ctl(t, broker, "--atomic", f"{topics[0]}:1=one", f"{topics[1]}:0=two", f"{topics[0]}:1=three")
    equal((code, err), (0, ""))
    equal(out.splitlines()[0].split(), ["TOPIC", "PARTITION", "RECORDS", "OFFSET", "RESULT"])
    equal(out.splitlines()[1].split(), [topics[0], "1", "2", "0", "written"])
    lines = f"{topics[0]}\t\tfour\n{topics[1]}\tkey\tfive\n"
    code, out, err = ctl(t, broker, "--atomic", "--file", "-", "-o", "json", stdin=lines)
    equal((code, err), (0, ""))
    equal([one["topic"] for one in json.loads(out)], topics)
    with broker.connect() as c:
        equal(c.read_all(topics[0], partition=1)[:2], [b"one", b"three"])
        equal(sum(len(c.read_all(topics[1], partition=p)) for p in (0, 1)), 2)
    # Refused: named, and nothing is written.
    with broker.connect() as c:
        before = [len(c.read_all(topic, partition=p)) for topic in topics for p in (0, 1)]
        large = f"{topics[1]}:0={'x' * 1_100_000}"
        lines = f"{topics[0]}\t\tsix\n{topics[1]}\t\t{'x' * 1_100_000}\n"
        code, out, err = ctl(t, broker, "--atomic", "--file", "-", stdin=lines)
        equal(code, 1)
        assert f"of '{topics[1]}': RECORD_LIST_TOO_LARGE" in err and "nothing was written" in err, err
        assert large not in err
        equal([len(c.read_all(topic, partition=p)) for topic in topics for p in (0, 1)], before)
    for wrong, words in ((["--atomic", f"{topics[0]}=a", "absent=b"], "topic 'absent': UNKNOWN_TOPIC_OR_PARTITION"),
                         ([f"{topics[0]}:7=a"], "no partition 7")):
        code, out, err = ctl(t, broker, *wrong)
        equal((code, out), (1, ""))
        assert words in err, err
    for wrong in ([], ["a"], ["a:x=1"]):
        equal(ctl(t, broker, *wrong)[0], 2, f"{wrong}")
    broker.kill()
    code, _, err = ctl(t, broker, f"{topics[0]}=a")
    equal(code, 1)
    assert "not reachable" in err, err


class RacingReader:
    """Asks for all topics in one Fetch, again and again, over kills and starts; what an answer shows of a set must be all of
    it: with one record of each set in each topic, all visible ends are equal, and so is what is read up to the smallest."""

    def __init__(self, broker, topics):
        self.broker, self.topics = broker, topics
        self.offsets = dict.fromkeys(topics, 0)
        self.sets = {topic: [] for topic in topics}
        self.answers = self.lives = 0
        self.fault = None
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        while not self.stop.is_set() and self.fault is None:
            try:
                with self.broker.connect() as c:
                    self.lives += 1
                    while not self.stop.is_set() and self.fault is None:
                        self._step(c)
            except (OSError, kafka_raw.Closed):
                self.stop.wait(0.005)  # it is down

    def _step(self, c):
        wanted = [(topic, 0, offset) for topic, offset in self.offsets.items()]
        error, _, found = c.fetch_incremental(0, -1, wanted, max_wait_ms=50)  # a whole fetch: no session
        codes = {code for code, _, _ in found.values()}
        if codes == {NOT_LEADER}:
            return  # it still reads its log, and says so of all
        if error or len(found) != len(self.topics) or codes != {0}:
            self.fault = f"error {error}, {found}"
            return
        self.answers += 1
        ends = {end for _, end, _ in found.values()}
        if len(ends) != 1:
            self.fault = f"an answer shows a half set: visible ends {[(topic, end) for (topic, _), (_, end, _) in found.items()]}"
        for (topic, _), (_, _, data) in found.items():
            self.sets[topic] += [value.decode() for _, value in kafka_raw.read_batches(data)]
            self.offsets[topic] = len(self.sets[topic])
        least = min(self.offsets.values())
        shown = [names[:least] for names in self.sets.values()]
        if any(names != shown[0] for names in shown):
            self.fault = "topics differ in what was read of them"

    def end(self):
        self.stop.set()
        self.thread.join()


def test_a_racing_reader_never_sees_a_half_set(t):
    """Also not while the broker recovers: readers ask from its first moment on, and what was visible stays."""
    broker = t.own_broker(braid_checkpoint_interval_ms=200)
    topics = [t.topic(broker) for _ in range(3)]
    readers = [RacingReader(broker, topics) for _ in range(2)]
    written, stop = [], threading.Event()

    def write(c, number):
        c.produce_set([(topic, 0, batch(f"set-{number}", (-1, -1, -1))) for topic in topics])
        written.append(number)

    writer = threading.Thread(target=over_lives, args=(broker, stop, write))
    writer.start()
    try:
        for kill in range(1, 4):
            def faults():
                assert not any(reader.fault for reader in readers), [reader.fault for reader in readers]

            wait_until(lambda: len(written) >= kill * 100, f"{kill * 100} sets", check=faults)
            broker.kill()
            broker.start()
        wait_until(lambda: len(written) >= 400, "400 sets", check=faults)
    finally:
        stop.set()
        writer.join()
        for reader in readers:
            reader.end()
    with broker.connect() as c:
        final = whole_sets(c, topics)
    for reader in readers:
        assert reader.fault is None, reader.fault
        assert reader.answers >= 200 and reader.lives >= 4, (reader.answers, reader.lives)
        for topic in topics:
            equal(reader.sets[topic], final[:len(reader.sets[topic])], f"what was visible in {topic} is not what is there")
