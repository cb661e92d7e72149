"""What the broker's own settings mean for topics that say nothing."""

import subprocess

import kafka_raw
from confluent_kafka.admin import AdminClient, ConfigResource
from harness import equal

UNKNOWN_TOPIC, MESSAGE_TOO_LARGE = 3, 10
LOG_APPEND_TIME = 8  # attribute of a batch


def test_no_topic_is_made_by_asking_for_it(t):
    """Kafka's default is to make it. kcat, which asks for what it writes to, says what is wrong and makes none."""
    broker = t.own_broker()
    with broker.connect() as c:
        equal(c.metadata(["absent"], make=True)["absent"][0], UNKNOWN_TOPIC)
        equal(c.produce("absent", kafka_raw.record_batch([b"a"]))[0], UNKNOWN_TOPIC)
        equal(c.metadata(["absent"])["absent"][0], UNKNOWN_TOPIC)
    command = ["kcat", "-b", broker.bootstrap, "-P", "-t", "absent", "-X", "topic.metadata.propagation.max.ms=500"]
    refused = subprocess.run(command, input=b"hello\n", capture_output=True, timeout=60, check=False)
    assert refused.returncode != 0 and b"Unknown topic" in refused.stderr, refused
    with broker.connect() as c:
        equal(c.metadata(["absent"])["absent"][0], UNKNOWN_TOPIC)
    resource = ConfigResource(ConfigResource.Type.BROKER, "0")
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    shown = admin.describe_configs([resource])[resource].result(30)
    equal(shown["auto.create.topics.enable"].value, "false")


def test_topics_are_made_by_asking_where_the_setting_says_so(t):
    if t.external:
        return
    broker = t.broker(auto_create_topics_enable="true", num_partitions=3)
    with broker.connect() as c:
        equal(c.metadata(["absent"])["absent"][0], UNKNOWN_TOPIC)  # the client did not allow it
        equal(len(c.metadata(["wanted"], make=True)["wanted"][2]), 3)
    t.run("kcat", "-b", broker.bootstrap, "-P", "-t", "by-kcat", "-p", "2", stdin=b"hello\n")
    with broker.connect() as c:
        equal(c.read_all("by-kcat", partition=2), [b"hello"])


def test_the_brokers_settings_are_those_of_topics_that_say_nothing(t):
    if t.external:
        return
    broker = t.broker(num_partitions=5, message_max_bytes=2000, log_message_timestamp_type="LogAppendTime")
    small, large = kafka_raw.record_batch([b"a"], timestamp=1000), kafka_raw.record_batch([b"x" * 3000], timestamp=1000)
    with broker.connect() as c:
        equal(c.create_topic("plain", partitions=-1)[0], 0)
        equal(len(c.metadata(["plain"])["plain"][2]), 5)
        equal(c.create_topic("own", 1, {"max.message.bytes": "4000", "message.timestamp.type": "CreateTime"})[0], 0)
        equal([c.produce("plain", small)[0], c.produce("plain", large)[0]], [0, MESSAGE_TOO_LARGE])
        equal([c.produce("own", small)[0], c.produce("own", large)[0]], [0, 0])
        stamped = [c.fetch(topic, 0)[2][22] & LOG_APPEND_TIME for topic in ("plain", "own")]
        equal(stamped, [LOG_APPEND_TIME, 0])
