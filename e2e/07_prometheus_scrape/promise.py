"""A real Prometheus (Debian's) finds the brokers by their headless Service, scrapes them and the operator, and takes our rules."""

import json
import urllib.parse

from lib.base import equal, expect, wait_for
from lib.kube import condition
from lib.product import CHARTS, sleeping_pod

FULL = True
NAME = "prometheus"


def run(t):
    product, kube = t.product.installed(), t.kube
    product.make_topic("scraped")
    image = t.platform.client_image("prometheus")
    targets = {"brokers": (f"{product.cluster}-brokers", 9644), "operator": (f"{product.operator_release}-metrics", 8080)}
    jobs = [{"job_name": job, "dns_sd_configs": [
        {"names": [f"{service}.{product.namespace}.svc.cluster.local"], "type": "A", "port": port, "refresh_interval": "2s"}],
        "relabel_configs": [{"target_label": "braidmq_io_cluster", "replacement": product.cluster},
                            {"target_label": "namespace", "replacement": product.namespace}] if job == "brokers" else []}
        for job, (service, port) in targets.items()]
    # The operator's Service is no headless one: its name is one address, behind which one of the operators answers.
    config = {"global": {"scrape_interval": "2s", "evaluation_interval": "2s"}, "rule_files": ["/etc/prometheus-e2e/rules.yaml"],
              "scrape_configs": jobs}
    kube.apply("configmaps", product.namespace, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": {
        "prometheus.yml": json.dumps(config), "rules.yaml": (CHARTS / "braidmq/files/rules.yaml").read_text()}})
    pod = sleeping_pod(NAME, image, volumes=[{"name": "config", "configMap": {"name": NAME}}, {"name": "data", "emptyDir": {}}])
    pod["spec"]["containers"][0].update({
        "command": ["prometheus", "--config.file=/etc/prometheus-e2e/prometheus.yml", "--storage.tsdb.path=/data"],
        "volumeMounts": [{"name": "config", "mountPath": "/etc/prometheus-e2e"}, {"name": "data", "mountPath": "/data"}]})
    kube.delete("pods", product.namespace, NAME, gracePeriodSeconds=0)
    kube.await_gone("pods", product.namespace, NAME)
    kube.create("pods", product.namespace, pod)
    try:
        kube.await_pod(product.namespace, NAME)
        check(t, product)
    finally:
        kube.delete("pods", product.namespace, NAME, gracePeriodSeconds=0)


def check(t, product):
    def ask(path, **parameters):
        status, document = t.kube.request(
            "GET", f"/api/v1/namespaces/{product.namespace}/pods/{NAME}:9090/proxy/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
        return document.get("data", {}) if status == 200 else {}

    def query(text):
        return ask("query", query=text).get("result", [])

    def up():
        found = {one["metric"]["job"]: one["value"][1] for one in query("up")}
        return found == {"brokers": "1", "operator": "1"} or (False, found)

    wait_for("Prometheus scrapes brokers and operator", up, 60)
    pod = t.kube.get("pods", product.namespace, product.pod)
    equal([one["metric"]["instance"] for one in query('up{job="brokers"}')], [f"{pod['status']['podIP']}:9644"], "instance of the broker")
    for text in ("braidmq_braid_serves == 1", "rate(braidmq_requests_total[10s])", "braidmq_operator_leader", "braidmq_operator_cluster_ready == 1"):
        wait_for(f"an answer to {text}", lambda text=text: query(text), 30)
    families = [name for name in ask("label/__name__/values") if name.startswith("braidmq_")]
    t.figure("metric names that begin with braidmq_", len(families), "")

    def evaluated():
        rules = [rule for group in ask("rules").get("groups", []) for rule in group["rules"]]
        done = rules and all(rule["lastEvaluation"] > "0002" for rule in rules)
        return rules if done else (False, "not evaluated yet")

    rules = wait_for("our rules evaluated", evaluated, 60)
    wrong = [f"{rule['name']}: {rule.get('lastError')}" for rule in rules if rule["health"] != "ok"]
    expect(not wrong, f"rules that Prometheus cannot evaluate: {wrong}")
    # An alert that waits for its time to pass is on its way.
    alerts = [rule["name"] for rule in rules if rule["type"] == "alerting" and rule["state"] != "inactive"]
    expect(not alerts, f"alerts fire, or are about to, on a cluster that is well: {alerts}")
    t.figure("rules of the chart evaluated, none firing", len(rules), "")
    expect(condition(pod, "Ready")["status"] == "True", "the broker is not ready any more")
