"""Segment files of a stopped broker: as braidctl shows them, and as Kafka's own tool reads them."""

import json
import re

import confluent_kafka
import kafka_raw
from harness import equal

CODECS = ["none", "gzip", "snappy", "zstd"]  # librdkafka uses lz4 only with a broker that has groups
RECORDS = 300


def stopped_broker(t):
    """The .log files of one partition, with several segments and every codec, in order."""
    broker = t.broker(log_segment_bytes=1 << 20, log_index_interval_bytes=512)
    topic = t.topic(broker)
    for number, codec in enumerate(CODECS):
        out = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "compression.type": codec, "linger.ms": 5,
                                        "enable.idempotence": True, "batch.num.messages": 10, "log_level": 0})
        for i in range(RECORDS):
            # Hard to compress, so that segments fill.
            out.produce(topic, kafka_raw.crc32c(b"%d %d" % (number, i)).to_bytes(4, "big").hex().encode() * 300, b"k%d" % i, 0)
        equal(out.flush(60), 0)
    with broker.connect() as c:
        for i in range(3000 if len(list_logs(broker)) < 2 else 1):
            c.produce(topic, kafka_raw.record_batch([b"x" * 1000]))
            if i % 100 == 0 and len(list_logs(broker)) > 1:
                break
        end = c.fetch(topic, 0)[1]
    equal(broker.terminate(), 0)
    logs = list_logs(broker)
    assert len(logs) > 1, "one segment only"
    return broker, logs, end


def list_logs(broker):
    return sorted((broker.folder / "data").rglob("*.log"))


def test_every_batch_is_shown(t):
    broker, logs, end = stopped_broker(t)
    code, out, err = t.ctl(broker, "log", "dump", *logs, "-o", "json")
    equal((code, err), (0, ""))
    lines = [json.loads(line) for line in out.splitlines()]
    batches = [line for line in lines if "baseOffset" in line]
    expected = 0
    for batch in batches:
        equal(batch["baseOffset"], expected)
        equal(batch["lastOffset"] - batch["baseOffset"] + 1, batch["count"])
        assert batch["crcMatches"] and batch["leaderEpoch"] >= 0, batch
        expected = batch["lastOffset"] + 1
    equal(expected, end)
    equal({batch["codec"] for batch in batches}, set(CODECS))
    assert sum(1 for batch in batches if batch["producerId"] >= 0) > 4
    ends = [line for line in lines if "indexEntries" in line]
    equal(len(ends), len(logs))
    assert all(line["indexEntries"] == line["timeIndexEntries"] > 0 for line in ends[:-1]), ends
    code, out, err = t.ctl(broker, "log", "dump", logs[0])
    equal((code, err), (0, ""))
    assert re.search(r"^  byte +0  offsets 0 to \d+, \d+ records, times 20\S+Z to 20\S+Z, none, \d+ bytes", out, re.M), out[:500]


def test_damage_is_named(t):
    broker, logs, _ = stopped_broker(t)
    data = bytearray(logs[0].read_bytes())
    first = 12 + int.from_bytes(data[8:12], "big")
    data[first + 100] ^= 1
    logs[0].write_bytes(data)
    code, out, err = t.ctl(broker, "log", "dump", logs[0])
    equal(code, 1)
    assert f"{logs[0]} at byte {first}: the CRC of the batch does not match" in err, err
    assert out.count("CRC WRONG") == 1, out
    logs[0].write_bytes(data[:first + 30])
    code, _, err = t.ctl(broker, "log", "dump", logs[0])
    equal(code, 1)
    assert f"at byte {first}: the file ends inside the header of a batch" in err, err
    equal(t.ctl(broker, "log", "dump", logs[0].with_name("absent.log"))[0], 1)
    equal(t.ctl(broker, "log", "dump")[0], 2)


def test_kafkas_own_tool_reads_them(t):
    _, logs, end = stopped_broker(t)
    said = t.java_class("org.apache.kafka.tools.DumpLogSegments", "--deep-iteration", "--files", ",".join(map(str, logs)))
    batches = [(int(base), int(last)) for base, last in re.findall(r"^baseOffset: (\d+) lastOffset: (\d+) count: \d+ .* isvalid: true$",
                                                                   said, re.M)]
    equal(batches[0][0], 0)
    equal([base for base, _ in batches[1:]] + [end], [last + 1 for _, last in batches])
    assert "isvalid: false" not in said and "non-consecutive" not in said.lower(), said[-2000:]
    assert len(re.findall(r"^\| offset: ", said, re.M)) == end, "not every record"
