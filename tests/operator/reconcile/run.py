#!/usr/bin/python3
"""run.py [--operator PATH] [--topics N] [--quiet SECONDS] [--only WORDS]: braid-operator on a real API server, under exactly the
rights that manifests/ give it, with a kubelet and a broker that are played by this test. Ends with "N passed, N failed".

The operator's answers of 403 fail the run. Figures are printed: Topic ready p50 and p99, memory with N Topics, writes of a
quiet cluster, takeover after SIGTERM and after SIGKILL.
"""

import argparse
import json
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.request

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(HERE.parent)]

from control_plane import ControlPlane, free_port, wait_for  # noqa: E402
from fake_broker import FakeBroker  # noqa: E402
from kubelet import Kubelet  # noqa: E402

NAMESPACE = "braidmq"
KINDS = f"/apis/braidmq.io/v1alpha1/namespaces/{NAMESPACE}"
POD_IP = "127.0.0.2"
QUICK = ("8s", "6s", "1s")  # Lease, renewal, retry
PATIENT = ("60s", "50s", "1s")
WRITES = {"CREATE", "APPLY", "PATCH", "DELETE"}
ORDER = ["Namespace", "CustomResourceDefinition", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]


def cluster(**spec):
    return {"apiVersion": "braidmq.io/v1alpha1", "kind": "BraidCluster", "metadata": {"name": "prod"}, "spec": spec}


def pool(**spec):
    return {"apiVersion": "braidmq.io/v1alpha1", "kind": "BraidPool", "metadata": {"name": "prod-a"},
            "spec": {"clusterRef": {"name": "prod"}, "storage": {"size": "1Gi"}, **spec}}


def topic(name, **spec):
    return {"apiVersion": "braidmq.io/v1alpha1", "kind": "Topic", "metadata": {"name": name},
            "spec": {"clusterRef": {"name": "prod"}, "partitions": 3, **spec}}


class Operator:
    """One process, as the service account of the manifests."""

    def __init__(self, binary, kubeconfig, name, log, lease):
        self.port = free_port()
        self.log = open(log, "ab")
        self.process = subprocess.Popen(
            [binary, f"--kubeconfig={kubeconfig}", f"--namespaces={NAMESPACE}", "--broker-image=braidmq:test",
             f"--http-address=127.0.0.1:{self.port}", f"--lease-namespace={NAMESPACE}", "--lease-name=braidmq-operator",
             *(f"--{flag}={value}" for flag, value in zip(("lease-duration", "renew-deadline", "retry-period"), lease))],
            stdout=self.log, stderr=self.log, env={"POD_NAMESPACE": NAMESPACE, "POD_NAME": name, "PATH": "/usr/bin"})

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
            return answer.read().decode()

    def ready(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"braid-operator ended with {self.process.returncode}")
        try:
            return "ok" in self.get("/readyz")
        except OSError:
            return False

    def leads(self):
        return "braidmq_operator_leader 1" in self.get("/metrics").splitlines()

    def requests(self):
        found = re.findall(r'braidmq_operator_api_requests_total\{([^}]*)\} (\S+)', self.get("/metrics"))
        counts = {}
        for labels, value in found:
            pairs = dict(re.findall(r'(\w+)="([^"]*)"', labels))
            counts[pairs["verb"], pairs["code"]] = int(float(value))
        return counts

    def writes(self):
        return sum(count for (verb, _), count in self.requests().items() if verb in WRITES)

    def resident_mib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(20)
        self.log.close()
        return code


class Run:
    def __init__(self, plane, arguments):
        self.plane, self.arguments = plane, arguments
        self.passed = self.failed = 0
        self.operators = []
        self.forbidden = {}

    # --- the stage ------------------------------------------------------------------------------------------------------

    def create(self, path, body):
        answer = self.plane.request("POST", path, body)
        if answer.status not in (200, 201):
            raise RuntimeError(f"{path}: {answer}")
        return answer.json()

    def install(self):
        """Everything of manifests/operator that is about rights and kinds."""
        paths = {"Namespace": "/api/v1/namespaces",
                 "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                 "ServiceAccount": f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts",
                 "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
                 "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                 "Role": f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/roles",
                 "RoleBinding": f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/rolebindings"}
        objects = [item for file in sorted((ROOT / "manifests/operator").glob("*.yaml"))
                   for item in yaml.safe_load_all(file.read_text()) if item]
        for item in sorted((o for o in objects if o["kind"] in ORDER), key=lambda o: ORDER.index(o["kind"])):
            self.create(paths[item["kind"]], item)
        self.account = next(o["metadata"]["name"] for o in objects if o["kind"] == "ServiceAccount")
        wait_for("kinds served", lambda: all(
            self.plane.request("GET", f"{KINDS}/{plural}").status == 200
            for plural in ("braidclusters", "braidpools", "topics")))
        token = self.create(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{self.account}/token",
                            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})["status"]["token"]
        config = json.loads(self.plane.kubeconfig.read_text())
        config["users"][0]["user"] = {"token": token}
        config["contexts"][0]["context"]["namespace"] = NAMESPACE
        self.kubeconfig = self.plane.state / "operator.kubeconfig"
        self.kubeconfig.write_text(json.dumps(config))

    def start_operator(self, lease=QUICK):
        operator = Operator(self.arguments.operator, self.kubeconfig, f"operator-{len(self.operators)}",
                            self.plane.state / "operator.log", lease)
        self.operators.append(operator)
        wait_for("the operator is ready", operator.ready)
        return operator

    def note_forbidden(self, operator):
        for (verb, code), count in operator.requests().items():
            if code in ("401", "403"):
                self.forbidden[verb, code] = self.forbidden.get((verb, code), 0) + count

    def apply(self, plural, body):
        return self.plane.request("PATCH", f"{KINDS}/{plural}/{body['metadata']['name']}?fieldManager=test&force=true", body,
                                  content_type="application/apply-patch+yaml").json()

    def read(self, plural, name):
        answer = self.plane.request("GET", f"{KINDS}/{plural}/{name}")
        return answer.json() if answer.status == 200 else None

    def condition(self, plural, name, kind):
        item = self.read(plural, name) or {}
        return next((c for c in (item.get("status") or {}).get("conditions") or () if c["type"] == kind), {})

    def await_condition(self, plural, name, kind, status, reason=None, seconds=30):
        def holds():
            found = self.condition(plural, name, kind)
            return found if found.get("status") == status and reason in (None, found.get("reason")) else None

        try:
            return wait_for(f"{plural}/{name} {kind}={status} {reason or ''}", holds, seconds)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; it is {json.dumps((self.read(plural, name) or {}).get('status'))}; kubelet: "
                               f"{self.kubelet.problem}") from None

    def check(self, name, test):
        # Everything else needs the cluster.
        if self.arguments.only and self.arguments.only not in name and name != "cluster_comes_up":
            return
        begin = time.monotonic()
        try:
            figures = test()
            self.passed += 1
            print(f"ok     {name} ({time.monotonic() - begin:.1f} s){': ' + figures if figures else ''}", flush=True)
        except Exception as error:  # noqa: BLE001 - one broken case must not hide the others
            self.failed += 1
            print(f"FAILED {name}\n       {type(error).__name__}: {error}", flush=True)

    # --- the play -------------------------------------------------------------------------------------------------------

    def cluster_comes_up(self):
        begin = time.monotonic()
        self.apply("braidclusters", cluster(listeners=[{"name": "internal", "port": 9092, "type": "internal"},
                                                       {"name": "outside", "port": 9093, "type": "nodeport"}]))
        self.apply("braidpools", pool())
        self.await_condition("braidclusters", "prod", "Ready", "True")
        took = time.monotonic() - begin
        status = self.read("braidclusters", "prod")["status"]
        assert status["clusterId"] == self.broker.cluster_id, status
        assert status["brokersReady"] == "1/1", status
        port = self.plane.request("GET", f"/api/v1/namespaces/{NAMESPACE}/services/prod-a-0-outside").json()["spec"]["ports"][0]["nodePort"]
        wait_for("the broker knows its address", lambda: self.broker.listeners.get("OUTSIDE") == {
            "name": "OUTSIDE", "host": "192.0.2.7", "port": port}, 20)
        bootstrap = self.plane.request("GET", f"/api/v1/namespaces/{NAMESPACE}/configmaps/prod-identity").json()["data"]["braid.bootstrap"]
        assert bootstrap == "existing", bootstrap
        return f"Ready after {took:.1f} s"

    def image_is_named(self):
        self.kubelet.bad_images.add("braidmq:typo")
        try:
            body = cluster(image="braidmq:typo")
            body["metadata"]["name"] = "typo"
            self.apply("braidclusters", body)
            broken = pool(clusterRef={"name": "typo"})
            broken["metadata"]["name"] = "typo-a"
            self.apply("braidpools", broken)
            begin = time.monotonic()
            self.await_condition("braidclusters", "typo", "Stalled", "True", "ImageNotStarted")
            return f"named after {time.monotonic() - begin:.1f} s"
        finally:
            for plural, name in (("braidpools", "typo-a"), ("braidclusters", "typo")):
                self.plane.request("DELETE", f"{KINDS}/{plural}/{name}")
            self.plane.request("DELETE", f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets/typo-a")

    def topics_live(self):
        self.apply("topics", topic("orders", config={"retention.ms": "1000"}, deletionPolicy="Delete"))
        self.await_condition("topics", "orders", "Ready", "True")
        self.apply("topics", topic("orders", partitions=6, config={"retention.ms": "2000"}, deletionPolicy="Delete"))
        wait_for("grown", lambda: self.broker.topics["orders"]["partitions"] == 6, 10)
        with self.broker.lock:
            self.broker.index += 1
            self.broker.topics["orders"]["configs"]["retention.ms"] = "7"
            self.broker.topics["orders"]["changedIndex"] = self.broker.index
        begin = time.monotonic()
        wait_for("drift repaired", lambda: self.broker.topics["orders"]["configs"]["retention.ms"] == "2000", 10)
        repair = time.monotonic() - begin
        self.apply("topics", topic("broken", replicationFactor=3))
        self.await_condition("topics", "broken", "Stalled", "True", "InvalidReplicationFactor")
        self.apply("topics", topic("twin", topicName="orders"))
        self.await_condition("topics", "twin", "Conflict", "True")
        for name in ("twin", "broken", "orders"):
            self.plane.request("DELETE", f"{KINDS}/topics/{name}")
        wait_for("deleted", lambda: self.read("topics", "orders") is None and "orders" not in self.broker.topics, 20)
        return f"drift repaired after {repair:.1f} s"

    def many_topics(self):
        times = []
        for number in range(40):
            name = f"single-{number}"
            begin = time.monotonic()
            self.apply("topics", topic(name))
            wait_for(name, lambda name=name: self.condition("topics", name, "Ready").get("status") == "True", 20)
            times.append(time.monotonic() - begin)
        times.sort()
        begin = time.monotonic()
        for number in range(self.arguments.topics - len(times)):
            self.apply("topics", topic(f"many-{number}", config={"retention.ms": "1000"}))
        made = time.monotonic() - begin
        wait_for("all topics", lambda: f'state="ready"}} {self.arguments.topics}' in self.leader.get("/metrics"), 180)
        resident = self.leader.resident_mib()
        if self.arguments.ready_seconds:
            assert times[int(len(times) * 0.99)] < self.arguments.ready_seconds, times[-3:]
        if self.arguments.resident_mib:
            assert resident < self.arguments.resident_mib, resident
        return (f"ready p50 {times[len(times) // 2] * 1000:.0f} ms, p99 {times[-1] * 1000:.0f} ms; {self.arguments.topics} Topics "
                f"applied in {made:.0f} s, all ready {time.monotonic() - begin - made:.1f} s later; resident {resident:.1f} MiB")

    def quiet_is_quiet(self):
        time_of_rest = time.monotonic() + 20

        def rested():  # what is still under way may end first
            before = self.leader.writes()
            wait_until = time.monotonic() + 5
            wait_for("5 s", lambda: time.monotonic() > wait_until, 10)
            return self.leader.writes() == before or time.monotonic() > time_of_rest

        wait_for("rest", rested, 60)
        before, counted = self.objects(), self.other_writes()
        end = time.monotonic() + self.arguments.quiet
        wait_for("quiet", lambda: time.monotonic() > end, self.arguments.quiet + 10)
        changed = {name for name, version in self.objects().items() if before.get(name) != version}
        assert not changed, sorted(changed)[:5]
        wrote = self.other_writes() - counted
        assert wrote == 0, f"{wrote} writes that changed nothing"
        return f"0 objects changed and nothing written but the Lease in {self.arguments.quiet} s"

    def other_writes(self):
        """The Lease is patched, everything else applied."""
        return sum(count for (verb, _), count in self.leader.requests().items() if verb in ("CREATE", "APPLY", "DELETE"))

    def objects(self):
        """Versions of everything but Leases."""
        paths = [f"{KINDS}/{plural}" for plural in ("braidclusters", "braidpools", "topics")]
        paths += [f"/api/v1/namespaces/{NAMESPACE}/{plural}" for plural in ("services", "configmaps", "secrets", "events",
                                                                           "persistentvolumeclaims", "pods")]
        paths += [f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets",
                  f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/networkpolicies"]
        return {f"{path}/{item['metadata']['name']}": item["metadata"]["resourceVersion"]
                for path in paths for item in self.plane.request("GET", path).json()["items"]}

    def standby_takes_over(self):
        standby = self.start_operator()
        assert not standby.leads()
        self.note_forbidden(self.leader)
        code = self.leader.end(signal.SIGTERM)
        begin = time.monotonic()
        assert code == 0, code
        wait_for("takeover", standby.leads, 20)
        released = time.monotonic() - begin
        self.leader = standby
        self.apply("topics", topic("after-takeover"))
        self.await_condition("topics", "after-takeover", "Ready", "True")
        another = self.start_operator()
        self.note_forbidden(self.leader)
        self.leader.end(signal.SIGKILL)
        begin = time.monotonic()
        wait_for("takeover", another.leads, 20)
        self.leader = another
        return f"after SIGTERM {released:.1f} s, after SIGKILL {time.monotonic() - begin:.1f} s (Lease 8 s)"

    def paused_leader_harms_nothing(self):
        standby = self.start_operator()
        old = self.leader
        old.process.send_signal(signal.SIGSTOP)
        wait_for("takeover", standby.leads, 30)
        self.leader = standby
        old.process.send_signal(signal.SIGCONT)
        assert old.process.wait(20) != 0
        self.apply("topics", topic("after-pause"))
        self.await_condition("topics", "after-pause", "Ready", "True")

    def api_server_restarts(self):
        """Shorter than the Lease lasts: the process that led goes on by itself."""
        steady = self.start_operator(PATIENT)
        self.note_forbidden(self.leader)
        self.leader.end(signal.SIGTERM)
        wait_for("takeover", steady.leads, 20)
        self.leader = steady
        self.plane.stop_apiserver()
        self.plane.start_apiserver_again()
        begin = time.monotonic()
        # It answers before it knows all kinds again.
        wait_for("the API server takes Topics", lambda: self.apply("topics", topic("after-restart")).get("kind") == "Topic", 30)
        self.await_condition("topics", "after-restart", "Ready", "True", seconds=60)
        assert steady.process.poll() is None
        return f"Topic ready {time.monotonic() - begin:.1f} s after the API server"

    def nothing_is_forbidden(self):
        self.note_forbidden(self.leader)
        assert not self.forbidden, self.forbidden
        assert self.broker.unauthorized == 0, self.broker.unauthorized

    def run(self):
        self.install()
        self.broker = FakeBroker(POD_IP)
        self.kubelet = Kubelet(self.plane, NAMESPACE, self.broker, POD_IP)
        try:
            self.leader = self.start_operator()
            wait_for("leading", self.leader.leads, 20)
            for test in (self.cluster_comes_up, self.image_is_named, self.topics_live, self.many_topics, self.quiet_is_quiet,
                         self.standby_takes_over, self.paused_leader_harms_nothing,
                         # An API server that has just started forbids everything until it has read its Roles.
                         self.nothing_is_forbidden, self.api_server_restarts):
                self.check(test.__name__, test)
        finally:
            for operator in self.operators:
                if operator.process.poll() is None:
                    operator.process.kill()
                    operator.process.wait(10)
            self.kubelet.close()
            self.broker.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operator", default=str(ROOT / "build/release/operator/app/braid-operator"))
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--quiet", type=int, default=60)
    parser.add_argument("--ready-seconds", type=float, default=1.0, help="most time to Ready, p99; 0: only shown")
    parser.add_argument("--resident-mib", type=float, default=0, help="most resident memory with all Topics; 0: only shown")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    with ControlPlane() as plane:
        run = Run(plane, arguments)
        try:
            run.run()
        except BaseException:
            print((plane.state / "operator.log").read_text(errors="replace")[-4000:] if run.operators else "no operator ran")
            raise
        if run.failed:
            print((plane.state / "operator.log").read_text(errors="replace")[-6000:])
    print(f"{run.passed} passed, {run.failed} failed")
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
