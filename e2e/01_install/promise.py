"""Two `helm install` bring up the operator and a broker with its own volume; a Topic makes a topic; a record goes in and out.

The operator's release, then the cluster's, from nothing: no namespace, no kinds. Times are what the budgets of the product say
with images present on the nodes.
"""

import datetime
import time

from lib.base import equal, expect
from lib.kube import condition


def seconds_between(begin, end):
    parse = datetime.datetime.fromisoformat
    return (parse(end.replace("Z", "+00:00")) - parse(begin.replace("Z", "+00:00"))).total_seconds()


def run(t):
    product, kube = t.product, t.kube
    product.wipe()

    began = time.monotonic()
    product.install_operator()
    t.figure("helm install of the operator, until it is ready", time.monotonic() - began)

    began = time.monotonic()
    product.install_cluster()
    pod = product.await_ready()
    t.figure("helm install of the cluster, until it is ready", time.monotonic() - began)
    stateful_set = kube.get("statefulsets", product.namespace, product.pool)
    # The API server's times have whole seconds: up to one is lost between the two.
    t.figure("broker ready after its StatefulSet", seconds_between(
        stateful_set["metadata"]["creationTimestamp"], condition(pod, "Ready")["lastTransitionTime"]), limit=15)

    equal(product.restarts(pod), 0, "restarts of the broker's container on the way")
    claim = kube.get("persistentvolumeclaims", product.namespace, product.claim)
    equal(claim and claim["status"]["phase"], "Bound", "the broker's volume")
    cluster = kube.get("braidclusters", product.namespace, product.cluster)
    equal(cluster["status"]["brokersReady"], "1/1", "brokersReady")
    equal(product.broker("/v1/cluster")["clusterId"], cluster["status"]["clusterId"], "cluster id of broker and status")
    hardened(pod)

    began = time.monotonic()
    topic = kube.kubectl("apply", "-f", "-", text=TOPIC.format(namespace=product.namespace))
    kube.await_condition("topics", product.namespace, "first", "Ready", 30)
    t.figure("kubectl apply of a Topic, until it is ready", time.monotonic() - began)
    expect("created" in topic, f"kubectl apply said: {topic}")

    product.await_service()
    kube.exec(product.namespace, product.pod, "kcat", "-b", product.bootstrap_inside, "-P", "-t", "first", text="hello\n")
    read = kube.exec(product.namespace, product.pod, "kcat", "-b", product.bootstrap_inside, "-C", "-t", "first", "-e", "-q")
    equal(read, "hello\n", "what kcat read")
    columns(kube, product)


TOPIC = """
apiVersion: braidmq.io/v1alpha1
kind: Topic
metadata: {{name: first, namespace: {namespace}}}
spec: {{clusterRef: {{name: braidmq}}, deletionPolicy: Delete}}
"""


def hardened(pod):
    """As the restricted profile of Pod Security wants it, and without a token for the API."""
    spec, container = pod["spec"], pod["spec"]["containers"][0]
    equal(spec.get("automountServiceAccountToken"), False, "token for the API in the broker's pod")
    equal(container["securityContext"]["readOnlyRootFilesystem"], True, "read-only root")
    equal(container["securityContext"]["capabilities"], {"drop": ["ALL"]}, "capabilities")
    expect(spec["securityContext"]["runAsNonRoot"], "the broker may run as root")


def columns(kube, product):
    """`kubectl get` shows what a person wants to see first."""
    shown = kube.kubectl("-n", product.namespace, "get", "bc,bpool,bt")
    for word in ("NAME", "READY", "BROKERS", "BOOTSTRAP", "PARTITIONS", f"braidcluster.braidmq.io/{product.cluster}",
                 f"braidpool.braidmq.io/{product.pool}", "topic.braidmq.io/first", "1/1"):
        expect(word in shown, f"kubectl get bc,bpool,bt does not show {word}:\n{shown}")
