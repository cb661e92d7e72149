"""The node of the broker loses power and network for 60 s under load; nothing acknowledged is lost, and nothing is fought over.

What must hold, with one broker whose volume lies on that node:
  - no second broker is started elsewhere: the pod keeps its name, its claim and its node;
  - within 60 s the BraidCluster says that it is not ready, also when the operator that led was on the same node;
  - no write is acknowledged while the node is away, and none that was acknowledged before is lost;
  - within 90 s of the node's return the broker serves, the producer goes on by itself, and the BraidCluster is Ready.
"""

import time

from lib.base import equal, wait_for
from lib.kube import condition
from lib.load import Load

FULL = True
PARTITIONS = 3
AWAY_SECONDS = 60


def run(t):
    product, kube = t.product.installed(), t.kube
    product.make_topic("loss", partitions=PARTITIONS)
    pod = kube.get("pods", product.namespace, product.pod)
    node = pod["spec"]["nodeName"]
    claim = kube.get("persistentvolumeclaims", product.namespace, product.claim)["spec"]["volumeName"]
    with Load(t.folder, product.bootstrap_outside, "loss", PARTITIONS) as load:
        load.await_more(1000)
        t.platform.kill_node(node)
        killed = time.monotonic()
        try:
            await_not_ready(kube, product)
            t.figure("BraidCluster not ready after the node was lost", t.since(killed), limit=60)
            at_loss = load.acknowledged()
            wait_for("the time without the node over", lambda: t.since(killed) > AWAY_SECONDS, AWAY_SECONDS + 5, every=0.5)
            equal(load.acknowledged(), at_loss, "acknowledgements while the node was away")
            brokers = [one["spec"]["nodeName"] for one in kube.list("pods", product.namespace, f"braidmq.io/cluster={product.cluster}")]
            equal(brokers, [node], "nodes on which brokers were started")
        finally:
            t.platform.start_node(node)
        back = time.monotonic()
        load.await_more(1000, 120)
        t.figure("acknowledgements again after the node's return", t.since(back), limit=90)
        product.await_ready(90)
        t.figure("BraidCluster ready after the node's return", t.since(back), limit=90)
        load.finish()
    counted = load.check()
    equal(kube.get("persistentvolumeclaims", product.namespace, product.claim)["spec"]["volumeName"], claim, "the broker's volume")
    t.figure("records acknowledged, and read back once and in order", counted["acknowledged"], "")


def await_not_ready(kube, product):
    def seen():
        one = condition(kube.get("braidclusters", product.namespace, product.cluster), "Ready")
        return one["status"] == "False" or (False, one)

    wait_for("BraidCluster not ready", seen, 90)
