"""`helm test` of the cluster's release makes a Topic, writes, reads and deletes, and says so; twice, as it cleans up."""

import time

from lib.base import expect

FULL = True


def run(t):
    product, kube = t.product.installed(), t.kube
    repository, tag = product.image.rsplit(":", 1)
    product.install_cluster(product.cluster_values(test={"image": f"{repository}:{tag}"}))
    product.await_ready()
    for number in (1, 2):
        began = time.monotonic()
        said = product.helm("test", product.cluster_release, "--timeout", "120s")
        t.figure(f"helm test, run {number}", t.since(began))
        expect("Phase:          Succeeded" in said, f"helm test said:\n{said}")
    name = f"{product.cluster}-helm-test"
    kube.await_gone("topics", product.namespace, name, 30)
    topics = [topic["name"] for topic in product.broker("/v1/topics?limit=1000")["topics"]]
    expect(name not in topics, f"helm test left topic {name} behind")
