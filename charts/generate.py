#!/usr/bin/python3
"""generate.py [--check]: what is made from crds/ and from the charts, so that each fact has one place.

  charts/braidmq-operator/files/crds/*       copies of crds/
  charts/braidmq-operator/templates/_objects.tpl   copy of charts/braidmq's
  charts/*/values.schema.json                 closed schemas; the specs of the kinds come from crds/
  manifests/{operator,cluster}/NNN-Kind-name.yaml  the charts rendered, for people without Helm

--check writes nothing, names what differs, and ends with "N passed, N failed".
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
HELM = os.environ.get("HELM", str(ROOT / "build/kubernetes/bin/helm"))
NAMESPACE = "braidmq"
ORDER = ["Namespace", "CustomResourceDefinition", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
         "ConfigMap", "Service", "Deployment", "PodDisruptionBudget", "NetworkPolicy", "BraidCluster", "BraidPool", "Topic"]
KEPT = ("description", "type", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties",
        "pattern", "required")
HEADER = "# Made by `make crds` from charts/; change the chart, not this file.\n"


def crds():
    return {path.name: path.read_text() for path in sorted((ROOT / "crds").glob("*.yaml"))}


# --- values.schema.json -------------------------------------------------------------------------------------------------


def json_schema(node):
    """The JSON schema of a CRD's schema, closed, without what only an API server understands."""
    result = {key: node[key] for key in KEPT if key in node}
    if node.get("x-kubernetes-int-or-string"):
        return {**result, "type": ["integer", "string"]}
    if "properties" in node:
        result["properties"] = {name: json_schema(child) for name, child in node["properties"].items()}
        result["additionalProperties"] = False
    if isinstance(node.get("additionalProperties"), dict):
        result["additionalProperties"] = json_schema(node["additionalProperties"])
    if "items" in node:
        result["items"] = json_schema(node["items"])
    return result


def spec_of(kind):
    """The spec of a kind, without the reference to the cluster, which the charts fill in."""
    for text in crds().values():
        crd = yaml.safe_load(text)
        if crd["spec"]["names"]["kind"] == kind:
            spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
            schema = json_schema(spec)
            schema["properties"].pop("clusterRef", None)
            schema["required"] = [name for name in schema.get("required", []) if name != "clusterRef"]
            return schema
    raise LookupError(kind)


def closed(properties, description=None):
    head = {"description": description} if description else {}
    return {**head, "type": "object", "additionalProperties": False, "properties": properties}


def labels(description):
    return {"description": description, "type": "object", "additionalProperties": {"type": "string"}}


def enabled(**more):
    return closed({"enabled": {"type": "boolean"}, **more})


def named(kind, maximum):
    """Objects by a name that becomes part of theirs."""
    return {"type": "object", "additionalProperties": False, "maxProperties": maximum,
            "patternProperties": {"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$": {"anyOf": [{"$ref": f"#/$defs/{kind}"}, {"type": "null"}]}}}


def cluster_properties():
    return {"name": {"description": "Name of the BraidCluster.", "type": "string", "maxLength": 40},
            "cluster": {"$ref": "#/$defs/BraidCluster"}, "pools": named("BraidPool", 100), "topics": named("Topic", 1000)}


def schema(title, properties):
    properties = {"global": {"description": "Of a parent chart; unused.", "type": "object"}, **properties}
    return {"$schema": "http://json-schema.org/draft-07/schema#", "title": title, **closed(properties),
            "$defs": {kind: spec_of(kind) for kind in ("BraidCluster", "BraidPool", "Topic")}}


def cluster_chart_schema():
    return schema("Values of chart braidmq", {
        **cluster_properties(), "commonLabels": labels("Labels of all objects of the release."),
        "rules": enabled(labels=labels("Labels that a Prometheus selects rules by.")),
        "dashboard": enabled(labels=labels("Labels that Grafana's sidecar looks for."), annotations=labels("As a folder.")),
        "test": enabled(image={"description": "Image with bash and kcat.", "type": "string"})})


def operator_chart_schema():
    text, seconds = {"type": "string"}, {"type": "integer", "minimum": 1, "maximum": 600}
    amounts = {"type": "object", "additionalProperties": {"type": ["integer", "number", "string"]}}
    return schema("Values of chart braidmq-operator", {
        "image": closed({"repository": {"type": "string", "minLength": 1}, "tag": text,
                         "digest": {"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"},
                         "pullPolicy": {"enum": ["Always", "IfNotPresent", "Never"]}}),
        "imagePullSecrets": {"type": "array", "items": closed({"name": text})},
        "replicas": {"description": "One leads, the others wait.", "type": "integer", "minimum": 0, "maximum": 5},
        "watchNamespaces": {"type": "array", "uniqueItems": True,
                            "items": {"type": "string", "minLength": 1, "maxLength": 63}},
        "watchAllNamespaces": {"type": "boolean"},
        "crds": closed({"install": {"type": "boolean"}, "keep": {"type": "boolean"}}),
        "cluster": closed({"enabled": {"type": "boolean"}, **cluster_properties()}),
        "clusterDomain": {"type": "string", "minLength": 1, "maxLength": 253},
        "leaderElection": closed({"leaseDurationSeconds": seconds, "renewDeadlineSeconds": seconds,
                                  "retryPeriodSeconds": seconds}),
        "log": closed({"level": {"enum": ["trace", "debug", "info", "warn", "error", "off"]},
                       "format": {"enum": ["text", "json"]}}),
        "resources": closed({"requests": amounts, "limits": amounts}),
        "nodeSelector": labels("Labels that a node must have."),
        "tolerations": spec_of("BraidPool")["properties"]["template"]["properties"]["tolerations"],
        "priorityClassName": text, "commonLabels": labels("Labels of all objects of the release."),
        "podLabels": labels("Labels of the pods."), "podAnnotations": labels("Annotations of the pods."),
        "serviceAccount": closed({"create": {"type": "boolean"}, "name": text,
                                  "annotations": labels("As for a cloud's identity.")}),
        "rbac": closed({"create": {"type": "boolean"}}), "podDisruptionBudget": enabled(), "networkPolicy": enabled(),
        "metrics": closed({"service": enabled(annotations=labels("As for a scraper.")),
                           "podMonitor": enabled(labels=labels("Labels that a Prometheus selects by."))})})


# --- manifests ----------------------------------------------------------------------------------------------------------


def rendered(chart, release):
    command = [HELM, "template", release, str(ROOT / "charts" / chart), "--namespace", NAMESPACE, "--skip-tests"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [one for one in yaml.safe_load_all(output) if one]


def without_helm(node):
    """Labels and annotations that speak of Helm are not true of a manifest."""
    metadata = node.get("metadata", {})
    for part in ("labels", "annotations"):
        mine = {key: value for key, value in metadata.get(part, {}).items()
                if not key.startswith("helm.sh/") and key != "app.kubernetes.io/managed-by"}
        if mine:
            metadata[part] = mine
        else:
            metadata.pop(part, None)
    return node


def manifests(chart, release, extra=()):
    objects = [*extra, *(without_helm(one) for one in rendered(chart, release))]
    objects.sort(key=lambda one: ORDER.index(one["kind"]))
    files, sources = {}, {yaml.safe_load(text)["metadata"]["name"]: text for text in crds().values()}
    for one in objects:
        name = one["metadata"]["name"]
        number = ORDER.index(one["kind"]) * 10 + sum(f"-{one['kind']}-" in path for path in files)
        # A CRD is the file of crds/ itself: with its comments, and in its order.
        text = sources.get(name) or HEADER + yaml.safe_dump(one, sort_keys=False, width=130)
        files[f"{number:03d}-{one['kind']}-{name}.yaml"] = text
    return files


# --- all of it ----------------------------------------------------------------------------------------------------------


def schema_text(value):
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def generated():
    """path -> text, and the folders in which nothing else may be. Manifests come last: Helm reads what stands before them."""
    operator = ROOT / "charts/braidmq-operator"
    yield operator / "files/crds", crds()
    yield operator / "templates", {"_objects.tpl": (ROOT / "charts/braidmq/templates/_objects.tpl").read_text()}
    yield operator, {"values.schema.json": schema_text(operator_chart_schema())}
    yield ROOT / "charts/braidmq", {"values.schema.json": schema_text(cluster_chart_schema())}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    yield ROOT / "manifests/operator", manifests("braidmq-operator", "braidmq-operator", [namespace])
    yield ROOT / "manifests/cluster", manifests("braidmq", "braidmq")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    passed = failed = 0
    for folder, files in generated():
        whole = folder.name == "crds" or folder.parent.name == "manifests"
        there = {path.name for path in folder.glob("*.yaml")} if whole and folder.exists() else set()
        for name in sorted(there - set(files)):
            failed += 1
            print(f"{(folder / name).relative_to(ROOT)}: nothing makes this file any more")
            if not check:
                (folder / name).unlink()
        for name, text in files.items():
            path = folder / name
            if path.exists() and path.read_text() == text:
                passed += 1
                continue
            failed += 1
            print(f"{path.relative_to(ROOT)}: {'differs; run `make crds`' if check else 'written'}")
            if not check:
                folder.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    if check:
        print(f"{passed} passed, {failed} failed")
    return 1 if check and failed else 0


if __name__ == "__main__":
    sys.exit(main())
