"""librdkafka 2.16 through confluent-kafka: every codec, offsets by time, AdminClient."""

import time

import confluent_kafka
import kafka_raw
from confluent_kafka.admin import (AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic,
                                   OffsetSpec)
from harness import equal

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def producer(broker, **settings):
    return confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, **settings})


def send(out, records):
    """Sends (topic, partition, timestamp, key, value) and returns the offsets in that order."""
    offsets, errors = {}, []

    def delivered(number):
        def done(error, message):
            errors.append(error) if error else offsets.__setitem__(number, message.offset())
        return done

    for number, (topic, partition, timestamp, key, value) in enumerate(records):
        out.produce(topic, value, key, partition, on_delivery=delivered(number), timestamp=timestamp)
    equal(out.flush(60), 0, "records still queued after 60 s")
    assert not errors, errors
    return [offsets[number] for number in range(len(records))]


def read(broker, topic, count, offset=confluent_kafka.OFFSET_BEGINNING, **settings):
    """`count` messages of partition 0."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "unused",
                                         "enable.auto.commit": False, "check.crcs": True, **settings})
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, offset)])
    messages, last_error, end = [], None, time.monotonic() + 60
    while len(messages) < count:
        assert time.monotonic() < end, f"{len(messages)} of {count} messages; last error: {last_error}"
        for message in consumer.consume(count - len(messages), 0.5):
            if message.error():
                last_error = message.error()
            else:
                messages.append(message)
    consumer.close()
    return messages


def test_produce_and_consume_every_codec(t):
    broker = t.broker()
    topic = t.topic(broker)
    sent = []
    for codec in CODECS:
        records = [(topic, 0, 1_700_000_000_000 + len(sent) + i, f"{codec} {i}", codec * (i % 90)) for i in range(200)]
        offsets = send(producer(broker, **{"compression.type": codec, "enable.idempotence": True}), records)
        equal(offsets, list(range(len(sent), len(sent) + 200)), f"{codec}: offsets {offsets}")
        with broker.connect() as c:
            _, _, data = c.fetch(topic, len(sent))
            assert t.stored_by_librdkafka(codec) in kafka_raw.codecs_of(data), f"{codec}: {kafka_raw.codecs_of(data)}"
        sent += records
    for offset, (message, record) in enumerate(zip(read(broker, topic, len(sent)), sent)):
        _, _, timestamp, key, value = record
        found = message.offset(), message.timestamp()[1], message.key().decode(), (message.value() or b"").decode()
        equal(found, (offset, timestamp, key, value), f"{found} instead of {(offset, timestamp, key, value)}")


def test_consume_from_the_middle(t):
    broker = t.broker()
    topic = t.topic(broker)
    send(producer(broker, **{"linger.ms": 50}), [(topic, 0, 0, None, str(i)) for i in range(100)])
    equal([m.value().decode() for m in read(broker, topic, 37, offset=63)], [str(i) for i in range(63, 100)])


def test_list_offsets_by_timestamp(t):
    broker = t.broker()
    topic = t.topic(broker)
    begin = 1_700_000_000_000
    # One batch of all: the look-up has to find a record inside it.
    send(producer(broker, **{"linger.ms": 50}), [(topic, 0, begin + i * 1000, None, str(i)) for i in range(10)])
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})

    def offset(spec):
        answer = admin.list_offsets({confluent_kafka.TopicPartition(topic, 0): spec}, request_timeout=20)
        return next(iter(answer.values())).result(30).offset

    equal(offset(OffsetSpec.earliest()), 0)
    equal(offset(OffsetSpec.latest()), 10)
    equal(offset(OffsetSpec.for_timestamp(begin + 4000)), 4)
    equal(offset(OffsetSpec.for_timestamp(begin + 4001)), 5)
    equal(offset(OffsetSpec.for_timestamp(begin + 60_000)), -1)

    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "unused"})
    times = consumer.offsets_for_times([confluent_kafka.TopicPartition(topic, 0, begin + 2500)], timeout=20)
    equal(times[0].offset, 3, times)
    equal(consumer.get_watermark_offsets(confluent_kafka.TopicPartition(topic, 0), timeout=20), (0, 10))
    consumer.close()


def test_admin_creates_topics(t):
    broker = t.broker()
    name = f"{t.topic(broker)}-admin"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})

    def create(topic):
        admin.create_topics([topic], request_timeout=20)[topic.topic].result(30)

    create(NewTopic(name, num_partitions=4, replication_factor=1))
    equal(len(admin.list_topics(name, timeout=20).topics[name].partitions), 4)
    for topic, code in ((NewTopic(name, 1, 1), confluent_kafka.KafkaError.TOPIC_ALREADY_EXISTS),
                        (NewTopic("../up", 1, 1), confluent_kafka.KafkaError.TOPIC_EXCEPTION),
                        (NewTopic(name + "-0", 0, 1), confluent_kafka.KafkaError.INVALID_PARTITIONS)):
        try:
            create(topic)
        except confluent_kafka.KafkaException as e:
            equal(e.args[0].code(), code, e)
        else:
            raise AssertionError(f"{topic.topic}: expected error {code}")


def expect(code, call):
    try:
        call()
    except confluent_kafka.KafkaException as e:
        equal(e.args[0].code(), code, e)
    else:
        raise AssertionError(f"expected error {code}")


def test_admin_grows_configures_and_deletes_topics(t):
    broker = t.broker()
    topic = t.topic(broker)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    errors = confluent_kafka.KafkaError
    send(producer(broker), [(topic, 0, 0, None, "old")])

    def grow(count):
        admin.create_partitions([NewPartitions(topic, count)], request_timeout=20)[topic].result(30)

    def alter(name, value, what=AlterConfigOpType.SET):
        entry = ConfigEntry(name, value, incremental_operation=what)
        wish = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
        admin.incremental_alter_configs([wish], request_timeout=20)[wish].result(30)

    def config(name):
        return admin.describe_configs([resource], request_timeout=20)[resource].result(30)[name]

    def delete():
        admin.delete_topics([topic], request_timeout=20)[topic].result(30)

    grow(3)
    equal(len(admin.list_topics(topic, timeout=20).topics[topic].partitions), 3)
    equal(send(producer(broker), [(topic, 2, 0, None, "in a new partition")]), [0])
    expect(errors.INVALID_PARTITIONS, lambda: grow(3))

    alter("retention.ms", "1000")
    alter("cleanup.policy", "compact", AlterConfigOpType.APPEND)
    equal((config("retention.ms").value, config("cleanup.policy").value), ("1000", "delete,compact"))
    alter("retention.ms", None, AlterConfigOpType.DELETE)
    equal((config("retention.ms").value, config("retention.ms").is_default), ("604800000", True))
    expect(errors.INVALID_CONFIG, lambda: alter("retention.mss", "1000"))

    delete()
    expect(errors.UNKNOWN_TOPIC_OR_PART, delete)
    admin.create_topics([NewTopic(topic, 1, 1)], request_timeout=20)[topic].result(30)
    equal(send(producer(broker), [(topic, 0, 0, None, "new")]), [0], "a topic made anew begins at 0")
    equal([m.value() for m in read(broker, topic, 1)], [b"new"])
