"""Stands between a client and a broker: sees each Produce request, can hold them, and can spoil one slice on its way.

So real clients can be put into situations that they would not make themselves: five requests that are certainly in flight
at the same time, a batch whose bytes were damaged, a producer whose epoch is no longer the right one. All that is not a
Produce request passes unchanged.
"""

import collections
import re
import socket
import struct
import threading

import kafka_raw
from harness import wait_until

PRODUCE, INIT_PRODUCER_ID = 0, 22
FIRST_FLEXIBLE, FIRST_WITH_IDS = 9, 13
NAME = re.compile(rb"@([\w-]+)@")

# One slice: where it goes (a name, or an id of 16 bytes), the names of the sets whose records it has, and its place in the
# frame: `at` the length of its records, `start` and `end` the records.
Slice = collections.namedtuple("Slice", "topic partition names at start end")


class _Reader(kafka_raw.Reader):
    def string(self):
        size = self._unpack(">h", 2)
        return None if size < 0 else self.take(size).decode()

    def bytes32(self):
        size = self.int32()
        return None if size < 0 else self.take(size)


def read_produce(frame):
    """(version, [Slice])"""
    reader = _Reader(frame)
    reader.int16()
    version = reader.int16()
    flexible = version >= FIRST_FLEXIBLE
    reader.int32()
    reader.string()
    if flexible:
        reader.tags()
        reader.compact_string()
    else:
        reader.string()
    reader.int16()
    reader.int32()
    slices = []
    count = (lambda: reader.uvarint() - 1) if flexible else reader.int32
    for _ in range(count()):
        if version >= FIRST_WITH_IDS:
            topic = reader.take(16)
        else:
            topic = reader.compact_string() if flexible else reader.string()
        for _ in range(count()):
            partition, at = reader.int32(), reader.at
            records = reader.compact_bytes() if flexible else reader.bytes32()
            names = [name.decode() for name in NAME.findall(records or b"")]
            slices.append(Slice(topic, partition, names, at, reader.at - len(records or b""), reader.at))
            if flexible:
                reader.tags()
        if flexible:
            reader.tags()
    if flexible:
        reader.tags()
    reader.done()
    return version, slices


def _sealed(change):
    """A change of a batch that its CRC goes along with."""
    def spoil(frame, one, version):
        batch = bytearray(frame[one.start:one.end])
        change(batch)
        struct.pack_into(">I", batch, 17, kafka_raw.crc32c(batch[21:]))
        return frame[:one.start] + bytes(batch) + frame[one.end:]
    return spoil


def _add(form, at, by):
    def change(batch):
        struct.pack_into(form, batch, at, struct.unpack_from(form, batch, at)[0] + by)
    return _sealed(change)


def _set_bits(bits):
    def change(batch):
        batch[22] |= bits
    return _sealed(change)


def break_crc(frame, one, version):
    return frame[:one.end - 1] + bytes([frame[one.end - 1] ^ 1]) + frame[one.end:]


def take_records(frame, one, version):
    none = b"\0" if version >= FIRST_FLEXIBLE else b"\xff\xff\xff\xff"
    return frame[:one.at] + none + frame[one.end:]


set_codec_5 = _set_bits(5)
make_transactional = _set_bits(0x10)
leave_a_gap = _add(">i", 53, 7)
age_epoch = _add(">h", 51, -1)


class ProduceProxy:
    """Its address is there before it knows the broker's, so that the broker can tell it to clients as its own.

    Its public members may be used from any thread."""

    FIRST_EPOCH = 3  # that a client gets with a producer id, so that there is an older one

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = self.listener.getsockname()
        self.broker = None
        self.requests = []  # [[Slice]] of each Produce request that went to the broker
        self.lock = threading.RLock()
        self.holding = False
        self.held = []  # functions that send on
        self.spoil = None  # (name of a set, topic or its id, function)
        self.sockets = []
        self.threads = [threading.Thread(target=self._accept, daemon=True)]
        self.threads[0].start()

    @property
    def bootstrap(self):
        return f"{self.address[0]}:{self.address[1]}"

    def hold(self):
        """From now on Produce requests wait here."""
        with self.lock:
            self.holding = True

    def await_held(self, count, what, check=None):
        wait_until(lambda: len(self.held) >= count, f"{count} requests held: {what}", check=check)

    def release(self, keep_holding=False):
        """Sends on what waits; with `keep_holding` later ones wait."""
        with self.lock:
            self.holding = keep_holding
            held, self.held = self.held, []
            for send in held:
                send()

    def close(self):
        self.listener.close()
        with self.lock:
            for one in self.sockets:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it is closed already
                one.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self.broker)
            except OSError:
                client.close()
                continue
            asked = {}  # correlation id -> version, of InitProducerId
            with self.lock:
                self.sockets += [client, server]
            for target, source, sink in ((self._requests, client, server), (self._answers, server, client)):
                thread = threading.Thread(target=target, args=(source, sink, asked), daemon=True)
                self.threads.append(thread)
                thread.start()

    @staticmethod
    def _frames(source):
        """Whole frames, until the end."""
        stream = source.makefile("rb")
        while True:
            size = stream.read(4)
            if len(size) < 4:
                return
            frame = stream.read(struct.unpack(">i", size)[0])
            yield frame

    @staticmethod
    def _send(sink, frame):
        try:
            sink.sendall(struct.pack(">i", len(frame)) + frame)
        except OSError:
            pass  # its reader sees the end

    def _run(self, source, sink, step):
        try:
            for frame in self._frames(source):
                step(frame)
        except OSError:
            pass
        finally:
            for one in (source, sink):
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _requests(self, source, sink, asked):
        def step(frame):
            key, version, correlation = struct.unpack_from(">hhi", frame)
            if key == INIT_PRODUCER_ID:
                asked[correlation] = version
            if key != PRODUCE:
                self._send(sink, frame)
                return
            with self.lock:
                frame = self._produce(frame)
                if self.holding:
                    self.held.append(lambda: self._send(sink, frame))
                else:
                    self._send(sink, frame)

        self._run(source, sink, step)

    def _produce(self, frame):
        version, slices = read_produce(frame)
        self.requests.append(slices)
        if self.spoil:
            name, topic, function = self.spoil
            for one in slices:
                if name in one.names and one.topic in topic:
                    self.spoil = None
                    return function(frame, one, version)
        return frame

    def _answers(self, source, sink, asked):
        def step(frame):
            correlation, = struct.unpack_from(">i", frame)
            version = asked.pop(correlation, None)
            if version is not None:
                # After the header, with an empty section of tags from version 2 on: throttle time, error, id; then the epoch.
                at = 4 + (1 if version >= 2 else 0) + 4 + 2 + 8
                frame = bytearray(frame)
                if struct.unpack_from(">h", frame, at)[0] == 0:
                    struct.pack_into(">h", frame, at, self.FIRST_EPOCH)
                frame = bytes(frame)
            self._send(sink, frame)

        self._run(source, sink, step)
