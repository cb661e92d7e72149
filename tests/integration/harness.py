"""What integration tests share: a broker of their own, waits with a deadline, clients as programs.

A test is a function test_*(t) in a file test_*.py; `t` is a Test. It starts brokers with t.broker(), on ports that the
system picks and a temporary folder; whatever it started is ended and removed after it, however it went.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import kafka_raw  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
READY = re.compile(r"^braid-broker ready: kafka ([\d.]+):(\d+), admin http://([\d.]+):(\d+)$", re.M)
# A sanitized broker on a busy machine is slow; a deadline is there to end a hang, not to measure.
DEADLINE_S = 60


class Skip(Exception):
    """The test cannot run here; its text says why."""


def wait_until(condition, what, timeout=DEADLINE_S, check=None):
    """Polls until condition() is true and returns its value. `check` may raise to give up early."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if check:
            check()
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout} s: {what}")
        time.sleep(0.02)


def equal(found, expected, what=""):
    if found != expected:
        raise AssertionError(f"{what + ': ' if what else ''}found {str(found)[:2000]}, expected {str(expected)[:2000]}")


def folder_hash(folder):
    """One hash over every name, kind and content below a folder."""
    digest = hashlib.sha256()
    for path in sorted(pathlib.Path(folder).rglob("*")):
        kind = "link" if path.is_symlink() else "dir" if path.is_dir() else "file"
        digest.update(f"{kind} {path.relative_to(folder)} {path.lstat().st_mode:o}\n".encode())
        if kind == "file":
            digest.update(path.read_bytes())
    return digest.hexdigest()


started = []  # every broker, for end_all


def end_all(*_):
    """For a runner that is told to end: brokers have sessions of their own and would stay."""
    for process in started:
        if process.poll() is None:
            process.kill()
    os._exit(143)


class Broker:
    """One broker process with its folders below `folder`."""

    def __init__(self, program, folder, settings=None):
        self.program, self.folder = program, pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.settings = {
            "listeners": "PLAINTEXT://127.0.0.1:0", "admin.listener": "127.0.0.1:0", "broker.id": 0,
            "data.dir": self.folder / "data", "wal.dir": self.folder / "wal", **(settings or {})}
        self.environment = {}  # on top of the runner's
        self.process = None
        self.address = self.admin = None
        self.log = self.folder / "log.txt"

    @property
    def bootstrap(self):
        return f"{self.address[0]}:{self.address[1]}"

    @property
    def pid(self):
        return self.process.pid

    def write_config(self, text=None):
        config = self.folder / "broker.yaml"
        if text is None:
            text = "".join(f"{key}: {value}\n" for key, value in self.settings.items())
        config.write_text(text)
        return config

    def spawn(self, config=None, as_user=None):
        """Starts the process and waits for nothing."""
        command = [str(self.program), "--config", str(config or self.write_config())]
        if as_user is not None:
            command = ["setpriv", f"--reuid={as_user}", f"--regid={as_user}", "--clear-groups", *command]
        self.log_start = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "ab") as log:
            # A group of its own: Ctrl-C on the runner must not reach brokers before their tests clean up.
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True, env={**os.environ, **self.environment})
            started.append(self.process)
        return self

    def output(self):
        """What this run of the process wrote."""
        with open(self.log, "rb") as log:
            log.seek(self.log_start)
            return log.read().decode(errors="replace")

    def start(self):
        self.spawn()

        def fail_if_ended():
            if self.process.poll() is not None:
                raise AssertionError(f"broker ended with {self.process.returncode} before it was ready:\n{self.output()}")

        ready = wait_until(lambda: READY.search(self.output()), "the ready line", check=fail_if_ended)
        self.address = (ready.group(1), int(ready.group(2)))
        self.admin = (ready.group(3), int(ready.group(4)))
        # A later start is the same broker to its clients.
        self.settings["listeners"] = f"PLAINTEXT://{self.bootstrap}"
        self.settings["admin.listener"] = f"{self.admin[0]}:{self.admin[1]}"
        return self

    def wait_exit(self, timeout=DEADLINE_S):
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"broker still runs after {timeout} s:\n{self.output()[-4000:]}") from None

    def kill(self):
        """SIGKILL, and gone."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def terminate(self):
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait_exit()

    def alive(self):
        return self.process.poll() is None

    def connect(self, timeout=20):
        return kafka_raw.Connection(self.address, timeout)

    def http(self, path, method="GET", body=None, secret=None):
        """(status, body) of a request on the admin port. `body`: bytes, or what becomes JSON."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self.admin[0]}:{self.admin[1]}{path}", body, method=method)
        if secret:
            request.add_header("Authorization", f"Bearer {secret}")
        try:
            with urllib.request.urlopen(request, timeout=40) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()

    def memory_kib(self, field="VmRSS"):
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"^{field}:\s+(\d+) kB$", text, re.M).group(1))

    def sanitizer_report(self):
        text = self.log.read_text(errors="replace")
        found = re.search(r"^.*(ERROR: \w+Sanitizer|runtime error:|check failed:).*$", text, re.M)
        return found.group().strip() if found else None


class External:
    """A broker that somebody else runs: for checking the tests themselves against another implementation."""

    def __init__(self, address):
        self.address = address
        self.bootstrap = f"{address[0]}:{address[1]}"

    def connect(self, timeout=20):
        return kafka_raw.Connection(self.address, timeout)

    def alive(self):
        with self.connect() as connection:
            return connection.api_versions_0()[0] == 0

    def __getattr__(self, name):
        raise Skip(f"needs a broker of its own ({name})")


class Test:
    """The surroundings of one test."""

    def __init__(self, name, program, java, external=None):
        self.name, self.program, self.java_folder, self.external = name, program, java, external
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="braid-test-"))
        os.chmod(self.folder, 0o755)  # so that a broker as another user gets to its own folder
        self.brokers = []
        self.topics = 0

    def broker(self, start=True, **settings):
        """A running broker (keyword dots are written as underscores), or the external one."""
        if self.external and start and not settings:
            return External(self.external)
        if self.external:
            raise Skip("needs a broker of its own")
        settings = {key.replace("_", "."): value for key, value in settings.items()}
        broker = Broker(self.program, self.folder / f"broker{len(self.brokers)}", settings)
        self.brokers.append(broker)
        return broker.start() if start else broker

    def topic(self, broker, partitions=1, configs=None):
        """Makes a topic of a new name."""
        self.topics += 1
        name = re.sub(r"\W", "-", self.name)[:60] + f"-{os.getpid()}-{self.topics}"
        with broker.connect() as connection:
            error, message = connection.create_topic(name, partitions, configs)
            assert error == 0, f"CreateTopics {name}: error {error} {message}"
            if self.external:
                # BraidMQ answers when the topic can be used; others may take a moment longer.
                wait_until(lambda: all(connection.fetch(name, 0, partition=p)[0] == 0 for p in range(partitions)), name)
        return name

    def stored_by_librdkafka(self, codec):
        """The number of the codec that its batches have in the log. It uses lz4 only where there is FindCoordinator."""
        if codec == "lz4" and not self.external:
            return 0
        return ["none", "gzip", "snappy", "lz4", "zstd"].index(codec)

    def admin_broker(self, **settings):
        """A running broker with a secret file: broker.api(method, path, body) speaks JSON with the secret."""
        secret_file = self.folder / "secrets"
        secret = "s" * 40
        secret_file.write_text(secret + "\n")
        broker = self.broker(braid_secret_file=secret_file, **settings)
        broker.secret, broker.secret_file = secret, secret_file

        def api(method, path, body=None):
            status, text = broker.http(path, method, body, secret)
            return status, json.loads(text) if text else None

        broker.api = api
        return broker

    def ctl(self, broker, *arguments):
        """(exit code, standard output, standard error) of braidctl against the broker."""
        program = pathlib.Path(self.program).parents[1] / "ctl/braidctl"
        command = [str(program), "--admin", f"{broker.admin[0]}:{broker.admin[1]}"]
        if getattr(broker, "secret_file", None):
            command += ["--secret-file", str(broker.secret_file)]
        done = subprocess.run(command + [str(a) for a in arguments], capture_output=True, text=True, timeout=60,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def own_broker(self, **settings):
        """For promises that go beyond what other brokers do: the external one is no measure of them."""
        if self.external:
            raise Skip("a promise of BraidMQ only")
        return self.broker(**settings)

    def run(self, *command, stdin=None, timeout=180):
        """Output of a program that must end with 0."""
        result = subprocess.run([str(part) for part in command], input=stdin, capture_output=True, timeout=timeout, check=False)
        words = result.stdout.decode(errors="replace")
        assert result.returncode == 0, (f"{command[0]} ended with {result.returncode}:\n{words[-3000:]}"
                                        f"{result.stderr.decode(errors='replace')[-3000:]}")
        return result.stdout

    def java_command(self, program, *arguments):
        if not (self.java_folder / ".stamp").exists() and not list(self.java_folder.glob("kafka-clients-*.jar")):
            raise AssertionError(f"no kafka-clients in {self.java_folder}: run `make deps`")
        return ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{self.java_folder}/*",
                str(HERE / "java" / program), *[str(a) for a in arguments]]

    def java_class(self, name, *arguments):
        """Output of a class of Kafka's own."""
        command = self.java_command("Admin.java", *arguments)
        command[-len(arguments) - 1] = name
        return self.run(*command).decode()

    def java(self, program, *arguments):
        return self.run(*self.java_command(program, *arguments)).decode()

    def close(self):
        """Ends every broker; an error that a sanitizer or a check reported fails the test, whatever else it saw."""
        reports = []
        for broker in self.brokers:
            broker.kill()
            report = broker.sanitizer_report() if broker.log.exists() else None
            if report:
                reports.append(report)
        keep = os.environ.get("KEEP_TEST_FOLDERS")
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        assert not reports, "the broker reported: " + "; ".join(reports)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
