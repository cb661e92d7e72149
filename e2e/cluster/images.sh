#!/usr/bin/env bash
# images.sh: makes the two images that every node has, once, in ~/.cache/braidmq-kubernetes/images (XDG_CACHE_HOME moves it):
#   base.tar    Debian bookworm without documentation, from Debian's packages; also put into buildah's store, as the base of
#               BraidMQ's own image on machines that reach no registry of images
#   pause.tar   what holds the namespaces of a pod
set -euo pipefail
images=${XDG_CACHE_HOME:-$HOME/.cache}/braidmq-kubernetes/images
BASE=localhost/debian:bookworm-slim
PAUSE=localhost/pause:3.10
mkdir -p "$images"
work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT

# save FOLDER|FILE IMAGE ARCHIVE BUILDAH_CONFIG...: an image of one layer.
save() {
  local content=$1 image=$2 archive=$3 container
  shift 3
  container=$(buildah from scratch)
  buildah add -q "$container" "$content" / >/dev/null
  buildah config "$@" "$container"
  buildah commit -q --rm "$container" "$image" >/dev/null
  buildah push -q "$image" "docker-archive:$archive.new:$image"
  mv "$archive.new" "$archive"
}

if [ ! -f "$images/base.tar" ]; then
  echo "k8s: making the image $BASE (once)" >&2
  work=$(mktemp -d)
  chmod 755 "$work"
  # Packages come from where this machine takes its own.
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk '$3 ~ /^bookworm(-updates|-security)?$/ && $4 == "main"' | sort -u >"$work/sources"
  mirror=$(awk '$3 == "bookworm" {print $2; exit}' "$work/sources")
  [ -n "$mirror" ] || { echo "k8s: no Debian bookworm among this machine's package sources" >&2; exit 1; }
  nice -n 5 debootstrap --variant=minbase bookworm "$work/root" "$mirror" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
  cp "$work/sources" "$work/root/etc/apt/sources.list"
  rm -rf "$work"/root/usr/share/{doc,man,locale,info}/* "$work"/root/var/cache/apt/* "$work"/root/var/lib/apt/lists/* "$work"/root/var/log/*
  tar -C "$work/root" --numeric-owner -cf "$work/base.tar" .
  save "$work/base.tar" $BASE "$images/base.tar" --cmd /bin/bash --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  rm -rf "$work" && work=
fi
buildah inspect --type image $BASE >/dev/null 2>&1 || buildah pull -q "docker-archive:$images/base.tar" >/dev/null

if [ ! -f "$images/pause.tar" ]; then
  echo "k8s: making the image $PAUSE (once)" >&2
  work=$(mktemp -d)
  mkdir "$work/root"
  # The first process of a pod: it waits, and takes in whatever dies without a parent.
  cat >"$work/pause.c" <<'SOURCE'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  for (;;) {
    int number = 0;
    if (sigwait(&all, &number) != 0) return EXIT_FAILURE;
    if (number == SIGTERM || number == SIGINT) return EXIT_SUCCESS;
    while (number == SIGCHLD && waitpid(-1, NULL, WNOHANG) > 0) {
    }
  }
}
SOURCE
  cc -Os -static -s -o "$work/root/pause" "$work/pause.c"
  save "$work/root" $PAUSE "$images/pause.tar" --entrypoint '["/pause"]'
fi
