"""SIGTERM ends the broker cleanly; the admin port says how it is."""

import re
import struct

import kafka_raw
from harness import equal


def test_sigterm_ends_with_zero_and_keeps_everything(t):
    broker = t.broker()
    topic = t.topic(broker)
    with broker.connect() as c:
        equal(c.produce(topic, kafka_raw.record_batch([b"kept"])), (0, 0))
    equal(broker.terminate(), 0, broker.output())
    broker.start()
    with broker.connect() as c:
        equal(kafka_raw.read_batches(c.fetch(topic, 0)[2]), [(0, b"kept")])


def test_sigterm_does_not_wait_for_idle_half_sent_or_parked_requests(t):
    broker = t.broker()
    topic = t.topic(broker)
    with broker.connect() as idle, broker.connect() as half, broker.connect() as parked:
        idle.api_versions_0()
        half.send_raw(struct.pack(">i", 1000) + b"x" * 10)
        body = parked.fetch_body(topic, 0, max_wait_ms=300_000)
        parked.send_frame(bytes(parked.header(kafka_raw.FETCH, 12, True).raw(body.out).out))
        broker.process.send_signal(15)
        equal(broker.wait_exit(30), 0, broker.output())


def test_sigint_ends_with_zero_too(t):
    broker = t.broker()
    broker.process.send_signal(2)
    equal(broker.wait_exit(30), 0, broker.output())


def test_health_and_metrics(t):
    broker = t.broker()
    equal(broker.http("/livez")[0], 200)
    equal(broker.http("/readyz")[0], 200)
    topic = t.topic(broker)
    with broker.connect() as c:
        c.produce(topic, kafka_raw.record_batch([b"x"]))
    status, text = broker.http("/metrics")
    equal(status, 200)
    assert re.search(r"^braidmq_\w+(\{[^}]*\})? [\d.e+]+$", text, re.M), text[:2000]
    equal(broker.http("/no-such-page")[0], 404)
