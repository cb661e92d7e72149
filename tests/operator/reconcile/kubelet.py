"""What controllers and a kubelet would do, as far as the operator looks: pods and claims of StatefulSets, node ports are the
API server's own. One broker per StatefulSet, started with what its ConfigMap and Secret hold."""

import base64
import re
import threading


class Kubelet:
    def __init__(self, plane, namespace, broker, pod_ip):
        self.plane, self.namespace, self.broker, self.pod_ip = plane, namespace, broker, pod_ip
        self.bad_images = set()
        self.stopped = threading.Event()
        self.problem = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def close(self):
        self.stopped.set()
        self.thread.join(10)

    def run(self):
        while not self.stopped.wait(0.2):
            try:
                self.step()
            except Exception as error:  # noqa: BLE001 - shown by the test that waits in vain
                self.problem = f"{type(error).__name__}: {error}"

    def core(self, path):
        return f"/api/v1/namespaces/{self.namespace}/{path}"

    def step(self):
        sets = self.plane.request("GET", f"/apis/apps/v1/namespaces/{self.namespace}/statefulsets").json()["items"]
        uids = {item["metadata"]["uid"] for item in sets}
        for pod in self.plane.request("GET", self.core("pods")).json()["items"]:
            if pod["metadata"]["ownerReferences"][0]["uid"] not in uids:
                self.plane.request("DELETE", self.core(f"pods/{pod['metadata']['name']}"), {"gracePeriodSeconds": 0})
        for item in sets:
            if item["spec"]["replicas"]:
                self.run_set(item)

    def run_set(self, item):
        name = f"{item['metadata']['name']}-0"
        for claim in item["spec"]["volumeClaimTemplates"]:
            claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": claim["spec"],
                     "metadata": {**claim["metadata"], "name": f"{claim['metadata']['name']}-{name}"}}
            self.plane.request("POST", self.core("persistentvolumeclaims"), claim)
        pod = self.plane.request("GET", self.core(f"pods/{name}"))
        if pod.status == 404:
            template = item["spec"]["template"]
            claims = [{"name": claim["metadata"]["name"],
                       "persistentVolumeClaim": {"claimName": f"{claim['metadata']['name']}-{name}"}}
                      for claim in item["spec"]["volumeClaimTemplates"]]
            body = {"apiVersion": "v1", "kind": "Pod", "metadata": template["metadata"],
                    "spec": {**template["spec"], "volumes": [*template["spec"].get("volumes", ()), *claims]}}
            body["metadata"] = {**body["metadata"], "name": name, "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": item["metadata"]["name"],
                 "uid": item["metadata"]["uid"], "controller": True}]}
            body["metadata"]["labels"] = {**body["metadata"]["labels"], "apps.kubernetes.io/pod-index": "0",
                                          "statefulset.kubernetes.io/pod-name": name}
            pod = self.plane.request("POST", self.core("pods"), body)
            if pod.status != 201:
                raise RuntimeError(f"pod: {pod}")
        self.start(pod.json())
        status = {"observedGeneration": item["metadata"]["generation"], "replicas": 1}
        if item.get("status", {}).get("observedGeneration") != status["observedGeneration"]:
            self.plane.request("PATCH", f"/apis/apps/v1/namespaces/{self.namespace}/statefulsets/{item['metadata']['name']}/status",
                               {"status": status}, content_type="application/merge-patch+json")

    def start(self, pod):
        image = pod["spec"]["containers"][0]["image"]
        container = {"name": "broker", "image": image, "imageID": "", "restartCount": 0, "ready": False}
        running = False
        if image in self.bad_images:
            container["state"] = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}
        else:
            running = self.start_broker(pod["metadata"]["labels"]["braidmq.io/cluster"])
            container["state"] = {"running": {"startedAt": "2026-01-01T00:00:00Z"}} if running else {
                "waiting": {"reason": "ContainerCreating"}}
        container["ready"] = running
        now = "2026-01-01T00:00:00Z"
        status = {"phase": "Running" if running else "Pending", "hostIP": "192.0.2.7", "podIP": self.pod_ip,
                  "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": now},
                                 {"type": "Ready", "status": "True" if running else "False", "lastTransitionTime": now}],
                  "containerStatuses": [container]}
        if pod["status"].get("containerStatuses") != [container]:
            self.plane.request("PATCH", self.core(f"pods/{pod['metadata']['name']}/status"), {"status": status},
                               content_type="application/merge-patch+json")

    def start_broker(self, cluster):
        config = self.plane.request("GET", self.core(f"configmaps/{cluster}-config"))
        secret = self.plane.request("GET", self.core(f"secrets/{cluster}-secret"))
        if config.status != 200 or secret.status != 200:
            return False
        yaml = config.json()["data"]["broker.yaml"]
        with self.broker.lock:
            self.broker.secret = base64.b64decode(secret.json()["data"]["secret"]).decode().strip()
            self.broker.cluster_id = self.broker.cluster_id or re.search(r'cluster\.id: "([^"]+)"', yaml).group(1)
        return True
