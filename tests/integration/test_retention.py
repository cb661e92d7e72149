"""Old records go: by size and by time, for readers at once and from the disk after a checkpoint; starts never fall."""

import os
import time

import kafka_raw
from harness import equal, wait_until

BATCH = 400_000
OFFSET_OUT_OF_RANGE = 1


def quick(t, **settings):
    return t.own_broker(log_retention_check_interval_ms=100, braid_checkpoint_interval_ms=200, **settings)


def fill(connection, topic, batches, timestamp=None):
    for _ in range(batches):
        batch = kafka_raw.record_batch([os.urandom(BATCH)], timestamp=timestamp)
        equal(connection.produce(topic, batch)[0], 0)


def start_of(connection, topic):
    return connection.list_offsets(topic, kafka_raw.EARLIEST)[2]


def segments(broker):
    return sorted(int(path.stem) for path in (broker.folder / "data" / "partitions").rglob("*.log"))


def test_by_size_whole_segments_go_from_readers_and_from_the_disk(t):
    broker = quick(t)
    topic = t.topic(broker, configs={"segment.bytes": "1048576", "retention.bytes": "2000000"})
    with broker.connect() as c:
        fill(c, topic, 12)  # two in a segment; what is left is never less than is to be kept
        wait_until(lambda: start_of(c, topic) == 6, "the oldest segments leave the log")
        equal(c.fetch(topic, 5)[0], OFFSET_OUT_OF_RANGE)
        error, end, data = c.fetch(topic, 6)
        equal((error, end, kafka_raw.read_batches(data)[0][0]), (0, 12, 6))
    wait_until(lambda: segments(broker) == [6, 8, 10], "their files go")
    broker.kill()
    broker.start()
    with broker.connect() as c:
        equal(start_of(c, topic), 6)
        equal(c.produce(topic, kafka_raw.record_batch([b"next"])), (0, 12))


def test_by_time_all_may_go_and_offsets_go_on(t):
    broker = quick(t, log_retention_ms=60_000)
    old, young, kept, compacted = (t.topic(broker, configs=configs) for configs in
                                   ({}, {}, {"retention.ms": "-1"}, {"cleanup.policy": "compact"}))
    an_hour_ago = int(time.time() * 1000) - 3_600_000
    with broker.connect() as c:
        for topic in (old, kept, compacted):
            equal(c.produce(topic, kafka_raw.record_batch([b"a", b"b"], timestamp=an_hour_ago)), (0, 0))
        equal(c.produce(young, kafka_raw.record_batch([b"a"])), (0, 0))
        wait_until(lambda: start_of(c, old) == 2, "what is too old goes, the last segment too")
        equal([start_of(c, topic) for topic in (young, kept, compacted)], [0, 0, 0])
        equal(c.list_offsets(old, kafka_raw.LATEST)[2], 2)
    wait_until(lambda: len(segments(broker)) == 3, "its files go")
    equal(broker.terminate(), 0)
    broker.start()
    with broker.connect() as c:
        equal(start_of(c, old), 2)
        equal(c.produce(old, kafka_raw.record_batch([b"c"])), (0, 2))
        equal(kafka_raw.read_batches(c.fetch(old, 2)[2]), [(2, b"c")])


def test_a_config_that_is_set_later_acts_and_a_session_tells_the_start(t):
    broker = t.admin_broker(log_retention_check_interval_ms=100)
    topic = t.topic(broker, configs={"segment.bytes": "1048576"})
    with broker.connect() as c:
        fill(c, topic, 6)
        error, session, said = c.fetch_incremental(0, 0, wanted=[(topic, 0, 6)])
        equal((error, said[(topic, 0)][0]), (0, 0))
        equal(start_of(c, topic), 0)
        code, _, words = t.ctl(broker, "topics", "alter", topic, "--config", "retention.bytes=800000")
        equal(code, 0, words)
        wait_until(lambda: start_of(c, topic) == 4, "retention that was set later acts")
        error, _, said = c.fetch_incremental(session, 1)
        assert error == 0 and (topic, 0) in said, said
