#!/usr/bin/env python3
"""load_image.py: builds BraidMQ's image from the release programs and puts it on the nodes of `make k8s`, as the charts look for it."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from lib import images  # noqa: E402
from lib.base import Broken, run  # noqa: E402
from lib.platform import Local  # noqa: E402


def main():
    version = re.search(r"^project\(braidmq VERSION ([\d.]+)", (HERE.parent / "CMakeLists.txt").read_text(), re.M).group(1)
    name = f"localhost/braidmq:{version}"
    try:
        run([HERE / "cluster/k8s", "status"])
        print("builds the programs and the image: 10 minutes of two processors when nothing is built yet", file=sys.stderr, flush=True)
        built, _ = images.product_image(Local.base)
        run([images.builder(), "tag", built, name])
        run([HERE / "cluster/k8s", "load", images.save(name, HERE.parent / "build/image/braidmq.tar")], 300)
    except Broken as error:
        sys.exit(f"load_image: {error}")
    print(f"{name} is on every node")
    return 0


if __name__ == "__main__":
    sys.exit(main())
