"""Clients write and read from inside the pod network and from outside: kcat (librdkafka), and Java 4.4 in the full run.

Each reads what the other side wrote, so that both ways lead to the same records. What Metadata says decides: names of pods on
the inner listener, address and port of the node on the outer one.
"""

import json
import pathlib
import re

from lib.base import equal, expect, run as command

ROOT = pathlib.Path(__file__).resolve().parents[2]
JAVA = ROOT / "build/deps/java"
JAVA_OPTIONS = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]


def run(t):
    product = t.product.installed()
    kcat(t, product)
    if t.full:
        java(t, product)


def kcat(t, product):
    product.make_topic("clients", partitions=2)
    image = t.platform.client_image("kcat")
    product.client_pod(image)

    def inside(*arguments, text=None):
        return t.kube.exec(product.namespace, "client", "kcat", "-b", product.bootstrap_inside, *arguments, text=text)

    def outside(*arguments, text=None):
        return command(["kcat", "-b", product.bootstrap_outside, *arguments], text=text)

    # --- the addresses that brokers tell ---
    inner = brokers(inside("-L", "-J"))
    outer = brokers(outside("-L", "-J"))
    equal(inner, [f"{product.pod}.{product.cluster}-brokers.{product.namespace}.svc.cluster.local:9092"], "brokers as seen inside")
    pod = t.kube.get("pods", product.namespace, product.pod)
    port = t.kube.get("services", product.namespace, f"{product.pod}-outside")["spec"]["ports"][0]["nodePort"]
    equal(outer, [f"{pod['status']['hostIP']}:{port}"], "brokers as seen outside")

    # --- records both ways ---
    sent = {"inside": [f"inside {number}" for number in range(500)], "outside": [f"outside {number}" for number in range(500)]}
    inside("-P", "-t", "clients", "-p", "0", text="\n".join(sent["inside"]) + "\n")
    outside("-P", "-t", "clients", "-p", "1", text="\n".join(sent["outside"]) + "\n")
    equal(outside("-C", "-t", "clients", "-p", "0", "-e", "-q").splitlines(), sent["inside"], "inside to outside")
    equal(inside("-C", "-t", "clients", "-p", "1", "-e", "-q").splitlines(), sent["outside"], "outside to inside")
    t.figure("kcat: records written on one side and read on the other", 1000, "")

    # --- another way of the same client: keys, headers, compression ---
    keyed = "".join(f"key-{number}:value {number}\n" for number in range(100))
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        topic = f"clients-{codec}"
        product.make_topic(topic)
        outside("-P", "-t", topic, "-K", ":", "-z", codec, "-H", f"codec={codec}", "-X", "acks=all", text=keyed)
        equal(inside("-C", "-t", topic, "-e", "-q", "-f", "%k:%s\n"), keyed, f"records under {codec}")
        equal(set(inside("-C", "-t", topic, "-e", "-q", "-f", "%h\n").split()), {f"codec={codec}"}, f"headers under {codec}")
    t.figure("kcat: codecs", "gzip, snappy, lz4, zstd", "")


def brokers(text):
    return [broker["name"] for broker in json.loads(text)["brokers"]]


def java(t, product):
    """Loader and Verifier of tests/integration/java: idempotent writes, then everything read and held against them."""
    sources = ROOT / "tests/integration/java"
    context = t.folder / "java"
    (context / "classes").mkdir(parents=True)
    command(["javac", "-cp", f"{JAVA}/*", "-d", context / "classes", sources / "Loader.java", sources / "Verifier.java"], 120)
    command(["cp", "-r", JAVA, context / "jars"])
    product.client_pod(t.platform.client_image("java", context=context, seconds=1200), "client-java")
    version = re.search(r"kafka-clients-([\d.]+)\.jar", " ".join(path.name for path in JAVA.iterdir())).group(1)

    for where, bootstrap in (("inside", product.bootstrap_inside), ("outside", product.bootstrap_outside)):
        topic = f"java-{where}"
        product.make_topic(topic, partitions=3)
        for program, arguments in (("Loader", ["0", "3000", "3000", f"{topic}:3"]), ("Verifier", [topic])):
            if where == "inside":
                said = t.kube.exec(product.namespace, "client-java", "java", *JAVA_OPTIONS, "-cp", "/client/classes:/client/jars/*",
                                   program, bootstrap, f"/tmp/{topic}", *arguments, seconds=180)
            else:
                said = command(["java", *JAVA_OPTIONS, "-cp", f"{context}/classes:{JAVA}/*", program, bootstrap,
                                t.folder / topic, *arguments], 180)
        expect("3000" in said, f"Verifier {where} said: {said}")
    t.figure(f"Java {version}: records verified, inside and outside", 6000, "")
