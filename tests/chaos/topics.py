"""The topics of a run, and everything that is in them."""

import time

import confluent_kafka
import kafka_raw

READ_S = 300


def partitions_of(topics):
    """Of ["NAME:PARTITIONS", ...]."""
    return [(topic, p) for topic, _, count in (one.partition(":") for one in topics) for p in range(int(count))]


def make(address, topics):
    with kafka_raw.Connection(address) as connection:
        for one in topics:
            name, _, partitions = one.partition(":")
            error, words = connection.create_topic(name, int(partitions))
            if error:
                raise RuntimeError(f"CreateTopics {name}: {error} {words}")


def read_everything(bootstrap, topics):
    """{(topic, partition): [value]} up to the ends, which are asked for after all writers have ended."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False,
                                         "check.crcs": True, "log_level": 0})
    read = {one: [] for one in partitions_of(topics)}
    consumer.assign([confluent_kafka.TopicPartition(topic, p, 0) for topic, p in read])
    ends = {one: consumer.get_watermark_offsets(confluent_kafka.TopicPartition(*one), timeout=30)[1] for one in read}
    end = time.monotonic() + READ_S
    while any(len(values) < ends[one] for one, values in read.items()):
        if time.monotonic() > end:
            raise RuntimeError("the final read does not end")
        for message in consumer.consume(5000, 0.5):
            if message.error():
                continue
            values = read[(message.topic(), message.partition())]
            if message.offset() != len(values):
                raise RuntimeError(f"{message.topic()}-{message.partition()}: offset {message.offset()} follows {len(values) - 1}")
            values.append(message.value())
    consumer.close()
    return read
