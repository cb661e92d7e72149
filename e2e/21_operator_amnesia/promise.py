"""The statuses of BraidCluster and BraidPool are lost, and then the identity too: voters stay as they were, nothing is rolled.

What an operator that knows nothing needs is in the ConfigMap of the identity; when that is gone as well, on the volume claims.
"""

import time

from lib.base import equal, wait_for
from lib.kube import path_of

FULL = True


def run(t):
    product, kube = t.three_brokers().installed(), t.kube
    product.await_ready()
    before = seen(product)
    pods = product.uids()
    for words, identity_too in (("the statuses", False), ("the statuses and the identity", True)):
        scale_operator(product, 0)
        for kind, name in (("braidclusters", product.cluster), ("braidpools", product.pool)):
            kube.must("PATCH", f"{path_of(kind, product.namespace, name)}/status", {"status": None}, "application/merge-patch+json")
        if identity_too:
            kube.delete("configmaps", product.namespace, f"{product.cluster}-identity")
            equal(kube.get("configmaps", product.namespace, f"{product.cluster}-identity"), None, "identity")
        equal(kube.get("braidclusters", product.namespace, product.cluster).get("status"), None, "status")
        began = time.monotonic()
        scale_operator(product, 2)
        product.await_ready()
        kube.await_condition("braidpools", product.namespace, product.pool, "Ready", 30)
        t.figure(f"BraidCluster ready again without {words}", t.since(began))
        equal(seen(product), before, f"what stands after the loss of {words}")
        equal(product.uids(), pods, "pods and their restarts")
    product.one_cluster_id()


def seen(product):
    """What an operator that errs would have changed."""
    kube, namespace = product.kube, product.namespace
    identity = kube.get("configmaps", namespace, f"{product.cluster}-identity")
    status = kube.get("braidclusters", namespace, product.cluster)["status"]
    return {"identity": identity["data"], "voters": status["voters"], "cluster": status["clusterId"],
            "set": kube.get("statefulsets", namespace, product.pool)["metadata"]["generation"]}


def scale_operator(product, replicas):
    """With none, until the last of its processes has ended, too."""
    kube, namespace = product.kube, product.namespace
    kube.patch("deployments", namespace, product.operator_release, {"spec": {"replicas": replicas}})
    label = f"app.kubernetes.io/instance={product.operator_release}"
    wait_for(f"{replicas} pods of the operator", lambda: len(kube.list("pods", namespace, label)) == replicas, 60)
