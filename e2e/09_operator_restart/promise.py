"""The operator is killed at each of its API writes while a cluster is made, and the cluster comes to the same end.

By turns the kill falls when the API server has received a write and when it has answered one, so that the write may be lost,
done, or done without the operator knowing. The audit log of our own Kubernetes tells when.
"""

import signal
import os
import pathlib
import time

from lib.audit import Audit
from lib.base import equal, expect, wait_for
from lib.kube import condition

FULL = True
NAMESPACE = "braidmq-e2e-restart"
MOST_KILLS = 80
QUICK_LEASE = {"replicas": 1, "crds": {"install": False}, "leaderElection": {
    "leaseDurationSeconds": 3, "renewDeadlineSeconds": 2, "retryPeriodSeconds": 1}}


def run(t):
    t.product.installed()  # the kinds
    product, kube = t.another_product(NAMESPACE), t.kube
    audit = Audit(t.platform, f"system:serviceaccount:{NAMESPACE}:{product.operator_release}")
    began, kills = time.monotonic(), []
    try:
        product.install_operator(QUICK_LEASE)
        audit.writes()
        product.install_cluster({**product.cluster_values(), "topics": {"one": {"partitions": 2}, "two": {}}})

        while len(kills) < MOST_KILLS:
            stage = "RequestReceived" if len(kills) % 2 else "ResponseComplete"
            written = await_write(audit, stage, kube, product)
            if not written:
                break
            kill_operator(product)
            kills.append(written[0])
        expect(len(kills) < MOST_KILLS, f"it writes on and on: {kills[-10:]}")
        expect(len(kills) >= 8, f"only {len(kills)} writes were met: {kills}")
        t.figure("kills, each at a write", len(kills), "")
        product.await_ready()
        for topic in ("one", "two"):
            kube.await_condition("topics", NAMESPACE, f"{product.cluster}-{topic}", "Ready", 60)
        t.figure("until everything was ready all the same", t.since(began))
        same_end(t, product)
    finally:
        audit.close()
        kube.delete("namespaces", None, NAMESPACE)
    kube.await_gone("namespaces", None, NAMESPACE, 120)


def operator_process(product):
    """Pid of the operator's process on this machine, whose nodes all live here."""
    uids = [pod["metadata"]["uid"] for pod in product.operator_pods()]
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "comm").read_text().strip() == "braid-operator" and any(
                    uid in (folder / "cgroup").read_text() for uid in uids):
                return int(folder.name)
        except OSError:
            pass  # ended while we looked
    return None


def kill_operator(product):
    """SIGKILL at once; then the pod goes, too, because kubelet would wait longer after every kill."""
    pid = operator_process(product)
    if pid:
        os.kill(pid, signal.SIGKILL)
    for pod in product.operator_pods():
        product.kube.delete("pods", product.namespace, pod["metadata"]["name"], gracePeriodSeconds=0)


def await_write(audit, stage, kube, product):
    """The first writes of an operator that lives, or nothing when everything is ready and 6 s pass without one."""
    audit.writes()  # what the one before did in its last moment
    deadline, quiet_since = time.monotonic() + 60, None
    while True:
        if found := audit.writes(stage):
            return found
        cluster = kube.get("braidclusters", product.namespace, product.cluster)
        topics = kube.list("topics", product.namespace)
        ready = [one for one in [cluster, *topics] if condition(one, "Ready")["status"] == "True"]
        if len(ready) == 3 and operator_process(product):
            quiet_since = quiet_since or time.monotonic()
            if time.monotonic() - quiet_since > 6:
                return []
        else:
            quiet_since = None
        expect(time.monotonic() < deadline, f"no write for 60 s, and {len(ready)} of 3 objects ready")
        time.sleep(0.01)


def same_end(t, product):
    """What stands there is what stands after an undisturbed creation."""
    for kind in ("statefulsets", "services", "configmaps", "secrets", "networkpolicies", "poddisruptionbudgets"):
        names = [{one["metadata"]["name"] for one in t.kube.list(kind, namespace)
                  if one["metadata"].get("labels", {}).get("app.kubernetes.io/managed-by") == "braidmq-operator"}
                 for namespace in (NAMESPACE, t.product.namespace)]
        equal(*names, f"{kind} made by an operator that was killed all the time")
    cluster = t.kube.get("braidclusters", NAMESPACE, product.cluster)
    equal(product.broker("/v1/cluster")["clusterId"], cluster["status"]["clusterId"], "cluster id")
    equal(product.restarts(), 0, "restarts of the broker")
    wait_for("both topics on the broker", lambda: len(product.broker("/v1/topics")["topics"]) == 2, 10)
