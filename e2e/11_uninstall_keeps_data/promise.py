"""`helm uninstall` of cluster and operator keeps kinds, volumes and identity; installed again, every record is there."""

from lib.base import equal, expect
from lib.load import Load

FULL = True
PARTITIONS = 2
KEPT = ("braidclusters", "braidpools", "topics")


def run(t):
    product, kube = t.product.installed(), t.kube
    product.make_topic("stay", partitions=PARTITIONS, deletionPolicy="Retain")
    with Load(t.folder, product.bootstrap_outside, "stay", PARTITIONS) as load:
        load.await_more(2000)
        load.finish()
    identity = {key: product.broker("/v1/cluster")[key] for key in ("clusterId",)}
    topic = product.broker("/v1/topics/stay")["id"]

    product.uninstall(product.cluster_release)
    kube.await_gone("statefulsets", product.namespace, product.pool)
    kube.await_gone("pods", product.namespace, product.pod, 60)
    equal(kube.get("persistentvolumeclaims", product.namespace, product.claim)["status"]["phase"], "Bound", "the volume without its cluster")
    product.uninstall(product.operator_release)
    for kind in KEPT:
        expect(kube.get("customresourcedefinitions", None, f"{kind}.braidmq.io"), f"helm uninstall took kind {kind} away")
    kube.delete("topics", product.namespace, "stay")  # with its own policy, and nobody there to carry out another one

    product.install_operator()
    product.install_cluster()
    product.await_ready()
    equal({key: product.broker("/v1/cluster")[key] for key in ("clusterId",)}, identity, "cluster after it was installed again")
    equal(product.broker("/v1/topics/stay")["id"], topic, "id of the topic")
    counted = load.check(product.bootstrap_outside)
    t.figure("records there after uninstall and install", counted["acknowledged"], "")
