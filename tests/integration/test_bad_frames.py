"""Bytes that are no Kafka request (rows F1-F3): the connection is closed, memory stays, others go on."""

import resource
import struct
import time

from harness import equal, wait_until

MIB = 1 << 20
KIB_PER_MIB = 1024


def closes(broker, data, timeout=20):
    with broker.connect() as c:
        c.send_raw(data)
        assert c.wait_closed(timeout), f"not closed after {data[:16]!r}"
    assert broker.alive()
    with broker.connect() as c:
        equal(c.api_versions_0()[0], 0, "a good client gets no answer any more")


def test_f1_frame_length_negative_closes(t):
    broker = t.broker()
    for length in (-1, -2_147_483_648):
        closes(broker, struct.pack(">i", length))


def test_f1_frame_length_zero_closes(t):
    closes(t.broker(), struct.pack(">i", 0))


def test_f1_frame_shorter_than_a_header_closes(t):
    broker = t.broker()
    for size in (1, 3, 7):
        closes(broker, struct.pack(">i", size) + bytes(size))


def test_f1_frame_length_beyond_the_limit_closes(t):
    broker = t.broker()
    for length in (100 * MIB + 1, 2_147_483_647):
        closes(broker, struct.pack(">i", length) + b"x" * 100)


def test_f2_dripped_large_frames_cost_only_what_arrived(t):
    broker = t.broker()
    connections = 500
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < connections + 200:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    with broker.connect() as c:
        c.api_versions_0()
    before = broker.memory_kib()
    open_ = []
    try:
        for _ in range(connections):
            connection = broker.connect()
            connection.send_raw(struct.pack(">i", 90 * MIB))
            open_.append(connection)
        for _ in range(4):
            for connection in open_:
                connection.send_raw(b"\0" * 1024)
        with broker.connect() as c:
            equal(c.api_versions_0()[0], 0, "a good client waits behind the drips")
        # 500 x 4 KiB arrived; each connection may cost a buffer and its own state besides.
        grown = broker.memory_kib("VmHWM") - before
        assert grown < 96 * KIB_PER_MIB, f"{connections} dripping connections cost {grown // 1024} MiB"
    finally:
        for connection in open_:
            connection.socket.close()
    assert broker.alive()


def test_f2_an_idle_half_frame_is_closed(t):
    broker = t.broker(connections_max_idle_ms=1500)
    with broker.connect(timeout=40) as c:
        started = time.monotonic()
        c.send_raw(struct.pack(">i", 90 * MIB) + b"half")
        assert c.wait_closed(30), "an idle half frame stays for ever"
        assert time.monotonic() - started > 1, "closed before it was idle"


def test_f3_tls_hello_on_the_plaintext_port_closes(t):
    broker = t.broker()
    hello = bytes.fromhex("160301020001000001fc0303") + bytes(range(256)) + bytes(245)
    closes(broker, hello)


def test_f3_http_get_on_the_plaintext_port_closes(t):
    closes(t.broker(), b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")


def test_f3_memory_stays(t):
    broker = t.broker()
    with broker.connect() as c:
        c.api_versions_0()
    before = broker.memory_kib()
    for _ in range(50):
        with broker.connect() as c:
            c.send_raw(b"\x16\x03\x01\x00\xee" + bytes(200))
            assert c.wait_closed(20)
    grown = broker.memory_kib("VmHWM") - before
    assert grown < 16 * KIB_PER_MIB, f"50 TLS hellos cost {grown // 1024} MiB"
    wait_until(broker.alive, "alive")
