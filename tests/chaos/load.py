#!/usr/bin/env python3
"""load.py KIND NAME BOOTSTRAP HISTORY TOPIC:PARTITIONS...: writes until SIGTERM, then waits for what is under way, and ends with 0.

KIND producer: an idempotent producer of librdkafka; a line "ack SESSION TOPIC PARTITION OFFSET NUMBER" in HISTORY for each acknowledgement.
KIND acks1: the same with what the leader alone has acknowledged, not idempotent, and never sent again.
KIND sets: one atomic write of the same value to the first partition of each topic after another; a line "ack NAME NUMBER" each, or
"refused NAME NUMBER" of one that was refused for certain.
KIND spoiled: such writes of which most have a part that must be refused, or go to a broker that does not lead.
At the end of each session "sent SESSION COUNT": numbers from 0 to COUNT - 1 were sent.
"""

import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import confluent_kafka  # noqa: E402
import sets  # noqa: E402

UNDER_WAY = 500
PER_SECOND = 2_000
PRODUCERS = {"producer": {"enable.idempotence": True}, "acks1": {"enable.idempotence": False, "acks": 1, "retries": 0}}

ended = False


def end(*_):
    global ended
    ended = True


def produce(name, bootstrap, history, topics, settings):
    """A producer that has given up on a record begins anew under another name: what was under way is unknown, and its numbers end."""
    session, given_up = 0, 0
    while not ended:
        own = f"{name}.{session}"
        session += 1
        waiting, failed = 0, False

        def delivered(error, message, own=own):
            nonlocal waiting, failed
            waiting -= 1
            if error:
                failed = True
                return
            number = message.value().split()[1].decode()
            history.write(f"ack {own} {message.topic()} {message.partition()} {message.offset()} {number}\n")

        out = confluent_kafka.Producer({
            "bootstrap.servers": bootstrap, **settings, "linger.ms": 2, "message.timeout.ms": 120_000,
            "socket.timeout.ms": 5_000, "request.timeout.ms": 5_000, "socket.connection.setup.timeout.ms": 2_000,
            "reconnect.backoff.max.ms": 500, "log_level": 0, "on_delivery": delivered})
        number, next_at = 0, time.monotonic()
        while not ended and not failed:
            if waiting >= UNDER_WAY or time.monotonic() < next_at:
                out.poll(0.005)
                continue
            topic, partition = topics[number % len(topics)]
            out.produce(topic, f"{own} {number}", partition=partition)
            waiting += 1
            number += 1
            next_at = max(next_at + 1 / PER_SECOND, time.monotonic() - 0.1)
            out.poll(0)
        if out.flush(120) != 0:
            raise SystemExit(f"{own}: no answer for two minutes")
        given_up += failed
        history.write(f"sent {own} {number}\n")
        history.flush()
    if given_up:
        print(f"{name}: {given_up} sessions gave up on a record", file=sys.stderr)


def main():
    kind, name, bootstrap, path, *topics = sys.argv[1:]
    signal.signal(signal.SIGTERM, end)
    partitions = [(topic, p) for topic, _, count in (one.partition(":") for one in topics) for p in range(int(count))]
    with open(path, "w", buffering=1 << 16, encoding="ascii") as history:
        if kind in PRODUCERS:
            produce(name, bootstrap, history, partitions, PRODUCERS[kind])
        else:
            sets.write(name, bootstrap, history, partitions, kind == "spoiled", lambda: ended)


if __name__ == "__main__":
    main()
