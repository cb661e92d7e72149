#!/usr/bin/env bash
# broker.sh start PROGRAM FOLDER KAFKA_PORT ADMIN_PORT   starts a broker with its config, log and data in FOLDER
# broker.sh cluster PROGRAM FOLDER KAFKA_PORT ADMIN_PORT starts three that form a cluster, in FOLDER/0, 1 and 2: the first one
#                                                        on these ports, each next one on ports higher by ten
# broker.sh stop FOLDER...                               SIGTERM, and waits until it is gone
# broker.sh kill FOLDER                                  SIGKILL, as a power cut of the process
set -euo pipefail
DEADLINE_S=60

# The pid of FOLDER's broker, when it runs. A pid alone proves nothing: another process may have it by now.
running() {
  local pid
  pid=$(cat "$1/broker.pid" 2>/dev/null) || return 1
  tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF -- "$1/broker.yaml" || return 1
  echo "$pid"
}

wait_gone() {
  local end=$((SECONDS + DEADLINE_S))
  while kill -0 "$1" 2>/dev/null; do
    if [ $SECONDS -ge $end ]; then
      echo "process $1 still runs after $DEADLINE_S s" >&2
      return 1
    fi
    sleep 0.05
  done
}

# new_secret FILE
new_secret() {
  [ -f "$1" ] || (umask 077 && head -c 32 /dev/urandom | base64 >"$1")
}

# spawn PROGRAM FOLDER: on the config that is there
spawn() {
  local program=$1 folder=$2
  : >"$folder/broker.log"
  nohup "$program" --config "$folder/broker.yaml" >>"$folder/broker.log" 2>&1 </dev/null &
  echo "$!" >"$folder/broker.pid"
}

# await FOLDER: until it is ready; 1 when it ends before
await() {
  local folder=$1 pid end
  pid=$(cat "$folder/broker.pid")
  end=$((SECONDS + DEADLINE_S))
  until grep '^braid-broker ready:' "$folder/broker.log"; do
    if ! kill -0 "$pid" 2>/dev/null; then
      cat "$folder/broker.log" >&2
      rm -f "$folder/broker.pid"
      return 1
    fi
    if [ $SECONDS -ge $end ]; then
      echo "not ready after $DEADLINE_S s; see $folder/broker.log" >&2
      return 1
    fi
    sleep 0.05
  done
}

start() {
  local program=$1 folder=$2 kafka_port=$3 admin_port=$4 pid
  if pid=$(running "$folder"); then
    echo "already running with pid $pid: $(sed -n 's/^listeners: *//p' "$folder/broker.yaml")"
    return
  fi
  mkdir -p "$folder"
  new_secret "$folder/secret"
  # An existing config is the user's; one that no broker could start with goes again.
  local config_is_new=no
  [ -f "$folder/broker.yaml" ] || config_is_new=yes
  [ "$config_is_new" = no ] || cat >"$folder/broker.yaml" <<YAML
# There is no authentication yet: keep the addresses on 127.0.0.1.
broker.id: 0
listeners: PLAINTEXT://127.0.0.1:$kafka_port
admin.listener: 127.0.0.1:$admin_port
braid.secret.file: $folder/secret
data.dir: $folder/data
wal.dir: $folder/wal
YAML
  spawn "$program" "$folder"
  await "$folder" && return
  if running "$folder" >/dev/null; then return 1; fi
  if [ "$config_is_new" = yes ]; then
    rm -f "$folder/broker.yaml"
  elif ! grep -q "^listeners: .*:$kafka_port\$" "$folder/broker.yaml"; then
    echo "its addresses are those of $folder/broker.yaml, not of KAFKA_PORT and ADMIN_PORT" >&2
  fi
  return 1
}

cluster() {
  local program=$1 folder=$2 kafka_port=$3 admin_port=$4 i own metadata=() braid=()
  mkdir -p "$folder"
  new_secret "$folder/secret"
  for i in 0 1 2; do
    braid+=("$i@127.0.0.1:$((kafka_port + 2 + 10 * i))")
    metadata+=("$i@127.0.0.1:$((kafka_port + 3 + 10 * i))")
  done
  for i in 0 1 2; do
    own=$folder/$i
    mkdir -p "$own"
    [ -f "$own/broker.yaml" ] || cat >"$own/broker.yaml" <<YAML
# There is no authentication of clients yet: keep the addresses on 127.0.0.1.
broker.id: $i
listeners: PLAINTEXT://127.0.0.1:$((kafka_port + 10 * i))
admin.listener: 127.0.0.1:$((admin_port + 10 * i))
braid.listener: 127.0.0.1:$((kafka_port + 2 + 10 * i))
controller.listener: 127.0.0.1:$((kafka_port + 3 + 10 * i))
controller.quorum.voters: [${metadata[0]}, ${metadata[1]}, ${metadata[2]}]
braid.voters: [${braid[0]}, ${braid[1]}, ${braid[2]}]
braid.secret.file: $folder/secret
data.dir: $own/data
wal.dir: $own/wal
YAML
    running "$own" >/dev/null || spawn "$program" "$own"
  done
  for i in 0 1 2; do await "$folder/$i"; done
}

stop() {
  local folder pid
  for folder in "$@"; do
    if pid=$(running "$folder"); then
      kill -TERM "$pid"
      wait_gone "$pid"
      echo "stopped the broker of $folder (pid $pid)"
    fi
    rm -f "$folder/broker.pid"
  done
}

command=$1
shift
case $command in
  start) start "$1" "$(realpath -m "$2")" "$3" "$4" ;;
  cluster) cluster "$1" "$(realpath -m "$2")" "$3" "$4" ;;
  stop)
    folders=()
    for folder in "$@"; do folders+=("$(realpath -m "$folder")"); done
    stop "${folders[@]}"
    ;;
  kill)
    folder=$(realpath -m "$1")
    pid=$(running "$folder") || { echo "no broker runs in $folder" >&2; exit 1; }
    kill -KILL "$pid"
    wait_gone "$pid"
    rm -f "$folder/broker.pid"
    ;;
  *)
    echo "unknown command $command" >&2
    exit 2
    ;;
esac
