"""When nothing changes, the operator writes nothing but its Lease: 1 minute, or 10 in the full run.

Counted three ways: by the operator's own metric, by the resourceVersion of every object in its namespace, and, on our own
Kubernetes, by the API server's audit log.
"""

import datetime
import time

from lib.audit import Audit
from lib.base import Skip, equal, wait_for

KINDS = ("braidclusters", "braidpools", "topics", "statefulsets", "services", "configmaps", "secrets", "pods", "events",
         "persistentvolumeclaims", "networkpolicies", "poddisruptionbudgets")
RENEWALS = ("PATCH",)  # of the Lease; statuses and objects are applied
OTHERS = ("CREATE", "APPLY", "DELETE")


def versions(kube, namespace):
    return {f"{kind}/{one['metadata']['name']}": one["metadata"]["resourceVersion"]
            for kind in KINDS for one in kube.list(kind, namespace)}


def requests(kube, product, verbs):
    """How many the operators count themselves."""
    total = 0.0
    for pod in product.operator_pods():
        _, text = kube.request("GET", f"/api/v1/namespaces/{product.namespace}/pods/{pod['metadata']['name']}:8080/proxy/metrics")
        for line in text["message"].splitlines():
            if line.startswith("braidmq_operator_api_requests_total{") and any(f'verb="{verb}"' in line for verb in verbs):
                total += float(line.rsplit(" ", 1)[1])
    return total


def run(t):
    product, kube = t.product.installed(), t.kube
    seconds = 600 if t.full else 60
    for topic in kube.list("topics", product.namespace):
        if "deletionTimestamp" in topic["metadata"]:
            kube.await_gone("topics", product.namespace, topic["metadata"]["name"])
    product.make_topic("quiet")
    settle(kube, product)
    try:
        audit = Audit(t.platform, f"system:serviceaccount:{product.namespace}:{product.operator_release}")
    except Skip:
        audit = None
    before, counted = versions(kube, product.namespace), {verbs: requests(kube, product, verbs) for verbs in (RENEWALS, OTHERS)}
    wall = datetime.datetime.now(datetime.timezone.utc).isoformat()
    began = time.monotonic()
    wait_for("the quiet time over", lambda: t.since(began) > seconds, seconds + 5, every=1)
    after = versions(kube, product.namespace)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    echoes = {name for name in changed if is_echo(kube, product, name, wall)}
    equal(sorted(changed - echoes), [], "objects that changed in a time in which nothing happened")
    if audit:
        known = {f"patch {name.replace('/', ' ')}" for name in echoes}
        equal([write for write in audit.writes() if write not in known], [], "writes of the operator in the audit log")
        audit.close()
    # One renewal of the Lease every 2 s, by the one that leads; and the counts of earlier events.
    renewed = int(requests(kube, product, RENEWALS) - counted[RENEWALS])
    t.figure(f"patches in {seconds} s, all of them renewals of the Lease", renewed, "", limit=seconds / 2 + 2 + len(echoes))
    t.figure("other writes", int(requests(kube, product, OTHERS) - counted[OTHERS]), "", limit=0)


def is_echo(kube, product, name, wall):
    """An event of before, whose repetitions are counted up to five minutes later."""
    kind, _, name = name.partition("/")
    event = kube.get("events", product.namespace, name) if kind == "events" else None
    last = (event or {}).get("series", {}).get("lastObservedTime", "")
    return bool(last) and last < wall


def settle(kube, product):
    """Until 10 s have passed without a change: what earlier promises did may echo."""
    last = [None, time.monotonic()]

    def still():
        now = versions(kube, product.namespace)
        if now != last[0]:
            last[:] = [now, time.monotonic()]
        return time.monotonic() - last[1] > 10

    wait_for("10 s without a change", still, 120, every=0.5)
