"""A cluster of three brokers, in a namespace of its own: which leads, who is ready, and addresses that outlive any node."""

import http.client

from lib.base import Broken, equal, expect, wait_for
from lib.kube import condition
from lib.load import Load
from lib.product import Product

PARTITIONS = 3
SPOILED = "e2e-spoiled"


class ThreeBrokers(Product):
    namespace = "braidmq-e2e-three"
    brokers = 3
    operator_values = {"crds": {"install": False}}

    def installed(self):
        """As of any product; one that was spoiled is made anew."""
        namespace = self.kube.get("namespaces", None, self.namespace)
        if namespace and SPOILED in namespace["metadata"].get("labels", {}):
            self.wipe()
        return super().installed()

    def spoil(self):
        """Nobody else is to use this installation: what a promise does to it cannot be mended."""
        self.kube.patch("namespaces", None, self.namespace, {"metadata": {"labels": {SPOILED: "yes"}}})

    def await_ready(self, seconds=120):
        """Cluster Ready with no broker missing, and the pods too; the first pod."""
        self.kube.await_condition("braidclusters", self.namespace, self.cluster, "Ready", seconds)
        self.kube.await_condition("braidclusters", self.namespace, self.cluster, "Degraded", seconds, status="False")
        return [self.kube.await_pod(self.namespace, pod, seconds) for pod in self.pods][0]

    def wipe(self):
        """Its namespace alone: others have the kinds, too. Brokers first, because a namespace that has to wait for pods looks again
        only after half of their grace period."""
        self.kube.delete("braidclusters", self.namespace, self.cluster)
        label = f"braidmq.io/cluster={self.cluster}"
        wait_for("the brokers ended", lambda: not self.kube.list("pods", self.namespace, label), 60)
        self.wipe_namespace()

    @property
    def bootstrap_outside(self):
        """The bootstrap Service's port on every node: any of them leads to a broker that is ready."""
        service = self.kube.get("services", self.namespace, f"{self.cluster}-bootstrap-outside")
        expect(service, f"Service {self.cluster}-bootstrap-outside is not there")
        port = service["spec"]["ports"][0]["nodePort"]
        return ",".join(f"{self.kube.node_address(node['metadata']['name'])}:{port}" for node in self.kube.list("nodes"))

    def load(self, topic, **more):
        """A load on a new topic."""
        self.make_topic(topic, partitions=PARTITIONS)
        return Load(self.folder, self.bootstrap_outside, topic, PARTITIONS, **more)

    def condition(self, kind):
        return condition(self.kube.get("braidclusters", self.namespace, self.cluster), kind)

    def get_pod(self, name):
        return self.kube.get("pods", self.namespace, name)

    def uids(self):
        """{pod: (uid, restarts)}, of those that are there."""
        pods = [pod for pod in map(self.get_pod, self.pods) if pod]
        return {pod["metadata"]["name"]: (pod["metadata"]["uid"], self.restarts(pod)) for pod in pods}

    def try_broker(self, path, pod):
        """What the broker answers; None when it cannot be asked."""
        try:
            return self.broker(path, pod)
        except (Broken, OSError, http.client.HTTPException):
            return None

    def unready_words(self, pod):
        """What the broker's /readyz says, as text; empty when it is ready or cannot be asked."""
        _, document = self.kube.request("GET", f"/api/v1/namespaces/{self.namespace}/pods/{pod}:9644/proxy/readyz")
        return "; ".join(document.get("reasons", []))

    def leader(self, without=None, seconds=30):
        """The pod whose broker leads the braid, on which all others than `without` agree."""
        asked = [pod for pod in self.pods if pod != without]

        def agreed():
            seen = {(self.try_broker("/v1/cluster", pod) or {"braids": [{"leader": None}]})["braids"][0]["leader"] for pod in asked}
            leader = next(iter(seen))
            known = len(seen) == 1 and leader in range(self.brokers) and self.pods[leader] != without
            return self.pods[leader] if known else (False, seen)

        return wait_for("all brokers know the same leader", agreed, seconds)

    def await_caught_up(self, seconds=60):
        """Until every broker has applied the same entries: of an idle cluster."""
        def same():
            answers = [self.try_broker("/v1/cluster", pod) for pod in self.pods]
            indexes = [answer and (answer["braids"][0]["appliedIndex"], answer["metadataIndex"]) for answer in answers]
            return len(set(indexes)) == 1 and indexes[0] is not None or (False, indexes)

        wait_for("all brokers have applied the same entries", same, seconds)

    def one_cluster_id(self):
        """The cluster's id, which all brokers and the BraidCluster tell."""
        ids = {self.broker("/v1/cluster", pod)["clusterId"] for pod in self.pods}
        status = self.kube.get("braidclusters", self.namespace, self.cluster)["status"]
        equal(ids, {status["clusterId"]}, "cluster ids of the brokers")
        return ids.pop()
