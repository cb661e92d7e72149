"""The container of the leading broker is killed by SIGKILL under load: another leads at once, and nothing is lost.

Each time it is the one that leads then. It comes back as a follower, in its pod, and catches up.
"""

import time

from lib.base import equal, percentile

LIMIT = 5


def run(t):
    product = t.three_brokers().installed()
    before = product.uids()
    gaps, recoveries = [], []
    with product.load("leader-kill") as load:
        for _ in range(5 if t.full else 2):
            load.await_more(1000)
            victim = product.leader()
            restarts = product.restarts(product.get_pod(victim))
            began = time.monotonic()
            killed = product.kill_container(pod=product.get_pod(victim))
            load.await_more(1000)
            gaps.append(load.longest_stall(began))
            product.leader(without=victim)
            # kubelet restarts at once the first time, after 10, 20, 40 s the next ones.
            product.await_restarted(restarts, 120, victim)
            recoveries.append(t.since(killed))
        load.finish()
    counted = load.check()
    product.await_ready()
    product.await_caught_up()
    equal({pod: uid for pod, (uid, _) in product.uids().items()}, {pod: uid for pod, (uid, _) in before.items()}, "pods")
    t.figure("SIGKILLs of the leader under load", len(gaps), "")
    t.figure("records acknowledged, and read back once and in order", counted["acknowledged"], "")
    t.figure("longest time without an acknowledgement at a kill", max(gaps), limit=LIMIT)
    t.figure("median of these times", percentile(gaps, 0.5))
    t.figure("the killed one ready again, at the first kill", recoveries[0])
