#!/usr/bin/env python3
"""steady.py BOOTSTRAP TOPIC PARTITIONS RATE: what Steady.java does, with librdkafka: an idempotent producer of defaults otherwise."""

import select
import sys
import time

import confluent_kafka


def delivered(error, message):
    print(f"error {error}" if error else f"ack {message.partition()} {time.time_ns() // 1000}", flush=True)


def main():
    bootstrap, topic, partitions, rate = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    out = confluent_kafka.Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 0,
                                    "on_delivery": delivered, "log_level": 0})
    sent, begun = 0, time.monotonic()
    while not select.select([sys.stdin], [], [], 0)[0]:
        if time.monotonic() >= begun + sent / rate:
            out.produce(topic, f"record {sent}", partition=sent % partitions)
            sent += 1
        out.poll(max(0.0, begun + sent / rate - time.monotonic()))
    return 1 if out.flush(60) else 0


if __name__ == "__main__":
    sys.exit(main())
