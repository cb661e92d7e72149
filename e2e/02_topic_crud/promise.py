"""Topics are made, grown, configured, kept and deleted as their Topics say, each within a second.

Also what cannot be done: it is refused in words, by the API server or by a condition, and nothing else breaks.
"""

import time

from lib.base import equal, expect, percentile, wait_for
from lib.kube import Watch, condition, path_of

MANY = 50


def run(t):
    product, kube = t.product.installed(), t.kube

    # --- made, grown, configured ---
    product.make_topic("crud", partitions=3, config={"retention.ms": "3600000"})
    topic = product.broker("/v1/topics/crud")
    equal((topic["partitions"], topic["configs"].get("retention.ms")), (3, "3600000"), "topic as the broker has it")
    kube.patch("topics", product.namespace, "crud", {"spec": {"partitions": 5, "config": {"retention.ms": "7200000"}}})
    document = kube.await_condition("topics", product.namespace, "crud", "Ready", 30)
    equal(document["status"]["partitions"], 5, "partitions in the status")
    topic = product.broker("/v1/topics/crud")
    equal((topic["partitions"], topic["configs"].get("retention.ms")), (5, "7200000"), "topic after the change")
    equal(document["status"]["topicId"], topic["id"], "topic id in the status")

    def told():  # events follow the status, they do not hold it up
        story = kube.kubectl("-n", product.namespace, "describe", "bt", "crud")
        return all(word in story for word in ("TopicCreated", "TopicGrown")) or (False, story)

    wait_for("kubectl describe tells of creation and growth", told, 10, every=0.5)

    refusals(t)
    policies(t)
    latency(t)
    kube.delete("topics", product.namespace, "crud")
    await_no_topic(product, "crud")


def await_no_topic(product, name):
    wait_for(f"topic {name} gone from the broker", lambda: name not in names(product), 30)


def names(product):
    return [topic["name"] for topic in product.broker("/v1/topics?limit=1000")["topics"]]


def refusals(t):
    product, kube = t.product, t.kube
    status, document = kube.request("PATCH", path_of("topics", product.namespace, "crud"), {"spec": {"partitions": 2}},
                                    "application/merge-patch+json")
    equal(status, 422, "answer to fewer partitions")
    expect("partitions cannot be taken away" in document["message"], f"the refusal says: {document['message']}")

    for name, spec, word in (("bad-config", {"config": {"no.such.setting": "1"}}, "no.such.setting"),
                             ("bad-factor", {"replicationFactor": 3}, "replication"),
                             ("bad-cluster", {"clusterRef": {"name": "nowhere"}}, "nowhere")):
        kube.apply("topics", product.namespace, product.topic(name, **{"deletionPolicy": "Delete", **spec}))
        document = kube.await_condition("topics", product.namespace, name, "Ready", 30, "False")
        expect(word in condition(document, "Ready")["message"], f"{name}: Ready says {condition(document, 'Ready')}")
        expect(name not in names(product), f"{name} was made all the same")
        kube.delete("topics", product.namespace, name)
        kube.await_gone("topics", product.namespace, name)


def policies(t):
    """The oldest Topic owns a name; without deletionPolicy: Delete the records stay."""
    product, kube = t.product, t.kube
    kube.apply("topics", product.namespace, product.topic("rival", topicName="crud", partitions=9))
    document = kube.await_condition("topics", product.namespace, "rival", "Conflict", 30)
    equal(document["status"].get("conflictWith"), f"{product.namespace}/crud", "conflictWith")
    equal(product.broker("/v1/topics/crud")["partitions"], 5, "partitions of the owner's topic")
    kube.delete("topics", product.namespace, "rival")
    kube.await_gone("topics", product.namespace, "rival")

    product.make_topic("kept", deletionPolicy="Retain")
    made = product.broker("/v1/topics/kept")["id"]
    kube.delete("topics", product.namespace, "kept")
    kube.await_gone("topics", product.namespace, "kept")
    equal(product.broker("/v1/topics/kept")["id"], made, "topic after its Topic with deletionPolicy Retain has gone")
    # Taken over by another Topic of the same name, and deleted with that one.
    product.make_topic("kept", deletionPolicy="Delete")
    equal(product.broker("/v1/topics/kept")["id"], made, "topic that was taken over")
    kube.delete("topics", product.namespace, "kept")
    await_no_topic(product, "kept")


def latency(t):
    """One after the other, as people and pipelines apply them; from the request to the condition, seen by a watch."""
    product, kube = t.product, t.kube
    watch, applied = Watch(kube, "topics", product.namespace), {}
    try:
        for index in range(MANY):
            applied[f"many-{index}"] = time.monotonic()
            kube.create("topics", product.namespace, product.topic(f"many-{index}", deletionPolicy="Delete"))

        def ready():
            found = {}
            for at, _, document in list(watch.events):
                name = document["metadata"].get("name")
                if name in applied and condition(document, "Ready")["status"] == "True":
                    found.setdefault(name, at - applied[name])
            return found if len(found) == MANY else (False, f"{len(found)} of {MANY}")

        times = wait_for(f"{MANY} Topics ready", ready, 60)
    finally:
        watch.close()
    t.figure(f"Topic ready after apply, median of {MANY}", percentile(times.values(), 0.5))
    t.figure(f"Topic ready after apply, p99 of {MANY}", percentile(times.values(), 0.99), limit=1)
    for name in applied:
        kube.delete("topics", product.namespace, name)
    wait_for("their topics gone", lambda: not [name for name in names(product) if name.startswith("many-")], 60)
    wait_for("they gone", lambda: not [one for one in kube.list("topics", product.namespace) if one["metadata"]["name"] in applied], 30)
