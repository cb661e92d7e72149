"""A broker whose volume is lost takes no part and says so, while the others serve; when two are lost, nothing is founded anew.

Claim and pod are deleted, so that Kubernetes makes both anew. What a voter has lost stays lost: the installation is spoiled.
"""

import time

from lib.base import equal, expect, wait_for

FULL = True
NAMED_LIMIT = 60
WORDS = "in another life"


def run(t):
    product = t.three_brokers().installed()
    product.spoil()
    founded = product.one_cluster_id()
    identity = identity_of(t, product)
    with product.load("empty-claim") as load:
        load.await_more(1000)
        first = next(pod for pod in product.pods if pod != product.leader())
        began = time.monotonic()
        lose_claim(t, product, first)
        wait_for("the empty broker is named", lambda: is_named(product, [first]), 120)
        t.figure("the broker without its data named, after its claim was deleted", t.since(began), limit=NAMED_LIMIT)
        equal(product.condition("Ready")["status"], "True", "Ready with a majority")
        load.await_more(1000)
        stall = load.longest_stall(began)
        load.finish()
    counted = load.check()
    t.figure("records acknowledged, and read back once and in order", counted["acknowledged"], "")
    t.figure("longest time without an acknowledgement meanwhile", stall)

    second = next(pod for pod in product.pods if pod not in (first, product.leader(without=first)))
    began = time.monotonic()
    lose_claim(t, product, second)
    wait_for("both are named", lambda: is_named(product, [first, second]), 120)
    t.figure("a second one named, too", t.since(began), limit=NAMED_LIMIT)
    t.kube.await_condition("braidclusters", product.namespace, product.cluster, "Ready", 60, status="False")
    for pod in (first, second):
        answer = product.try_broker("/v1/cluster", pod)
        expect(answer is None or answer["clusterId"] in ("", founded), f"{pod} is of another cluster: {answer}")
    equal(identity_of(t, product), identity, "the cluster's identity")
    product.wipe()


def identity_of(t, product):
    return t.kube.get("configmaps", product.namespace, f"{product.cluster}-identity")["data"]


def lose_claim(t, product, pod):
    """Until the pod runs again, on an empty volume."""
    claim = f"data-{pod}"
    lost = t.kube.get("persistentvolumeclaims", product.namespace, claim)["metadata"]["uid"]
    uid = product.get_pod(pod)["metadata"]["uid"]
    t.kube.delete("persistentvolumeclaims", product.namespace, claim)
    t.kube.delete("pods", product.namespace, pod)

    def runs_anew():
        now, another = product.get_pod(pod), t.kube.get("persistentvolumeclaims", product.namespace, claim)
        fresh = now and another and now["metadata"]["uid"] != uid and another["metadata"]["uid"] != lost
        started = fresh and any(one.get("started") for one in now["status"].get("containerStatuses", []))
        return started or (False, now and now["status"])

    wait_for(f"{pod} runs on another volume", runs_anew, 120)


def is_named(product, lost):
    degraded, words = product.condition("Degraded"), {pod: product.unready_words(pod) for pod in lost}
    told = degraded["status"] == "True" and all(f"{pod}: " in degraded["message"] for pod in lost)
    return told and WORDS in degraded["message"] and all(WORDS in said for said in words.values()) or (False, f"{degraded} {words}")
