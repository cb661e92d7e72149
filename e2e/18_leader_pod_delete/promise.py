"""The leader's pod is deleted as planned, five times under load by Java's client: its preStop hands over, clients hardly notice.

The stalls are those of one producer: the longest time without an acknowledgement from the deletion until the pod is back.
"""

import time

from lib.base import expect, percentile
from lib.java_load import JavaLoad
from lib.three_brokers import PARTITIONS

FULL = True
DELETIONS = 5
MEDIAN_LIMIT, WORST_LIMIT = 0.1, 0.5


def run(t):
    product = t.three_brokers().installed()
    product.make_topic("leader-delete", partitions=PARTITIONS)
    stalls, ends, moves, backs = [], [], [], []
    with JavaLoad(t.folder, product.bootstrap_outside, "leader-delete", PARTITIONS) as load:
        load.await_more(2000)
        for _ in range(DELETIONS):
            product.await_ready()
            load.await_more(500)
            victim = product.leader()
            uid = product.get_pod(victim)["metadata"]["uid"]
            began = time.monotonic()
            t.kube.delete("pods", product.namespace, victim)
            product.leader(without=victim)
            moves.append(t.since(began))
            last = product.get_pod(victim)
            expect(last and last["metadata"]["uid"] == uid, "another broker led only after the pod was gone")
            t.kube.await_pod(product.namespace, victim, 120, not_uid=uid)
            backs.append(t.since(began))
            load.await_more(500)
            length, end = load.longest_stall_and_its_end(began)
            stalls.append(length)
            ends.append(f"{1000 * length:.0f} ms, over {end - began:.1f} s after it")
        load.finish()
    counted = load.check()
    product.await_ready()
    product.await_caught_up()
    t.figure("records acknowledged, and read back once and in order", counted["acknowledged"], "")
    t.figure("longest stalls at the deletions:", "; ".join(ends), "")
    t.figure("another broker leads after the deletion, at the latest", max(moves))
    t.figure("another pod ready, at the latest", max(backs))
    t.figure("median of the stalls", percentile(stalls, 0.5), limit=MEDIAN_LIMIT)
    t.figure("longest of them", max(stalls), limit=WORST_LIMIT)
