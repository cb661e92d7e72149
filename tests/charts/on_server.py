"""The charts on a real API server without controllers or nodes: what Helm installs, upgrades and leaves behind, and whether
every object of every set of values is accepted, by rules, admission and Pod Security ("restricted") alike."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
HELM = str(ROOT / "build/kubernetes/bin/helm")
NAMESPACE = "space"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CLUSTERS = f"/apis/braidmq.io/v1alpha1/namespaces/{NAMESPACE}/braidclusters"
# Only so that an API server without the Prometheus operator takes its kinds.
FOREIGN_KINDS = {"podmonitors": "PodMonitor", "prometheusrules": "PrometheusRule"}


class Charts:
    def __init__(self, plane, wait_for):
        self.plane, self.wait_for = plane, wait_for

    def helm(self, *arguments):
        environment = {**os.environ, "KUBECONFIG": str(self.plane.kubeconfig), "HELM_NO_PLUGINS": "1"}
        done = subprocess.run([HELM, "--namespace", NAMESPACE, *arguments], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise AssertionError(f"helm {' '.join(arguments)}: {done.stdout[-2000:]}")
        return done.stdout

    def get(self, path):
        answer = self.plane.request("GET", path)
        return answer.json() if answer.status == 200 else None

    def checks(self):
        """(name, test) in the order in which they build on each other; a test returns a problem or nothing."""
        yield "charts: the ground", self.ground
        yield "charts: the operator's chart brings the kinds", self.install_operator
        yield "charts: an upgrade of the chart upgrades the kinds", self.upgrade_operator
        yield "charts: a cluster and its notes", self.install_cluster
        for chart in ("braidmq", "braidmq-operator"):
            for values in sorted((ROOT / "charts" / chart / "ci").glob("*-values.yaml")):
                yield f"charts: {chart} {values.stem}: accepted", lambda c=chart, v=values: self.accepted(c, v)
        yield "charts: uninstalling the operator keeps kinds and clusters", self.uninstall_operator

    def ground(self):
        for crd in (self.get(CRDS) or {}).get("items", []):
            if crd["spec"]["group"] == "braidmq.io":
                self.plane.request("DELETE", f"{CRDS}/{crd['metadata']['name']}")
        self.wait_for("the kinds are gone", lambda: not [one for one in self.get(CRDS)["items"]
                                                         if one["spec"]["group"] == "braidmq.io"], 30)
        labels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
        for name in (NAMESPACE, "payments", "logistics"):
            self.plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        for plural, kind in FOREIGN_KINDS.items():
            version = {"name": "v1", "served": True, "storage": True,
                       "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
            answer = self.plane.request("POST", CRDS, {
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": f"{plural}.monitoring.coreos.com"},
                "spec": {"group": "monitoring.coreos.com", "scope": "Namespaced", "versions": [version],
                         "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}}})
            if answer.status != 201:
                return f"{answer}"
            path = f"/apis/monitoring.coreos.com/v1/{plural}"
            self.wait_for(f"{plural} served", lambda p=path: self.get(p), 30)
        # A pod without a priority class that exists is refused.
        self.plane.request("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
                           {"metadata": {"name": "messaging"}, "value": 1000})
        return None

    def install_operator(self):
        """From a chart whose BraidCluster is a version behind: it lacks the field `paused`."""
        with tempfile.TemporaryDirectory() as folder:
            old = pathlib.Path(folder) / "braidmq-operator"
            shutil.copytree(ROOT / "charts/braidmq-operator", old)
            crd = old / "files/crds/00-braidclusters.yaml"
            text = crd.read_text()
            crd.write_text(re.sub(r"\n +paused:\n( +)description:.*\n\1type: boolean\n\1default: false", "", text))
            if crd.read_text() == text:
                return "this test does not fit crds/ any more"
            output = self.helm("install", "braidmq-operator", str(old))
        if "no authentication yet" not in output:
            return f"the notes do not say \"no authentication yet\": {output}"
        self.wait_for("BraidCluster served", lambda: self.get(CLUSTERS), 30)
        return "the old chart has the new field" if self.knows_paused() else None

    def knows_paused(self):
        crd = self.get(f"{CRDS}/braidclusters.braidmq.io")
        return "paused" in crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]

    def upgrade_operator(self):
        self.helm("upgrade", "braidmq-operator", str(ROOT / "charts/braidmq-operator"))
        return None if self.knows_paused() else "BraidCluster has no field `paused` after the upgrade"

    def install_cluster(self):
        output = self.helm("install", "prod", str(ROOT / "charts/braidmq"), "--set", "topics.orders.partitions=3")
        for words in ("no authentication yet", f"-b prod-bootstrap.{NAMESPACE}.svc:9092 -P -t orders", "exec -i prod-a-0"):
            if words not in output:
                return f"the notes lack: {words}\n{output}"
        cluster = self.get(f"{CLUSTERS}/prod")
        if not cluster or cluster["spec"]["listeners"][0]["port"] != 9092:
            return f"no BraidCluster with its defaults: {cluster}"
        topic = self.get(f"/apis/braidmq.io/v1alpha1/namespaces/{NAMESPACE}/topics/prod-orders")
        if not topic or topic["spec"]["topicName"] != "orders" or topic["spec"]["partitions"] != 3:
            return f"{topic}"
        # An upgrade with the same values changes nothing: no generation moves.
        self.helm("upgrade", "prod", str(ROOT / "charts/braidmq"), "--set", "topics.orders.partitions=3")
        again = self.get(f"{CLUSTERS}/prod")["metadata"]["generation"]
        return None if again == cluster["metadata"]["generation"] else f"generation {again} after an upgrade without a change"

    def accepted(self, chart, values):
        output = self.helm("template", "trial", str(ROOT / "charts" / chart), "--values", str(values), "--is-upgrade")
        problems = []
        for one in yaml.safe_load_all(output):
            for wanted in [one] if one else []:
                problems += self.refused(wanted)
                if wanted["kind"] == "ConfigMap" and wanted["metadata"]["name"].endswith("-cluster"):
                    for text in wanted["data"].values():
                        problems += self.refused(yaml.safe_load(text))
                if wanted["kind"] == "Deployment":
                    pod = wanted["spec"]["template"]
                    problems += self.refused({**pod, "apiVersion": "v1", "kind": "Pod",
                                              "metadata": {**pod["metadata"], "name": "trial", "namespace": NAMESPACE}})
        return "\n       ".join(problems)

    def refused(self, wanted):
        """Dry run of a server-side apply: creation and admission as they would be."""
        group, _, version = wanted["apiVersion"].rpartition("/")
        base = f"/apis/{group}/{version}" if group else f"/api/{version}"
        resources = {one["kind"]: one for one in self.get(base)["resources"] if "/" not in one["name"]}
        resource = resources[wanted["kind"]]
        namespace = f"/namespaces/{wanted['metadata'].get('namespace', NAMESPACE)}" if resource["namespaced"] else ""
        path = f"{base}{namespace}/{resource['name']}/{wanted['metadata']['name']}"
        answer = self.plane.request("PATCH", f"{path}?dryRun=All&fieldManager=trial&force=true&fieldValidation=Strict", wanted,
                                    content_type="application/apply-patch+yaml")
        return [] if answer.status in (200, 201) else [f"{wanted['kind']} {wanted['metadata']['name']}: {answer}"]

    def uninstall_operator(self):
        self.helm("uninstall", "braidmq-operator")
        if self.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/braidmq-operator"):
            return "the Deployment is still there"
        if not self.get(f"{CLUSTERS}/prod"):
            return "the BraidCluster is gone"
        # And a new release takes the kinds over again.
        self.helm("install", "braidmq-operator", str(ROOT / "charts/braidmq-operator"))
        return None
