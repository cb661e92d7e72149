"""The broker's container is killed by SIGKILL under load, and every acknowledged record is there, once and in order.

An idempotent producer outside of the cluster goes on by itself over the kill; nothing of it fails.
"""

from lib.base import equal
from lib.load import Load

PARTITIONS = 3


def run(t):
    product = t.product.installed()
    product.make_topic("kill", partitions=PARTITIONS)
    uid = t.kube.get("pods", product.namespace, product.pod)["metadata"]["uid"]
    # kubelet restarts at once the first time, after 10, 20, 40 s the next ones.
    kills = 4 if t.full else 2
    with Load(t.folder, product.bootstrap_outside, "kill", PARTITIONS) as load:
        recoveries = []
        for _ in range(kills):
            load.await_more(1500)
            before = product.restarts()
            killed = product.kill_container()
            pod = product.await_restarted(before, 120)
            recoveries.append(t.since(killed))
            load.await_more(1000)
        figures = load.finish()
    counted = load.check()
    equal(pod["metadata"]["uid"], uid, "uid of the pod that was killed in")
    product.await_ready()
    t.figure("SIGKILLs under load", kills, "")
    t.figure("records acknowledged, and read back once and in order", counted["acknowledged"], "")
    t.figure("ready again after the first kill", recoveries[0])
    t.figure("longest time without an acknowledgement (with kubelet's waits)", figures["longest_stall_s"])
