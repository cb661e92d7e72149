#!/usr/bin/python3
"""run.py [--only WORDS]: crds/ and charts/ on a real API server, by the table in cases.yaml. Ends with "N passed, N failed".

Per kind: the CRD is accepted and established; every case of the table (accepted object, refused object, the user's message);
every CEL rule has a case; defaults; the status subresource keeps its whole example and does not touch the spec; printer
columns; short names and category; the scale subresource. Writes are dry runs, but for what an update needs before it. Then the
charts (tests/charts/on_server.py).
"""

import argparse
import copy
import json
import pathlib
import sys

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))

sys.path.insert(0, str(ROOT / "tests/charts"))

from control_plane import ControlPlane, wait_for  # noqa: E402
from on_server import Charts  # noqa: E402

GROUP = "braidmq.io/v1alpha1"
NAMESPACE = "default"
MAX_CRD_BYTES = 60_000
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
STRICT = "dryRun=All&fieldValidation=Strict"


def merged(base, change):
    """JSON merge patch."""
    if not isinstance(change, dict):
        return copy.deepcopy(change)
    result = copy.deepcopy(base) if isinstance(base, dict) else {}
    for name, value in change.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def rules_of(schema, path=""):
    """(field, message) of every CEL rule, with the message folded as users see it."""
    for rule in schema.get("x-kubernetes-validations", ()):
        yield path or "<nil>", rule.get("message", "")
    for name, child in schema.get("properties", {}).items():
        yield from rules_of(child, f"{path}.{name}" if path else name)
    if "items" in schema:
        yield from rules_of(schema["items"], f"{path}[0]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from rules_of(schema["additionalProperties"], f"{path}.*")


class Run:
    def __init__(self, plane, only):
        self.plane, self.only = plane, only
        self.passed = self.failed = 0

    def check(self, name, test, *arguments):
        if self.only and self.only not in name:
            return
        try:
            problem = test(*arguments)
        except Exception as error:  # noqa: BLE001 - one broken case must not hide the others
            problem = f"{type(error).__name__}: {error}"
        if problem:
            self.failed += 1
            print(f"FAILED {name}\n       {problem}")
        else:
            self.passed += 1

    # --- one kind -------------------------------------------------------------------------------------------------------

    def run_kind(self, crd, table):
        kind = crd["spec"]["names"]["kind"]
        self.plural = crd["spec"]["names"]["plural"]
        self.collection = f"/apis/{GROUP}/namespaces/{NAMESPACE}/{self.plural}"
        self.table, self.crd = table, crd
        self.base = {"apiVersion": GROUP, "kind": kind, **table["base"]}
        for case in table["cases"]:
            self.check(f"{kind}: {case['name']}: accepted", self.accepted, case)
            self.check(f"{kind}: {case['name']}: refused", self.refused, case)
        self.check(f"{kind}: each rule has a case", self.rules_covered)
        self.check(f"{kind}: defaults", self.defaults)
        self.check(f"{kind}: status subresource", self.status)
        self.check(f"{kind}: printer columns", self.columns)
        self.check(f"{kind}: names in discovery", self.discovery)
        if "scale" in crd["spec"]["versions"][0]["subresources"]:
            self.check(f"{kind}: scale subresource", self.scale)

    def send(self, case, change):
        """The answer to the case's create or update."""
        wanted = merged(self.base, change)
        if "before" not in case:
            self.remove(wanted)
            return self.plane.request("POST", f"{self.collection}?{STRICT}", wanted)
        stored = self.stored(merged(self.base, case["before"]))
        wanted["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]
        return self.plane.request("PUT", f"{self.collection}/{wanted['metadata']['name']}?{STRICT}", wanted)

    def remove(self, wanted):
        """What an earlier case left behind under this name."""
        self.plane.request("DELETE", f"{self.collection}/{wanted['metadata']['name']}")

    def stored(self, wanted):
        self.remove(wanted)
        answer = self.plane.request("POST", self.collection + "?fieldValidation=Strict", wanted)
        if answer.status != 201:
            raise AssertionError(f"the object to begin with: {answer}")
        return answer.json()

    def accepted(self, case):
        answer = self.send(case, case["accept"])
        return None if answer.status in (200, 201) else f"{answer}"

    def refused(self, case):
        answer = self.send(case, case["refuse"])
        message = " ".join(case["message"].split())
        if answer.status == 400:  # strict decoding has no causes
            text = answer.json()["message"]
            return None if message in text else f"expected: {message}\n       got: {text}"
        if answer.status != 422:
            return f"not refused: {answer}"
        causes = answer.json()["details"]["causes"]
        for cause in causes:
            if cause["field"] == case["field"] and message in cause["message"]:
                return None
        return f"expected at {case['field']}: {message}\n       got: {json.dumps(causes)}"

    def rules_covered(self):
        schema = self.crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        wanted = set(rules_of(schema))
        # A rule on items is shown at the index that broke it; the table breaks it at the first, or says so.
        seen = {(case["field"], " ".join(case["message"].split())) for case in self.table["cases"] if case.get("rule")}
        wanted = {(field, " ".join(message.split())) for field, message in wanted}
        problems = [f"no case for {field}: {message or '(no message)'}" for field, message in sorted(wanted - seen)]
        problems += [f"no such rule: {field}: {message}" for field, message in sorted(seen - wanted)]
        problems += [f"rule at {field} has no message" for field, message in wanted if not message]
        return "\n       ".join(problems)

    def defaults(self):
        self.remove(self.base)
        answer = self.plane.request("POST", f"{self.collection}?{STRICT}", self.base)
        spec = answer.json().get("spec")
        return None if spec == self.table["defaults"] else f"expected: {self.table['defaults']}\n       got: {spec}"

    def status(self):
        stored = self.stored(self.base)
        body = {**stored, "status": self.table["status"], "spec": {**stored["spec"], "paused": True}}
        path = f"{self.collection}/{stored['metadata']['name']}/status?fieldValidation=Strict"
        body["spec"].pop("paused")
        answer = self.plane.request("PUT", path, body)
        if answer.status != 200:
            return f"{answer}"
        after = answer.json()
        if after["status"] != self.table["status"]:
            return f"expected: {self.table['status']}\n       got: {after['status']}"
        if after["metadata"]["generation"] != stored["metadata"]["generation"]:
            return "a write of the status raised the generation"
        body["metadata"]["resourceVersion"] = after["metadata"]["resourceVersion"]
        body["spec"] = merged(stored["spec"], {"clusterRef": {"name": "another"}})
        answer = self.plane.request("PUT", path.split("?")[0], body)
        if answer.status != 200 or answer.json()["spec"] != stored["spec"]:
            return f"the status subresource changed the spec: {answer}"
        return None

    def columns(self):
        stored = self.stored(self.base)
        path = f"{self.collection}/{stored['metadata']['name']}"
        written = self.plane.request("PUT", path + "/status", {**stored, "status": self.table["status"]})
        if written.status != 200:
            return f"{written}"
        table = self.plane.request("GET", path, accept=TABLE).json()
        shown = dict(zip((column["name"] for column in table["columnDefinitions"]), table["rows"][0]["cells"]))
        wanted = self.table["columns"]
        if list(shown) != list(wanted):
            return f"expected the columns {list(wanted)}\n       got {list(shown)}"
        # An empty cell is null or an empty string, by type; a null in the table is a cell whose value nobody knows before.
        filled = {name: "" if cell is None else cell for name, cell in shown.items()}
        wrong = {name: filled[name] for name, value in wanted.items() if value is not None and filled[name] != value}
        return f"wrong cells: {wrong}" if wrong else None

    def discovery(self):
        resources = self.plane.request("GET", f"/apis/{GROUP}").json()["resources"]
        found = next((one for one in resources if one["name"] == self.plural), None)
        if not found:
            return f"not served: {resources}"
        if found.get("shortNames") != self.table["short_names"] or found.get("categories") != ["braidmq"]:
            return f"{found}"
        return None if found["namespaced"] else "not namespaced"

    def scale(self):
        stored = self.stored(self.base)
        path = f"{self.collection}/{stored['metadata']['name']}"
        self.plane.request("PUT", path + "/status", {**stored, "status": self.table["status"]})
        scale = self.plane.request("GET", path + "/scale").json()
        if scale.get("status") != {"replicas": 1, "selector": self.table["status"]["selector"]}:
            return f"{scale}"
        scale["spec"]["replicas"] = 2
        answer = self.plane.request("PUT", path + "/scale", scale)
        now = self.plane.request("GET", path).json()["spec"]["replicas"]
        return None if answer.status == 200 and now == 2 else f"{answer}"


def establish(plane, crd):
    """None, or why the API server does not serve the CRD."""
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    answer = plane.request("POST", path + "?fieldValidation=Strict", crd)
    if answer.status != 201:
        return f"{answer}"
    name = crd["metadata"]["name"]

    def conditions():
        found = plane.request("GET", f"{path}/{name}").json().get("status", {}).get("conditions") or []
        states = {one["type"]: one for one in found}
        return states if states.get("Established", {}).get("status") == "True" else None

    try:
        states = wait_for(f"{name} established", conditions, 30)
        path = f"/apis/{GROUP}/{crd['spec']['names']['plural']}"
        wait_for(f"{name} served", lambda: plane.request("GET", path).status == 200, 30)
    except TimeoutError as error:
        return str(error)
    if "NonStructuralSchema" in states:
        return states["NonStructuralSchema"]["message"]
    size = len(json.dumps(crd))
    return f"{size} bytes; {MAX_CRD_BYTES} at most" if size > MAX_CRD_BYTES else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name has these words")
    arguments = parser.parse_args()
    tables = yaml.safe_load((HERE / "cases.yaml").read_text())
    crds = [yaml.safe_load(path.read_text()) for path in sorted((ROOT / "crds").glob("*.yaml"))]
    with ControlPlane() as plane:
        run = Run(plane, "")
        run.check("cases.yaml has a table for each kind",
                  lambda: None if {crd["spec"]["names"]["kind"] for crd in crds} == set(tables) else f"{set(tables)}")
        for crd in crds:
            run.check(f"{crd['metadata']['name']} is accepted", establish, plane, crd)
        run.only = arguments.only
        for crd in crds:
            run.run_kind(crd, tables[crd["spec"]["names"]["kind"]])
        for name, test in Charts(plane, wait_for).checks():
            run.check(name, test)
    print(f"{run.passed} passed, {run.failed} failed")
    return 1 if run.failed or not run.passed else 0


if __name__ == "__main__":
    sys.exit(main())
