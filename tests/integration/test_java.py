"""Java's kafka-clients 4.4: default (idempotent) producers with every codec, AdminClient."""


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
