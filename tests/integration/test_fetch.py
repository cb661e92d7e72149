"""Fetch: long poll, offsets inside a batch, bounds; and answers in the order of the requests."""

import time

import kafka_raw
from kafka_raw import FETCH, PRODUCE, record_batch
from harness import equal

OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC = 1, 3
SESSION_NOT_FOUND, WRONG_SESSION_EPOCH = 70, 71


def send_fetch(connection, topic, offset, **options):
    body = connection.fetch_body(topic, offset, **options)
    connection.send_frame(bytes(connection.header(FETCH, 12, True).raw(body.out).out))


def test_offset_inside_a_batch_returns_the_whole_batch(t):
    broker = t.broker()
    topic = t.topic(broker)
    values = [f"v{i}".encode() for i in range(30)]
    with broker.connect() as c:
        c.produce(topic, record_batch(values[:10]))
        c.produce(topic, record_batch(values[10:20], kafka_raw.CODEC_GZIP))
        c.produce(topic, record_batch(values[20:]))
        for offset, first in ((0, 0), (9, 0), (10, 10), (14, 10), (19, 10), (29, 20)):
            error, end, data = c.fetch(topic, offset)
            equal((error, end), (0, 30))
            records = kafka_raw.read_batches(data)
            equal(records[0][0], first, f"fetch at {offset} begins at {records[0][0]}, not at its batch's {first}")
            equal(records, list(enumerate(values))[first:])


def test_long_poll_ends_at_max_wait(t):
    broker = t.broker()
    topic = t.topic(broker)
    with broker.connect() as c:
        started = time.monotonic()
        equal(c.fetch(topic, 0, max_wait_ms=800), (0, 0, b""))
        assert 0.75 <= time.monotonic() - started < 10


def test_long_poll_is_woken_by_a_record(t):
    broker = t.broker()
    topic = t.topic(broker)
    with broker.connect(timeout=40) as reader, broker.connect() as writer:
        started = time.monotonic()
        send_fetch(reader, topic, 0, max_wait_ms=30_000)
        assert not writer.fetch(topic, 0)[2], "not empty"  # The reader's request is older: it waits by now, or comes late.
        writer.produce(topic, record_batch([b"wake"]))
        error, end, data = kafka_raw.read_fetch(reader.answer(True))
        equal((error, end, kafka_raw.read_batches(data)), (0, 1, [(0, b"wake")]))
        assert time.monotonic() - started < 20, "waited for max_wait instead of the record"


def test_long_poll_hears_that_its_topic_is_deleted(t):
    from confluent_kafka.admin import AdminClient

    broker = t.own_broker()
    topic = t.topic(broker)
    with broker.connect(timeout=40) as reader, broker.connect() as other:
        started = time.monotonic()
        send_fetch(reader, topic, 0, max_wait_ms=30_000)
        assert not other.fetch(topic, 0)[2], "not empty"
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        admin.delete_topics([topic], request_timeout=20)[topic].result(30)
        equal(kafka_raw.read_fetch(reader.answer(True))[0], UNKNOWN_TOPIC)
        assert time.monotonic() - started < 20, "waited for max_wait instead of the deletion"
        equal(other.fetch(topic, 0)[0], UNKNOWN_TOPIC)


def test_long_poll_waits_for_min_bytes(t):
    broker = t.broker()
    topic = t.topic(broker)
    with broker.connect(timeout=40) as reader, broker.connect() as writer:
        small, large = record_batch([b"s" * 100]), record_batch([b"l" * 5000])
        writer.produce(topic, small)
        started = time.monotonic()
        error, _, data = reader.fetch(topic, 0, max_wait_ms=800, min_bytes=4000)
        assert error == 0 and time.monotonic() - started >= 0.75, "did not wait for min_bytes"
        equal(kafka_raw.read_batches(data), [(0, b"s" * 100)], "max_wait is over: what is there must come")
        started = time.monotonic()
        send_fetch(reader, topic, 0, max_wait_ms=30_000, min_bytes=4000)
        writer.produce(topic, large)
        _, _, data = kafka_raw.read_fetch(reader.answer(True))
        equal(len(data), len(small) + len(large))
        assert time.monotonic() - started < 20


def test_max_bytes_still_gives_one_whole_batch(t):
    """KIP-74: a batch larger than the bound comes whole, or a consumer would never get past it."""
    broker = t.broker()
    topic = t.topic(broker)
    with broker.connect() as c:
        c.produce(topic, record_batch([b"a" * 20_000]))
        c.produce(topic, record_batch([b"b" * 20_000]))
        records = kafka_raw.read_batches(c.fetch(topic, 0, max_bytes=1000)[2])
        equal([offset for offset, _ in records], [0])


def test_out_of_range_and_unknown_topic(t):
    broker = t.broker()
    topic = t.topic(broker)
    with broker.connect() as c:
        c.produce(topic, record_batch([b"x"]))
        equal(c.fetch(topic, 2)[0], OFFSET_OUT_OF_RANGE)
        equal(c.fetch(topic, -1)[0], OFFSET_OUT_OF_RANGE)
        equal(c.fetch(topic, 1), (0, 1, b""), "the end itself is in range")
        equal(c.fetch(topic + "-missing", 0)[0], UNKNOWN_TOPIC)


def test_error_answers_do_not_wait(t):
    broker = t.broker()
    topic = t.topic(broker)
    with broker.connect(timeout=20) as c:
        equal(c.fetch(topic, 5, max_wait_ms=60_000)[0], OFFSET_OUT_OF_RANGE)


def test_pipelined_requests_keep_their_order(t):
    broker = t.broker()
    topic = t.topic(broker)
    with broker.connect() as c:
        for i in range(100):
            body = c.produce_body(topic, record_batch([b"%d" % i], producer=(99, 0, i)))
            c.send_frame(bytes(c.header(PRODUCE, 9, True).raw(body.out).out))
        for i in range(100):
            reader = kafka_raw.Reader(c.receive_frame())
            equal(reader.int32(), i + 1, "answers out of order")
            reader.tags()
            equal(kafka_raw.read_produce(reader), (0, i))
        equal(kafka_raw.read_batches(c.fetch(topic, 0)[2]), [(i, b"%d" % i) for i in range(100)])


def test_acks_zero_gets_no_answer(t):
    broker = t.broker()
    topic = t.topic(broker)
    with broker.connect() as c:
        body = c.produce_body(topic, record_batch([b"quiet"]), acks=0)
        c.send_frame(bytes(c.header(PRODUCE, 9, True).raw(body.out).out))
        # The next answer belongs to the next request, or the connection's order is broken.
        error, _, data = c.fetch(topic, 0, max_wait_ms=10_000)
        equal((error, kafka_raw.read_batches(data)), (0, [(0, b"quiet")]))


def metric(broker, name):
    return next(float(line.split()[1]) for line in broker.http("/metrics")[1].splitlines() if line.startswith(name + " "))


def test_incremental_session_says_only_what_is_news(t):
    broker = t.own_broker()
    topic = t.topic(broker, 3)
    with broker.connect(timeout=40) as reader, broker.connect() as writer:
        error, session, found = reader.fetch_incremental(0, 0, [(topic, p, 0) for p in range(3)])
        equal((error, found), (0, {(topic, p): (0, 0, b"") for p in range(3)}))
        assert session > 0
        equal(metric(broker, "braidmq_fetch_session_partitions"), 3)
        equal(reader.fetch_incremental(session, 1), (0, session, {}))
        writer.produce(topic, record_batch([b"news"]), partition=1)
        error, _, found = reader.fetch_incremental(session, 2, max_wait_ms=30_000)
        equal((error, list(found)), (0, [(topic, 1)]))
        equal(kafka_raw.read_batches(found[topic, 1][2]), [(0, b"news")])
        equal(reader.fetch_incremental(session, 3, [(topic, 1, 1)], [(topic, 0)]), (0, session, {}))
        equal(metric(broker, "braidmq_fetch_session_partitions"), 2)
        equal(reader.fetch_incremental(session, 3)[0], WRONG_SESSION_EPOCH)
        equal(reader.fetch_incremental(session, -1, [(topic, 1, 0)])[1], 0, "ended by its owner")
        equal(reader.fetch_incremental(session, 4)[0], SESSION_NOT_FOUND)
        equal(metric(broker, "braidmq_fetch_sessions"), 0)


def test_sessions_do_not_survive_a_restart(t):
    broker = t.own_broker()
    topic = t.topic(broker)
    with broker.connect() as c:
        session = c.fetch_incremental(0, 0, [(topic, 0, 0)])[1]
    broker.kill()
    broker.start()
    with broker.connect() as c:
        equal(c.fetch_incremental(session, 1)[0], SESSION_NOT_FOUND)
        assert c.fetch_incremental(session, 0, [(topic, 0, 0)])[1] > 0, "the client begins anew"


def test_a_flood_of_sessions_takes_no_more_than_its_slots(t):
    """N4: who gets none is served all the same."""
    broker = t.broker(max_incremental_fetch_session_cache_slots=8, braid_shards=2)
    topic = t.topic(broker)
    ids = set()
    for _ in range(20):
        with broker.connect() as c:
            for _ in range(10):
                error, session, found = c.fetch_incremental(0, 0, [(topic, 0, 0)])
                equal((error, found), (0, {(topic, 0): (0, 0, b"")}))
                ids.add(session)
    assert 0 in ids and 5 <= len(ids) <= 9, ids
    assert metric(broker, "braidmq_fetch_sessions") <= 8
    assert metric(broker, "braidmq_fetch_session_refusals_total") >= 192
