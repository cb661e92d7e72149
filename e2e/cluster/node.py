"""One worker: containerd, kubelet and kube-proxy in the network namespace and below the cgroup of their node.

A kernel of containers and sandboxes lacks rights that a kubelet wants (KubeletInUserNamespace lets it go on without),
and runs with cgroups of version 1 as often as of version 2; both are served.
"""

import json
import os
import pathlib
import signal
import time

import layout
import network
from processes import fail_if_ended, read_pid, run, start, stop, wait_for

CGROUPS = pathlib.Path("/sys/fs/cgroup")
DAEMONS = ("kubelet", "kube-proxy", "containerd")
CNI_BIN = "/usr/lib/cni"


def cgroup_roots():
    """The mounted hierarchies: one of version 2, or one for each controller."""
    if (CGROUPS / "cgroup.controllers").exists():
        return [CGROUPS]
    # Two names of one hierarchy (cpu and cpu,cpuacct) are one folder.
    return sorted({path.resolve() for path in CGROUPS.iterdir() if path.is_dir() and (path / "cgroup.procs").exists()})


class Node:
    def __init__(self, index):
        self.index = index
        self.folder = layout.node_folder(index)
        self.name = layout.node_name(index)
        self.namespace = layout.node_namespace(index)
        self.cgroup = f"{layout.PREFIX}-{self.name}"
        self.socket = self.folder / "containerd.sock"

    # --- configuration --------------------------------------------------------------------------------------------------

    def configure(self, trust):
        for name in ("cni", "kubelet", "containerd", "podlogs"):
            (self.folder / name).mkdir(parents=True)
        trust.kubeconfig(self.folder / f"kubelet-{self.index}.conf", f"system:node:{self.name}", "system:nodes")
        trust.kubeconfig(self.folder / f"proxy-{self.index}.conf", "system:kube-proxy")
        (self.folder / "containerd.toml").write_text(self.containerd_config())
        (self.folder / "cni/10-pods.conflist").write_text(json.dumps(self.cni_config()))
        (self.folder / "kubelet.yaml").write_text(json.dumps(self.kubelet_config(trust), indent=1))
        (self.folder / "resolv.conf").write_text("nameserver 127.0.0.1\n")
        self.make_cgroups()

    def containerd_config(self):
        return f'''version = 2
root = "{self.folder}/containerd/root"
state = "{self.folder}/containerd/state"
[grpc]
  address = "{self.socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{self.folder}/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{layout.PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      Root = "{self.folder}/containerd/runc"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{CNI_BIN}"
    conf_dir = "{self.folder}/cni"
'''

    def cni_config(self):
        addresses = {"type": "host-local", "dataDir": str(self.folder / "cni/addresses"), "routes": [{"dst": "0.0.0.0/0"}],
                     "ranges": [[{"subnet": f"{layout.POD_NET}.{self.index}.0/24"}]]}
        return {"cniVersion": "1.0.0", "name": "pods", "plugins": [
            {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipMasq": True, "hairpinMode": True, "ipam": addresses},
            {"type": "portmap", "capabilities": {"portMappings": True}}]}

    def kubelet_config(self, trust):
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                               "x509": {"clientCAFile": str(trust.ca)}},
            "authorization": {"mode": "Webhook"},
            "cgroupDriver": "cgroupfs", "cgroupRoot": f"/{self.cgroup}", "enforceNodeAllocatable": [],
            "clusterDNS": [layout.DNS_IP], "clusterDomain": "cluster.local", "resolvConf": str(self.folder / "resolv.conf"),
            "containerRuntimeEndpoint": f"unix://{self.socket}", "podLogsDir": str(self.folder / "podlogs"),
            "failSwapOn": False, "failCgroupV1": False, "featureGates": {"KubeletInUserNamespace": True},
            # The machine's disk and memory are shared with much else: only real need evicts.
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
            "imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99, "serializeImagePulls": False,
            "nodeStatusUpdateFrequency": "4s", "nodeLeaseDurationSeconds": 12}

    # --- cgroups --------------------------------------------------------------------------------------------------------

    def make_cgroups(self):
        for root in cgroup_roots():
            folder = root / self.cgroup
            (folder / "system").mkdir(parents=True, exist_ok=True)
            if root.name == "cpuset":
                for child in (folder, folder / "system"):
                    for file in ("cpuset.cpus", "cpuset.mems"):
                        (child / file).write_text((root / file).read_text())

    def pids(self):
        found = set()
        for root in cgroup_roots():
            for path in (root / self.cgroup).rglob("cgroup.procs"):
                try:
                    found.update(map(int, path.read_text().split()))
                except OSError:
                    pass  # a container that goes away by itself
        return found

    def remove_cgroups(self):
        for root in cgroup_roots():
            folders = [root / self.cgroup, *(root / self.cgroup).rglob("*")]
            for folder in sorted((path for path in folders if path.is_dir()), key=lambda path: -len(path.parts)):
                try:
                    folder.rmdir()
                except OSError:
                    pass  # an empty one left over costs nothing

    # --- life -----------------------------------------------------------------------------------------------------------

    def ctr(self, *arguments, timeout=120):
        return run(["ctr", "-a", str(self.socket), "-n", "k8s.io", *arguments], timeout=timeout)

    def start_process(self, name, command):
        # Shims and containers stay in this group or go to a pod's below the same node, so that pids() finds them all.
        start(self.folder, name, command, namespace=self.namespace,
              cgroup=[root / self.cgroup / "system" for root in cgroup_roots()])

    def start_runtime(self):
        self.start_process("containerd", ["containerd", "--config", self.folder / "containerd.toml"])

        def answers():
            try:
                return self.socket.exists() and bool(self.ctr("version", timeout=10))
            except RuntimeError:
                return False

        wait_for(f"containerd of {self.name}", answers, 60, lambda: fail_if_ended(self.folder, "containerd"))

    def load(self, archive):
        self.ctr("images", "import", str(archive), timeout=300)

    def start(self):
        self.start_runtime()
        self.start_process("kubelet", [
            layout.BIN / "kubelet", f"--config={self.folder}/kubelet.yaml", f"--kubeconfig={self.folder}/kubelet-{self.index}.conf",
            f"--node-ip={layout.node_ip(self.index)}", f"--hostname-override={self.name}", f"--root-dir={self.folder}/kubelet",
            f"--node-labels=topology.kubernetes.io/zone=zone-{self.index}"])
        self.start_process("kube-proxy", [
            layout.BIN / "kube-proxy", f"--kubeconfig={self.folder}/proxy-{self.index}.conf", "--proxy-mode=iptables",
            f"--cluster-cidr={layout.POD_NET}.0.0/16", f"--hostname-override={self.name}", "--conntrack-max-per-core=0",
            f"--metrics-bind-address=127.0.0.1:10249", f"--healthz-bind-address={layout.node_ip(self.index)}:10256"])

    def kill(self):
        """As if its power were cut: off the network, and every process of it dead at once."""
        network.cut(self.index, "down")
        self.end(signal.SIGKILL)

    def revive(self):
        network.cut(self.index, "up")
        self.start()

    def end(self, number=signal.SIGKILL):
        for name in DAEMONS:
            pid = read_pid(self.folder, name)
            if pid is not None:
                os.kill(pid, number)
        # A fork may slip through one look.
        deadline = time.monotonic() + 20
        while pids := self.pids():
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.name}: processes {sorted(pids)} do not die")
            time.sleep(0.05)
        for name in DAEMONS:
            stop(self.folder, name)
