#!/usr/bin/env bash
# quickstart.sh PROGRAM JAVA_FOLDER FOLDER: starts three brokers, uses them with kcat, Java and braidctl, kills the leader in
# mid-load, and shows that nothing acknowledged was lost and no atomic write is there by half. braidctl is the one built with
# PROGRAM. `make quickstart` builds first. Everything lies in FOLDER, which is made anew.
#
# KEEP=1 leaves the brokers running. KAFKA_PORT and ADMIN_PORT choose other ports than 9092 and 9644; see broker.sh for those
# of the second and third broker.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
program=$(realpath "$1") ctl=$(realpath "$(dirname "$1")/../ctl/braidctl") java_folder=$(realpath "$2") folder=$(realpath -m "$3")
port=${KAFKA_PORT:-9092} admin_port=${ADMIN_PORT:-9644}
broker=127.0.0.1:$port,127.0.0.1:$((port + 10)),127.0.0.1:$((port + 20))
brokers=("$folder/0" "$folder/1" "$folder/2")
acked=$folder/acknowledged.txt
sets=$folder/sets.txt
loader=

step() { printf '\n%s. %s\n' "$1" "$2"; }
indent() { sed 's/^/   /'; }
java_client() {
  java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx256m -Dorg.slf4j.simpleLogger.defaultLogLevel=error \
    -cp "$java_folder/*" "$here/java/$1" "$broker" "${@:2}"
}
fail() {
  echo "quickstart: $1" >&2
  exit 1
}
# The id of the broker that leads; `leader ID`: of another one than this.
leader() {
  local end=$((SECONDS + 60)) i said
  while [ $SECONDS -lt $end ]; do
    for i in 0 1 2; do
      [ "$i" != "${1:-}" ] || continue
      said=$("$ctl" --admin "127.0.0.1:$((admin_port + 10 * i))" --output json cluster 2>/dev/null |
        tr -d ' \n' | sed -n 's/.*"braids":\[{[^]]*"leader":\([0-9]*\),.*/\1/p') || continue
      if [ -n "$said" ] && [ "$said" != "${1:-}" ]; then
        echo "$said"
        return
      fi
    done
    sleep 0.05
  done
  fail "no broker leads"
}
start() { "$here/broker.sh" start "$program" "$folder/$1" $((port + 10 * $1)) $((admin_port + 10 * $1)); }
clean_up() {
  local status=$?
  if [ -n "$loader" ]; then kill "$loader" 2>/dev/null || true; fi
  if [ $status -ne 0 ]; then
    echo "quickstart failed; the brokers' last words:" >&2
    tail -n 10 "$folder"/[012]/broker.log >&2 || true
    "$here/broker.sh" stop "${brokers[@]}" >&2 || true
  fi
}
trap clean_up EXIT
started=$SECONDS

"$here/broker.sh" stop "$folder" "${brokers[@]}"
# Only a folder that an earlier quickstart made is removed.
if [ -d "$folder" ]; then
  [ -f "$folder/broker.yaml" ] || [ -f "$folder/0/broker.yaml" ] || [ -z "$(ls -A "$folder")" ] || fail "$folder is not a folder of an earlier quickstart; remove it first"
  rm -rf "$folder"
fi
mkdir -p "$folder"

step 1 "Start three brokers on $broker, their data in $folder/0, 1 and 2"
"$here/broker.sh" cluster "$program" "$folder" "$port" "$admin_port" | indent

step 2 "Create four topics with Java's AdminClient: orders (2 partitions), inventory, payments and ledger (1 each)"
java_client Admin.java create orders:2 inventory:1 payments:1 ledger:1 | indent

step 3 "Write three records to orders and to inventory with kcat, read them back with kcat"
for topic in orders inventory; do
  printf '%s\n' "first $topic record" "second $topic record" "third $topic record" >"$folder/$topic.sent"
  kcat -b "$broker" -P -t "$topic" -p 0 "$folder/$topic.sent" -l
  kcat -b "$broker" -C -t "$topic" -p 0 -o beginning -e -q >"$folder/$topic.read"
  cmp "$folder/$topic.sent" "$folder/$topic.read" || fail "$topic: kcat read something else than it wrote"
  sed "s/^/   $topic: /" "$folder/$topic.read"
done

step 4 "Write 300 records to both with Java's producer (idempotent, as it is by default), read all back with Java"
java_client Loader.java "$acked" 0 300 1000 orders:2 inventory:1 | indent
java_client Verifier.java "$acked" orders inventory | indent

step 5 "Load both topics, and kill -9 the broker that leads in the middle of it"
java_client Loader.java "$acked" 1000 2000 400 orders:2 inventory:1 >"$folder/loader.log" 2>&1 &
loader=$!
acknowledged() { wc -l <"$acked"; }
end=$((SECONDS + 60))
until [ "$(acknowledged)" -ge 900 ]; do
  kill -0 "$loader" 2>/dev/null || fail "the loader ended early: $(cat "$folder/loader.log")"
  [ $SECONDS -lt $end ] || fail "the loader got no further than $(acknowledged) records"
  sleep 0.05
done
killed=$(leader)
"$here/broker.sh" kill "$folder/$killed"
at_kill=$(acknowledged)
kill -0 "$loader" 2>/dev/null || fail "the loader was through before the kill"
echo "   killed broker $killed with $at_kill records acknowledged, and the loader still sending"

step 6 "Another broker leads; the loader goes on by itself; start the killed one again on the same folder"
echo "   broker $(leader "$killed") leads"
start "$killed" | indent
wait "$loader" || fail "the loader gave up: $(cat "$folder/loader.log")"
loader=
indent <"$folder/loader.log"

step 7 "Read everything and hold it against what was acknowledged: all there, once, in order?"
java_client Verifier.java "$acked" orders inventory | indent
total=$(acknowledged)
[ "$total" -eq 2300 ] || fail "$total records were acknowledged, 2300 were sent"

step 8 "Write sets to two topics, payments and ledger, each in one atomic request, and kill -9 the leader between them"
touch "$sets"
# Every set goes out once: one whose answer the kill swallowed may be there or not, but not by half.
(
  for i in $(seq 1 100000); do
    if [ -f "$folder/enough" ]; then break; fi
    "$ctl" produce --bootstrap "$broker" --atomic "payments:0=set-$i" "ledger:0=set-$i" >/dev/null 2>&1 && echo "set-$i" >>"$sets"
  done
) &
loader=$!
for kills in 1 2; do
  end=$((SECONDS + 60))
  until [ "$(wc -l <"$sets")" -ge $((kills * 40)) ]; do
    [ $SECONDS -lt $end ] || fail "no more than $(wc -l <"$sets") sets were acknowledged"
    sleep 0.02
  done
  killed=$(leader)
  "$here/broker.sh" kill "$folder/$killed"
  echo "   killed broker $killed; broker $(leader "$killed") leads"
  start "$killed" | indent
done
touch "$folder/enough"
wait "$loader" || true
loader=
for topic in payments ledger; do kcat -b "$broker" -C -t "$topic" -p 0 -o beginning -e -q >"$folder/$topic.read"; done
cmp "$folder/payments.read" "$folder/ledger.read" || fail "a set is in one topic and not in the other"
lost=$(sort "$sets" | comm -23 - <(sort "$folder/payments.read") | wc -l)
[ "$lost" -eq 0 ] || fail "$lost acknowledged sets are lost"
echo "   $(wc -l <"$sets") sets acknowledged over 2 kills; $(wc -l <"$folder/payments.read") are in both topics, 0 in one only"

echo
echo "No half set. All $total acknowledged records are there, once and in order, $at_kill of them from before the kill. ($((SECONDS - started)) s)"
echo
echo "   data       $folder/N/data and $folder/N/wal of broker N"
echo "   log        $folder/N/broker.log"
echo "   config     $folder/N/broker.yaml"
if [ "${KEEP:-}" = 1 ]; then
  echo "   connect    any Kafka client, bootstrap.servers=$broker    e.g.  kcat -b $broker -L"
  echo "   health     curl http://127.0.0.1:$admin_port/readyz    metrics: /metrics"
  echo "   stop       make stop"
else
  "$here/broker.sh" stop "${brokers[@]}" | indent
  echo "   again      make quickstart KEEP=1 leaves the brokers running for you; then connect any Kafka client with"
  echo "              bootstrap.servers=$broker, for example: kcat -b $broker -L; make stop ends it"
fi
