"""The operator is killed at each of its API writes while a cluster is made, and the cluster comes to the same end.

By turns the kill falls when the API server has received a write and when it has answered one, so that the write may be lost,
done, or done without the operator knowing. The audit log of our own Kubernetes tells when.
"""

import os
import signal
import time

from lib.audit import Audit
from lib.base import equal, expect, wait_for
from lib.kube import condition
from lib.processes import process_of

FULL = True
NAMESPACE = "braidmq-e2e-restart"
MOST_KILLS = 80
QUICK_LEASE = {"replicas": 1, "crds": {"install": False}, "leaderElection": {
    "leaseDurationSeconds": 6, "renewDeadlineSeconds": 5, "retryPeriodSeconds": 1}}


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
            written = kill_at_write(audit, stage, kube, product)
            if not written:
                break
            kills.append(written[-1])
        expect(len(kills) < MOST_KILLS, f"it writes on and on: {kills[-10:]}")
        expect(len(kills) >= 5, f"only {len(kills)} writes were met: {kills}")
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
    return next((pid for pod in product.operator_pods() if (pid := process_of(pod, "braid-operator"))), None)


def kill_at_write(audit, stage, kube, product):
    """SIGKILL to the operator at once when it writes, and its writes until then; nothing when everything is ready and 6 s pass
    without one. Then the pod goes, too, because kubelet would wait longer after every kill."""
    pid = wait_for("an operator that runs", lambda: operator_process(product), 60)
    deadline, quiet_since, look_at = time.monotonic() + 60, None, time.monotonic()
    audit.writes()  # what the one before did in its last moment
    while not (found := audit.writes(stage)):
        # Questions to the API server take longer than a write: they are asked now and then only.
        if time.monotonic() > look_at:
            look_at = time.monotonic() + 1
            everything = [kube.get("braidclusters", product.namespace, product.cluster), *kube.list("topics", product.namespace)]
            ready = [one for one in everything if condition(one, "Ready")["status"] == "True"]
            quiet_since = (quiet_since or time.monotonic()) if len(ready) == 3 else None
            if quiet_since and time.monotonic() - quiet_since > 6:
                return []
            expect(time.monotonic() < deadline, f"no write for 60 s, and {len(ready)} of 3 objects ready")
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    for pod in product.operator_pods():
        kube.delete("pods", product.namespace, pod["metadata"]["name"], gracePeriodSeconds=0)
    return found


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
