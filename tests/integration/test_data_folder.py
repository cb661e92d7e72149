"""Folders that are not this broker's, or not whole: refused in words, and nothing on disk has changed. When they are put
right, everything is there. (test_config.py has foreign files, a lost volume, folders in use and not writable.)"""

import pathlib
import re
import shutil

import kafka_raw
from harness import equal, wait_until
from test_config import refused, snapshot
from test_recovery import log_figure

OTHER_CLUSTER = "AAAAAAAAAAAAAAAAAAAAAQ"


def with_a_record(t, **settings):
    """A broker that has ended, and its topic with one record."""
    broker = t.broker(**settings)
    topic = t.topic(broker)
    with broker.connect() as c:
        equal(c.produce(topic, kafka_raw.record_batch([b"money"])), (0, 0))
    return broker, topic


def expect_the_record(broker, topic):
    broker.start()
    with broker.connect() as c:
        equal(c.read_all(topic), [b"money"])
    equal(broker.terminate(), 0)


def test_the_folder_of_another_broker(t):
    broker, topic = with_a_record(t)
    equal(broker.terminate(), 0)
    broker.settings["broker.id"] = 7
    refused(broker, re.escape(str(broker.folder / "data")), "belongs to broker 0", r"broker\.id is 7")
    broker.settings["broker.id"] = 0
    expect_the_record(broker, topic)


def test_the_folder_of_another_cluster(t):
    broker, topic = with_a_record(t)
    equal(broker.terminate(), 0)
    broker.settings["cluster.id"] = OTHER_CLUSTER
    refused(broker, OTHER_CLUSTER, "cluster")
    del broker.settings["cluster.id"]
    expect_the_record(broker, topic)


def test_the_log_of_another_life(t):
    broker, topic = with_a_record(t)
    equal(broker.terminate(), 0)
    other, other_topic = with_a_record(t)
    equal(other.terminate(), 0)
    own = broker.settings["wal.dir"]
    broker.settings["wal.dir"] = other.settings["wal.dir"]
    before = snapshot(other)
    refused(broker, re.escape(str(broker.folder / "data")), re.escape(str(other.folder / "wal")))
    equal(snapshot(other), before, "the other's folder")
    broker.settings["wal.dir"] = own
    expect_the_record(broker, topic)
    expect_the_record(other, other_topic)


def test_a_folder_of_a_newer_format(t):
    """Whole and right, but of a version that is not known yet."""
    broker, topic = with_a_record(t)
    equal(broker.terminate(), 0)
    for place in ("data", "wal"):
        identity = broker.folder / place / "braidmq.identity"
        old = identity.read_text()
        new = re.sub(r"^format: 1$", "format: 2", old, flags=re.M)
        assert new != old, old
        text = new[:new.index("crc32c:")]
        identity.write_text(f"{text}crc32c: {kafka_raw.crc32c(text.encode()):08x}\n")
        refused(broker, re.escape(str(identity)), "format 2", "later version")
        identity.write_text(old)
    expect_the_record(broker, topic)


def test_one_half_of_the_logs_is_missing(t):
    """The braid's log without the metadata's, or the other way round; taken away, or emptied."""
    broker, topic = with_a_record(t)
    equal(broker.terminate(), 0)
    for log in ("metadata", "braid"):
        place, away = broker.folder / "wal" / log, pathlib.Path(broker.folder / "away")
        for emptied in (False, True):
            place.rename(away)
            if emptied:
                place.mkdir()
            refused(broker, re.escape(str(place)), "is empty|is missing|is not there", "put the log back")
            if emptied:
                place.rmdir()
            away.rename(place)
    expect_the_record(broker, topic)


def test_one_half_of_the_data_is_missing(t):
    """Once a checkpoint stands for what the log has let go: checkpoints, or the partitions' files."""
    broker, topic = with_a_record(t, braid_checkpoint_interval_ms=200, wal_file_bytes=1 << 20)
    filler = t.topic(broker)
    with broker.connect() as c:
        for i in range(40):
            equal(c.produce(filler, kafka_raw.record_batch([b"x" * 100_000])), (0, i))
    for log in ("braid", "metadata"):
        wait_until(lambda log=log: log_figure(broker, "checkpoint_index", log) > 0, f"a checkpoint of {log}")
    wait_until(lambda: log_figure(broker, "checkpoint_pending_bytes") == 0, "a checkpoint of all that was written")
    wait_until(lambda: log_figure(broker, "wal_files") <= 2, "the files of the log before it are let go")
    equal(broker.terminate(), 0)
    away = broker.folder / "away"
    for name in ("checkpoints", "checkpoints/braid", "partitions"):
        place = broker.folder / "data" / name
        place.rename(away)
        named = place / "braid" if name == "checkpoints" else place
        refused(broker, re.escape(str(named)), "is missing", "put (the checkpoint|it) back")
        assert not place.exists(), f"the refused start made {place}"
        away.rename(place)
    expect_the_record(broker, topic)


def test_one_partition_of_the_data_is_missing(t):
    broker, topic = with_a_record(t, braid_checkpoint_interval_ms=200)
    wait_until(lambda: log_figure(broker, "checkpoint_index") > 0 and log_figure(broker, "checkpoint_pending_bytes") == 0,
               "a checkpoint")
    equal(broker.terminate(), 0)
    one, = (broker.folder / "data" / "partitions").iterdir()
    kept = broker.folder / "kept"
    shutil.copytree(one, kept)
    shutil.rmtree(one)
    refused(broker, re.escape(str(one)))
    shutil.copytree(kept, one)
    expect_the_record(broker, topic)
