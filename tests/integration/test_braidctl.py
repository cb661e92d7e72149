"""braidctl against the real process: what it prints, how it ends."""

import json
import time

from harness import equal, free_port


def test_topics_and_cluster(t):
    broker = t.admin_broker()
    code, out, err = t.ctl(broker, "topics", "create", "orders", "--partitions", 3, "--config", "max.message.bytes=2000")
    equal(code, 0, err)
    assert out.splitlines()[0].split() == ["NAME", "PARTITIONS", "REPLICATION", "ID", "CONFIGS"], out
    assert out.splitlines()[1].split()[:3] == ["orders", "3", "1"], out
    code, out, err = t.ctl(broker, "topics", "get", "orders", "-o", "json")
    equal(code, 0, err)
    topic = json.loads(out)
    equal((topic["partitions"], topic["configs"]), (3, {"max.message.bytes": "2000"}))
    code, out, err = t.ctl(broker, "topics", "alter", "orders", "--id", topic["id"], "--partitions", 4, "--unset",
                           "max.message.bytes", "-o", "json")
    equal(code, 0, err)
    equal((json.loads(out)["partitions"], json.loads(out)["configs"]), (4, {}))
    equal([one["name"] for one in json.loads(t.ctl(broker, "-o", "json", "topics", "list")[1])], ["orders"])
    code, out, err = t.ctl(broker, "topics", "delete", "orders")
    equal((code, out), (0, "topic orders is deleted\n"), err)
    equal(json.loads(t.ctl(broker, "topics", "list", "-o", "json")[1]), [])
    code, out, err = t.ctl(broker, "cluster")
    equal(code, 0, err)
    assert f"PLAINTEXT://{broker.bootstrap}" in out and "BRAID" in out, out
    equal(json.loads(t.ctl(broker, "cluster", "-o", "json")[1])["brokerId"], 0)


def test_exit_codes(t):
    broker = t.admin_broker()
    code, out, err = t.ctl(broker, "topics", "get", "absent")
    equal((code, out), (1, ""))
    assert err.startswith("braidctl: ") and "absent" in err and err.count("\n") == 1, err
    code, _, err = t.ctl(broker, "topics", "alter", "absent", "--partitions", 2)
    equal(code, 1, err)
    for wrong in (["topics"], ["nonsense"], [], ["topics", "create"], ["topics", "create", "a", "--config", "x"],
                  ["topics", "alter", "a"], ["cluster", "-o", "xml"], ["drain", "--timeout", "soon"],
                  ["topics", "create", "a", "--partitions", "many"]):
        code, _, err = t.ctl(broker, *wrong)
        equal(code, 2, f"{wrong}: {err}")
        assert err, wrong
    equal(t.ctl(broker, "--version")[0], 0)
    equal(t.ctl(broker, "--help")[0], 0)
    broker.secret_file.write_text("w" * 40)
    broker_secret, broker.secret_file = broker.secret_file, t.folder / "other"
    broker.secret_file.write_text("o" * 40)
    code, _, err = t.ctl(broker, "topics", "create", "a")
    equal(code, 1)
    assert "not authorized" in err, err
    broker.secret_file = t.folder / "absent"
    code, _, err = t.ctl(broker, "topics", "create", "a")
    equal(code, 1)
    assert "absent" in err, err
    broker.secret_file = broker_secret
    broker.admin = ("127.0.0.1", free_port())
    code, _, err = t.ctl(broker, "cluster")
    equal(code, 1)
    assert "not reachable" in err, err


def test_drain(t):
    broker = t.admin_broker()
    began = time.monotonic()
    code, out, err = t.ctl(broker, "drain", "--timeout", "120s")
    equal(code, 0, err)
    assert "last broker" in out, out
    assert time.monotonic() - began < 20
    equal(broker.api("GET", "/v1/drain")[1]["draining"], True)
    broker.secret_file.write_text("w" * 40)
    broker.secret_file = t.folder / "wrong"
    broker.secret_file.write_text("x" * 40)
    code, out, _ = t.ctl(broker, "drain", "--timeout", "120s")
    equal(code, 0)
    assert "not authorized" in out, out
    equal(broker.terminate(), 0)
    code, out, _ = t.ctl(broker, "drain", "--timeout", "120s")
    equal((code, out), (0, "drain: nobody answers on the admin port: nothing to drain\n"))


def test_check_config(t):
    broker = t.broker(start=False)
    path = broker.write_config()
    broker.admin = ("127.0.0.1", 1)
    code, out, err = t.ctl(broker, "check-config", path)
    equal((code, err), (0, ""))
    path.write_text("data.dir: /d\nnum.partitons: 3\n")
    code, out, err = t.ctl(broker, "check-config", path)
    equal((code, out), (1, ""))
    assert f"{path}:2:1: there is no key \"num.partitons\"; did you mean \"num.partitions\"?" in err, err
    equal(t.ctl(broker, "check-config", t.folder / "absent.yaml")[0], 1)


def test_wal_dump_of_the_folder_above_names_the_logs(t):
    broker = t.admin_broker()
    t.topic(broker)
    equal(broker.terminate(), 0)
    folder = broker.folder / "wal"
    code, out, err = t.ctl(broker, "wal", "dump", folder)
    equal((code, out), (1, ""))
    assert f"{folder} holds no WAL itself, but there is one in {folder}/braid, {folder}/metadata" in err, err
    for log in ("braid", "metadata"):
        code, out, err = t.ctl(broker, "wal", "dump", folder / log)
        equal((code, err), (0, ""))
        assert "entries 1 to" in out, out
    code, _, err = t.ctl(broker, "wal", "dump", broker.folder / "data")
    equal(code, 1)
    assert "data holds no WAL:" in err and "but there is one" not in err, err
    equal(t.ctl(broker, "wal", "dump", broker.folder / "absent")[0], 1)
