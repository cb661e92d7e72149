"""Where the local Kubernetes keeps what, and which addresses it takes.

Nodes are network namespaces on one bridge. The control plane and the DNS server run on the machine itself, at the bridge's
address. All of it can be moved by environment variables, so that two can be up at once.
"""

import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build/kubernetes/bin"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "braidmq-kubernetes"
IMAGES = CACHE / "images"
# Short: sockets lie below it, and the path of a socket has at most 107 characters.
STATE = pathlib.Path(os.environ.get("BRAID_K8S_STATE", "/var/lib/braidmq-k8s"))
KUBECONFIG = STATE / "kubeconfig"
OWNER = STATE / "owner"
LOCK = STATE.with_name(f"{STATE.name}.lock")  # beside it: the folder comes and goes

PREFIX = os.environ.get("BRAID_K8S_PREFIX", "bk8s")  # of bridge, namespaces, veths and cgroups; at most 6 characters
NODE_NET = os.environ.get("BRAID_K8S_NODE_NET", "172.31.253")      # /24
POD_NET = os.environ.get("BRAID_K8S_POD_NET", "10.245")            # /16, one /24 for each node
SERVICE_NET = os.environ.get("BRAID_K8S_SERVICE_NET", "10.97.0")   # /24

BRIDGE = f"{PREFIX}br0"
HOST_IP = f"{NODE_NET}.1"
API_URL = f"https://{HOST_IP}:6443"
DNS_PORT = 5353
DNS_IP = f"{SERVICE_NET}.10"
BASE_IMAGE = "localhost/debian:bookworm-slim"
PAUSE_IMAGE = "localhost/pause:3.10"


def pinned_version():
    """Of Kubernetes, as its go.mod says: "v1.34.4"."""
    text = (ROOT / "tests/operator/tools/kubernetes/go.mod").read_text()
    return re.search(r"^require k8s\.io/kubernetes (v\S+)$", text, re.M).group(1)


def node_name(index):
    return f"node-{index}"


def node_ip(index):
    return f"{NODE_NET}.{10 + index}"


def node_namespace(index):
    return f"{PREFIX}-node-{index}"


def node_folder(index):
    return STATE / f"n{index}"


def nodes():
    """Indexes of the nodes that the state folder knows."""
    return sorted(int(path.name[1:]) for path in STATE.glob("n[0-9]*"))
