"""braidctl consume: records as other clients wrote them."""

import base64
import json
import threading

import confluent_kafka
import kafka_raw
from harness import equal, free_port, wait_until

BEGIN_MS = 1_700_000_000_000


def consume(t, broker, *arguments):
    return t.ctl(broker, "consume", "--bootstrap", broker.bootstrap, *arguments)


def documents(output):
    return [json.loads(line) for line in output.splitlines()]


def write(broker, topic, count):
    out = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 20})
    for i in range(count):
        out.produce(topic, f"value {i}".encode(), f"k{i}".encode(), 0, timestamp=BEGIN_MS + i)
    equal(out.flush(60), 0)


def test_every_codec(t):
    broker = t.own_broker()
    topic = t.topic(broker)
    # librdkafka does not use lz4 with a broker that has no groups yet; Java uses all, and checks what it reads back.
    t.java("Codecs.java", broker.bootstrap, topic)
    code, out, err = consume(t, broker, topic, "-o", "json")
    equal((code, err), (0, ""))
    found = documents(out)
    equal([(one["topic"], one["partition"], one["offset"], one["timestamp"]) for one in found],
          [(topic, 0, i, BEGIN_MS + i) for i in range(1000)])
    for number, codec in enumerate(["none", "gzip", "snappy", "lz4", "zstd"]):
        for i in range(200):
            one = found[number * 200 + i]
            equal(one["key"], None if i % 3 == 0 else f"{codec} {i}")
            equal(one["headers"], [{"key": "codec", "value": codec}, {"key": "empty", "value": None}])
            if i % 10 == 9:
                equal(one["value"], None)
                continue
            value = base64.b64decode(one["valueBase64"]) if "valueBase64" in one else one["value"].encode()
            equal(value[:len(value) // 2], b"x" * (len(value) // 2))
            equal(len(value) if i % 25 == 24 else 40_000, 40_000)


def test_where_to_begin_and_to_end(t):
    broker = t.own_broker()
    topic = t.topic(broker, 2)
    write(broker, topic, 10)

    def offsets(*arguments):
        code, out, err = consume(t, broker, *arguments, "-o", "json")
        equal(code, 0, err)
        return [one["offset"] for one in documents(out)]

    equal(offsets(topic), list(range(10)))
    equal(offsets(topic + ":0", "--from", 7), [7, 8, 9])
    equal(offsets(topic + ":0", "--from", 10), [])
    equal(offsets(topic, "--from", "2023-11-14T22:13:20.004Z"), [4, 5, 6, 7, 8, 9])
    equal(offsets(topic, "--from", "latest"), [])
    equal(offsets(topic, "--from", "1m"), [], "the records are older")
    equal(offsets(topic, "--max", 3), [0, 1, 2])
    equal(offsets(topic + ":1"), [])
    code, out, err = consume(t, broker, topic + ":0", "--from", 11)
    equal((code, out), (1, ""))
    assert "has offsets 0 up to 10, and not 11" in err, err


def test_text_is_safe_for_terminals_and_json_keeps_bytes(t):
    broker = t.own_broker()
    topic = t.topic(broker)
    with broker.connect() as c:
        c.produce(topic, kafka_raw.record_batch([b"plain", b"\x1b[2Jgone", b"\xff\x00"], timestamp=BEGIN_MS))
    code, out, err = consume(t, broker, topic)
    equal((code, err), (0, ""))
    equal(out.splitlines(), ["0:0  2023-11-14T22:13:20.000Z  null  plain", "0:1  2023-11-14T22:13:20.000Z  null  \\x1b[2Jgone",
                             "0:2  2023-11-14T22:13:20.000Z  null  \\xff\\x00"])
    found = documents(consume(t, broker, topic, "-o", "json")[1])
    equal(found[1]["value"], "\x1b[2Jgone")
    equal(base64.b64decode(found[2]["valueBase64"]), b"\xff\x00")


def test_follow_sees_what_comes(t):
    broker = t.own_broker()
    topic = t.topic(broker)
    heard = []
    follower = threading.Thread(target=lambda: heard.append(
        consume(t, broker, topic, "--from", "latest", "--follow", "--max", 3, "-o", "json")))
    follower.start()
    with broker.connect() as c:
        # Until it has seen three: what came before it had begun is not its own.
        wait_until(lambda: c.produce(topic, kafka_raw.record_batch([b"news"]))[0] == 0 and not follower.is_alive(),
                   "three records to be followed")
    follower.join()
    code, out, err = heard[0]
    equal(code, 0, err)
    offsets = [one["offset"] for one in documents(out)]
    equal(offsets, list(range(offsets[0], offsets[0] + 3)), "none left out")


def test_errors(t):
    broker = t.own_broker()
    topic = t.topic(broker, 2)
    for arguments, words in (((topic + "-missing",), "UNKNOWN_TOPIC_OR_PARTITION"), ((topic + ":2",), "no partition 2")):
        code, out, err = consume(t, broker, *arguments)
        equal((code, out), (1, ""))
        assert words in err and err.startswith("braidctl: "), err
    for wrong in ((topic + ":x",), (topic, "--from", "yesterday"), (topic, "--max", "-1"), ()):
        equal(consume(t, broker, *wrong)[0], 2, str(wrong))
    code, _, err = t.ctl(broker, "consume", topic, "--bootstrap", f"127.0.0.1:{free_port()}")
    equal(code, 1)
    assert "not reachable" in err, err
