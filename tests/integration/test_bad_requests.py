"""Well-framed requests that lie (rows F4-F8): closed or refused before memory is spent, and nothing is appended."""

import struct

import kafka_raw
from kafka_raw import (API_VERSIONS, CORRUPT_MESSAGE, CREATE_TOPICS, FETCH, INVALID_REQUEST, LATEST, LIST_OFFSETS, METADATA,
                       PRODUCE, UNSUPPORTED_VERSION, Closed, Writer, record_batch)
from harness import equal

KIB_PER_MIB = 1024


def still_good(broker):
    assert broker.alive()
    with broker.connect() as c:
        equal(c.api_versions_0()[0], 0, "a good client gets no answer any more")


def closes(broker, api_key, version, body, flexible=True, header=None, grow_mib=32):
    """Sends it; the broker must close without an answer and without spending memory."""
    own = hasattr(type(broker), "memory_kib")
    before = broker.memory_kib() if own else 0
    with broker.connect() as c:
        head = header(c) if header else c.header(api_key, version, flexible)
        try:
            c.send_frame(bytes(head.raw(body).out))
            assert c.wait_closed(30), f"api {api_key} version {version}: not closed after {bytes(body[:40])!r}"
        except Closed:
            pass
    still_good(broker)
    if own:
        grown = broker.memory_kib("VmHWM") - before
        assert grown < grow_mib * KIB_PER_MIB, f"one lying request cost {grown // 1024} MiB"


def test_f5_a_name_that_is_repeated_is_answered_once(t):
    """4 bytes a name, and 40 bytes an answered partition: 20 KB would ask for 200 MB."""
    broker = t.broker()
    topic = t.topic(broker, partitions=1000)
    before = broker.memory_kib()
    with broker.connect() as c:
        answer = c.metadata([topic] * 5000)
    equal(len(answer[topic][2]), 1000)
    grown = broker.memory_kib("VmHWM") - before
    assert grown < 64 * KIB_PER_MIB, f"it cost {grown // 1024} MiB"


def test_more_partitions_than_a_request_may_ask_for(t):
    """As in Kafka: 10,000, over all topics of the request."""
    broker = t.broker()
    with broker.connect() as c:
        equal(c.create_topic("huge", partitions=10_001)[0], 44, "POLICY_VIOLATION")
        equal(c.metadata(["huge"])["huge"][0], 3, "it is there all the same")


def test_f4_unknown_api_key_closes(t):
    broker = t.broker()
    for key in (-1, 999, 32767):
        closes(broker, key, 0, b"", flexible=False)


def test_f4_api_versions_of_unknown_version_answers_35_in_a_v0_body(t):
    broker = t.broker()
    for version in (99, 32767):
        with broker.connect() as c:
            body = Writer().compact_string("raw").compact_string("1").tags()
            error, apis = kafka_raw.read_api_versions_0(c.request(API_VERSIONS, version, body.out))
            equal(error, UNSUPPORTED_VERSION, error)
            assert API_VERSIONS in apis, "KIP-511: the body names the versions of ApiVersions"
            equal(c.api_versions_0()[0], 0, "the connection goes on with a version that is known")


def test_f4_unknown_version_of_another_api_closes(t):
    broker = t.broker()
    for key in (PRODUCE, FETCH, LIST_OFFSETS, METADATA, CREATE_TOPICS):
        closes(broker, key, 999, bytes(20))
        closes(broker, key, -1, bytes(20), flexible=False)


def test_f5_array_count_bombs_close(t):
    broker = t.broker()
    huge = 2_000_000_000
    # Compact arrays of flexible versions.
    closes(broker, METADATA, 12, Writer().uvarint(huge).out)
    closes(broker, PRODUCE, 9, Writer().compact_string(None).int16(-1).int32(1000).uvarint(huge).out)
    closes(broker, CREATE_TOPICS, 7, Writer().uvarint(huge).out)
    fetch = Writer().int32(-1).int32(0).int32(1).int32(1 << 20).int8(0).int32(0).int32(-1)
    closes(broker, FETCH, 12, fetch.uvarint(huge).out)
    closes(broker, LIST_OFFSETS, 7, Writer().int32(-1).int8(0).uvarint(huge).out)
    # Four-byte counts of the old ones.
    closes(broker, METADATA, 4, Writer().int32(huge).out, flexible=False)
    closes(broker, PRODUCE, 3, Writer().string(None).int16(-1).int32(1000).int32(huge).out, flexible=False)
    # The inner array of an honest outer one, and a count that only just lies.
    closes(broker, PRODUCE, 9,
           Writer().compact_string(None).int16(-1).int32(1000).uvarint(2).compact_string("t").uvarint(huge).out)
    closes(broker, METADATA, 12, Writer().uvarint(101).raw(bytes(16)).compact_string("t").tags().out)


def test_f6_twenty_million_declared_tags_close(t):
    broker = t.broker()

    def header(c):
        return c.header(METADATA, 12, False).uvarint(20_000_000)

    closes(broker, METADATA, 12, bytes(10), header=header)
    closes(broker, METADATA, 12, Writer().uvarint(1).int8(0).int8(0).uvarint(20_000_000).raw(bytes(10)).out)


def test_f6_twenty_million_real_tags_close(t):
    """The tags are all there, 2 bytes each: more than 64 unknown ones are too many."""
    broker = t.own_broker()
    tags = b"".join(Writer().uvarint(tag).uvarint(0).out for tag in range(100, 228))
    count = 20_000_000
    body = (tags * (count // 128 + 1))[:40_000_000]
    # The frame itself is 40 MB: it is refused by its header, before the rest is taken.
    for key, version in ((METADATA, 12), (PRODUCE, 9), (API_VERSIONS, 3)):
        closes(broker, key, version, body, header=lambda c, key=key, version=version: c.header(key, version, False).uvarint(count),
               grow_mib=4)
    few = b"".join(Writer().uvarint(tag).uvarint(0).out for tag in range(100, 165))
    closes(broker, METADATA, 12, few + bytes(5), header=lambda c: c.header(METADATA, 12, False).uvarint(65))


def test_f6_a_few_unknown_tags_are_fine(t):
    broker = t.broker()
    with broker.connect() as c:
        tags = b"".join(Writer().uvarint(tag).uvarint(3).raw(b"abc").out for tag in range(100, 110))
        body = Writer().uvarint(1).int8(0).int8(0).tags()
        c.send_frame(bytes(c.header(METADATA, 12, False).uvarint(10).raw(tags).raw(body.out).out))
        c.answer(True).int32()


def test_f6_tags_that_do_not_rise_close(t):
    broker = t.own_broker()  # Kafka takes them in any order.
    for numbers in ((101, 100), (100, 100)):
        tags = b"".join(Writer().uvarint(n).uvarint(0).out for n in numbers)
        closes(broker, METADATA, 12, Writer().uvarint(1).int8(0).int8(0).uvarint(2).raw(tags).out)


def test_f7_over_long_varint_closes(t):
    closes(t.broker(), METADATA, 12, b"\xff\xff\xff\xff\xff\xff\x01" + bytes(10))


def test_f7_negative_string_length_closes(t):
    broker = t.broker()
    # A topic name of an old version.
    closes(broker, METADATA, 4, Writer().int32(1).int16(-5).raw(bytes(10)).out, flexible=False)


def test_f7_negative_client_id_length_closes(t):
    broker = t.own_broker()  # Kafka takes every negative length for null.
    # Client id: null is -1, and nothing is less.
    closes(broker, METADATA, 12, bytes(20),
           header=lambda c: Writer().int16(METADATA).int16(12).int32(1).int16(-2).uvarint(0))


def test_f7_string_longer_than_the_request_closes(t):
    broker = t.broker()
    closes(broker, METADATA, 12, Writer().uvarint(2).raw(bytes(16)).uvarint(1_000_000).raw(b"short").out)
    closes(broker, PRODUCE, 9, Writer().compact_string(None).int16(-1).int32(0).uvarint(2).compact_string("t").uvarint(2)
           .int32(0).uvarint(90_000_000).raw(b"short").out)


def refused_or_closed(broker, head, body):
    """Row F7 lets the broker choose: it closes, or CreateTopics answers INVALID_REQUEST."""
    with broker.connect() as c:
        c.send_frame(bytes(head(c).raw(body).out))
        try:
            reader = c.answer(True)
        except Closed:
            pass
        else:
            reader.int32()
            reader.uvarint()
            reader.compact_string()
            reader.take(16)
            equal(reader.int16(), INVALID_REQUEST)
    still_good(broker)


def create_topic_body(name):
    topic = Writer().raw(name).int32(1).int16(-1).uvarint(1).uvarint(1).tags()
    return Writer().uvarint(2).raw(topic.out).int32(10000).int8(0).tags()


def test_f7_bad_utf8_client_id(t):
    broker = t.own_broker()  # Kafka replaces what it cannot read; BraidMQ does not guess.
    body = create_topic_body(Writer().compact_string("fine").out)

    def head(c):
        return Writer().int16(CREATE_TOPICS).int16(7).int32(c.correlation).int16(2).raw(b"\xc3\x28").tags()

    refused_or_closed(broker, head, body.out)
    with broker.connect() as c:
        assert c.metadata(["fine"])["fine"][0] != 0, "the refused request made a topic"


def test_f7_trailing_bytes(t):
    broker = t.own_broker()  # Kafka ignores them.
    body = create_topic_body(Writer().compact_string("fine").out).raw(b"more")
    refused_or_closed(broker, lambda c: c.header(CREATE_TOPICS, 7, True), body.out)
    with broker.connect() as c:
        assert c.metadata(["fine"])["fine"][0] != 0, "the refused request made a topic"


def test_f8_wrong_crc_is_corrupt_and_appends_nothing(t):
    broker = t.broker()
    topic = t.topic(broker)

    def flip(position):
        def change(batch):
            batch[position] ^= 1
        return change

    with broker.connect() as c:
        equal(c.produce(topic, record_batch([b"good"])), (0, 0))
        # The CRC itself, the attributes behind it, the last byte of the records.
        for position in (17, 20, 22, -1, -4):
            error, offset = c.produce(topic, record_batch([b"bad bad bad"], change=flip(position)))
            equal((error, offset), (CORRUPT_MESSAGE, -1), f"byte {position}: error {error}, offset {offset}")
        equal(c.list_offsets(topic, LATEST)[2], 1, "a corrupt batch was appended")
        equal(c.produce(topic, record_batch([b"good again"])), (0, 1), "the partition takes no good batch any more")
        equal(kafka_raw.read_batches(c.fetch(topic, 0)[2]), [(0, b"good"), (1, b"good again")])


def test_f8_truncated_batch_is_refused(t):
    broker = t.broker()
    topic = t.topic(broker)
    whole = record_batch([b"x" * 100])
    with broker.connect() as c:
        for size in (0, 11, 60, len(whole) - 1):
            try:
                error, _ = c.produce(topic, whole[:size])
            except Closed:
                raise AssertionError(f"closed for a batch of {size} bytes") from None
            assert error != 0, f"{size} of {len(whole)} bytes were taken"
        longer = bytearray(whole)
        struct.pack_into(">i", longer, 8, len(whole) + 1000)
        assert c.produce(topic, bytes(longer))[0] != 0
        equal(c.list_offsets(topic, LATEST)[2], 0)
