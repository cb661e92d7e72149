"""Which Kubernetes the promises run on: one that the user names, kind where Docker runs, else our own (e2e/cluster)."""

import os
import pathlib
import shutil
import subprocess
import sys

from lib import images
from lib.base import Skip, run
from lib.kube import Kube

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build/kubernetes/bin"
NODES = int(os.environ.get("NODES", "3"))
sys.path.insert(0, str(ROOT / "e2e/cluster"))


class Given:
    """The cluster of E2E_KUBECONFIG, with an image that its nodes can pull (E2E_IMAGE). Left as it was but for the kinds."""
    name = "the cluster of E2E_KUBECONFIG"
    base = "docker.io/library/debian:bookworm-slim"
    audit_log = None
    kube = None
    was_up = True

    def up(self):
        self.kube = Kube(os.environ["E2E_KUBECONFIG"], BIN)
        if "E2E_IMAGE" not in os.environ:
            raise SystemExit("E2E_KUBECONFIG needs E2E_IMAGE beside it: an image of BraidMQ that the cluster can pull")

    def down(self):
        pass

    def product_image(self):
        return os.environ["E2E_IMAGE"]

    def client_image(self, target, **more):
        if target == "kcat":
            return os.environ["E2E_IMAGE"]  # has kcat, too
        raise Skip(f"image {target} cannot be loaded into {self.name}")

    def kill_node(self, node):
        raise Skip(f"{self.name}: its nodes are not ours to kill")

    def start_node(self, node):
        pass

    def kill_api_server(self):
        raise Skip(f"{self.name}: its API server is not ours to kill")


class Loaded(Given):
    """A cluster whose nodes take images from archives."""

    def product_image(self):
        """E2E_IMAGE of the local store of images, or one of the programs just built."""
        if name := os.environ.get("E2E_IMAGE"):
            archive = images.save(name, ROOT / "build/image/given.tar")
        else:
            name, archive = images.product_image(self.base)
        self.load(name, archive)
        return name

    def client_image(self, target, **more):
        name, archive = images.client_image(target, self.base, **more)
        self.load(name, archive)
        return name


class Kind(Loaded):
    name = "kind"
    cluster = "braidmq-e2e"

    def kind(self, *arguments, seconds=600, text=None):
        return run(["kind", *arguments, "--name", self.cluster], seconds, text)

    def up(self):
        self.kubeconfig = ROOT / "run/e2e/kind.kubeconfig"
        self.kubeconfig.parent.mkdir(parents=True, exist_ok=True)
        self.was_up = self.cluster in run(["kind", "get", "clusters"]).split()  # then it stays
        if self.was_up:
            self.kubeconfig.write_text(self.kind("get", "kubeconfig"))
        else:
            roles = "".join(f"\n- role: {role}" for role in ["control-plane", *["worker"] * NODES])
            config = f"kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:{roles}\n"
            self.kind("create", "cluster", "--wait", "180s", "--config", "-", "--kubeconfig", self.kubeconfig, text=config)
        self.kube = Kube(self.kubeconfig, BIN)

    def down(self):
        if not self.was_up:
            self.kind("delete", "cluster")

    def load(self, name, archive):
        self.kind("load", "image-archive", archive)

    def kill_node(self, node):
        run(["docker", "kill", node])

    def start_node(self, node):
        run(["docker", "start", node])


class Local(Loaded):
    name = "our own (e2e/cluster)"
    base = "localhost/debian:bookworm-slim"

    def k8s(self, *arguments, seconds=600):
        return run([ROOT / "e2e/cluster/k8s", *arguments], seconds)

    def up(self):
        import layout  # of e2e/cluster
        # All the building first, where it is not yet done: it takes many minutes once, and its words are worth seeing.
        subprocess.run([ROOT / "e2e/cluster/k8s", "build"], check=True)
        self.was_up = subprocess.run([ROOT / "e2e/cluster/k8s", "status"], capture_output=True, check=False).returncode == 0
        if not self.was_up:
            self.k8s("up", NODES)
        self.audit_log = layout.STATE / "audit.log"
        self.loaded = layout.STATE / "loaded"
        self.kube = Kube(layout.KUBECONFIG, BIN)

    def down(self):
        if not self.was_up:
            self.k8s("down")

    def load(self, name, archive):
        done = self.loaded.read_text().split() if self.loaded.exists() else []
        if name not in done:
            self.k8s("load", archive)
            self.loaded.write_text("\n".join([*done, name]))

    def kill_node(self, node):
        self.k8s("node-kill", node.removeprefix("node-"))

    def start_node(self, node):
        self.k8s("node-start", node.removeprefix("node-"))

    def kill_api_server(self):
        self.k8s("api-kill")

    def start_api_server(self):
        self.k8s("api-start")


def choose():
    if os.environ.get("E2E_KUBECONFIG"):
        return Given()
    docker = shutil.which("docker") and subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0
    if docker and shutil.which("kind"):
        return Kind()
    return Local()
