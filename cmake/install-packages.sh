#!/usr/bin/env bash
# install-packages.sh LIST...: installs the Debian packages that the lists name. Quick when all are there.
set -euo pipefail

# The compiler itself is asked, because a JRE alone runs no .java files.
jdk_17() {
  local version
  version=$(javac -version 2>/dev/null) || return 1
  version=${version#javac }
  [ "${version%%.*}" -ge 17 ]
}

maven() { command -v mvn >/dev/null; }

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

missing=()
while read -r package condition; do
  case $package in '' | '#'*) continue ;; esac
  installed "$package" && continue
  if [[ $condition == unless:* ]] && "${condition#unless:}"; then continue; fi
  missing+=("$package")
done < <(cat "$@")

if [ ${#missing[@]} -eq 0 ]; then
  echo "packages: all there"
  exit 0
fi
echo "packages: installing ${missing[*]}"

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "not root and no sudo: install these packages first" >&2; exit 1; }
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" apt-get install -y --no-remove --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  # What is there stays: Debian's containerd, for one, would take Docker's engine away.
  echo "packages: apt-get failed (nothing is removed to make room); the lists want Debian 12 (bookworm), this is $(. /etc/os-release && echo "$PRETTY_NAME")" >&2
  exit 1
fi
echo "packages: installed ${#missing[@]}"
