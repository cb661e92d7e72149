"""An image that does not start, a StorageClass that is not there, too few nodes: the conditions name it within 30 s."""

import time

from lib.base import expect, wait_for
from lib.kube import condition
from lib.product import CHARTS

FULL = True
NAMESPACE = "braidmq-e2e-trouble"
LIMIT = 30


def run(t):
    t.product.installed()  # the kinds
    product, kube = t.another_product(NAMESPACE), t.kube
    pool = product.cluster_values()["pools"]["a"]
    troubles = {
        "image": ("nowhere.invalid/none:1", {"image": "nowhere.invalid/none:1", "imagePullPolicy": "Never"}, {}),
        "volume": ("no-such-class", {}, {"storage": {"size": "1Gi", "storageClassName": "no-such-class"}}),
        "nodes": ("node", {}, {"template": {"nodeSelector": {"no-such": "label"}}})}
    try:
        product.install_operator({"replicas": 1, "crds": {"install": False}})
        for name, (word, cluster, more) in troubles.items():
            began = time.monotonic()
            product.helm("install", name, CHARTS / "braidmq", "--values",
                         product.values_file(name, {"cluster": cluster, "pools": {"a": {**pool, **more}}}))

            def named(name=name, word=word):
                ready = condition(kube.get("braidclusters", NAMESPACE, name), "Ready")
                return ready["status"] == "False" and word in ready["message"] or (False, ready)

            wait_for(f"BraidCluster {name} says {word}", named, 60)
            t.figure(f"trouble with {name} named", t.since(began), limit=LIMIT)
            stalled = condition(kube.get("braidclusters", NAMESPACE, name), "Stalled")
            expect(stalled["status"] == "True" and word in stalled["message"], f"{name}: Stalled says {stalled}")
            product.helm("uninstall", name)
    finally:
        kube.delete("namespaces", None, NAMESPACE)
    kube.await_gone("namespaces", None, NAMESPACE, 120)
