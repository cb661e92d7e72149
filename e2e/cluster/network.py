"""A bridge on the machine and a network namespace for each node. Pods hang on a second bridge inside of it (node.py)."""

import pathlib
import re
import subprocess

import layout
from processes import run


def ip(*arguments, namespace=None):
    return run(["ip", *(["-n", namespace] if namespace else []), *arguments])


def veth(index):
    return f"{layout.PREFIX}n{index}"


def collision():
    """A network of the machine that already has our addresses, in words."""
    for line in ip("-4", "-o", "addr", "show").splitlines():
        device, address = line.split()[1], line.split()[3]
        if device != layout.BRIDGE and address.startswith(f"{layout.NODE_NET}."):
            return f"{device} has {address}: BRAID_K8S_NODE_NET=172.31.N takes another /24 than {layout.NODE_NET}.0"
    return None


def create(count):
    ip("link", "add", layout.BRIDGE, "type", "bridge")
    ip("addr", "add", f"{layout.HOST_IP}/24", "dev", layout.BRIDGE)
    ip("link", "set", layout.BRIDGE, "up")
    for index in range(count):
        namespace = layout.node_namespace(index)
        ip("netns", "add", namespace)
        ip("link", "add", veth(index), "type", "veth", "peer", "name", "eth0", "netns", namespace)
        ip("link", "set", veth(index), "master", layout.BRIDGE, "up")
        ip("addr", "add", f"{layout.node_ip(index)}/24", "dev", "eth0", namespace=namespace)
        ip("link", "set", "eth0", "up", namespace=namespace)
        ip("link", "set", "lo", "up", namespace=namespace)
        ip("route", "add", "default", "via", layout.HOST_IP, namespace=namespace)
        run(["nsenter", f"--net=/run/netns/{namespace}", "sysctl", "-qw", "net.ipv4.ip_forward=1"])
    for index in range(count):
        # The API server and tests on this machine reach pods, too.
        ip("route", "add", f"{layout.POD_NET}.{index}.0/24", "via", layout.node_ip(index))
        for other in range(count):
            if other != index:
                ip("route", "add", f"{layout.POD_NET}.{other}.0/24", "via", layout.node_ip(other),
                   namespace=layout.node_namespace(index))


def cut(index, state):
    """`state`: "down" takes the node off the network, "up" brings it back."""
    ip("link", "set", veth(index), state)


def remove():
    """With a namespace go its devices, routes and packet filters."""
    pattern = re.compile(rf"^{re.escape(layout.PREFIX)}-node-\d+$")
    for path in pathlib.Path("/run/netns").glob("*"):
        if pattern.match(path.name):
            subprocess.run(["ip", "netns", "del", path.name], capture_output=True, check=False)
            if path.exists():
                raise RuntimeError(f"network namespace {path.name} does not go")
    subprocess.run(["ip", "link", "del", layout.BRIDGE], capture_output=True, check=False)
