"""One `helm install` makes a cluster of three brokers on three nodes, ready within 30 s, and every record is on all of them.

Born it is only when all three are there. Until then none is ready, each says who is missing, and the BraidCluster does.
"""

import datetime
import time

from lib.base import Skip, equal, expect, wait_for
from lib.kube import condition
from lib.three_brokers import ThreeBrokers

READY_LIMIT = 30
GONE_LIMIT = 30
BIRTH_LABEL = "e2e-birth"


class Late(ThreeBrokers):
    """Another cluster beside it, kept to nodes with a label."""
    cluster, pool, cluster_release = "late", "late-a", "late"

    def cluster_values(self, **more):
        values = super().cluster_values(**more)
        values["cluster"]["deletionPolicy"] = "Delete"
        values["pools"]["a"]["template"] = {"nodeSelector": {BIRTH_LABEL: "yes"}}
        return values


def run(t):
    if len(t.kube.list("nodes")) < 3:
        raise Skip("it has fewer than three nodes, and brokers do not share one")
    product = t.three_brokers()
    if t.kube.get("namespaces", None, product.namespace):
        product.wipe()
    product.install_operator()
    began = time.monotonic()
    product.install_cluster()
    product.await_ready()
    t.figure("BraidCluster ready after helm install", t.since(began))
    t.figure("three brokers ready after their StatefulSet was made", seconds_to_ready(t, product), limit=READY_LIMIT)

    nodes = {product.get_pod(pod)["spec"]["nodeName"] for pod in product.pods}
    equal(len(nodes), 3, "nodes with a broker")
    status = t.kube.get("braidclusters", product.namespace, product.cluster)["status"]
    equal(status["voters"], ",".join(f"{number}={pod}" for number, pod in enumerate(product.pods)), "voters")
    product.one_cluster_id()
    with product.load("first") as load:
        load.await_more(2000)
        load.finish()
    counted = load.check()
    product.await_caught_up()
    t.figure("records acknowledged, and read back once and in order", counted["acknowledged"], "")
    equal(product.condition("RollSafe")["status"], "True", "RollSafe")
    one_is_late(t)


def seconds_to_ready(t, product):
    """By the clocks of Kubernetes, which count whole seconds."""
    made = t.kube.get("statefulsets", product.namespace, product.pool)["metadata"]["creationTimestamp"]
    ready = max(condition(product.get_pod(pod), "Ready")["lastTransitionTime"] for pod in product.pods)
    return (datetime.datetime.fromisoformat(ready) - datetime.datetime.fromisoformat(made)).seconds


def one_is_late(t):
    late = t.another_product(ThreeBrokers.namespace, Late)
    nodes = [node["metadata"]["name"] for node in t.kube.list("nodes")][:3]
    try:
        for node in nodes[:2]:
            label(t, node, "yes")
        late.install_cluster()
        missing = wait_for("two brokers run and one has no node", lambda: the_missing(late), 60)
        began = time.monotonic()
        wait_for("the BraidCluster and both brokers name the missing one", lambda: is_named(late, missing), 30)
        t.figure("one missing at the birth: named after the others ran", t.since(began))
        began = time.monotonic()
        label(t, nodes[2], "yes")
        late.await_ready()
        late.one_cluster_id()
        t.figure("and all ready after it could start", t.since(began), limit=READY_LIMIT)
        began = time.monotonic()
        late.uninstall(late.cluster_release)
        t.kube.await_gone("braidclusters", late.namespace, late.cluster)
        t.figure("all three ended, with their data, by helm uninstall", t.since(began), limit=GONE_LIMIT)
    finally:
        for node in nodes:
            label(t, node, None)


def label(t, node, value):
    t.kube.patch("nodes", None, node, {"metadata": {"labels": {BIRTH_LABEL: value}}})


def the_missing(late):
    """The pod that has no node, when the two others run."""
    pods = [pod for pod in map(late.get_pod, late.pods) if pod]
    running = [pod for pod in pods if any(one.get("started") for one in pod["status"].get("containerStatuses", []))]
    waiting = [pod["metadata"]["name"] for pod in pods if "nodeName" not in pod["spec"]]
    return waiting[0] if len(running) == 2 and len(waiting) == 1 else (False, [pod["status"] for pod in pods])


def is_named(late, missing):
    others = [pod for pod in late.pods if pod != missing]
    ready = late.condition("Ready")
    words = {pod: late.unready_words(pod) for pod in others}
    expect(ready["status"] != "True", f"ready without {missing}: {ready}")
    told = all(f"broker {late.pods.index(missing)} is missing" in said for said in words.values())
    named = missing in late.condition("Degraded")["message"] and late.condition("Degraded")["status"] == "True"
    return told and named or (False, f"{words}, {late.condition('Degraded')}")
