"""Record batches that lie (rows F9-F12 and F14): refused with their code, nothing appended, little memory and time spent."""

import os
import pathlib
import struct
import zlib

import kafka_raw
from harness import equal
from kafka_raw import LATEST, Writer, record_batch

MESSAGE_TOO_LARGE, LIST_TOO_LARGE, BAD_CODEC, INVALID_RECORD, CORRUPT = 10, 18, 76, 87, 2
GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
MIB = 1 << 20
KIB_PER_MIB = 1024
# Where a field stands in a batch.
LENGTH, ATTRIBUTES, LAST_DELTA, COUNT = 8, 21, 23, 57


def put(form, at, value):
    """Edits a field, and the CRC with it."""
    def change(batch):
        struct.pack_into(form, batch, at, value)
        kafka_raw.seal(batch)
    return change


def refused(t, batches, codes, connection, topic):
    """Each of {name: batch} is refused with one of the codes, and the topic stays as it is."""
    end = connection.list_offsets(topic, LATEST)[2]
    for name, batch in batches.items():
        error, offset = connection.produce(topic, batch)
        assert error in codes and offset == -1, f"{name}: error {error}, offset {offset}; expected {codes}"
    equal(connection.list_offsets(topic, LATEST)[2], end, "something was appended")
    equal(connection.produce(topic, record_batch([b"good"])), (0, end), "the partition takes no good batch any more")


def record(key=-1, value=b"v", headers=0, length=None):
    """The bytes of one record; `key` is the length that it says to have, and it has none."""
    inner = Writer().int8(0).varint(0).varint(0).varint(key).varint(len(value)).raw(value).varint(headers)
    return bytes(Writer().varint(len(inner.out) if length is None else length).raw(inner.out).out)


def test_f9_counts_and_lengths_that_lie(t):
    broker = t.broker()
    topic = t.topic(broker)
    three = [b"a", b"b", b"c"]

    def both(count):
        """Count and last delta agree with each other, not with the records."""
        def change(batch):
            struct.pack_into(">i", batch, LAST_DELTA, count - 1)
            put(">i", COUNT, count)(batch)
        return change

    batches = {f"count {n}": record_batch(three, change=put(">i", COUNT, n)) for n in (0, -1, 2, 4, 2_147_483_647)}
    batches |= {f"count and delta {n}": record_batch(three, change=both(n)) for n in (0, 1, 2, 4, 1_000_000, 2_147_483_647)}
    batches |= {f"delta {n}": record_batch(three, change=put(">i", LAST_DELTA, n)) for n in (-1, 0, 1, 3, 2_147_483_647)}
    batches |= {f"length {n}": record_batch(three, change=lambda batch, n=n: struct.pack_into(">i", batch, LENGTH, n))
                for n in (-1, 0, 48, 49, 100_000, 2_147_483_647)}
    batches |= {f"key of {n} bytes": record_batch([b"v"], payload=record(key=n)) for n in (-2, -2_147_483_648, 1000)}
    batches |= {f"{n} headers": record_batch([b"v"], payload=record(headers=n)) for n in (-1, 1, 2_147_483_647)}
    batches |= {f"record of {n} bytes": record_batch([b"v"], payload=record(length=n)) for n in (-1, 0, 6, 8, 1_000_000)}
    with broker.connect() as c:
        refused(t, batches, (INVALID_RECORD, CORRUPT), c, topic)


def test_f10_control_batches_are_not_for_clients(t):
    broker = t.broker()
    topic = t.topic(broker)
    control, transactional = 0x20, 0x10
    # As the broker writes the end of a transaction: version and type in the key.
    marker = Writer().int8(0).varint(0).varint(0).varint(4).int16(0).int16(1).varint(6).int16(0).int32(0).varint(0).out
    marker = bytes(Writer().varint(len(marker)).raw(marker).out)
    batches = {
        "control bit": record_batch([b"x"], change=put(">h", ATTRIBUTES, control)),
        "end marker": record_batch([b"x"], payload=marker, producer=(1, 0, -1), change=put(">h", ATTRIBUTES, control | transactional)),
    }
    with broker.connect() as c:
        refused(t, batches, (INVALID_RECORD,), c, topic)


def produce_before_7(connection, topic, batch, version):
    """Error code of a Produce of an older version."""
    body = Writer().string(None).int16(-1).int32(10_000).int32(1).string(topic).int32(1).int32(0).int32(len(batch)).raw(batch)
    reader = connection.request(kafka_raw.PRODUCE, version, body.out, flexible=False)
    reader.int32()
    reader.take(2 + len(topic))
    reader.int32()
    reader.int32()
    return reader.int16()


def test_f11_codecs_that_are_not_there(t):
    broker = t.broker()
    topic = t.topic(broker)
    with broker.connect() as c:
        refused(t, {f"codec {n}": record_batch([b"x"], change=put(">h", ATTRIBUTES, n)) for n in (5, 6, 7)}, (BAD_CODEC,), c, topic)
        zstd = record_batch([b"v"], codec=ZSTD, payload=zstd_stored(record()))
        for version in (3, 6):
            equal(produce_before_7(c, topic, zstd, version), BAD_CODEC, f"zstd in Produce {version}")
        equal(produce_before_7(c, topic, record_batch([b"v"]), 6), 0, "the older version itself is fine")
        equal(c.produce(topic, zstd)[0], 0, "zstd in a newer one, too")


# --- Row F12: streams of each codec that become much, made by hand ----------------------------------------------------


def zstd_frame(blocks, window=b"\x50"):
    """Magic, a frame with a window (of 1 MiB) and no checksum, blocks."""
    return b"\x28\xb5\x2f\xfd\x00" + window + blocks


def zstd_block(kind, size, content, last=False):
    return struct.pack("<I", size << 3 | kind << 1 | last)[:3] + content


def zstd_stored(content):
    return zstd_frame(zstd_block(0, len(content), content, last=True))


def zstd_bomb():
    """32 KiB of blocks that each repeat one byte 128 Ki times: 1 GiB."""
    one = zstd_block(1, 128 << 10, b"\0")
    return zstd_frame(one * 8191 + zstd_block(1, 128 << 10, b"\0", last=True))


def gzip_bomb():
    """256 KiB that become 256 MiB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(MIB)
    return b"".join([*(packer.compress(zeros) for _ in range(256)), packer.flush()])


def xerial(*chunks):
    return b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1) + b"".join(struct.pack(">i", len(one)) + one for one in chunks)


def snappy_zeros(size, says=None):
    """A zero and copies of it; 21 times smaller. `says`: the size that it claims to have."""
    copies = (size - 1) // 64
    return bytes(Writer().uvarint(says or 1 + copies * 64).raw(b"\0\0" + b"\xfe\x01\0" * copies).out)


def xxh32_of_short(data):
    """xxHash32 of fewer than 16 bytes, none of them in fours: what a descriptor of two bytes needs."""
    mask, prime1, prime5 = 0xFFFFFFFF, 2654435761, 374761393
    value = prime5 + len(data) & mask
    for byte in data:
        value = value + byte * prime5 & mask
        value = ((value << 11 | value >> 21) & mask) * prime1 & mask
    for shift, prime in ((15, 2246822519), (13, 3266489917)):
        value = (value ^ value >> shift) * prime & mask
    return value ^ value >> 16


def lz4_frame(*blocks):
    """Version 1, independent blocks of up to 4 MiB, no checksums."""
    descriptor = b"\x60\x70"
    content = b"".join(struct.pack("<I", len(one)) + one for one in blocks)
    return b"\x04\x22\x4d\x18" + descriptor + bytes([xxh32_of_short(descriptor) >> 8 & 0xFF]) + content + bytes(4)


def lz4_zeros(size):
    """One literal, a match of it as long as said, five literals at the end."""
    rest = size - 1 - 5 - 4 - 15
    return b"\x1f\0\x01\0" + b"\xff" * (rest // 255) + bytes([rest % 255]) + b"\x50" + bytes(5)


def skippable(count):
    return b"\x50\x2a\x4d\x18\0\0\0\0" * count


BOMBS = {
    "gzip": (GZIP, gzip_bomb),
    "snappy, 40 chunks of 1 MiB": (SNAPPY, lambda: xerial(*[snappy_zeros(MIB)] * 20)),
    "snappy that says 4 GiB": (SNAPPY, lambda: snappy_zeros(MIB, says=(1 << 32) - 1)),
    "snappy, a chunk that says 2 GiB": (SNAPPY, lambda: xerial()[:16] + struct.pack(">i", 2_147_483_647) + bytes(100)),
    "snappy, a chunk of negative length": (SNAPPY, lambda: xerial()[:16] + struct.pack(">i", -1) + bytes(100)),
    "lz4, 60 blocks of 4 MiB": (LZ4, lambda: lz4_frame(*[lz4_zeros(4 * MIB)] * 60)),
    "lz4, a block that says 2 GiB": (LZ4, lambda: lz4_frame()[:7] + struct.pack("<I", 0x7FFFFFFF) + bytes(100)),
    "lz4, skippable frames": (LZ4, lambda: skippable(100_000) + lz4_frame()),
    "zstd": (ZSTD, zstd_bomb),
    "zstd, a window of 2 GiB": (ZSTD, lambda: zstd_frame(zstd_block(1, 128 << 10, b"\0", last=True), window=b"\xa8")),
    "zstd, a window of 3.75 TiB": (ZSTD, lambda: zstd_frame(zstd_block(1, 128 << 10, b"\0", last=True), window=b"\xff")),
    "zstd, skippable frames": (ZSTD, lambda: skippable(100_000)),
    "zstd, nested": (ZSTD, lambda: zstd_stored(zstd_bomb()[:100_000])),
}


def cpu_seconds(broker):
    fields = pathlib.Path(f"/proc/{broker.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_f12_bombs_are_refused_without_memory_or_time(t):
    broker = t.broker()
    topic = t.topic(broker)
    own = hasattr(type(broker), "memory_kib")
    with broker.connect() as c:
        equal(c.produce(topic, record_batch([b"v"], codec=LZ4, payload=lz4_frame(b"\xf0\0" + bytes(15))))[0], INVALID_RECORD,
              "a sound lz4 frame without a record")
        for codec, payload in ((ZSTD, zstd_stored(record())), (SNAPPY, xerial(snappy_literal(record()))),
                               (LZ4, lz4_frame(lz4_literal(record())))):
            equal(c.produce(topic, record_batch([b"v"], codec=codec, payload=payload))[0], 0, f"codec {codec}: the test writes it wrong")
        for name, (codec, make) in BOMBS.items():
            batch = record_batch([b"x"], codec=codec, payload=make())
            assert len(batch) < 1_048_588, f"{name}: too large to be decoded at all: {len(batch)}"
            memory, cpu = (broker.memory_kib("VmHWM"), cpu_seconds(broker)) if own else (0, 0)
            refused(t, {name: batch}, (MESSAGE_TOO_LARGE, INVALID_RECORD), c, topic)
            if own:
                grown, spent = (broker.memory_kib("VmHWM") - memory) / KIB_PER_MIB, cpu_seconds(broker) - cpu
                # Of a release build it is 2 MiB and 0.2 s; a sanitizer keeps what is freed, and takes ten times as long.
                assert grown <= 16 and spent <= 2, f"{name}: {grown:.1f} MiB, {spent:.2f} s"


def snappy_literal(content):
    assert len(content) <= 60
    return bytes([len(content), (len(content) - 1) << 2]) + content


def lz4_literal(content):
    assert len(content) < 15
    return bytes([len(content) << 4]) + content


def test_f14_batches_larger_than_message_max_bytes(t):
    broker = t.broker(message_max_bytes=10_000) if not t.external else t.broker()
    topic = t.topic(broker, configs={"max.message.bytes": "10000"})
    large = record_batch([b"x" * 10_000])
    with broker.connect() as c:
        refused(t, {"one": large}, (MESSAGE_TOO_LARGE,), c, topic)
        equal(c.produce(topic, record_batch([b"x" * 9_900]))[0], 0)


def test_f14_a_request_full_of_batches_that_are_too_large(t):
    broker = t.own_broker(message_max_bytes=10_000)
    topic = t.topic(broker, partitions=500)
    large = record_batch([b"x" * 10_000])
    with broker.connect() as c:
        memory = broker.memory_kib("VmHWM")
        answers = c.produce_set([(topic, partition, large) for partition in range(500)], atomic=False)
        equal({(error, base) for error, base, _ in answers}, {(MESSAGE_TOO_LARGE, -1)})
        answers = c.produce_set([(topic, partition, large) for partition in range(500)])
        equal({(error, base) for error, base, _ in answers}, {(LIST_TOO_LARGE, -1)})
        # The request has 5 MB, in a buffer that doubles; none of it is copied again.
        grown = (broker.memory_kib("VmHWM") - memory) / KIB_PER_MIB
        assert grown <= 64, f"{grown:.1f} MiB"
        equal([c.list_offsets(topic, LATEST, partition=p)[2] for p in (0, 250, 499)], [0, 0, 0])
        equal(c.produce(topic, record_batch([b"good"])), (0, 0))


def test_f14_a_batch_larger_than_a_segment_gets_one_of_its_own(t):
    """Kafka answers RECORD_LIST_TOO_LARGE; here no file's size stands in the way, and what may be written is."""
    broker = t.own_broker(message_max_bytes=3 * MIB, log_segment_bytes=MIB)
    topic = t.topic(broker)
    value = b"x" * (2 * MIB)
    with broker.connect() as c:
        for i in range(3):
            equal(c.produce(topic, record_batch([value])), (0, i))
        equal(c.produce(topic, record_batch([b"small"])), (0, 3))
    broker.kill()
    broker.start()
    with broker.connect() as c:
        equal(c.list_offsets(topic, LATEST)[2], 4)
        error, _, data = c.fetch(topic, 2, max_bytes=4 * MIB)
        equal((error, [(offset, len(read)) for offset, read in kafka_raw.read_batches(data)]), (0, [(2, 2 * MIB), (3, 5)]))
