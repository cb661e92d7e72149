"""BraidMQ on the Kubernetes under test: installed by its charts in one namespace, as most promises want it."""

import json
import pathlib
import time

from lib.base import Broken, expect, wait_for
from lib.kube import condition

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHARTS = ROOT / "charts"
BROKER_RESOURCES = {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}}
KINDS = ("topics", "braidpools", "braidclusters")


class Product:
    namespace, cluster, pool = "braidmq-e2e", "braidmq", "braidmq-a"
    operator_release, cluster_release = "braidmq-operator", "braidmq"
    operator_values = {}
    brokers = 1

    def __init__(self, kube, platform, folder, namespace=None):
        self.kube, self.platform, self.folder = kube, platform, folder
        self.namespace = namespace or self.namespace
        self.pods = [f"{self.pool}-{ordinal}" for ordinal in range(self.brokers)]
        self.pod = self.pods[0]
        self.claim = f"data-{self.pod}"
        self._image = None

    @property
    def image(self):
        if self._image is None:
            self._image = self.platform.product_image()
        return self._image

    # --- install ----------------------------------------------------------------------------------------------------

    def helm(self, *arguments, seconds=180):
        return self.kube.helm("-n", self.namespace, *arguments, seconds=seconds)

    def install_operator(self, values=None, extra=()):
        repository, tag = self.image.rsplit(":", 1)
        self.helm("upgrade", "--install", self.operator_release, CHARTS / "braidmq-operator", "--create-namespace", "--wait",
                  "--timeout", "120s", "--set", f"image.repository={repository},image.tag={tag}",
                  "--values", self.values_file("operator", values or self.operator_values), *extra)

    def install_cluster(self, values=None):
        self.helm("upgrade", "--install", self.cluster_release, CHARTS / "braidmq", "--values",
                  self.values_file("cluster", values or self.cluster_values()))

    def values_file(self, name, values):
        path = self.folder / f"{self.namespace}-{name}-values.yaml"
        path.write_text(json.dumps(values))  # JSON is YAML
        return path

    def cluster_values(self, **more):
        size = {"replicas": self.brokers} if self.brokers > 1 else {}
        return {"cluster": {"listeners": [{"name": "internal", "port": 9092, "type": "internal"},
                                          {"name": "outside", "port": 9093, "type": "nodeport"}]},
                "pools": {"a": {**size, "storage": {"size": "1Gi"}, "resources": BROKER_RESOURCES}}, **more}

    def installed(self):
        """Installs what is not there; what another promise needs before it begins."""
        cluster = self.kube.get("braidclusters", self.namespace, self.cluster)
        deployment = self.kube.get("deployments", self.namespace, self.operator_release)
        if not deployment or self.image not in json.dumps(deployment):
            self.install_operator()
        if not cluster:
            self.install_cluster()
        self.await_ready()
        if self.broker_image() != self.image:
            self.wipe()  # the operator does not roll a new image out yet
            self.installed()
        return self

    def broker_image(self):
        pod = self.kube.get("pods", self.namespace, self.pod)
        return pod["spec"]["containers"][0]["image"] if pod else None

    def await_ready(self, seconds=120):
        """Cluster Ready, and the broker's pod too."""
        self.kube.await_condition("braidclusters", self.namespace, self.cluster, "Ready", seconds)
        return self.kube.await_pod(self.namespace, self.pod, seconds)

    def uninstall(self, release):
        self.helm("uninstall", release, "--wait", "--timeout", "120s")

    def wipe(self):
        """Nothing of BraidMQ is left in the namespace, nor its kinds. A promise that must begin from nothing calls it."""
        self.wipe_namespace()
        for kind in KINDS:
            self.kube.delete("customresourcedefinitions", None, f"{kind}.braidmq.io")
            self.kube.await_gone("customresourcedefinitions", None, f"{kind}.braidmq.io", 60)

    def wipe_namespace(self):
        for topic in self.kube.list("topics", self.namespace):
            name = topic["metadata"]["name"]
            self.kube.delete("topics", self.namespace, name)
            try:
                self.kube.await_gone("topics", self.namespace, name, 20)
            except Broken:  # no operator to let go of it
                self.kube.patch("topics", self.namespace, name, {"metadata": {"finalizers": None}})
        self.kube.delete("namespaces", None, self.namespace)
        self.kube.await_gone("namespaces", None, self.namespace, 120)

    # --- use --------------------------------------------------------------------------------------------------------

    @property
    def bootstrap_inside(self):
        return f"{self.cluster}-bootstrap.{self.namespace}.svc:9092"

    def await_service(self, seconds=10):
        """Until the bootstrap Service leads to the broker from its own pod: kube-proxy hears of a Ready pod a moment later."""
        def answers():
            try:
                self.kube.exec(self.namespace, self.pod, "kcat", "-b", self.bootstrap_inside, "-m", "2", "-L")
                return True
            except Broken as why:
                return False, str(why)
        wait_for(f"{self.bootstrap_inside} answers", answers, seconds, every=0.2)

    @property
    def bootstrap_outside(self):
        """Address of the broker's node, and the port of the bootstrap Service."""
        service = self.kube.get("services", self.namespace, f"{self.cluster}-bootstrap-outside")
        expect(service, f"Service {self.cluster}-bootstrap-outside is not there")
        pod = self.kube.get("pods", self.namespace, self.pod)
        return f"{self.kube.node_address(pod['spec']['nodeName'])}:{service['spec']['ports'][0]['nodePort']}"

    def broker(self, path, pod=None):
        """GET from the broker's HTTP port, through the API server."""
        pod = pod or self.pod
        status, document = self.kube.request("GET", f"/api/v1/namespaces/{self.namespace}/pods/{pod}:9644/proxy{path}")
        expect(status == 200, f"GET {path} from {pod}: {status} {str(document)[:500]}")
        return document

    def topic(self, name, **spec):
        """The document of a Topic of this cluster."""
        return {"apiVersion": "braidmq.io/v1alpha1", "kind": "Topic", "metadata": {"name": name, "namespace": self.namespace},
                "spec": {"clusterRef": {"name": self.cluster}, **spec}}

    def make_topic(self, name, **spec):
        """A new one, that goes with its Topic."""
        if self.kube.get("topics", self.namespace, name):
            self.kube.delete("topics", self.namespace, name)
            self.kube.await_gone("topics", self.namespace, name)
        self.kube.apply("topics", self.namespace, self.topic(name, **{"deletionPolicy": "Delete", **spec}))
        return self.kube.await_condition("topics", self.namespace, name, "Ready", 30)

    def operator_pods(self):
        return [pod for pod in self.kube.list("pods", self.namespace, f"app.kubernetes.io/instance={self.operator_release}")
                if "deletionTimestamp" not in pod["metadata"]]

    def client_pod(self, image, name="client"):
        """A pod with a client's image, that sleeps until something is run in it."""
        existing = self.kube.get("pods", self.namespace, name)
        if existing and existing["spec"]["containers"][0]["image"] != image:
            self.kube.delete("pods", self.namespace, name, gracePeriodSeconds=0)
            self.kube.await_gone("pods", self.namespace, name)
            existing = None
        if not existing:
            self.kube.create("pods", self.namespace, sleeping_pod(name, image))
        return self.kube.await_pod(self.namespace, name, 60)

    # --- harm -------------------------------------------------------------------------------------------------------

    def kill_container(self, program="braid-broker", pod=None, number=9):
        """The signal to the program in the pod's container, from outside of its process namespace: in there it is process 1,
        which nothing can kill. Returns when the signal was sent."""
        pod = pod or self.kube.get("pods", self.namespace, self.pod)
        killer = f"killer-{pod['spec']['nodeName']}"
        if not self.kube.get("pods", self.namespace, killer):
            document = sleeping_pod(killer, self.image, hostPID=True, nodeName=pod["spec"]["nodeName"])
            document["spec"]["containers"][0]["securityContext"] = {"runAsUser": 0}
            self.kube.create("pods", self.namespace, document)
        self.kube.await_pod(self.namespace, killer)
        script = """
            for folder in /proc/[0-9]*; do
              if [ "$(cat "$folder/comm" 2>/dev/null)" = "$1" ] && grep -q "${2//-/[-_]}" "$folder/cgroup" 2>/dev/null; then
                kill "-$3" "${folder#/proc/}" && echo "killed ${folder#/proc/}"
              fi
            done"""
        done = self.kube.exec(self.namespace, killer, "bash", "-c", script, "kill", program, pod["metadata"]["uid"], str(number))
        expect(done.startswith("killed"), f"no process {program} of pod {pod['metadata']['name']} to kill")
        return time.monotonic()

    def restarts(self, pod=None):
        document = pod or self.kube.get("pods", self.namespace, self.pod)
        return sum(one["restartCount"] for one in document["status"].get("containerStatuses", []))

    def await_restarted(self, before, seconds=60, name=None):
        """Until the broker's container was started again (`before`: restarts until then) and is ready; the pod."""
        def again():
            pod = self.kube.get("pods", self.namespace, name or self.pod)
            count = self.restarts(pod)
            ready = condition(pod, "Ready")
            return pod if count > before and ready["status"] == "True" else (False, f"{count} restarts, {ready}")

        return wait_for("the broker's container started again and ready", again, seconds)


def sleeping_pod(name, image, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False, "enableServiceLinks": False,
        "containers": [{"name": "main", "image": image, "imagePullPolicy": "IfNotPresent", "command": ["sleep", "infinity"]}],
        **spec}}
