"""Java's kafka-clients 4.4: default (idempotent) producers with every codec, AdminClient."""

import threading

import test_fetch
from harness import equal


def test_produce_and_consume_every_codec(t):
    broker = t.broker()
    topic = t.topic(broker)
    said = t.java("Codecs.java", broker.bootstrap, topic)
    assert "1000 records as sent" in said, said


def test_admin_client(t):
    broker = t.broker()
    said = t.java("Admin.java", broker.bootstrap, "check", t.topic(broker))
    assert "admin: all as expected" in said, said


def test_admin_client_changes_topics(t):
    broker = t.broker()
    said = t.java("Admin.java", broker.bootstrap, "change", t.topic(broker))
    assert "change: all as expected" in said, said


def test_consumer_of_many_partitions_keeps_a_session(t):
    broker = t.own_broker()
    topic = t.topic(broker, 40)
    ended, most = threading.Event(), [0]

    def watch():
        while not ended.wait(0.1):
            most[0] = max(most[0], test_fetch.metric(broker, "braidmq_fetch_session_partitions"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        said = t.java("Sessions.java", broker.bootstrap, topic, 40)
    finally:
        ended.set()
        watcher.join()
    assert "records as sent" in said, said
    equal(most[0], 40, "partitions of its session")
    equal(test_fetch.metric(broker, "braidmq_fetch_sessions"), 0, "it has closed its session")
