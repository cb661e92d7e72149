"""The broker's pod is deleted under load, gently and by force, and comes back on its volume with every acknowledged record.

By force the API forgets the pod at once, so that the new one may start while the old process still runs on the volume.
"""

import time

from lib.base import equal
from lib.load import Load

PARTITIONS = 3


def run(t):
    product = t.product.installed()
    product.make_topic("delete", partitions=PARTITIONS)
    incarnation = product.broker("/v1/cluster")["brokers"][0]["incarnation"]
    with Load(t.folder, product.bootstrap_outside, "delete", PARTITIONS) as load:
        for way, options, limit in (("gently", {}, 30), ("by force", {"gracePeriodSeconds": 0}, 60)):
            load.await_more(1000)
            uid = t.kube.get("pods", product.namespace, product.pod)["metadata"]["uid"]
            began = time.monotonic()
            t.kube.delete("pods", product.namespace, product.pod, **options)
            t.kube.await_pod(product.namespace, product.pod, 120, not_uid=uid)
            t.figure(f"another pod ready after deleting it {way}", t.since(began), limit=limit)
            load.await_more(1000)
        figures = load.finish()
    counted = load.check()
    product.await_ready()
    equal(product.broker("/v1/cluster")["brokers"][0]["incarnation"], incarnation, "incarnation of the broker on its volume")
    t.figure("records acknowledged, and read back once and in order", counted["acknowledged"], "")
    t.figure("longest time without an acknowledgement", figures["longest_stall_s"])
