"""A broker, all of the operator and the API server are killed at the same moment under load: all of it heals, nothing is lost.

The brokers need neither of the two: acknowledgements go on while the API server is away.
"""

import os
import signal
import time

from lib.base import equal, wait_for
from lib.processes import process_of

FULL = True
ROUNDS = 2
GAP_LIMIT, BACK_LIMIT = 5, 60


def run(t):
    product = t.three_brokers().installed()
    uids = {pod: uid for pod, (uid, _) in product.uids().items()}
    gaps, backs = [], []
    with product.load("one-of-each") as load:
        for _ in range(ROUNDS):
            load.await_more(1000)
            victim = product.leader()
            restarts = product.restarts(product.get_pod(victim))
            operators = [wait_for("the operator runs", lambda pod=pod: process_of(pod, "braid-operator"), 60)
                         for pod in product.operator_pods()]
            broker = process_of(product.get_pod(victim), "braid-broker")
            began = time.monotonic()
            for pid in (broker, *operators):
                os.kill(pid, signal.SIGKILL)
            t.platform.kill_api_server()
            try:
                load.await_more(1000)
                gaps.append(load.longest_stall(began))
            finally:
                t.platform.start_api_server()
            back = time.monotonic()
            product.await_restarted(restarts, 120, victim)
            wait_for("the operator runs again", lambda: runs_again(product, operators), 120)
            product.await_ready()
            backs.append(t.since(back))
        load.finish()
    counted = load.check()
    product.await_caught_up()
    equal({pod: uid for pod, (uid, _) in product.uids().items()}, uids, "pods")
    t.figure("times that one of each was killed", ROUNDS, "")
    t.figure("records acknowledged, and read back once and in order", counted["acknowledged"], "")
    t.figure("longest time without an acknowledgement", max(gaps), limit=GAP_LIMIT)
    t.figure("BraidCluster ready again after the API server's return, at the latest", max(backs), limit=BACK_LIMIT)


def runs_again(product, killed):
    pids = [process_of(pod, "braid-operator") for pod in product.operator_pods()]
    return all(pids) and not set(pids) & set(killed) or (False, pids)
