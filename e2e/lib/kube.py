"""A client of one Kubernetes: kubectl and helm as programs, and the API by HTTP through `kubectl proxy`, which knows every
way to log in and costs no process for each question."""

import http.client
import json
import os
import re
import subprocess
import threading
import time
import urllib.parse

from lib.base import Broken, expect, run, wait_for

CORE = "/api/v1"
PREFIXES = {
    "braidclusters": "/apis/braidmq.io/v1alpha1", "braidpools": "/apis/braidmq.io/v1alpha1",
    "topics": "/apis/braidmq.io/v1alpha1", "statefulsets": "/apis/apps/v1", "deployments": "/apis/apps/v1",
    "leases": "/apis/coordination.k8s.io/v1", "events": "/apis/events.k8s.io/v1",
    "customresourcedefinitions": "/apis/apiextensions.k8s.io/v1", "poddisruptionbudgets": "/apis/policy/v1",
    "networkpolicies": "/apis/networking.k8s.io/v1"}
CLUSTERED = {"nodes", "namespaces", "persistentvolumes", "customresourcedefinitions"}
FIELD_MANAGER = "e2e"


def path_of(kind, namespace=None, name=None):
    path = PREFIXES.get(kind, CORE)
    if kind not in CLUSTERED:
        path += f"/namespaces/{namespace}"
    return f"{path}/{kind}{f'/{name}' if name else ''}"


def condition(document, kind):
    """A condition of an object, or an empty one."""
    for one in ((document or {}).get("status") or {}).get("conditions") or ():
        if one["type"] == kind:
            return one
    return {"status": "Unknown", "reason": "", "message": "no such condition"}


class Kube:
    def __init__(self, kubeconfig, bin_folder=None):
        self.env = {**os.environ, "KUBECONFIG": str(kubeconfig)}
        if bin_folder:
            self.env["PATH"] = f"{bin_folder}:{self.env['PATH']}"
        self.proxy = None

    # --- programs -------------------------------------------------------------------------------------------------------

    def kubectl(self, *arguments, seconds=60, text=None, ok=(0,)):
        return run(["kubectl", *arguments], seconds, text, self.env, ok)

    def helm(self, *arguments, seconds=120, ok=(0,)):
        return run(["helm", *arguments], seconds, None, self.env, ok)

    def exec(self, namespace, pod, *command, text=None, seconds=60):
        stdin = ["-i"] if text is not None else []
        return self.kubectl("-n", namespace, "exec", *stdin, pod, "--", *command, text=text, seconds=seconds)

    # --- the API --------------------------------------------------------------------------------------------------------

    def open(self):
        self.proxy = subprocess.Popen(["kubectl", "proxy", "--port=0"], env=self.env, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        found = re.search(r"127\.0\.0\.1:(\d+)", self.proxy.stdout.readline())
        expect(found, "kubectl proxy does not start; is the kubeconfig right?")
        self.port = int(found.group(1))

    def close(self):
        if self.proxy:
            self.proxy.terminate()
            self.proxy.wait(10)

    def request(self, method, path, body=None, content="application/json", seconds=30):
        """(status, document). Tells a broken connection apart from an answer by an exception."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": content})
            response = connection.getresponse()
            raw = response.read()
        finally:
            connection.close()
        try:
            return response.status, json.loads(raw)
        except ValueError:
            return response.status, {"message": raw.decode(errors="replace")}

    def must(self, method, path, body=None, content="application/json"):
        status, document = self.request(method, path, body, content)
        expect(status < 300, f"{method} {path}: {status} {document.get('message', '')}")
        return document

    def get(self, kind, namespace, name):
        """The object, or None."""
        path = path_of(kind, namespace, name)
        status, document = self.request("GET", path)
        expect(status in (200, 404), f"GET {path}: {status} {document.get('message', '')}")
        return document if status == 200 else None

    def list(self, kind, namespace=None, selector=""):
        query = f"?labelSelector={urllib.parse.quote(selector)}" if selector else ""
        status, document = self.request("GET", path_of(kind, namespace) + query)
        # A kind that is not installed has no objects.
        expect(status in (200, 404), f"list {kind}: {status} {document.get('message', '')}")
        return document.get("items", []) if status == 200 else []

    def create(self, kind, namespace, document):
        return self.must("POST", path_of(kind, namespace), document)

    def apply(self, kind, namespace, document):
        name = document["metadata"]["name"]
        return self.must("PATCH", f"{path_of(kind, namespace, name)}?fieldManager={FIELD_MANAGER}&force=true", document,
                         "application/apply-patch+yaml")

    def patch(self, kind, namespace, name, document):
        return self.must("PATCH", path_of(kind, namespace, name), document, "application/merge-patch+json")

    def delete(self, kind, namespace, name, **options):
        path = path_of(kind, namespace, name)
        status, document = self.request("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", **options})
        expect(status < 300 or status == 404, f"DELETE {path}: {status} {document.get('message', '')}")

    def await_gone(self, kind, namespace, name, seconds=60):
        wait_for(f"{kind} {name} gone", lambda: self.get(kind, namespace, name) is None, seconds)

    def await_condition(self, kind, namespace, name, wanted, seconds, status="True"):
        """Until condition `wanted` has the status for the object's generation; the object."""
        def held():
            document = self.get(kind, namespace, name)
            one = condition(document, wanted)
            fresh = document and one.get("observedGeneration", 0) >= document["metadata"]["generation"]
            if one["status"] == status and fresh:
                return document
            return False, f"{wanted}={one['status']} {one['reason']}: {one['message']}"

        return wait_for(f"{kind}/{name} {wanted}={status}", held, seconds)

    def await_pod(self, namespace, name, seconds=60, not_uid=None):
        """Until the pod is Ready (another one than `not_uid`); the pod."""
        def ready():
            pod = self.get("pods", namespace, name)
            if pod and pod["metadata"]["uid"] != not_uid and condition(pod, "Ready")["status"] == "True":
                return pod
            return False, (pod or {}).get("status", "no pod")

        return wait_for(f"pod {name} ready", ready, seconds)

    def ensure_namespace(self, name, **labels):
        self.apply("namespaces", None, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        # Pods are refused until it has its account.
        wait_for(f"ServiceAccount of {name}", lambda: self.get("serviceaccounts", name, "default"), 30)

    def node_address(self, name):
        for address in self.get("nodes", None, name)["status"]["addresses"]:
            if address["type"] == "InternalIP":
                return address["address"]
        raise Broken(f"node {name} has no InternalIP")


class Watch:
    """Events of a collection in a thread of its own: (seconds since start by our clock, type, object)."""

    def __init__(self, kube, kind, namespace):
        self.events = []
        self.failure = None
        status, document = kube.request("GET", path_of(kind, namespace))
        expect(status == 200, f"list {kind}: {status}")
        version = document["metadata"]["resourceVersion"]
        self.connection = http.client.HTTPConnection("127.0.0.1", kube.port, timeout=300)
        self.connection.request("GET", f"{path_of(kind, namespace)}?watch=1&resourceVersion={version}")
        self.response = self.connection.getresponse()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            for line in self.response:
                event = json.loads(line)
                self.events.append((time.monotonic(), event["type"], event["object"]))
        except (OSError, ValueError, http.client.HTTPException, AttributeError) as error:
            self.failure = error  # also the way in which close() ends it

    def close(self):
        self.connection.sock and self.connection.sock.close()
