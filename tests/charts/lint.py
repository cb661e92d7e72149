#!/usr/bin/python3
"""lint.py [--only WORDS]: the charts, without an API server. Ends with "N passed, N failed".

Generated files are up to date; helm lint and kubeconform -strict over each chart with each of its ci/*-values.yaml; values
that must be refused are; pods keep to the "restricted" Pod Security Standard; alert rules as promtool has it; every metric in
rules and dashboard is one that the broker exports; yamllint.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BIN = ROOT / "build/kubernetes/bin"
SCHEMAS = ROOT / "build/kubernetes/schemas"
CHARTS = ("braidmq", "braidmq-operator")
MIN_VALUES_FILES = 10
# Of the kubelet and of Prometheus itself; the broker cannot export them.
FOREIGN_METRICS = {"up", "kubelet_volume_stats_available_bytes", "kubelet_volume_stats_capacity_bytes"}


def run(*command, stdin=None):
    """(status, output), both streams as one text."""
    done = subprocess.run([str(one) for one in command], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd=ROOT, timeout=300, check=False)
    return done.returncode, done.stdout


class Lint:
    def __init__(self, only):
        self.only, self.passed, self.failed = only, 0, 0

    def check(self, name, test, *arguments):
        if self.only and self.only not in name:
            return
        try:
            problem = test(*arguments)
        except Exception as error:  # noqa: BLE001 - one broken check must not hide the others
            problem = f"{type(error).__name__}: {error}"
        if problem:
            self.failed += 1
            print(f"FAILED {name}\n  " + "\n  ".join(line[:1000] for line in str(problem).strip().splitlines()[-40:]))
        else:
            self.passed += 1


def clean(*command, stdin=None):
    """What a command said, if it failed."""
    status, output = run(*command, stdin=stdin)
    return None if status == 0 else output or f"exit {status}"


def rendered(chart, values):
    status, output = run(BIN / "helm", "template", "release", ROOT / "charts" / chart, "--namespace", "space", "--values", values)
    if status != 0:
        raise RuntimeError(output)
    return output


# --- charts -------------------------------------------------------------------------------------------------------------


def helm_lint(chart, values):
    return clean(BIN / "helm", "lint", "--strict", "--quiet", ROOT / "charts" / chart, "--values", values)


def conforms(text):
    location = f"{SCHEMAS}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
    return clean(BIN / "kubeconform", "-strict", "-schema-location", location, "-", stdin=text)


def refused(chart, case):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as values:
        yaml.safe_dump(case["values"], values)
        values.flush()
        status, output = run(BIN / "helm", "template", "release", ROOT / "charts" / chart, "--values", values.name)
    if status == 0:
        return "not refused"
    return None if case["says"] in output else f"expected: {case['says']}\ngot: {output}"


def pod_specs(text):
    for one in yaml.safe_load_all(text):
        if one and one["kind"] == "Pod":
            yield one["spec"]
        elif one and "template" in one.get("spec", {}) and "containers" in one["spec"]["template"].get("spec", {}):
            yield one["spec"]["template"]["spec"]


def restricted(text):
    """Pod Security Standards, "restricted", and a read-only root."""
    for pod in pod_specs(text):
        security = pod["securityContext"]
        if not security.get("runAsNonRoot") or security.get("seccompProfile", {}).get("type") != "RuntimeDefault":
            return f"pod: {security}"
        if any(pod.get(name) for name in ("hostNetwork", "hostPID", "hostIPC")):
            return "shares a namespace of the host"
        for container in pod["containers"]:
            mine = container["securityContext"]
            if mine.get("allowPrivilegeEscalation") is not False or mine.get("capabilities") != {"drop": ["ALL"]}:
                return f"{container['name']}: {mine}"
            if mine.get("readOnlyRootFilesystem") is not True or "limits" not in container["resources"]:
                return f"{container['name']}: root must be read-only, and resources limited"
    return None


def no_wildcards(text):
    """A role names what it allows; secrets are never listed, and nobody gets more rights than it has."""
    for one in yaml.safe_load_all(text):
        if not one or one["kind"] not in ("Role", "ClusterRole"):
            continue
        for rule in one["rules"]:
            if "*" in rule["verbs"] + rule["resources"] + rule["apiGroups"]:
                return f"{one['kind']} {one['metadata']['name']}: {rule}"
            if "secrets" in rule["resources"] and {"list", "watch"} & set(rule["verbs"]):
                return f"lists secrets: {rule}"
            if {"escalate", "bind", "impersonate"} & set(rule["verbs"]) or "pods/exec" in rule["resources"]:
                return f"too much: {rule}"
    return None


def same_objects(directory):
    """The ConfigMap of cluster.enabled holds what chart braidmq renders, but for the labels."""
    values = directory / "values.yaml"
    values.write_text(yaml.safe_dump({"topics": {"orders": {"partitions": 3}}, "cluster": {"paused": True}}))
    wanted = [one for one in yaml.safe_load_all(rendered("braidmq", values)) if one["apiVersion"].startswith("braidmq.io/")
              and "helm.sh/hook" not in one["metadata"].get("annotations", {})]
    values.write_text(yaml.safe_dump({"cluster": {"enabled": True, "name": "release", "topics": {"orders": {"partitions": 3}},
                                                  "cluster": {"paused": True}}}))
    maps = [one for one in yaml.safe_load_all(rendered("braidmq-operator", values)) if one["kind"] == "ConfigMap"]
    got = [json.loads(text) for _, text in sorted(maps[0]["data"].items())]
    for one in wanted + got:
        one["metadata"].pop("labels")
    return None if got == wanted else f"wanted {wanted}\ngot {got}"


# --- metrics ------------------------------------------------------------------------------------------------------------


def exported():
    """Names of the series that the broker's sources make."""
    call = re.compile(r'\b(counter|gauge|histogram)(?:_family)?\(\s*"([a-z0-9_]+)"')
    names = set()
    for path in (ROOT / "broker").rglob("*.cpp"):
        for kind, name in call.findall(path.read_text()):
            names |= {f"braidmq_{name}{end}" for end in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))}
    if len(names) < 20:
        raise RuntimeError(f"only {len(names)} metrics found in broker/: does this pattern still fit its sources?")
    return names


def used(text):
    return set(re.findall(r"\b(?:braidmq|kubelet)_[a-z0-9_]+|\bup(?=\{)", text)) - {"braidmq_io_cluster", "braidmq_io_pool"}


def metrics_exist(expressions):
    unknown = set().union(*(used(one) for one in expressions)) - exported() - FOREIGN_METRICS
    return f"the broker does not export {sorted(unknown)}" if unknown else None


def rule_expressions():
    groups = yaml.safe_load((ROOT / "charts/braidmq/files/rules.yaml").read_text())["groups"]
    return [rule["expr"] for group in groups for rule in group["rules"]]


def dashboard_expressions():
    board = json.loads((ROOT / "charts/braidmq/files/dashboard.json").read_text())
    panels = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    return panels + [one["query"]["query"] for one in board["templating"]["list"] if isinstance(one["query"], dict)]


def dashboard_is_sound():
    board = json.loads((ROOT / "charts/braidmq/files/dashboard.json").read_text())
    ids = [panel["id"] for panel in board["panels"]]
    if len(set(ids)) != len(ids):
        return "two panels have one id"
    for panel in board["panels"]:
        if panel["type"] != "row" and not (panel["title"] and panel["targets"]):
            return f"panel {panel['id']} shows nothing"
        for target in panel.get("targets", ()):
            names = set(re.findall(r"\$\{?([A-Za-z_]+)", target["expr"])) - {"__rate_interval"}
            if not names <= {one["name"] for one in board["templating"]["list"]}:
                return f"panel {panel['id']}: unknown variable in {target['expr']}"
    return None


def narrowed(directory):
    """Rules of a release name its namespace and cluster in every selector, and promtool takes them."""
    values = directory / "rules.yaml"
    values.write_text("rules: {enabled: true}\n")
    rule = next(one for one in yaml.safe_load_all(rendered("braidmq", values)) if one["kind"] == "PrometheusRule")
    for group in rule["spec"]["groups"]:
        for one in group["rules"]:
            for selector in re.findall(r"\{([^}]*)\}", one["expr"]):
                if 'namespace="space"' not in selector or "release" not in selector:
                    return f"not narrowed: {one['expr']}"
    values.write_text(yaml.safe_dump(rule["spec"]))
    return clean("promtool", "check", "rules", values)


# --- all of it ----------------------------------------------------------------------------------------------------------


def yaml_files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.yaml", "*.yml"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split()
    return [name for name in listed if "/templates/" not in name and (ROOT / name).is_file()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="checks whose name has these words")
    lint = Lint(parser.parse_args().only)
    import schemas  # noqa: PLC0415 - not before --help
    lint.check("schemas for kubeconform", schemas.write, SCHEMAS)
    lint.check("generated files", lambda: clean(ROOT / "charts/generate.py", "--check"))
    sets = [(chart, path) for chart in CHARTS for path in sorted((ROOT / "charts" / chart / "ci").glob("*-values.yaml"))]
    lint.check("ten value files or more", lambda: None if len(sets) >= MIN_VALUES_FILES else f"{len(sets)}")
    for chart, values in sets:
        name = f"{chart} {values.stem}"
        lint.check(f"{name}: helm lint", helm_lint, chart, values)
        lint.check(f"{name}: kubeconform", lambda c=chart, v=values: conforms(rendered(c, v)))
        lint.check(f"{name}: restricted pods", lambda c=chart, v=values: restricted(rendered(c, v)))
        lint.check(f"{name}: roles", lambda c=chart, v=values: no_wildcards(rendered(c, v)))
    for chart, cases in yaml.safe_load((HERE / "refused_values.yaml").read_text()).items():
        for case in cases:
            lint.check(f"{chart} refuses {json.dumps(case['values'])}", refused, chart, case)
    with tempfile.TemporaryDirectory() as folder:
        lint.check("one objects template for two charts", same_objects, pathlib.Path(folder))
        lint.check("rules of a release are its own", narrowed, pathlib.Path(folder))
    for path in sorted((ROOT / "manifests").rglob("*.yaml")):
        lint.check(f"{path.relative_to(ROOT)}: kubeconform", lambda p=path: conforms(p.read_text()))
    lint.check("promtool check rules", lambda: clean("promtool", "check", "rules", "charts/braidmq/files/rules.yaml"))
    lint.check("promtool test rules", lambda: clean("promtool", "test", "rules", "tests/charts/rules_test.yaml"))
    lint.check("metrics in rules", lambda: metrics_exist(rule_expressions()))
    lint.check("metrics in the dashboard", lambda: metrics_exist(dashboard_expressions()))
    lint.check("dashboard", dashboard_is_sound)
    lint.check("yamllint", lambda: clean("yamllint", "--strict", "-c", HERE / "yamllint.yaml", *yaml_files()))
    print(f"{lint.passed} passed, {lint.failed} failed")
    return 1 if lint.failed or not lint.passed else 0


if __name__ == "__main__":
    sys.exit(main())
