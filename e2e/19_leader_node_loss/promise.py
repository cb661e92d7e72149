"""The leader's node loses power and network under load: the others go on within seconds, and nothing acknowledged is lost.

No broker is started elsewhere, because its volume lies on the lost node. The cluster stays Ready and says who is missing; when
the node is back its broker catches up. Each broker has a node of its own, so that the majority is never on the lost one.
"""

import time

from lib.base import equal, wait_for

FULL = True
GAP_LIMIT, NAMED_LIMIT, BACK_LIMIT = 10, 60, 90
SOCKET_TIMEOUT_S = 3  # a node without power answers nothing: the client has to give its connection up


def run(t):
    product, kube = t.three_brokers().installed(), t.kube
    with product.load("leader-node-loss", socket_timeout_s=SOCKET_TIMEOUT_S) as load:
        load.await_more(1000)
        victim = product.leader()
        node = product.get_pod(victim)["spec"]["nodeName"]
        killed = time.monotonic()
        t.platform.kill_node(node)
        try:
            load.await_more(1000)
            gap = load.longest_stall(killed)
            product.leader(without=victim)
            wait_for("the missing broker is named", lambda: is_named(product, victim), NAMED_LIMIT)
            t.figure("BraidCluster names the missing broker", t.since(killed), limit=NAMED_LIMIT)
            equal(product.condition("Ready")["status"], "True", "Ready with a majority")
            load.await_more(1000)
            equal(product.get_pod(victim)["spec"]["nodeName"], node, "node of the lost broker's pod")
        finally:
            t.platform.start_node(node)
        back = time.monotonic()
        product.await_ready()
        t.figure("all brokers ready after the node's return", t.since(back), limit=BACK_LIMIT)
        load.await_more(1000)
        load.finish()
    counted = load.check()
    product.await_caught_up()
    equal(kube.get("persistentvolumeclaims", product.namespace, f"data-{victim}")["status"]["phase"], "Bound", "the lost broker's claim")
    t.figure("records acknowledged, and read back once and in order", counted["acknowledged"], "")
    t.figure(f"longest time without an acknowledgement (socket timeout of the client {SOCKET_TIMEOUT_S} s)", gap, limit=GAP_LIMIT)


def is_named(product, victim):
    degraded = product.condition("Degraded")
    return degraded["status"] == "True" and victim in degraded["message"] or (False, degraded)
