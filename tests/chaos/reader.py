#!/usr/bin/env python3
"""reader.py NAME BOOTSTRAP HISTORY TOPIC:PARTITIONS...: reads while others write, until SIGTERM; checker.check_reads judges the history.

The first consumer reads every partition from its beginning and then what comes; each one after it goes back by up to BACK records and
reads them again. Lines of HISTORY: "from TOPIC PARTITION OFFSET" where it begins by its own will, "read TOPIC PARTITION OFFSET VALUE" of
each record as it comes, "reset TOPIC PARTITION WORDS" when it was told that its place is not there. Nothing moves it but itself.
"""

import random
import signal
import sys
import time

import confluent_kafka

FOLLOW_S = 8
BACK = 5_000
RESETS = {confluent_kafka.KafkaError._AUTO_OFFSET_RESET, confluent_kafka.KafkaError.OFFSET_OUT_OF_RANGE}

ended = False


def end(*_):
    global ended
    ended = True


def follow(bootstrap, history, positions, seconds):
    """Reads from `positions`, which it moves on, for so long."""
    consumer = confluent_kafka.Consumer({
        "bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False, "auto.offset.reset": "error", "check.crcs": True,
        "socket.timeout.ms": 5_000, "socket.connection.setup.timeout.ms": 2_000, "reconnect.backoff.max.ms": 500, "log_level": 0})
    for (topic, partition), offset in positions.items():
        history.write(f"from {topic} {partition} {offset}\n")
    consumer.assign([confluent_kafka.TopicPartition(*one, offset) for one, offset in positions.items()])
    until = time.monotonic() + seconds
    is_lost = False
    while not ended and not is_lost and time.monotonic() < until:
        for message in consumer.consume(2000, 0.2):
            one = message.topic(), message.partition()
            if message.error():
                # Of a broker that is away it says something else, and tries again.
                if message.error().code() in RESETS:
                    history.write(f"reset {one[0]} {one[1]} {str(message.error().str()).splitlines()[0]}\n")
                    is_lost = True
                continue
            history.write(f"read {one[0]} {one[1]} {message.offset()} {message.value()!r}\n")
            positions[one] = message.offset() + 1
    consumer.close()


def main():
    name, bootstrap, path, *topics = sys.argv[1:]
    signal.signal(signal.SIGTERM, end)
    chance = random.Random(name)
    farthest = {(topic, p): 0 for topic, _, count in (one.partition(":") for one in topics) for p in range(int(count))}
    with open(path, "w", buffering=1 << 16, encoding="ascii") as history:
        while not ended:
            positions = {one: max(0, offset - chance.randrange(BACK)) for one, offset in farthest.items()}
            follow(bootstrap, history, positions, FOLLOW_S)
            farthest = {one: max(offset, positions[one]) for one, offset in farthest.items()}


if __name__ == "__main__":
    main()
