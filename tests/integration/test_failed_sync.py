"""A sync that fails loses what it was for, and the next one succeeds all the same: nothing may be acknowledged after it, and
the process ends at once."""

import pathlib
import threading
import time

import kafka_raw
from harness import HERE, equal, wait_until

ENDS_WITHIN_S = 1
WRITERS = 3


def broker_on_a_bad_disk(t, log):
    shim = t.folder / "failing_sync.so"
    if not shim.exists():
        t.run("cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", shim, HERE / "failing_sync.c", "-ldl")
    broker = t.broker(start=False)
    broker.environment = {"LD_PRELOAD": str(shim), "FAIL_WHEN": str(broker.folder / "fail"),
                          "FAIL_BELOW": str(broker.folder / "wal" / log)}
    return broker.start()


def ends_at_once(broker):
    """Waits for the failed sync, then for the end; the seconds between them."""
    hit = broker.folder / "fail.hit"
    wait_until(hit.exists, "a failed sync")
    code = broker.wait_exit(20)
    took = time.time() - hit.stat().st_mtime
    equal(code, 1, broker.output()[-2000:])
    assert "fdatasync" in broker.output() or "fsync" in broker.output(), broker.output()[-2000:]
    return took


def without_the_shim(broker):
    broker.environment = {}
    (broker.folder / "fail").unlink()
    broker.start()


def test_nothing_is_acknowledged_after_a_failed_sync_of_the_braid(t):
    broker = broker_on_a_bad_disk(t, "braid")
    topics = [t.topic(broker) for _ in range(2)]
    acknowledged, refused = [], []

    def write(who):
        try:
            with broker.connect() as c:
                for i in range(1_000_000):
                    name = f"{who}-{i}"
                    answers = c.produce_set([(topic, 0, kafka_raw.record_batch([name.encode()])) for topic in topics])
                    (refused if any(error for error, _, _ in answers) else acknowledged).append(name)
        except (OSError, kafka_raw.Closed):
            pass  # it is down

    threads = [threading.Thread(target=write, args=(who,)) for who in range(WRITERS)]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: len(acknowledged) >= 100, "100 sets")
        pathlib.Path(broker.folder / "fail").touch()
        took = ends_at_once(broker)
    finally:
        broker.kill()
        for thread in threads:
            thread.join()
    equal(refused, [], "sets that were refused: the broker went on")
    without_the_shim(broker)
    with broker.connect() as c:
        found = [[value.decode() for value in c.read_all(topic)] for topic in topics]
    equal(found[1], found[0], "a half set")
    equal(set(acknowledged) - set(found[0]), set(), "acknowledged, and not on the disk")
    # Of what was under way when the disk failed, at most one set of each writer is there without an answer.
    assert len(found[0]) - len(acknowledged) <= WRITERS, (len(found[0]), len(acknowledged))
    assert took <= ENDS_WITHIN_S, f"{took:.2f} s until it ended"


def test_no_topic_is_made_after_a_failed_sync_of_the_metadata(t):
    broker = broker_on_a_bad_disk(t, "metadata")
    made = t.topic(broker)
    pathlib.Path(broker.folder / "fail").touch()
    try:
        with broker.connect() as c:
            c.create_topic("lost")
        raise AssertionError("a topic was acknowledged that is not on the disk")
    except (OSError, kafka_raw.Closed):
        pass
    took = ends_at_once(broker)
    without_the_shim(broker)
    with broker.connect() as c:
        found = c.metadata([made, "lost"])
        equal((found[made][0], found["lost"][0]), (0, 3))
    assert took <= ENDS_WITHIN_S, f"{took:.2f} s until it ended"
