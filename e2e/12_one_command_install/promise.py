"""One `helm install` of the operator with cluster.enabled=true brings up operator, kinds, cluster and a topic, from nothing."""

import time

from lib.base import equal

FULL = True
NAMESPACE = "braidmq-e2e-one"


def run(t):
    t.product.wipe()  # the kinds, too
    product, kube = t.another_product(NAMESPACE), t.kube
    values = {"cluster": {"enabled": True, "topics": {"orders": {"partitions": 2}}, **{
        key: value for key, value in product.cluster_values().items() if key in ("cluster", "pools")}}}
    try:
        began = time.monotonic()
        product.install_operator(values)
        product.await_ready()
        kube.await_condition("topics", NAMESPACE, f"{product.cluster}-orders", "Ready", 60)
        t.figure("one helm install, until cluster and topic are ready", t.since(began))
        product.await_service()
        kube.exec(NAMESPACE, product.pod, "kcat", "-b", product.bootstrap_inside, "-P", "-t", "orders", text="one\n")
        read = kube.exec(NAMESPACE, product.pod, "kcat", "-b", product.bootstrap_inside, "-C", "-t", "orders", "-e", "-q")
        equal(read, "one\n", "what kcat read")
        equal(product.broker("/v1/topics/orders")["partitions"], 2, "partitions of the topic")
    finally:
        product.wipe()
