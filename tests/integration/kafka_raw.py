"""Kafka's wire protocol by hand: for tests that need bytes which no client would send, or fields that clients hide.

Only what the tests use: ApiVersions 0 and 3, Metadata 12, CreateTopics 7, Produce 9, Fetch 12, ListOffsets 7, and record
batches of magic 2. Names are those of Kafka's schemas.
"""

import gzip
import io
import socket
import struct
import time

PRODUCE, FETCH, LIST_OFFSETS, METADATA, API_VERSIONS, CREATE_TOPICS = 0, 1, 2, 3, 18, 19
CORRUPT_MESSAGE, UNSUPPORTED_VERSION, INVALID_REQUEST = 2, 35, 42
LATEST, EARLIEST = -1, -2
ATOMIC_TAG = 9001
CODEC_NONE, CODEC_GZIP = 0, 1


def _crc32c_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


_CRC32C = _crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _CRC32C[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Writer:
    """Appends fields; every method returns the writer, so that a request reads like its schema."""

    def __init__(self):
        self.out = bytearray()

    def _pack(self, form, value):
        self.out += struct.pack(form, value)
        return self

    def int8(self, value):
        return self._pack(">b", value)

    def int16(self, value):
        return self._pack(">h", value)

    def int32(self, value):
        return self._pack(">i", value)

    def uint32(self, value):
        return self._pack(">I", value)

    def int64(self, value):
        return self._pack(">q", value)

    def raw(self, data):
        self.out += data
        return self

    def uvarint(self, value):
        while value > 0x7F:
            self.out.append(value & 0x7F | 0x80)
            value >>= 7
        self.out.append(value)
        return self

    def varint(self, value):
        """Zigzag, of 64 bits."""
        return self.uvarint((value << 1) ^ (value >> 63) if value >= 0 else ((-value) << 1) - 1)

    def string(self, value):
        if value is None:
            return self.int16(-1)
        data = value.encode()
        return self.int16(len(data)).raw(data)

    def compact_string(self, value):
        if value is None:
            return self.uvarint(0)
        data = value.encode()
        return self.uvarint(len(data) + 1).raw(data)

    def compact_bytes(self, data):
        return self.uvarint(0) if data is None else self.uvarint(len(data) + 1).raw(data)

    def compact_array(self, items, write):
        if items is None:
            return self.uvarint(0)
        self.uvarint(len(items) + 1)
        for item in items:
            write(self, item)
        return self

    def tags(self):
        return self.uvarint(0)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if count < 0 or self.at + count > len(self.data):
            raise ValueError(f"answer ends early: {count} bytes wanted at {self.at} of {len(self.data)}")
        self.at += count
        return self.data[self.at - count:self.at]

    def _unpack(self, form, size):
        return struct.unpack(form, self.take(size))[0]

    def int8(self):
        return self._unpack(">b", 1)

    def int16(self):
        return self._unpack(">h", 2)

    def int32(self):
        return self._unpack(">i", 4)

    def uint32(self):
        return self._unpack(">I", 4)

    def int64(self):
        return self._unpack(">q", 8)

    def uvarint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return value
            shift += 7

    def varint(self):
        value = self.uvarint()
        return (value >> 1) ^ -(value & 1)

    def compact_bytes(self):
        size = self.uvarint()
        return None if size == 0 else self.take(size - 1)

    def compact_string(self):
        data = self.compact_bytes()
        return None if data is None else data.decode()

    def compact_array(self, read):
        count = self.uvarint()
        return None if count == 0 else [read(self) for _ in range(count - 1)]

    def array(self, read):
        return [read(self) for _ in range(self.int32())]

    def tags(self):
        for _ in range(self.uvarint()):
            self.uvarint()
            self.compact_bytes_tag()

    def compact_bytes_tag(self):
        return self.take(self.uvarint())

    def done(self):
        if self.at != len(self.data):
            raise ValueError(f"{len(self.data) - self.at} bytes left over in the answer")


# --- Record batches ---------------------------------------------------------------------------------------------------


def record_batch(values, codec=CODEC_NONE, timestamp=None, producer=(-1, -1, -1), change=None, payload=None):
    """One batch of magic 2. `change` may edit the finished bytes (a bytearray) before they go out, CRC and all. `payload`, if
    given, stands in place of the records as the codec would have written them."""
    timestamp = int(time.time() * 1000) if timestamp is None else timestamp
    records = Writer()
    for delta, value in enumerate(values):
        record = Writer().int8(0).varint(0).varint(delta).varint(-1).varint(len(value)).raw(value).varint(0)
        records.varint(len(record.out)).raw(record.out)
    body = bytes(records.out)
    if payload is not None:
        body = payload
    elif codec == CODEC_GZIP:
        body = gzip.compress(body)
    producer_id, producer_epoch, base_sequence = producer
    tail = Writer().int16(codec).int32(len(values) - 1).int64(timestamp).int64(timestamp)
    tail.int64(producer_id).int16(producer_epoch).int32(base_sequence).int32(len(values)).raw(body)
    batch = Writer().int64(0).int32(4 + 1 + 4 + len(tail.out)).int32(-1).int8(2).uint32(crc32c(tail.out)).raw(tail.out)
    if change:
        change(batch.out)
    return bytes(batch.out)


def seal(batch):
    """Puts the right CRC into a batch that was edited."""
    struct.pack_into(">I", batch, 17, crc32c(bytes(batch[21:])))


def read_batches(data):
    """[(offset, value)] of whole batches; a cut one at the end is left out, as clients do. Checks each CRC."""
    records, at = [], 0
    while at + 61 <= len(data):
        base_offset, length = struct.unpack_from(">qi", data, at)
        end = at + 12 + length
        if end > len(data):
            break
        crc, = struct.unpack_from(">I", data, at + 17)
        if crc32c(data[at + 21:end]) != crc:
            raise ValueError(f"CRC of the batch at offset {base_offset} is wrong")
        codec = struct.unpack_from(">h", data, at + 21)[0] & 7
        count, = struct.unpack_from(">i", data, at + 57)
        body = data[at + 61:end]
        reader = Reader(gzip.decompress(body) if codec == CODEC_GZIP else body)
        for _ in range(count):
            record = Reader(reader.take(reader.varint()))
            record.int8()
            record.varint()
            offset = base_offset + record.varint()
            key_size = record.varint()
            record.take(max(key_size, 0))
            records.append((offset, record.take(record.varint())))
        at = end
    return records


def codecs_of(data):
    """The codecs (0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd) of whole batches."""
    codecs, at = set(), 0
    while at + 61 <= len(data):
        length, = struct.unpack_from(">i", data, at + 8)
        if at + 12 + length > len(data):
            break
        codecs.add(struct.unpack_from(">h", data, at + 21)[0] & 7)
        at += 12 + length
    return codecs


# --- Connection -------------------------------------------------------------------------------------------------------


class Closed(Exception):
    """The broker ended the connection."""


class Connection:
    """One socket. Every wait has a deadline."""

    def __init__(self, address, timeout=10):
        self.socket = socket.create_connection(address, timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.timeout = timeout
        self.correlation = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send_raw(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as e:
            raise Closed from e

    def send_frame(self, body):
        self.send_raw(struct.pack(">i", len(body)) + body)

    def _receive(self, count):
        data = io.BytesIO()
        while data.tell() < count:
            try:
                part = self.socket.recv(min(count - data.tell(), 1 << 20))
            except ConnectionResetError as e:
                raise Closed from e
            if not part:
                raise Closed
            data.write(part)
        return data.getvalue()

    def receive_frame(self):
        size, = struct.unpack(">i", self._receive(4))
        if size < 4:
            raise ValueError(f"answer of {size} bytes")
        return self._receive(size)

    def wait_closed(self, timeout):
        """True when the broker closes without saying anything; an answer or silence is False."""
        self.socket.settimeout(timeout)
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False
        finally:
            self.socket.settimeout(self.timeout)

    def header(self, api_key, version, flexible, client_id="raw"):
        self.correlation += 1
        header = Writer().int16(api_key).int16(version).int32(self.correlation).string(client_id)
        return header.tags() if flexible else header

    def request(self, api_key, version, body, flexible=True):
        """Sends one request and returns a Reader at the answer's body."""
        self.send_frame(bytes(self.header(api_key, version, flexible).raw(body).out))
        return self.answer(flexible and api_key != API_VERSIONS)

    def answer(self, flexible):
        reader = Reader(self.receive_frame())
        correlation = reader.int32()
        if correlation != self.correlation:
            raise ValueError(f"answer to {correlation}, expected {self.correlation}")
        if flexible:
            reader.tags()
        return reader

    # Each returns plain values; an error code is a value too.

    def api_versions_0(self):
        reader = self.request(API_VERSIONS, 0, b"", flexible=False)
        return read_api_versions_0(reader)

    def create_topic(self, name, partitions=1, configs=None):
        """(error code, message); done when the broker says that it is there."""
        def config(writer, pair):
            writer.compact_string(pair[0]).compact_string(pair[1]).tags()

        topic = Writer().compact_string(name).int32(partitions).int16(-1).compact_array([], None)
        topic.compact_array(list((configs or {}).items()), config)
        body = Writer().uvarint(2).raw(topic.tags().out).int32(10000).int8(0).tags()
        reader = self.request(CREATE_TOPICS, 7, body.out)
        reader.int32()
        reader.uvarint()
        reader.compact_string()
        reader.take(16)
        return reader.int16(), reader.compact_string()

    def metadata(self, names, make=False):
        """{topic: (error code, topic id, [(partition, leader)])}; `make`: as clients that let the broker make what is missing."""
        return self._metadata(names, make)[1]

    def brokers(self):
        """[(id, host, port)] as the broker tells the clients of this listener."""
        return self._metadata([])[0]

    def _metadata(self, names, make=False):
        def topic(writer, name):
            writer.raw(bytes(16)).compact_string(name).tags()

        def partition(reader):
            reader.int16()
            found = reader.int32(), reader.int32()
            reader.int32()
            for _ in range(3):
                reader.compact_array(Reader.int32)
            reader.tags()
            return found

        def broker(reader):
            found = reader.int32(), reader.compact_string(), reader.int32()
            reader.compact_string()
            reader.tags()
            return found

        body = Writer().compact_array(names, topic).int8(int(make)).int8(0).tags()
        reader = self.request(METADATA, 12, body.out)
        reader.int32()
        brokers = reader.compact_array(broker)
        reader.compact_string()
        reader.int32()
        topics = {}
        for _ in range(reader.uvarint() - 1):
            error, name, topic_id = reader.int16(), reader.compact_string(), reader.take(16)
            reader.int8()
            topics[name] = (error, topic_id, reader.compact_array(partition))
            reader.int32()
            reader.tags()
        reader.tags()
        reader.done()
        return brokers, topics

    def produce_body(self, topic, batch, partition=0, acks=-1):
        slice_ = Writer().int32(partition).compact_bytes(batch).tags()
        body = Writer().compact_string(None).int16(acks).int32(10000)
        return body.uvarint(2).compact_string(topic).uvarint(2).raw(slice_.out).tags().tags()

    def produce(self, topic, batch, partition=0):
        """(error code, base offset)"""
        reader = self.request(PRODUCE, 9, self.produce_body(topic, batch, partition).out)
        return read_produce(reader)

    def send_produce_set(self, slices, atomic=True):
        """Sends one Produce for [(topic, partition, batch)] and waits for nothing; its answers: read_produce_set."""
        def slice_(writer, one):
            topic, partition, batch = one
            writer.compact_string(topic).uvarint(2).int32(partition).compact_bytes(batch).tags().tags()

        body = Writer().compact_string(None).int16(-1).int32(10000).compact_array(slices, slice_)
        if atomic:
            body.uvarint(1).uvarint(ATOMIC_TAG).uvarint(1).int8(1)
        else:
            body.tags()
        self.send_frame(bytes(self.header(PRODUCE, 9, True).raw(body.out).out))
        return self.correlation

    def read_produce_set(self, correlation):
        """[(error code, base offset, message)] of each slice, in the order of the request."""
        def record_error(reader):
            reader.int32()
            reader.compact_string()
            reader.tags()

        def partition(reader):
            reader.int32()
            error, base = reader.int16(), reader.int64()
            reader.int64()
            reader.int64()
            reader.compact_array(record_error)
            message = reader.compact_string()
            reader.tags()
            return error, base, message

        def topic(reader):
            reader.compact_string()
            found = reader.compact_array(partition)
            reader.tags()
            return found

        reader = Reader(self.receive_frame())
        answered = reader.int32()
        if answered != correlation:
            raise ValueError(f"answer to {answered}, expected {correlation}")
        reader.tags()
        answers = [one for topics in reader.compact_array(topic) for one in topics]
        reader.int32()
        reader.tags()
        reader.done()
        return answers

    def produce_set(self, slices, atomic=True):
        return self.read_produce_set(self.send_produce_set(slices, atomic))

    def read_all(self, topic, partition=0):
        """[value] of everything that the partition holds."""
        values = []
        while True:
            error, end, data = self.fetch(topic, len(values), partition=partition)
            if error:
                raise ValueError(f"fetch of {topic}: error {error}")
            values += [value for _, value in read_batches(data)]
            if len(values) >= end:
                return values

    def fetch_body(self, topic, offset, partition=0, max_wait_ms=0, min_bytes=1, max_bytes=1 << 20):
        body = Writer().int32(-1).int32(max_wait_ms).int32(min_bytes).int32(max_bytes).int8(0).int32(0).int32(-1)
        body.uvarint(2).compact_string(topic).uvarint(2)
        body.int32(partition).int32(-1).int64(offset).int32(-1).int64(-1).int32(max_bytes).tags().tags()
        return body.uvarint(1).compact_string("").tags()

    def fetch(self, topic, offset, **options):
        """(error code, high watermark, bytes of batches)"""
        return read_fetch(self.request(FETCH, 12, self.fetch_body(topic, offset, **options).out))

    def fetch_incremental(self, session, epoch, wanted=(), forgotten=(), max_wait_ms=0, max_bytes=1 << 20):
        """One step of a fetch session (KIP-227): (error code, session id, {(topic, partition): (error, end, batches)}).

        `wanted` has (topic, partition, offset), `forgotten` has (topic, partition)."""

        def want(writer, one):
            topic, partition, offset = one
            writer.compact_string(topic).uvarint(2).int32(partition).int32(-1).int64(offset).int32(-1).int64(-1)
            writer.int32(1 << 20).tags().tags()

        def forget(writer, one):
            writer.compact_string(one[0]).uvarint(2).int32(one[1]).tags()

        body = Writer().int32(-1).int32(max_wait_ms).int32(1).int32(max_bytes).int8(0).int32(session).int32(epoch)
        body.compact_array(wanted, want).compact_array(forgotten, forget).compact_string("").tags()
        return read_fetch_session(self.request(FETCH, 12, body.out))

    def list_offsets(self, topic, timestamp, partition=0):
        """(error code, timestamp, offset)"""
        body = Writer().int32(-1).int8(0).uvarint(2).compact_string(topic)
        body.uvarint(2).int32(partition).int32(-1).int64(timestamp).tags().tags().tags()
        reader = self.request(LIST_OFFSETS, 7, body.out)
        reader.int32()
        reader.uvarint()
        reader.compact_string()
        reader.uvarint()
        reader.int32()
        return reader.int16(), reader.int64(), reader.int64()


def read_api_versions_0(reader):
    """(error code, {api key: (min, max)})"""
    error = reader.int16()
    apis = {key: (low, high) for key, low, high in reader.array(lambda r: (r.int16(), r.int16(), r.int16()))}
    reader.done()
    return error, apis


def read_produce(reader):
    reader.uvarint()
    reader.compact_string()
    reader.uvarint()
    reader.int32()
    return reader.int16(), reader.int64()


def read_fetch_session(reader):
    reader.int32()
    error, session, found = reader.int16(), reader.int32(), {}

    def partition(topic):
        index, code, end = reader.int32(), reader.int16(), reader.int64()
        reader.int64()
        reader.int64()
        reader.compact_array(lambda r: (r.int64(), r.int64(), r.tags()))
        reader.int32()
        found[topic, index] = code, end, reader.compact_bytes() or b""
        for _ in range(reader.uvarint()):
            reader.uvarint()
            reader.compact_bytes_tag()

    for _ in range(reader.uvarint() - 1):
        topic = reader.compact_string()
        for _ in range(reader.uvarint() - 1):
            partition(topic)
        reader.tags()
    reader.tags()
    reader.done()
    return error, session, found


def read_fetch(reader):
    reader.int32()
    error = reader.int16()
    reader.int32()
    if error or reader.uvarint() == 1:
        return error, -1, b""
    reader.compact_string()
    reader.uvarint()
    reader.int32()
    error, high_watermark = reader.int16(), reader.int64()
    reader.int64()
    reader.int64()
    reader.compact_array(lambda r: (r.int64(), r.int64(), r.tags()))
    reader.int32()
    return error, high_watermark, reader.compact_bytes() or b""
