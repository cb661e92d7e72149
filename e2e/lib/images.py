"""Images for the promises, made by buildah, podman or docker, whichever is there; as archives, once for each content."""

import hashlib
import os
import pathlib
import shutil

from lib.base import Broken, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "braidmq-kubernetes/images"
CLIENTS = ROOT / "tests/integration/kubernetes"


def builder():
    for candidate in filter(None, [os.environ.get("BUILDER"), "buildah", "podman", "docker"]):
        if shutil.which(candidate):
            return candidate
    raise Broken("no buildah, podman or docker: `make kube-packages` installs buildah")


def build_command():
    name = builder()
    if name == "docker":
        return ["docker", "build"]
    return [name, "bud" if name == "buildah" else "build", "--layers", "--isolation", "chroot", "--format", "docker"]


def save(image, archive):
    """The image as an archive that containerd, docker and kind read."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    fresh = archive.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    if builder() == "docker":
        run(["docker", "save", "-o", fresh, image], 300)
    elif builder() == "podman":
        run(["podman", "save", "-q", "--format", "docker-archive", "-o", fresh, image], 300)
    else:
        run(["buildah", "push", "-q", image, f"docker-archive:{fresh}:{image}"], 300)
    fresh.rename(archive)
    return archive


def image_id(image):
    if builder() == "docker":
        text = run(["docker", "inspect", "--format", "{{.Id}}", image])
    else:
        text = run([builder(), "images", "--no-trunc", "--quiet", image]).splitlines()[0]
    return text.strip().removeprefix("sha256:")[:12]


def content_key(*paths):
    """12 hex digits over names and contents."""
    digest = hashlib.sha256()
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(f"{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def client_image(target, base, context=CLIENTS, seconds=900):
    """(name, archive) of a stage of tests/integration/kubernetes/Dockerfile."""
    key = content_key(CLIENTS / "Dockerfile", *([context] if context != CLIENTS else []))
    name = f"localhost/braidmq-client-{target}:{key}"
    archive = CACHE / f"client-{target}-{key}.tar"
    if not archive.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        run([*build_command(), "--target", target, "--build-arg", f"BASE={base}", "-f", CLIENTS / "Dockerfile", "-t", name, context],
            seconds)
        save(name, archive)
    return name, archive


def product_image(base):
    """(name, archive) of BraidMQ's image from the release programs just built. Named by what it holds, so that a cluster which
    keeps running takes the new one."""
    run([ROOT / "cmake/build-image.sh", "localhost/braidmq:e2e", "prebuilt", "braid-broker", "braid-operator", "braidctl"], 3600,
        env={**os.environ, "BASE": base}, cwd=ROOT)
    name = f"localhost/braidmq:e2e-{image_id('localhost/braidmq:e2e')}"
    run([builder(), "tag", "localhost/braidmq:e2e", name])
    folder = ROOT / "build/image"
    for old in folder.glob("braidmq-*.tar"):
        old.unlink()
    return name, save(name, folder / f"braidmq-{name.rsplit('-', 1)[1]}.tar")
