#!/usr/bin/env python3
"""A real kube-apiserver with etcd on loopback, for tests. No controllers, no nodes: what is written stays as written.

  control_plane.py run [--uncached] [--state DIR] -- COMMAND...   run COMMAND while it is up; everything is gone afterwards
  control_plane.py restart|stop|start|compact                     from inside COMMAND: act on the API server, or on etcd

COMMAND finds in its environment
  KUBECONFIG                   an administrator's (group system:masters), with files for CA, certificate and key
  BRAID_KUBE_URL, _CA, _CERT, _KEY, _TOKEN   the same in parts; the token is an administrator's too
  BRAID_KUBE_UNCACHED_URL      with --uncached: a second API server without watch cache, where compaction gives 410 at once
  BRAID_KUBE_STATE             the folder with logs (apiserver.log, etcd.log), for the verbs above

Python tests import it: `with ControlPlane() as plane: plane.request("GET", "/version")`.
Every wait has a deadline. All processes die with this one, also when it is killed.
"""

import argparse
import base64
import ctypes
import http.client
import json
import os
import pathlib
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build/kubernetes/bin"
READY_SECONDS = 60
STOP_SECONDS = 10
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, condition, seconds=READY_SECONDS):
    """The first true value of `condition`; asks often, because there is nothing to be notified by."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.05)


def tail(path, lines=20):
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:]) if path.exists() else ""


class Answer:
    def __init__(self, status, body):
        self.status, self.body = status, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:2000].decode(errors='replace')}"


class ControlPlane:
    """Started by `start()` or `with`. `url`, `ca`, `cert`, `key`, `token`, `kubeconfig`; `uncached_url` when asked for."""

    def __init__(self, state=None, uncached=False, apiserver=None, etcd="etcd"):
        self.own_state = state is None
        self.state = pathlib.Path(state or tempfile.mkdtemp(prefix="braid-kube-")).resolve()
        self.with_uncached = uncached
        self.apiserver_binary = apiserver or os.environ.get("BRAID_KUBE_APISERVER") or str(BIN / "kube-apiserver")
        self.etcd_binary = etcd
        self.processes = {}
        self.url = self.uncached_url = None

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_):
        self.stop()

    # --- life -----------------------------------------------------------------------------------------------------------

    def start(self):
        self.state.mkdir(parents=True, exist_ok=True)
        self.ca, self.cert, self.key = (self.state / name for name in ("ca.crt", "admin.crt", "admin.key"))
        self.token = secrets.token_hex(24)
        self.make_certificates()
        self.start_etcd()
        self.url = self.start_apiserver("apiserver", cached=True)
        if self.with_uncached:
            self.uncached_url = self.start_apiserver("apiserver-uncached", cached=False)
        self.kubeconfig = self.write_kubeconfig()
        return self

    def stop(self):
        for name in reversed(list(self.processes)):
            self.end(name)
        if self.own_state:
            shutil.rmtree(self.state, ignore_errors=True)

    def end(self, name):
        process = self.processes.pop(name, None)
        if process is None:
            return
        # Nobody reads this data again, so an API server that still drains its watches need not be waited for.
        process.send_signal(signal.SIGTERM if name == "etcd" else signal.SIGKILL)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def stop_apiserver(self):
        self.end("apiserver")

    def start_apiserver_again(self):
        """On the same port, with the same data."""
        self.start_apiserver("apiserver", cached=True, port=int(self.url.rsplit(":", 1)[1]))

    def spawn(self, name, command):
        log = open(self.state / f"{name}.log", "ab")
        with log:
            self.processes[name] = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                                    start_new_session=True, preexec_fn=die_with_parent)

    def await_ready(self, name, url, path, marker):
        def ready():
            code = self.processes[name].poll()
            if code is not None:
                raise RuntimeError(f"{name} ended with {code}:\n{tail(self.state / f'{name}.log')}")
            try:
                return marker in self.request("GET", path, url=url, timeout=5).body
            except (OSError, http.client.HTTPException):
                return False

        try:
            wait_for(f"{name} ready", ready)
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{tail(self.state / f'{name}.log')}") from None

    def start_etcd(self):
        client, peer = free_port(), free_port()
        self.etcd_url = f"http://127.0.0.1:{client}"
        self.spawn("etcd", [self.etcd_binary, "--data-dir", str(self.state / "etcd"),
                            "--listen-client-urls", self.etcd_url, "--advertise-client-urls", self.etcd_url,
                            "--listen-peer-urls", f"http://127.0.0.1:{peer}",
                            "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
                            "--initial-cluster", f"default=http://127.0.0.1:{peer}", "--logger", "zap"])
        self.await_ready("etcd", self.etcd_url, "/health", b'"true"')

    def start_apiserver(self, name, cached, port=None):
        port = port or free_port()
        tokens = self.state / "tokens.csv"
        tokens.write_text(f'{self.token},administrator,administrator,"system:masters"\n')
        url = f"https://127.0.0.1:{port}"
        self.spawn(name, [
            self.apiserver_binary, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--secure-port={port}",
            f"--etcd-servers={self.etcd_url}", f"--client-ca-file={self.ca}", f"--token-auth-file={tokens}",
            f"--tls-cert-file={self.state}/server.crt", f"--tls-private-key-file={self.state}/server.key",
            "--service-account-issuer=https://kubernetes.default.svc", "--authorization-mode=RBAC",
            f"--service-account-key-file={self.state}/sa.pub", f"--service-account-signing-key-file={self.state}/sa.key",
            "--service-cluster-ip-range=10.96.0.0/16", "--allow-privileged=true", "--profiling=false",
            # Without controllers no namespace has its default ServiceAccount, which a pod would then be refused for.
            "--disable-admission-plugins=ServiceAccount", f"--watch-cache={'true' if cached else 'false'}",
            "--endpoint-reconciler-type=none"])
        # The namespace comes last of all that an API server makes for itself.
        self.await_ready(name, url, "/readyz", b"ok")
        self.await_ready(name, url, "/api/v1/namespaces/default", b'"default"')
        return url

    # --- trust ----------------------------------------------------------------------------------------------------------

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.state, check=True, capture_output=True, timeout=30)

    def make_certificates(self):
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        self.openssl("req", "-x509", *curve, "-days", "2", "-subj", "/CN=test-ca", "-keyout", "ca.key", "-out", "ca.crt")
        for name, subject, extensions in (
                ("server", "/CN=kube-apiserver", "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth\n"),
                ("admin", "/O=system:masters/CN=administrator", "extendedKeyUsage=clientAuth\n")):
            self.openssl("req", *curve, "-subj", subject, "-keyout", f"{name}.key", "-out", f"{name}.csr")
            (self.state / f"{name}.ext").write_text(extensions)
            self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
                         "-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.crt")
        self.openssl("genrsa", "-out", "sa.key", "2048")
        self.openssl("rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub")

    def write_kubeconfig(self, name="kubeconfig", url=None):
        inline = {field: base64.b64encode(path.read_bytes()).decode()
                  for field, path in (("ca", self.ca), ("cert", self.cert), ("key", self.key))}
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": url or self.url,
                                                      "certificate-authority-data": inline["ca"]}}],
            "users": [{"name": "admin", "user": {"client-certificate-data": inline["cert"],
                                                 "client-key-data": inline["key"]}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin", "namespace": "default"}}]}
        path = self.state / name
        path.write_text(json.dumps(config, indent=1))  # JSON is YAML
        return path

    # --- use ------------------------------------------------------------------------------------------------------------

    def request(self, method, path, body=None, *, url=None, accept="application/json",
                content_type="application/json", timeout=30):
        """One request as administrator."""
        scheme, _, address = (url or self.url).partition("://")
        if scheme == "https":
            context = ssl.create_default_context(cafile=str(self.ca))
            context.load_cert_chain(self.cert, self.key)
            connection = http.client.HTTPSConnection(address, timeout=timeout, context=context)
        else:
            connection = http.client.HTTPConnection(address, timeout=timeout)
        try:
            headers = {"Accept": accept}
            if body is not None:
                headers["Content-Type"] = content_type
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return Answer(response.status, response.read())
        finally:
            connection.close()

    def compact(self):
        """Drops etcd's history, so that watches from an older resourceVersion get 410."""
        status = self.request("POST", "/v3/maintenance/status", {}, url=self.etcd_url).json()
        revision = status["header"]["revision"]
        answer = self.request("POST", "/v3/kv/compaction", {"revision": revision, "physical": True}, url=self.etcd_url)
        if answer.status != 200:
            raise RuntimeError(f"compaction: {answer}")
        return revision

    def environment(self):
        values = {"KUBECONFIG": self.kubeconfig, "BRAID_KUBE_URL": self.url, "BRAID_KUBE_CA": self.ca,
                  "BRAID_KUBE_CERT": self.cert, "BRAID_KUBE_KEY": self.key, "BRAID_KUBE_TOKEN": self.token,
                  "BRAID_KUBE_STATE": self.state}
        if self.uncached_url:
            values["BRAID_KUBE_UNCACHED_URL"] = self.uncached_url
        return {name: str(value) for name, value in values.items()}


# --- the command --------------------------------------------------------------------------------------------------------


def serve_verbs(plane, server):
    """One verb of `control_plane.py VERB`, asked over a socket in the state folder."""
    try:
        peer, _ = server.accept()
    except (BlockingIOError, TimeoutError):
        return
    with peer:
        peer.settimeout(5)
        try:
            verb = peer.recv(64).decode().strip()
            actions = {"stop": plane.stop_apiserver, "start": plane.start_apiserver_again, "compact": plane.compact,
                       "restart": lambda: (plane.stop_apiserver(), plane.start_apiserver_again())}
            actions[verb]()
            peer.sendall(b"ok")
        except Exception as error:  # noqa: BLE001 - whatever it is, the test that asked must hear of it
            peer.sendall(f"{type(error).__name__}: {error}".encode())


def run(arguments):
    plane = ControlPlane(state=arguments.state, uncached=arguments.uncached)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    with plane, socket.socket(socket.AF_UNIX) as server:
        address = plane.state / "verbs"
        address.unlink(missing_ok=True)
        server.bind(str(address))
        server.listen(8)
        server.settimeout(0.1)
        child = subprocess.Popen(arguments.command, env={**os.environ, **plane.environment()}, start_new_session=True,
                                 preexec_fn=die_with_parent)
        try:
            while child.poll() is None:
                serve_verbs(plane, server)
            return child.returncode if child.returncode >= 0 else 128 - child.returncode
        finally:
            try:  # also what the command left running
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def ask(verb):
    state = os.environ.get("BRAID_KUBE_STATE")
    if not state:
        sys.exit("BRAID_KUBE_STATE is not set: this verb works inside `control_plane.py run`")
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(READY_SECONDS + 30)
        client.connect(f"{state}/verbs")
        client.sendall(verb.encode())
        answer = client.recv(65536).decode()
    if answer != "ok":
        sys.exit(answer or "no answer")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    runner = verbs.add_parser("run")
    runner.add_argument("--uncached", action="store_true", help="start a second API server without watch cache")
    runner.add_argument("--state", help="folder to keep logs in; removed afterwards if not given")
    runner.add_argument("command", nargs=argparse.REMAINDER)
    for verb in ("restart", "stop", "start", "compact"):
        verbs.add_parser(verb)
    arguments = parser.parse_args()
    if arguments.verb != "run":
        return ask(arguments.verb)
    if arguments.command[:1] == ["--"]:
        del arguments.command[0]
    if not arguments.command:
        parser.error("run: what?")
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
