"""kcat 1.7.1 (librdkafka of the distribution) writes and reads with every codec."""

import kafka_raw
from harness import equal

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def test_produce_and_consume_every_codec(t):
    broker = t.broker()
    topic = t.topic(broker)
    sent = []
    for codec in CODECS:
        lines = [f"key{i}:{codec} value {i} {'x' * (i * 7 % 500)}" for i in range(200)]
        t.run("kcat", "-b", broker.bootstrap, "-P", "-t", topic, "-p", "0", "-z", codec, "-K", ":",
              stdin="\n".join(lines).encode() + b"\n")
        with broker.connect() as c:
            _, _, data = c.fetch(topic, len(sent))
            assert t.stored_by_librdkafka(codec) in kafka_raw.codecs_of(data), f"{codec}: {kafka_raw.codecs_of(data)}"
        sent += lines
    read = t.run("kcat", "-b", broker.bootstrap, "-C", "-t", topic, "-p", "0", "-o", "beginning", "-e", "-q",
                 "-f", "%o %k:%s\n").decode().splitlines()
    equal(read, [f"{offset} {line}" for offset, line in enumerate(sent)])


def test_idempotent_produce_and_offsets(t):
    broker = t.broker()
    topic = t.topic(broker, partitions=3)
    for partition in range(3):
        lines = "".join(f"p{partition} {i}\n" for i in range(100))
        t.run("kcat", "-b", broker.bootstrap, "-P", "-t", topic, "-p", str(partition), "-X", "enable.idempotence=true",
              stdin=lines.encode())
    for partition in range(3):
        tail = t.run("kcat", "-b", broker.bootstrap, "-C", "-t", topic, "-p", str(partition), "-o", "-2", "-e", "-q")
        equal(tail.decode(), f"p{partition} 98\np{partition} 99\n")


def test_metadata_lists_broker_and_partitions(t):
    broker = t.broker()
    topic = t.topic(broker, partitions=3)
    listing = t.run("kcat", "-b", broker.bootstrap, "-L", "-t", topic).decode()
    assert f'topic "{topic}" with 3 partitions' in listing, listing
    assert broker.bootstrap in listing, listing
    equal(listing.count("leader "), 3, listing)
