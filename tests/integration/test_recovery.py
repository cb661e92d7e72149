"""SIGKILL: everything acknowledged is there after the next start, once and in order."""

import shutil
import subprocess

import kafka_raw
from harness import equal, folder_hash, wait_until


def test_loader_survives_three_kills(t):
    broker = t.broker()
    first, second = t.topic(broker, partitions=2), t.topic(broker)
    acked = t.folder / "acked.txt"
    command = t.java_command("Loader.java", broker.bootstrap, acked, 0, 6000, 500, f"{first}:2", f"{second}:1")
    loader = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        def acknowledged():
            return acked.read_bytes().count(b"\n") if acked.exists() else 0

        def fail_if_ended():
            if loader.poll() is not None:
                raise AssertionError(f"loader ended early: {loader.stdout.read().decode()}")

        for kill in range(1, 4):
            target = kill * 1200
            wait_until(lambda: acknowledged() >= target, f"{target} acknowledged", timeout=120, check=fail_if_ended)
            broker.kill()
            assert loader.poll() is None, "the loader was through before the kill: nothing was in flight"
            broker.start()
        output, _ = loader.communicate(timeout=180)
        equal(loader.returncode, 0, output.decode())
    finally:
        loader.kill()
        loader.wait()
    said = t.java("Verifier.java", broker.bootstrap, acked, first, second)
    assert "acknowledged 6000, read 6000, lost 0, faults 0" in said, said


def test_acknowledged_is_readable_at_once_after_a_kill(t):
    broker = t.broker()
    topic = t.topic(broker)
    values = []
    for round_ in range(5):
        with broker.connect() as c:
            for i in range(20):
                value = f"{round_}-{i}".encode()
                equal(c.produce(topic, kafka_raw.record_batch([value])), (0, len(values)))
                values.append(value)
        broker.kill()
        broker.start()
        with broker.connect() as c:
            equal(c.list_offsets(topic, kafka_raw.LATEST)[2], len(values))
            error, end, data = c.fetch(topic, 0)
            equal((error, end), (0, len(values)))
            equal(kafka_raw.read_batches(data), list(enumerate(values)))


def test_created_topics_outlive_a_kill(t):
    broker = t.broker()
    topics = [t.topic(broker, partitions=n) for n in (1, 3, 7)]
    with broker.connect() as c:
        before = c.metadata(topics)
    broker.kill()
    broker.start()
    with broker.connect() as c:
        after = c.metadata(topics)
    for topic, partitions in zip(topics, (1, 3, 7)):
        assert after[topic][0] == 0 and len(after[topic][2]) == partitions, after[topic]
        equal(after[topic][1], before[topic][1], "the topic id changed")


def test_a_log_that_is_lost_is_not_taken_for_a_new_one(t):
    """To begin it anew would remove the segments, the last copy of the records."""
    broker = t.broker()
    topic = t.topic(broker)
    with broker.connect() as c:
        equal(c.produce(topic, kafka_raw.record_batch([b"money"])), (0, 0))
    equal(broker.terminate(), 0)
    for log in ("metadata", "braid"):
        place, away = broker.folder / "wal" / log, broker.folder / "away"
        place.rename(away)
        place.mkdir()
        before = folder_hash(broker.folder / "data" / "partitions")
        broker.spawn()
        equal(broker.wait_exit(), 1, broker.output())
        for words in (str(place), "is empty, but", "put the log back"):
            assert words in broker.output(), broker.output()
        equal(folder_hash(broker.folder / "data" / "partitions"), before, "the refused start changed partitions")
        shutil.rmtree(place)
        away.rename(place)
    broker.start()
    with broker.connect() as c:
        equal(c.list_offsets(topic, -1)[2], 1)


def test_a_retry_after_a_kill_is_a_duplicate(t):
    """A producer that never heard the answer sends its batch again: it must not stand twice."""
    broker = t.broker()
    topic = t.topic(broker)
    batches = [kafka_raw.record_batch([b"a", b"b"], producer=(4711, 0, 0)),
               kafka_raw.record_batch([b"c"], producer=(4711, 0, 2))]
    with broker.connect() as c:
        equal([c.produce(topic, b) for b in batches], [(0, 0), (0, 2)])
    broker.kill()
    broker.start()
    with broker.connect() as c:
        equal([c.produce(topic, b) for b in batches], [(0, 0), (0, 2)])
        equal(c.list_offsets(topic, kafka_raw.LATEST)[2], 3)
        equal(c.produce(topic, kafka_raw.record_batch([b"d"], producer=(4711, 0, 3))), (0, 3))


def test_deleted_topics_stay_deleted_after_a_kill(t):
    """Also their files go; a topic that was made anew under a name keeps its own records only."""
    from confluent_kafka.admin import AdminClient, NewPartitions

    broker = t.own_broker(braid_checkpoint_interval_ms=300)
    gone, anew, grown = t.topic(broker, partitions=2), t.topic(broker), t.topic(broker)
    with broker.connect() as c:
        for topic in (gone, anew, grown):
            equal(c.produce(topic, kafka_raw.record_batch([b"old"])), (0, 0))
    folders = broker.folder / "data" / "partitions"
    wait_until(lambda: len(list(folders.iterdir())) == 3, "files of three topics")
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for topic in (gone, anew):
        admin.delete_topics([topic], request_timeout=20)[topic].result(30)
    admin.create_partitions([NewPartitions(grown, 4)], request_timeout=20)[grown].result(30)
    with broker.connect() as c:
        equal(c.create_topic(anew, 1)[0], 0)
        equal(c.produce(anew, kafka_raw.record_batch([b"new"])), (0, 0))
    for _ in range(2):
        broker.kill()
        broker.start()
        with broker.connect() as c:
            found = c.metadata([gone, anew, grown])
            equal(found[gone][0], 3)  # UNKNOWN_TOPIC_OR_PARTITION
            equal(len(found[grown][2]), 4)
            equal(kafka_raw.read_batches(c.fetch(anew, 0)[2]), [(0, b"new")])
            equal(c.list_offsets(anew, kafka_raw.LATEST)[2], 1)
        wait_until(lambda: len(list(folders.iterdir())) == 2, "the folders of what is there, and no other")


def log_figure(broker, name, log="braid"):
    prefix = f'braidmq_{name}{{log="{log}"}} '
    return next(float(line.split()[1]) for line in broker.http("/metrics")[1].splitlines() if line.startswith(prefix))


def entries_applied(broker):
    name = 'braidmq_braid_entries_applied_total{braid="0"} '
    return next(float(line.split()[1]) for line in broker.http("/metrics")[1].splitlines() if line.startswith(name))


def test_a_start_goes_on_from_the_checkpoint(t):
    """What it covers is not read from the log again, and the log lets it go."""
    broker = t.own_broker(braid_checkpoint_interval_ms=300, wal_file_bytes=1 << 20)
    topic = t.topic(broker)
    values = [b"%06d" % i + b"x" * 50_000 for i in range(100)]
    with broker.connect() as c:
        for i, value in enumerate(values):
            equal(c.produce(topic, kafka_raw.record_batch([value], producer=(4711, 0, i))), (0, i))
    wait_until(lambda: log_figure(broker, "checkpoint_pending_bytes") == 0, "a checkpoint of all that was written")
    assert log_figure(broker, "checkpoints_total") >= 1
    wait_until(lambda: log_figure(broker, "wal_files") <= 2, "the files of the log before it are let go")
    wait_until(lambda: log_figure(broker, "checkpoint_index", "metadata") > 0, "a checkpoint of the metadata")
    for _ in range(2):
        broker.kill()
        broker.start()
        # The first entry of each leader, and what was asked after the start before.
        assert entries_applied(broker) <= 3, entries_applied(broker)
        with broker.connect() as c:
            equal(c.list_offsets(topic, kafka_raw.LATEST)[2], 100)
            for at in (0, 50, 99):
                equal(kafka_raw.read_batches(c.fetch(topic, at)[2])[0], (at, values[at]))
            equal(c.produce(topic, kafka_raw.record_batch([values[97]], producer=(4711, 0, 97))), (0, 97))


def test_a_damaged_checkpoint_is_refused_in_words(t):
    broker = t.own_broker(braid_checkpoint_interval_ms=300)
    topic = t.topic(broker)
    with broker.connect() as c:
        equal(c.produce(topic, kafka_raw.record_batch([b"a"])), (0, 0))
    checkpoint = broker.folder / "data" / "checkpoints" / "braid"
    wait_until(lambda: log_figure(broker, "checkpoint_pending_bytes") == 0, "a checkpoint")
    broker.kill()
    content = bytearray(checkpoint.read_bytes())
    content[len(content) // 2] ^= 4
    checkpoint.write_bytes(content)
    before = folder_hash(broker.folder / "data" / "partitions")
    broker.spawn()
    equal(broker.wait_exit(), 1, broker.output())
    for words in (str(checkpoint), "damaged", "nothing was changed"):
        assert words in broker.output(), broker.output()
    equal(folder_hash(broker.folder / "data" / "partitions"), before, "the refused start changed partitions")
    equal(checkpoint.read_bytes(), bytes(content))


def test_an_idle_producer_is_forgotten(t):
    """producer.id.expiration.ms: whoever comes back may go on anywhere, before and after a kill."""
    broker = t.own_broker(producer_id_expiration_ms=300, producer_id_expiration_check_interval_ms=50,
                          braid_checkpoint_interval_ms=3_600_000)
    topic = t.topic(broker)

    def batch(sequence):
        return kafka_raw.record_batch([b"v"], producer=(4711, 0, sequence))

    def figure(name):
        prefix = f'braidmq_braid_{name}{{braid="0"}} '
        return next(float(line.split()[1]) for line in broker.http("/metrics")[1].splitlines() if line.startswith(prefix))

    with broker.connect() as c:
        equal(c.produce(topic, batch(0)), (0, 0))
        wait_until(lambda: figure("producers") == 0, "it is forgotten")
        equal(c.produce(topic, batch(7)), (0, 1))
    broker.kill()
    broker.start()
    assert figure("producers_expired_total") >= 1, "the start has applied it once more"
    wait_until(lambda: figure("producers") == 0, "it is forgotten again")
    with broker.connect() as c:
        equal(c.produce(topic, batch(7)), (0, 2))
    equal(figure("apply_level"), 1)
