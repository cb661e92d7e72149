# One image with braid-broker, braid-operator, braidctl, the libraries that they need, and kcat to look into a cluster.
#
#   docker build -t localhost/braidmq:dev .                                          everything from source
#   docker build -f Dockerfile --target prebuilt -t localhost/braidmq:dev build/image    from bin/ in the context (`make image`)
#
# (DOCKER_BUILDKIT=1 with a Docker so old that it asks for it.) buildah (`buildah bud --isolation chroot` where there are no namespaces) and podman take the same words. It runs as user 65532
# and writes nowhere but to volumes.
ARG BASE=docker.io/library/debian:bookworm-slim

FROM ${BASE} AS runtime
ARG DEBIAN_FRONTEND=noninteractive
# The last line of each final stage fails when a library is missing here.
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      -o Dpkg::Options::=--path-exclude=/usr/share/doc/* -o Dpkg::Options::=--path-exclude=/usr/share/man/* \
      kcat libbrotli1 libcpp-httplib0.11 libfmt9 libisal2 liblz4-1 libprometheus-cpp-core1.0 libsnappy1v5 libspdlog1.10 libssl3 \
      libyaml-cpp0.7 libzstd1 zlib1g \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old /var/log/apt /var/log/dpkg.log \
 && useradd --key UID_MAX=65533 --key GID_MAX=65533 --uid 65532 --user-group --home-dir /nonexistent --no-create-home \
      --shell /usr/sbin/nologin braidmq \
 && install -d -o 65532 -g 65532 /var/lib/braidmq
USER 65532:65532
EXPOSE 9092 9093 9644
CMD ["/usr/bin/braid-broker", "--help"]

# Before the stage that compiles, so that a builder that goes through all stages need not.
FROM runtime AS prebuilt
COPY bin/ /usr/bin/
RUN for program in /usr/bin/braid*; do "$program" --version >/dev/null || exit 1; done

FROM ${BASE} AS build
WORKDIR /src
COPY cmake/install-packages.sh cmake/packages.txt cmake/
RUN cmake/install-packages.sh cmake/packages.txt
COPY . .
ARG JOBS=2
ARG PROGRAMS="braid-broker braid-operator braidctl"
RUN CC=clang-19 CXX=clang++-19 cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBRAID_TESTS=OFF \
 && ninja -C build -j"$JOBS" $PROGRAMS \
 && mkdir -p /out \
 && for program in $PROGRAMS; do \
      strip -o "/out/$program" "$(find build -type f -name "$program" -perm -u+x)" || exit 1; \
    done

FROM runtime
COPY --from=build /out/ /usr/bin/
RUN for program in /usr/bin/braid*; do "$program" --version >/dev/null || exit 1; done
