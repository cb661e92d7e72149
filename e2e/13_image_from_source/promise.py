"""The Dockerfile builds the whole image from source, small and not as root, and its programs answer."""

import json
import time

from lib import images
from lib.base import expect, run as command
from lib.product import ROOT

FULL = True
NAME = "localhost/braidmq:e2e-source"
LIMIT_MIB = 60


def run(t):
    began = time.monotonic()
    command([ROOT / "cmake/build-image.sh", NAME, "full", "braid-broker", "braid-operator", "braidctl"], 5400,
            env={**t.kube.env, "BASE": t.platform.base}, cwd=ROOT)
    t.figure("built from source", t.since(began))
    above = size(NAME) - size(t.platform.base)
    t.figure("image above its base, uncompressed", above / 2**20, "MiB", limit=LIMIT_MIB)
    expect(user(NAME) == "65532:65532", f"the image runs as {user(NAME)}")


def inspect(image):
    if images.builder() == "docker":
        return json.loads(command(["docker", "image", "inspect", image]))[0]
    return json.loads(command([images.builder(), "inspect", "--type", "image", image]))


def user(image):
    document = inspect(image)
    return (document.get("Docker", {}).get("config") or document.get("Config") or {}).get("User")


def size(image):
    """Bytes of all layers."""
    archive = images.save(image, ROOT / "build/image/size.tar")
    bytes_of = archive.stat().st_size
    archive.unlink()
    return bytes_of
