"""Certificates of the local Kubernetes, and the kubeconfigs that hold them. Made anew with each cluster."""

import base64
import json

import layout
from processes import run

DAYS = "30"


class Trust:
    """One CA for all, in the folder `pki` of the state."""

    def __init__(self):
        self.folder = layout.STATE / "pki"
        self.ca = self.folder / "ca.crt"

    def path(self, name, kind="crt"):
        return self.folder / f"{name}.{kind}"

    def openssl(self, *arguments):
        run(["openssl", *arguments], cwd=self.folder)

    def make(self):
        self.folder.mkdir(mode=0o700)
        self.openssl("req", "-x509", *self.curve(), "-days", DAYS, "-subj", "/CN=braidmq-k8s", "-keyout", "ca.key", "-out", "ca.crt")
        self.openssl("genrsa", "-out", "sa.key", "2048")  # tokens of ServiceAccounts are signed with RS256
        self.openssl("rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub")
        names = ["DNS:kubernetes", "DNS:kubernetes.default", "DNS:kubernetes.default.svc",
                 "DNS:kubernetes.default.svc.cluster.local", "DNS:localhost", "IP:127.0.0.1", f"IP:{layout.HOST_IP}",
                 f"IP:{layout.SERVICE_NET}.1"]
        self.sign("apiserver", "/CN=kube-apiserver", f"subjectAltName={','.join(names)}\nextendedKeyUsage=serverAuth\n")
        # The API server's own, with which it asks kubelets for logs and exec.
        self.client("apiserver-kubelet", "kube-apiserver-kubelet", "system:masters")

    @staticmethod
    def curve():
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    def sign(self, name, subject, extensions):
        self.openssl("req", *self.curve(), "-subj", subject, "-keyout", f"{name}.key", "-out", f"{name}.csr")
        self.path(name, "ext").write_text(extensions)
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", DAYS,
                     "-extfile", f"{name}.ext", "-out", f"{name}.crt")

    def client(self, name, user, group=None):
        self.sign(name, (f"/O={group}" if group else "") + f"/CN={user}", "extendedKeyUsage=clientAuth\n")

    def kubeconfig(self, path, user, group=None):
        """Writes one for a user of its own."""
        self.client(path.stem, user, group)
        inline = {field: base64.b64encode(file.read_bytes()).decode() for field, file in
                  (("ca", self.ca), ("crt", self.path(path.stem)), ("key", self.path(path.stem, "key")))}
        document = {
            "apiVersion": "v1", "kind": "Config", "current-context": "braidmq-k8s",
            "clusters": [{"name": "braidmq-k8s", "cluster": {"server": layout.API_URL, "certificate-authority-data": inline["ca"]}}],
            "users": [{"name": "user", "user": {"client-certificate-data": inline["crt"], "client-key-data": inline["key"]}}],
            "contexts": [{"name": "braidmq-k8s", "context": {"cluster": "braidmq-k8s", "user": "user"}}]}
        path.touch(mode=0o600)
        path.write_text(json.dumps(document, indent=1))  # JSON is YAML
        return path
