"""The HTTP API on 9644 against the real process: every route, its errors, and what the broker does then."""

import concurrent.futures
import http.client
import json
import os
import socket
import time

import kafka_raw
from harness import equal, free_port, wait_until


def test_cluster(t):
    broker = t.admin_broker(broker_id=2, braid_broker_id_offset=1000)
    status, cluster = broker.api("GET", "/v1/cluster")
    equal(status, 200)
    equal(cluster["brokerId"], 1002)
    equal(cluster["controllerId"], 1002)
    equal(len(cluster["clusterId"]), 22)
    equal([(b["id"], b["alive"], b["draining"]) for b in cluster["brokers"]], [(1002, True, False)])
    equal(cluster["brokers"][0]["listeners"],
          [{"name": "PLAINTEXT", "host": broker.address[0], "port": broker.address[1]}])
    equal([(b["id"], b["leader"], b["replicas"]) for b in cluster["braids"]], [(0, 1002, [1002])])
    with broker.connect() as c:
        equal(c.brokers(), [(1002, *broker.address)])


def test_topics_from_birth_to_end(t):
    broker = t.admin_broker()
    status, made = broker.api("POST", "/v1/topics", {"name": "orders", "partitions": 3,
                                                     "configs": {"max.message.bytes": "2000"}})
    equal(status, 201, made)
    equal((made["name"], made["partitions"], made["replicationFactor"], made["configs"]),
          ("orders", 3, 1, {"max.message.bytes": "2000"}))
    equal(broker.api("GET", "/v1/topics/orders"), (200, made))
    with broker.connect() as c:  # answered when it can be used
        equal(c.produce("orders", kafka_raw.record_batch([b"x"]), partition=2), (0, 0))

    status, error = broker.api("POST", "/v1/topics", {"name": "orders"})
    equal((status, error["error"]), (409, "TOPIC_ALREADY_EXISTS"))

    status, grown = broker.api("PATCH", "/v1/topics/orders", {"id": made["id"], "partitions": 5, "configs": {
        "max.message.bytes": None, "message.timestamp.type": "LogAppendTime"}})
    equal(status, 200, grown)
    equal((grown["partitions"], grown["configs"]), (5, {"message.timestamp.type": "LogAppendTime"}))
    assert grown["changedIndex"] > grown["createdIndex"] == made["createdIndex"]
    with broker.connect() as c:
        equal(c.produce("orders", kafka_raw.record_batch([b"x"]), partition=4), (0, 0))

    other = "A" * 22
    for status, error in (broker.api("PATCH", "/v1/topics/orders", {"id": other, "partitions": 9}),
                          broker.api("DELETE", f"/v1/topics/orders?id={other}")):
        equal((status, error["error"]), (409, "UNKNOWN_TOPIC_ID"))
    equal(broker.api("DELETE", f"/v1/topics/orders?id={made['id']}"), (204, None))
    equal(broker.api("GET", "/v1/topics/orders")[1]["error"], "UNKNOWN_TOPIC_OR_PARTITION")
    equal(broker.api("DELETE", "/v1/topics/orders")[0], 404)
    equal(broker.api("PATCH", "/v1/topics/orders", {"partitions": 9})[0], 404)
    status, again = broker.api("POST", "/v1/topics", {"name": "orders"})
    equal(status, 201)
    assert again["id"] != made["id"]


def test_topics_that_cannot_be(t):
    broker = t.admin_broker()
    equal(broker.api("POST", "/v1/topics", {"name": "small", "partitions": 3})[0], 201)
    cases = [
        ("POST", "/v1/topics", {"name": "a/b"}, 422, "INVALID_TOPIC_EXCEPTION"),
        ("POST", "/v1/topics", {"name": "a", "partitions": 0}, 422, "INVALID_PARTITIONS"),
        ("POST", "/v1/topics", {"name": "a", "replicationFactor": 3}, 422, "INVALID_REPLICATION_FACTOR"),
        ("POST", "/v1/topics", {"name": "a", "configs": {"max.mesage.bytes": "1"}}, 422, "INVALID_CONFIG"),
        ("POST", "/v1/topics", {"name": "a", "configs": {"max.message.bytes": "x"}}, 422, "INVALID_CONFIG"),
        ("PATCH", "/v1/topics/small", {"partitions": 2}, 422, "INVALID_PARTITIONS"),
        ("PATCH", "/v1/topics/small", {"configs": {"nonsense": "1"}}, 422, "INVALID_CONFIG"),
        ("PATCH", "/v1/topics/small", {"id": "no id"}, 400, "INVALID_REQUEST"),
    ]
    for method, path, body, status, name in cases:
        for validate_only in (False, True):
            found, error = broker.api(method, path, {**body, "validateOnly": validate_only})
            equal((found, error["error"]), (status, name), f"{method} {path} {body} {error}")
            assert len(error["message"]) > 10, error
    status, only_checked = broker.api("POST", "/v1/topics", {"name": "a", "validateOnly": True})
    equal((status, only_checked["name"]), (200, "a"))
    equal([one["name"] for one in broker.api("GET", "/v1/topics")[1]["topics"]], ["small"])


def test_topics_come_in_pages(t):
    broker = t.admin_broker()
    names = sorted(f"topic-{i}" for i in range(7))
    for name in names:
        equal(broker.api("POST", "/v1/topics", {"name": name})[0], 201)
    seen, after = [], ""
    for _ in range(10):
        status, page = broker.api("GET", f"/v1/topics?limit=3&after={after}")
        equal(status, 200)
        assert len(page["topics"]) <= 3
        seen += [one["name"] for one in page["topics"]]
        after = page.get("next")
        if after is None:
            break
    equal(seen, names)


def test_changes_need_the_secret(t):
    broker = t.admin_broker()
    changes = [("POST", "/v1/topics", {"name": "a"}), ("PATCH", "/v1/topics/a", {}), ("DELETE", "/v1/topics/a", None),
               ("POST", "/v1/drain", {}), ("PUT", "/v1/listeners/PLAINTEXT", {"host": "h", "port": 1})]
    for method, path, body in changes:
        for secret in (None, "x", "s" * 39, "s" * 41):
            status, text = broker.http(path, method, body, secret)
            equal((status, json.loads(text)["error"]), (401, "CLUSTER_AUTHORIZATION_FAILED"))
            assert broker.secret not in text
    broker.secret_file.write_text("t" * 40 + "\n" + broker.secret + "\n")  # rotated while it runs
    equal(broker.http("/v1/topics", "POST", {"name": "a"}, "t" * 40)[0], 201)
    equal(broker.http("/v1/topics", "POST", {"name": "b"}, broker.secret)[0], 201)
    open_broker = t.broker()
    status, text = open_broker.http("/v1/topics", "POST", {"name": "a"}, "s" * 40)
    equal(status, 403)
    assert "braid.secret.file" in text


def test_a_start_with_an_unusable_secret_file_is_refused(t):
    short = t.folder / "short"
    short.write_text("short\n")
    for path in (short, t.folder / "absent"):
        broker = t.broker(start=False, braid_secret_file=path)
        broker.spawn()
        equal(broker.wait_exit(), 1, broker.output())
        assert f"braid.secret.file: {path}" in broker.output(), broker.output()


def test_drain(t):
    broker = t.admin_broker()
    equal(broker.api("GET", "/v1/drain"), (200, {"draining": False, "lastBroker": True, "leaderships": 0}))
    began = time.monotonic()
    equal(broker.api("POST", "/v1/drain", {"timeoutMs": 120_000}),
          (200, {"draining": True, "lastBroker": True, "leaderships": 0}))
    assert time.monotonic() - began < 15, "the last broker has nothing to wait for"
    status, text = broker.http("/readyz")
    equal((status, json.loads(text)["reasons"]), (503, ["the broker drains"]))
    equal(broker.http("/livez")[0], 200)
    equal(broker.api("GET", "/v1/cluster")[1]["brokers"][0]["draining"], True)
    topic = t.topic(broker)
    with broker.connect() as c:  # it still serves what it leads
        equal(c.produce(topic, kafka_raw.record_batch([b"x"])), (0, 0))
    equal(broker.terminate(), 0)
    broker.start()
    equal(broker.http("/readyz")[0], 200)
    equal(broker.api("GET", "/v1/drain")[1]["draining"], False)
    equal(broker.api("GET", "/v1/cluster")[1]["brokers"][0]["draining"], False)


def connects(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def pushed_broker(t, out):
    return t.broker(start=False, listeners=f"PLAINTEXT://127.0.0.1:{free_port()},OUT://127.0.0.1:{out}",
                    braid_advertised_pushed="OUT", admin_listener=f"127.0.0.1:{free_port()}",
                    braid_secret_file=write_secret(t))


def write_secret(t):
    path = t.folder / "secrets"
    path.write_text("s" * 40)
    return path


def until_ready(broker):
    broker.admin = ("127.0.0.1", int(str(broker.settings["admin.listener"]).rsplit(":", 1)[1]))

    def answers():
        try:
            return broker.http("/readyz")
        except OSError:
            return None
    return wait_until(answers, "the admin port")


def test_a_pushed_listener_opens_when_its_address_is_told(t):
    out = free_port()
    broker = pushed_broker(t, out)
    broker.spawn()
    until_ready(broker)
    def only_the_listener():
        reasons = json.loads(broker.http("/readyz")[1]).get("reasons", [])
        return len(reasons) == 1 and "listener OUT is closed" in reasons[0] and "/v1/listeners/OUT" in reasons[0]
    wait_until(only_the_listener, "the one reason that is left")
    assert not connects(out), "the listener is open before its address is known"

    secret = "s" * 40
    cases = [("NOPE", {"host": "h", "port": 1}, 404), ("PLAINTEXT", {"host": "h", "port": 1}, 409),
             ("OUT", {"host": "", "port": 1}, 400), ("OUT", {"host": "0.0.0.0", "port": 1}, 400),
             ("OUT", {"host": "a b", "port": 1}, 400), ("OUT", {"host": "h", "port": 0}, 400)]
    for name, body, status in cases:
        found, text = broker.http(f"/v1/listeners/{name}", "PUT", body, secret)
        equal(found, status, f"{name} {body} {text}")
    assert not connects(out)

    def push(host, port):
        status, text = broker.http("/v1/listeners/OUT", "PUT", {"host": host, "port": port}, secret)
        equal((status, json.loads(text)), (200, {"name": "OUT", "host": host, "port": port}))

    def told():
        with kafka_raw.Connection(("127.0.0.1", out)) as c:
            return c.brokers()

    push("node-1.example", 30092)
    wait_until(lambda: broker.http("/readyz")[0] == 200, "ready")
    equal(told(), [(0, "node-1.example", 30092)])
    index = json.loads(broker.http("/v1/cluster")[1])["metadataIndex"]
    push("node-1.example", 30092)
    equal(json.loads(broker.http("/v1/cluster")[1])["metadataIndex"], index, "the same address again is no change")
    push("node-2.example", 30093)
    equal(told(), [(0, "node-2.example", 30093)])
    with kafka_raw.Connection(("127.0.0.1", int(broker.settings["listeners"].split(",")[0].rsplit(":", 1)[1]))) as c:
        equal(c.brokers()[0][1], "127.0.0.1", "the other listener has its own address")

    broker.process.kill()
    broker.process.wait()
    broker.spawn()  # known at once after a crash
    until_ready(broker)
    wait_until(lambda: broker.http("/readyz")[0] == 200, "ready")
    equal(told(), [(0, "node-2.example", 30093)])
    equal(broker.terminate(), 0)


def test_an_occupied_port_of_a_pushed_listener_ends_the_start(t):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        broker = pushed_broker(t, holder.getsockname()[1])
        broker.spawn()
        equal(broker.wait_exit(), 1, broker.output())
        assert "listener OUT" in broker.output(), broker.output()


def test_sigterm_before_a_pushed_listener_is_told(t):
    broker = pushed_broker(t, free_port())
    broker.spawn()
    until_ready(broker)
    equal(broker.terminate(), 0, broker.output())


def test_sigterm_while_draining(t):
    broker = t.admin_broker()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        def ask():
            try:
                return broker.api("POST", "/v1/drain", {"timeoutMs": 60_000})[0]
            except OSError:
                return None  # the broker was faster
        asked = [pool.submit(ask) for _ in range(8)]
        broker.process.send_signal(15)
        began = time.monotonic()
        equal(broker.wait_exit(40), 0, broker.output())
        assert time.monotonic() - began < 30
        answers = {one.result() for one in asked}
    assert answers <= {200, 503, 504, None}, answers


def test_probes_answer_beside_silent_connections(t):
    broker = t.broker()
    silent = []
    try:
        for i in range(40):
            s = socket.create_connection(broker.admin)
            if i % 2:
                s.sendall(b"GET /readyz HTT")
            silent.append(s)
        began = time.monotonic()
        equal(broker.http("/readyz")[0], 200)
        assert time.monotonic() - began < 2.5, "with one thread a connection, this would take many seconds"
    finally:
        for s in silent:
            s.close()


def test_ranges_repeat_nothing(t):
    """A header of 8 KiB could ask for the whole answer 4,000 times."""
    broker = t.broker()
    host, port = broker.admin
    connection = http.client.HTTPConnection(host, port, timeout=20)
    connection.request("GET", "/metrics", headers={"Range": "bytes=" + ",".join(["-"] * 2000)})
    answer = connection.getresponse()
    equal(answer.status, 200)
    assert len(answer.read()) < 1 << 20
    connection.close()


def test_requests_are_counted(t):
    broker = t.admin_broker()
    broker.api("GET", "/v1/topics/absent")
    broker.api("POST", "/v1/topics", {"name": "a"})
    text = broker.http("/metrics")[1]
    for line in ('braidmq_http_requests_total{method="GET",route="/v1/topics/{name}",status="404"} 1',
                 'braidmq_http_requests_total{method="POST",route="/v1/topics",status="201"} 1'):
        assert line in text, text
    assert "absent" not in text, "a name of a client's has become a label"


def test_existing_refuses_empty_folders_and_opens_full_ones(t):
    broker = t.broker(start=False, braid_bootstrap="existing")
    broker.spawn()
    equal(broker.wait_exit(), 1)
    said = broker.output()
    for words in (str(broker.folder / "data"), str(broker.folder / "wal"), "braid.bootstrap is existing", "attach"):
        assert words in said, said
    assert not os.path.exists(broker.folder / "data"), "the refused start made a folder"
    broker.settings["braid.bootstrap"] = "initial"
    broker.start()
    cluster = json.loads(broker.http("/v1/cluster")[1])["clusterId"]
    equal(broker.terminate(), 0)
    broker.settings["braid.bootstrap"] = "existing"
    broker.start()
    equal(json.loads(broker.http("/v1/cluster")[1])["clusterId"], cluster)


def test_folder_of_another_cluster(t):
    first, second = "A" * 21 + "Q", "A" * 21 + "g"
    broker = t.broker(cluster_id=first)
    equal(json.loads(broker.http("/v1/cluster")[1])["clusterId"], first)
    equal(broker.terminate(), 0)
    broker.settings["cluster.id"] = second
    broker.spawn()
    assert broker.wait_exit() != 0
    assert f"belongs to cluster {first}, but cluster.id is {second}" in broker.output(), broker.output()
