"""JSON schemas for kubeconform, closed and without a network: the built-in kinds from the OpenAPI document inside the pinned Go
module k8s.io/kubernetes, the kinds of BraidMQ from crds/, the Prometheus operator's two from schemas/."""

import json
import pathlib
import shutil
import subprocess
import sys

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODULE = ROOT / "tests/operator/tools/kubernetes"
sys.path.insert(0, str(ROOT / "charts"))

from generate import json_schema  # noqa: E402

# Strings in the document, though the API server takes numbers too.
NUMBERS_TOO = {"io.k8s.apimachinery.pkg.api.resource.Quantity", "io.k8s.apimachinery.pkg.util.intstr.IntOrString"}
# Anything at all.
OPEN = {"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1." + name
        for name in ("JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray")}


def closed(node):
    """A copy of a schema that takes no unknown field, in the words of JSON schema."""
    if not isinstance(node, dict):
        return node
    result = {key: closed(value) for key, value in node.items() if not key.startswith("x-kubernetes") and key != "format"}
    if "properties" in node:  # its keys are names of fields, whatever they look like
        result["properties"] = {name: closed(value) for name, value in node["properties"].items()}
        result.setdefault("additionalProperties", False)
    return result


def reached(name, definitions):
    """`name` and every definition that it leads to."""
    found, waiting = {}, [name]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        if one in OPEN:
            found[one] = {}
        elif one in NUMBERS_TOO:
            found[one] = {"type": ["string", "number"]}
        else:
            found[one] = closed(definitions[one])
        waiting += [part.split('"')[0] for part in json.dumps(found[one]).split("#/definitions/")[1:]]
    return found


def file_name(kind, group, version):
    """As kubeconform asks for it: only the first word of a group counts."""
    prefix = f"{group.split('.')[0]}-" if group else ""
    return f"{kind.lower()}-{prefix}{version}.json"


def openapi():
    """Looked up in the module cache; fetched once with the module, from the Go proxy."""
    go = subprocess.run([MODULE.parent / "build.sh", "--go"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    command = [go, "mod", "download", "-json", "k8s.io/kubernetes"]
    answer = subprocess.run(command, cwd=MODULE, check=True, capture_output=True, text=True).stdout
    return json.loads((pathlib.Path(json.loads(answer)["Dir"]) / "api/openapi-spec/swagger.json").read_text())["definitions"]


def write(folder):
    """Fills `folder` with one file per kind."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    definitions = openapi()
    for name, definition in definitions.items():
        for gvk in definition.get("x-kubernetes-group-version-kind", ()):
            if "spec" not in definition.get("properties", {}) and gvk["kind"].endswith(("List", "Options", "Status")):
                continue
            schema = {"$ref": f"#/definitions/{name}", "definitions": reached(name, definitions)}
            (folder / file_name(gvk["kind"], gvk["group"], gvk["version"])).write_text(json.dumps(schema))
    for path in (ROOT / "crds").glob("*.yaml"):
        crd = yaml.safe_load(path.read_text())["spec"]
        for version in crd["versions"]:
            schema = json_schema(version["schema"]["openAPIV3Schema"])
            schema["required"] = ["apiVersion", "kind", "metadata", "spec"]
            (folder / file_name(crd["names"]["kind"], crd["group"], version["name"])).write_text(json.dumps(schema))
    for path in (HERE / "schemas").glob("*.json"):
        shutil.copy(path, folder)
