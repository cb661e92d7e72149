"""etcd, API server, controllers, scheduler, DNS and the provisioner of volumes, as processes of this machine."""

import json
import pathlib
import signal
import socket
import subprocess

import layout
from processes import fail_if_ended, read_pid, run, running, start, stop, wait_for

# In the order in which they end.
NAMES = ("local-path-provisioner", "coredns", "kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def kubectl(*arguments, text=None):
    return run(["kubectl", f"--kubeconfig={layout.KUBECONFIG}", *arguments], input=text)


def apply(*objects):
    kubectl("apply", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


def system(kind, name, version="v1", **more):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "kube-system"}, **more}


class ControlPlane:
    def __init__(self, trust):
        self.folder = layout.STATE
        self.trust = trust

    def start_process(self, name, command, env=None):
        start(self.folder, name, command, env=env)

    def start(self):
        self.trust.kubeconfig(layout.KUBECONFIG, "administrator", "system:masters")
        self.start_etcd()
        self.start_apiserver()
        self.start_controllers()
        self.start_dns()
        self.start_provisioner()

    def start_etcd(self):
        client, peer = free_port(), free_port()
        self.etcd_url, peer_url = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"
        # Its data go with the cluster, so they need not reach the disk first.
        self.start_process("etcd", ["etcd", "--data-dir", self.folder / "etcd", "--unsafe-no-fsync", "--logger", "zap",
                                    "--listen-client-urls", self.etcd_url, "--advertise-client-urls", self.etcd_url,
                                    "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url,
                                    "--initial-cluster", f"default={peer_url}"])

    def start_apiserver(self):
        pki = self.trust.path
        command = [
            layout.BIN / "kube-apiserver", f"--bind-address={layout.HOST_IP}", f"--advertise-address={layout.HOST_IP}",
            "--secure-port=6443", f"--etcd-servers={self.etcd_url}", f"--client-ca-file={self.trust.ca}",
            f"--tls-cert-file={pki('apiserver')}", f"--tls-private-key-file={pki('apiserver', 'key')}",
            f"--kubelet-client-certificate={pki('apiserver-kubelet')}", f"--kubelet-client-key={pki('apiserver-kubelet', 'key')}",
            "--kubelet-preferred-address-types=InternalIP", f"--service-cluster-ip-range={layout.SERVICE_NET}.0/24",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={pki('sa', 'pub')}", f"--service-account-signing-key-file={pki('sa', 'key')}",
            "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
            "--profiling=false", f"--audit-policy-file={self.audit_policy()}", f"--audit-log-path={layout.STATE}/audit.log"]
        (self.folder / "kube-apiserver.command").write_text(json.dumps(list(map(str, command))))
        self.start_process("kube-apiserver", command)
        self.await_apiserver()

    @staticmethod
    def await_apiserver():
        def ready():
            asked = subprocess.run(["kubectl", f"--kubeconfig={layout.KUBECONFIG}", "get", "--raw", "/readyz"],
                                   capture_output=True, text=True, timeout=30, check=False)
            return asked.stdout == "ok"

        wait_for("API server ready", ready, 120, lambda: fail_if_ended(layout.STATE, "kube-apiserver"))

    @staticmethod
    def kill_apiserver():
        stop(layout.STATE, "kube-apiserver", signal.SIGKILL)

    @classmethod
    def start_apiserver_again(cls):
        """As it was started first: its command stands in a file."""
        if read_pid(layout.STATE, "kube-apiserver") is None:
            start(layout.STATE, "kube-apiserver", json.loads((layout.STATE / "kube-apiserver.command").read_text()))
        cls.await_apiserver()

    def audit_policy(self):
        """What ServiceAccounts write (operators, that is) is noted when it arrives and when it is done; tests count it."""
        system = ["system:serviceaccounts:kube-system", "system:nodes", "system:masters"]
        policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [
            {"level": "None", "verbs": ["get", "list", "watch"]}, {"level": "None", "userGroups": system},
            {"level": "Metadata", "userGroups": ["system:serviceaccounts"]}, {"level": "None"}]}
        path = self.folder / "audit-policy.yaml"
        path.write_text(json.dumps(policy))
        return path

    def start_controllers(self):
        manager = self.trust.kubeconfig(self.folder / "controllers.conf", "system:kube-controller-manager")
        scheduler = self.trust.kubeconfig(self.folder / "scheduler.conf", "system:kube-scheduler")
        pki = self.trust.path
        self.start_process("kube-controller-manager", [
            layout.BIN / "kube-controller-manager", f"--kubeconfig={manager}", "--leader-elect=false",
            f"--authentication-kubeconfig={manager}", f"--authorization-kubeconfig={manager}",
            "--authentication-tolerate-lookup-failure=true", "--use-service-account-credentials=true", "--secure-port=0",
            f"--service-account-private-key-file={pki('sa', 'key')}", f"--root-ca-file={self.trust.ca}",
            # A node that is lost is seen within 20 s instead of 50.
            "--node-monitor-grace-period=16s", "--node-monitor-period=2s"])
        self.start_process("kube-scheduler", [
            layout.BIN / "kube-scheduler", f"--kubeconfig={scheduler}", "--leader-elect=false", "--secure-port=0",
            f"--authentication-kubeconfig={scheduler}", f"--authorization-kubeconfig={scheduler}",
            "--authentication-tolerate-lookup-failure=true"])

    def start_dns(self):
        """Behind the Service that pods expect, though it is no pod."""
        (self.folder / "Corefile").write_text(f"""cluster.local:{layout.DNS_PORT} in-addr.arpa:{layout.DNS_PORT} {{
    bind {layout.HOST_IP}
    errors
    kubernetes {{
        kubeconfig {layout.KUBECONFIG}
        ttl 1
    }}
}}
.:{layout.DNS_PORT} {{
    bind {layout.HOST_IP}
    errors
    template ANY ANY {{
        rcode NXDOMAIN
    }}
}}
""")
        self.start_process("coredns", [layout.BIN / "coredns", "-conf", self.folder / "Corefile"])
        ports = [{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "dns-tcp", "port": 53, "protocol": "TCP"}]
        targets = [{**port, "port": layout.DNS_PORT} for port in ports]
        piece = system("EndpointSlice", "kube-dns-machine", "discovery.k8s.io/v1", addressType="IPv4", ports=targets,
                       endpoints=[{"addresses": [layout.HOST_IP], "conditions": {"ready": True}}])
        piece["metadata"]["labels"] = {"kubernetes.io/service-name": "kube-dns"}
        apply(system("Service", "kube-dns", spec={"clusterIP": layout.DNS_IP, "ports": ports}), piece)

    def start_provisioner(self):
        paths = {"nodePathMap": [{"node": "DEFAULT_PATH_FOR_NON_LISTED_NODES", "paths": [str(self.folder / "volumes")]}]}
        helper = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "helper-pod"}, "spec": {
            "containers": [{"name": "helper-pod", "image": layout.BASE_IMAGE, "imagePullPolicy": "IfNotPresent"}]}}
        storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "rancher.io/local-path",
                   "volumeBindingMode": "WaitForFirstConsumer", "reclaimPolicy": "Delete",
                   "metadata": {"name": "local-path", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}}
        config = system("ConfigMap", "local-path-config", data={
            "config.json": json.dumps(paths), "setup": 'mkdir -m 0777 -p "$VOL_DIR"', "teardown": 'rm -rf "$VOL_DIR"',
            "helperPod.yaml": json.dumps(helper)})
        apply(storage, config)
        file = self.folder / "local-path.json"
        file.write_text(json.dumps(paths))
        self.start_process("local-path-provisioner", [
            layout.BIN / "local-path-provisioner", "start", "--kubeconfig", layout.KUBECONFIG, "--config", file,
            "--configmap-name", "local-path-config", "--namespace", "kube-system", "--service-account-name", "default",
            "--helper-image", layout.BASE_IMAGE], env={"POD_NAMESPACE": "kube-system"})

    def await_nodes(self, count):
        def ready():
            rows = kubectl("get", "nodes", "--no-headers").splitlines()
            return sum(row.split()[1] == "Ready" for row in rows) == count

        wait_for(f"{count} nodes ready", ready, 120)

    @staticmethod
    def stop():
        for name in NAMES:
            stop(layout.STATE, name, signal.SIGKILL)

    @staticmethod
    def running():
        return running(layout.STATE)


def mounts_below(folder):
    """Deepest first."""
    found = []
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        place = line.split()[4].encode().decode("unicode_escape")
        if pathlib.Path(place).is_relative_to(folder):
            found.append(place)
    return sorted(found, key=len, reverse=True)
