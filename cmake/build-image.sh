#!/usr/bin/env bash
# build-image.sh NAME|"" prebuilt|full PROGRAM...: builds the image with buildah, podman or docker, whichever is there
# (BUILDER names one). "prebuilt" takes the programs of build/release, which it brings up to date; "full" compiles inside
# the image.
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1 mode=$2
shift 2
[ -n "$name" ] || name=localhost/braidmq:$(sed -n 's/^project(braidmq VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
base=${BASE:-docker.io/library/debian:bookworm-slim}
builder=${BUILDER:-}
for candidate in buildah podman docker; do
  [ -n "$builder" ] || ! command -v "$candidate" >/dev/null || builder=$candidate
done
case $builder in
  buildah) build=(buildah bud --layers --isolation chroot --format docker) ;;
  podman) build=(podman build --layers --isolation chroot --format docker) ;;
  docker) build=(env DOCKER_BUILDKIT=1 docker build) ;;  # goes only through the stages that are needed
  *) echo "image: no buildah, podman or docker: run \`make kube-packages\` first" >&2; exit 1 ;;
esac

if [ "$mode" = prebuilt ]; then
  make release RELEASE_TARGETS="$*"
  rm -rf build/image && mkdir -p build/image/bin
  for program in "$@"; do
    strip -o "build/image/bin/$program" "$(find build/release -type f -name "$program" -perm -u+x)"
  done
  context=build/image target=(--target prebuilt)
else
  context=. target=(--build-arg "JOBS=${JOBS:-2}" --build-arg "PROGRAMS=$*")
fi
"${build[@]}" "${target[@]}" --build-arg "BASE=$base" -f Dockerfile -t "$name" "$context"
echo "image: $name"
