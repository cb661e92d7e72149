"""The topics of a run, and everything that is in them."""

import time

import confluent_kafka
import kafka_raw

READ_S = 300
AGAIN = {confluent_kafka.KafkaError.NOT_LEADER_FOR_PARTITION, confluent_kafka.KafkaError._TIMED_OUT, confluent_kafka.KafkaError._TRANSPORT,
         confluent_kafka.KafkaError.LEADER_NOT_AVAILABLE, confluent_kafka.KafkaError._ALL_BROKERS_DOWN}


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


def end_of(consumer, one, deadline):
    """Asked again when it was asked of a broker that has just lost its office: for this question librdkafka does not."""
    while True:
        try:
            return consumer.get_watermark_offsets(confluent_kafka.TopicPartition(*one), timeout=5)[1]
        except confluent_kafka.KafkaException as e:
            if time.monotonic() > deadline or e.args[0].code() not in AGAIN:
                raise
            time.sleep(0.1)  # nothing tells when another leads


def read_everything(bootstrap, topics):
    """{(topic, partition): [value]} up to the ends, which are asked for after all writers have ended."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False,
                                         "check.crcs": True, "log_level": 0})
    read = {one: [] for one in partitions_of(topics)}
    consumer.assign([confluent_kafka.TopicPartition(topic, p, 0) for topic, p in read])
    end = time.monotonic() + READ_S
    ends = {one: end_of(consumer, one, end) for one in read}
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
