"""With 1,000 Topics all are made, and the operator that leads stays under 30 MiB of resident memory."""

import pathlib
import re
import time

from lib.base import expect, wait_for
from lib.kube import condition
from lib.processes import process_of

FULL = True
TOPICS = 1000
LIMIT_MIB = 30


def run(t):
    product, kube = t.product.installed(), t.kube
    began = time.monotonic()
    try:
        for index in range(TOPICS):
            kube.create("topics", product.namespace, product.topic(f"load-{index}", deletionPolicy="Delete"))

        def ready():
            done = sum(condition(one, "Ready")["status"] == "True" for one in ours(kube, product))
            return done == TOPICS or (False, f"{done} of {TOPICS}")

        wait_for(f"{TOPICS} Topics ready", ready, 300, every=1)
        t.figure(f"{TOPICS} Topics applied and ready", t.since(began))
        t.figure("resident memory of the operator that leads", resident(kube, product) / 2**20, "MiB", limit=LIMIT_MIB)
    finally:
        for one in ours(kube, product):
            kube.delete("topics", product.namespace, one["metadata"]["name"])
    wait_for("the Topics gone", lambda: not ours(kube, product), 300, every=1)


def ours(kube, product):
    return [one for one in kube.list("topics", product.namespace) if one["metadata"]["name"].startswith("load-")]


def resident(kube, product):
    """Of the largest operator: on our own nodes the most that its process ever had, else what kubelet counts of its container."""
    if pids := [pid for pod in product.operator_pods() if (pid := process_of(pod, "braid-operator"))]:
        peaks = [re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text()) for pid in pids]
        return max(int(peak.group(1)) for peak in peaks) * 1024
    largest = 0
    for pod in product.operator_pods():
        summary = kube.must("GET", f"/api/v1/nodes/{pod['spec']['nodeName']}/proxy/stats/summary")
        for one in summary["pods"]:
            if one["podRef"]["uid"] == pod["metadata"]["uid"]:
                largest = max(largest, *(container["memory"]["workingSetBytes"] for container in one["containers"]))
    expect(largest > 0, "kubelet tells nothing of the operators' memory")
    return largest
