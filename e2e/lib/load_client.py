"""Writes numbered records and notes what was acknowledged; holds what can be read against that. Runs under the Python that has
confluent-kafka.

  load_client.py produce BOOTSTRAP TOPIC PARTITIONS PER_SECOND ACKED_FILE SOCKET_TIMEOUT_S
                                                            until SIGTERM; a line of JSON with figures
  load_client.py check BOOTSTRAP TOPIC PARTITIONS ACKED_FILE                 a line of JSON; "faults" is empty when all is there

ACKED_FILE.stalls has a line "END SECONDS" for each time of 20 ms or more without an acknowledgement; END is of the monotonic clock.

The value of a record is "NUMBER PADDING", with a number that rises by one in each partition; the file has a line "PARTITION
OFFSET NUMBER" for each acknowledgement, written when it came. The producer is idempotent and outlives a broker that comes back,
so the check asks for much: each acknowledged record once, at its offset; offsets and numbers without gaps, so in order.
"""

import json
import signal
import sys
import time

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

DELIVERY_SECONDS = 300
IN_FLIGHT = 500
PADDING = "x" * 100
STALL_SECONDS = 0.02


def produce(bootstrap, topic, partitions, per_second, acked_path, socket_timeout_s):
    counters = {"sent": 0, "acknowledged": 0, "failed": 0, "longest_stall_s": 0.0}
    failures, stop = [], []
    last = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    producer = Producer({
        "bootstrap.servers": bootstrap, "enable.idempotence": True, "acks": "all", "linger.ms": 5,
        "message.timeout.ms": DELIVERY_SECONDS * 1000, "reconnect.backoff.max.ms": 500, "socket.timeout.ms": socket_timeout_s * 1000,
        # A SYN to the address of a pod that has just gone is answered by nobody.
        "socket.connection.setup.timeout.ms": 3000,
        "error_cb": lambda error: failures.append(str(error)) if error.fatal() else None})
    with (open(acked_path, "a", buffering=1, encoding="ascii") as acked,
          open(f"{acked_path}.stalls", "a", buffering=1, encoding="ascii") as stalls):
        def delivered(error, message):
            nonlocal last
            if error is not None:
                counters["failed"] += 1
                failures.append(str(error))
                return
            now = time.monotonic()
            counters["longest_stall_s"] = max(counters["longest_stall_s"], now - last)
            if now - last >= STALL_SECONDS:
                stalls.write(f"{now:.6f} {now - last:.6f}\n")
            last = now
            counters["acknowledged"] += 1
            acked.write(f"{message.partition()} {message.offset()} {message.value().split()[0].decode()}\n")

        due = time.monotonic()
        while not stop and not failures:
            producer.poll(0)
            # While the broker is away the load waits with it, and afterwards it does not come in one burst.
            if len(producer) >= IN_FLIGHT or time.monotonic() < due:
                producer.poll(0.002)
                continue
            due = max(due + 1 / per_second, time.monotonic() - 0.05)
            partition, number = counters["sent"] % partitions, counters["sent"] // partitions
            producer.produce(topic, f"{number} {PADDING}", partition=partition, on_delivery=delivered)
            counters["sent"] += 1
        counters["unanswered"] = producer.flush(DELIVERY_SECONDS)
    print(json.dumps({**counters, "failures": failures[:5]}))
    return 1 if failures else 0


def read_partition(consumer, topic, partition, end_by):
    """[(offset, number)] from the beginning to the end that stands when the reading begins."""
    place = TopicPartition(topic, partition, 0)
    low, high = consumer.get_watermark_offsets(place, timeout=60)
    records = []
    consumer.assign([TopicPartition(topic, partition, low)])
    while len(records) < high - low:
        if time.monotonic() > end_by:
            raise TimeoutError(f"partition {partition}: read {len(records)} of {high - low} records in time")
        for message in consumer.consume(1000, timeout=1):
            if message.error():
                if message.error().code() != KafkaError._PARTITION_EOF:
                    print(message.error(), file=sys.stderr)
            elif message.offset() < high:
                records.append((message.offset(), int(message.value().split()[0])))
    return low, records


def check(bootstrap, topic, partitions, acked_path):
    acked = [{} for _ in range(partitions)]
    with open(acked_path, encoding="ascii") as lines:
        for line in lines:
            partition, offset, number = map(int, line.split())
            acked[partition][number] = offset
    faults, total = [], 0
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "e2e-check", "enable.auto.commit": False,
                         "auto.offset.reset": "error"})
    end_by = time.monotonic() + 120
    for partition in range(partitions):
        low, records = read_partition(consumer, topic, partition, end_by)
        total += len(records)
        place_of = {}
        for expected, (offset, number) in enumerate(records, low):
            if offset != expected:
                faults.append(f"partition {partition}: offset {offset} where {expected} was due")
            if number in place_of:
                faults.append(f"partition {partition}: record {number} at {place_of[number]} and again at {offset}")
            elif number != len(place_of):
                faults.append(f"partition {partition}: record {number} at {offset}, where record {len(place_of)} was due")
            place_of[number] = offset
        for number, offset in acked[partition].items():
            if place_of.get(number) != offset:
                faults.append(f"partition {partition}: record {number}, acknowledged at {offset}, is at {place_of.get(number)}")
    consumer.close()
    print(json.dumps({"read": total, "acknowledged": sum(map(len, acked)), "faults": faults[:20], "fault_count": len(faults)}))
    return 1 if faults else 0


def main(verb, bootstrap, topic, partitions, *rest):
    if verb == "produce":
        return produce(bootstrap, topic, int(partitions), int(rest[0]), rest[1], int(rest[2]))
    return check(bootstrap, topic, int(partitions), rest[0])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
