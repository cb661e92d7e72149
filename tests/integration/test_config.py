"""A start that cannot work: exit code 1, words that help, nothing changed on disk."""

import hashlib
import os
import re
import shutil
import socket

import kafka_raw
from harness import equal, free_port, wait_until

NOBODY = 65534


def snapshot(broker):
    """What the start could have changed, file by file: all but the config, the log that the test itself writes, and the locks,
    which say who looked last."""
    found = {}
    for path in sorted(broker.folder.rglob("*")):
        name = str(path.relative_to(broker.folder))
        if name not in ("broker.yaml", "log.txt", "braid-broker") and path.name != "braidmq.lock":
            kind = "folder" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()[:16]
            found[name] = kind, f"{path.lstat().st_mode:o}"
    return found


def refused(broker, *patterns, config=None, as_user=None):
    """Starts it, expects the refusal, returns what it said."""
    before = snapshot(broker)
    broker.spawn(config, as_user)
    code = broker.wait_exit(60)
    said = broker.output()
    equal(code, 1, f"exit code {code}:\n{said}")
    for pattern in patterns:
        assert re.search(pattern, said, re.I), f"no {pattern!r} in:\n{said}"
    after = snapshot(broker)
    changed = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    assert not changed, f"the refused start changed {changed} and said:\n{said}"
    return said


def refused_config(t, text, *patterns):
    broker = t.broker(start=False)
    lines = "".join(f"{key}: {value}\n" for key, value in broker.settings.items())
    refused(broker, *patterns, config=broker.write_config(lines + text))
    return len(lines.splitlines())


# Five lines come before the planted one.
PLACE = r"(:6:{0}\b|line 6,? col(umn)? {0}\b)"


def test_unknown_key(t):
    refused_config(t, "lisstenerrs: PLAINTEXT://127.0.0.1:0\n", "lisstenerrs", PLACE.format(1))


def test_duplicate_key(t):
    refused_config(t, "broker.id: 1\n", r"broker\.id", "duplicate|twice|again", PLACE.format(1))


def test_value_of_wrong_type(t):
    refused_config(t, "num.partitions: many\n", r"num\.partitions", PLACE.format("(1|17)"))  # key or value


def test_value_out_of_range(t):
    refused_config(t, "num.partitions: -3\n", r"num\.partitions", PLACE.format("(1|17)"))  # key or value


def test_broken_yaml(t):
    refused_config(t, "num.partitions: [1, 2\n", r"(:\d+:\d+|line \d+)")


def test_missing_file(t):
    broker = t.broker(start=False)
    refused(broker, "absent.yaml", config=broker.folder / "absent.yaml")


def test_bad_listener(t):
    for listener in ("127.0.0.1:9092", "PLAINTEXT://127.0.0.1:99999", "SASL_SSL://127.0.0.1:0"):
        refused(t.broker(start=False, listeners=listener), "listeners")


def test_occupied_kafka_port_names_the_holder(t):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        said = refused(t.broker(start=False, listeners=f"PLAINTEXT://127.0.0.1:{port}"), str(port))
        assert re.search(rf"\b{os.getpid()}\b", said) or re.search(r"free port|next free", said, re.I), said


def test_occupied_admin_port(t):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        refused(t.broker(start=False, admin_listener=f"127.0.0.1:{port}"), str(port))


def test_foreign_data_folder(t):
    for name in ("data", "wal"):
        broker = t.broker(start=False)
        (broker.folder / name).mkdir()
        (broker.folder / name / "holiday.jpg").write_bytes(b"not a log")
        refused(broker, re.escape(str(broker.folder / name)))


def test_data_folder_of_a_later_format(t):
    """Whatever names the format in our folder, a broker that does not know it leaves it alone."""
    broker = t.broker()
    equal(broker.terminate(), 0)
    files = [p for p in (broker.folder / "data").iterdir() if p.is_file() and "lock" not in p.name]
    assert files, "no file in data.dir says that the folder is ours"
    for file in files:
        file.write_bytes(b"\x7f" * max(16, file.stat().st_size))
    refused(broker)


def test_lost_volume(t):
    """One of the two folders is empty and the other is not: says which, and makes no new one in silence."""
    for lost in ("data", "wal"):
        broker = t.broker()
        topic = t.topic(broker)
        with broker.connect() as c:
            c.produce(topic, kafka_raw.record_batch([b"x"]))
        equal(broker.terminate(), 0)
        shutil.rmtree(broker.folder / lost)
        (broker.folder / lost).mkdir()
        refused(broker, re.escape(str(broker.folder / lost)))


def test_data_folder_in_use(t):
    first = t.broker()
    second = t.broker(start=False, data_dir=first.folder / "data", wal_dir=first.folder / "wal")
    refused(second, re.escape(str(first.folder)), rf"\b{first.pid}\b|in use|lock")
    equal(first.http("/readyz")[0], 200)


def test_folder_not_writable(t):
    if os.geteuid() != 0:
        return folder_not_writable(t, None)
    return folder_not_writable(t, NOBODY)


def folder_not_writable(t, user):
    broker = t.broker(start=False)
    # Where the build lies, another user may not get to.
    broker.program = shutil.copy(broker.program, broker.folder / "braid-broker")
    os.chmod(broker.folder, 0o755)
    for name in ("data", "wal"):
        (broker.folder / name).mkdir(mode=0o555)
    refused(broker, re.escape(str(broker.folder / "data")), "permission|writable", as_user=user)


def test_a_refused_start_can_be_mended(t):
    """The same folder starts once the config is right: nothing was left behind that stands in the way."""
    broker = t.broker(start=False)
    refused(broker, config=broker.write_config(f"listeners: PLAINTEXT://127.0.0.1:{free_port()}\nbogus: 1\n"))
    broker.start()
    wait_until(lambda: broker.http("/readyz")[0] == 200, "ready")
