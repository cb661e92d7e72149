#!/usr/bin/env bash
# quickstart-fresh.sh: `make quickstart` on a Debian bookworm that has make and git and nothing else, timed.
#
# The machine is a debootstrap root in a temporary folder, with a fresh clone of the last commit in it. Mounts and
# processes live in namespaces of their own, so both end with this script, however it ends. Needs root, debootstrap and
# the network. LIMIT_S=600 is the promise; KEEP_ROOT=1 leaves the folder for a look.
set -euo pipefail
cd "$(dirname "$0")/../.."
LIMIT_S=${LIMIT_S:-600}
# Packages come from where this machine takes its own.
MIRROR=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' | awk '$2 == "bookworm" {print $1; exit}')}

[ "$(id -u)" -eq 0 ] || { echo "quickstart-fresh needs root, for debootstrap and chroot" >&2; exit 1; }
[ -n "$MIRROR" ] || { echo "quickstart-fresh found no Debian bookworm in this machine's sources: set MIRROR" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "quickstart-fresh needs debootstrap: apt-get install debootstrap" >&2; exit 1; }

# Private from the first mount on.
if [ "${BRAID_FRESH_INSIDE:-}" != 1 ]; then
  exec env BRAID_FRESH_INSIDE=1 unshare --mount --pid --fork --kill-child "$0"
fi

root=$(mktemp -d "${TMPDIR:-/var/tmp}/braid-fresh.XXXXXX")
clean_up() {
  local status=$?
  umount "$root/proc" "$root/dev" 2>/dev/null || true
  if [ "${KEEP_ROOT:-}" = 1 ]; then echo "kept $root"; else rm -rf --one-file-system "$root"; fi
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

in_root() {
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"
}

echo "== a fresh Debian bookworm in $root"
debootstrap --variant=minbase bookworm "$root" "$MIRROR" >"$root.log" 2>&1 || { tail -n 30 "$root.log" >&2; rm -f "$root.log"; exit 1; }
rm -f "$root.log"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/hosts "$root/etc/hosts"
# Where the network asks for a certificate authority of its own, the fresh machine needs it as this one does.
if compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null; then
  install -D -m 644 -t "$root/usr/local/share/ca-certificates" /usr/local/share/ca-certificates/*.crt
fi
{ in_root apt-get update && in_root apt-get install -y --no-install-recommends make git; } >"$root/apt.log" 2>&1 ||
  { tail -n 30 "$root/apt.log" >&2; exit 1; }

commit=$(git rev-parse HEAD)
git clone -q --no-hardlinks . "$root/srv/braidmq"
echo "== make quickstart at $commit"
free_port() {
  local port=$((20000 + RANDOM % 10000))
  while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
  echo "$port"
}
started=$SECONDS
in_root KAFKA_PORT="$(free_port)" ADMIN_PORT="$(free_port)" make -C /srv/braidmq quickstart
took=$((SECONDS - started))
echo "== make quickstart took $took s on the fresh machine (limit $LIMIT_S s)"
[ "$took" -le "$LIMIT_S" ]
