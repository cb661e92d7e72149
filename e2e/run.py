#!/usr/bin/env python3
"""What BraidMQ promises on Kubernetes, tried on one: a folder here for each promise.

  run.py [--full] [PROMISE...]    the promises of CI, all of them, or the named ones ("broker_kill"); ends with counts

E2E_KUBECONFIG and E2E_IMAGE name a cluster and an image that it can pull; else kind where Docker runs, else a local Kubernetes
of our own (e2e/cluster); there E2E_IMAGE names a local image to take in place of the one that is built. KEEP=1 leaves the cluster running, also for the next call. NODES=N workers (3). What a promise that
does not hold left behind lies in run/e2e/PROMISE. E2E_SLOW=2 doubles the budgets of time on a machine that is busy with
other things.
"""

import argparse
import importlib.util
import os
import pathlib
import shutil
import signal
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from lib import diagnose, platform  # noqa: E402
from lib.base import Broken, Skip, expect  # noqa: E402
from lib.product import Product  # noqa: E402
from lib.three_brokers import ThreeBrokers  # noqa: E402

OUTPUT = HERE.parent / "run/e2e"
SLOW = float(os.environ.get("E2E_SLOW", "1"))


class Trial:
    """What a promise gets: `t.kube`, `t.product`, `t.platform`, `t.folder`, `t.full`; it notes figures."""

    def __init__(self, name, where, full, product):
        self.name, self.platform, self.full = name, where, full
        self.kube = where.kube
        self.folder = OUTPUT / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.product = product
        product.folder = self.folder
        self.figures = []
        self.namespaces = {product.namespace}

    def another_product(self, namespace, kind=Product):
        """One in a namespace of its own, with the same image."""
        self.namespaces.add(namespace)
        other = kind(self.kube, self.platform, self.folder, namespace)
        other._image = self.product.image
        return other

    def three_brokers(self):
        """The cluster of three that promises share; not yet installed, but its kinds are there."""
        self.product.installed()
        return self.another_product(ThreeBrokers.namespace, ThreeBrokers)

    @staticmethod
    def since(moment):
        return time.monotonic() - moment

    def figure(self, words, value, unit="s", limit=None):
        """Notes a figure; with a limit, it is a promise too."""
        shown = f"{value:.2f}" if isinstance(value, float) else str(value)
        self.figures.append(f"{words} {shown}{' ' + unit if unit else ''}{f' (limit {limit:g})' if limit is not None else ''}")
        if limit is not None:
            allowed = limit * (SLOW if unit == "s" else 1)
            expect(value <= allowed, f"{words}: {shown} {unit}, above the limit of {allowed:g}")


def promises():
    """Name -> module, in order."""
    found = {}
    for path in sorted(HERE.glob("[0-9][0-9]_*/promise.py")):
        spec = importlib.util.spec_from_file_location(f"promise_{path.parent.name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found[path.parent.name[3:]] = module
    return found


def chosen(names, full):
    all_of_them = promises()
    if unknown := [name for name in names if name not in all_of_them]:
        sys.exit(f"e2e: no promise {', '.join(unknown)}; there are {', '.join(all_of_them)}")
    return {name: module for name, module in all_of_them.items()
            if name in names or (not names and (full or not getattr(module, "FULL", False)))}


def attempt(trial, module):
    """True, False, or None when it was skipped; prints what came of it."""
    words = module.__doc__.strip().splitlines()[0]
    print(f"\n{trial.name}: {words}", flush=True)
    began = time.monotonic()
    try:
        module.run(trial)
        outcome, said = True, "holds"
    except Skip as why:
        outcome, said = None, f"skipped: {why}"
    except Exception as error:  # noqa: BLE001 - one promise that breaks must not hide the others
        outcome, said = False, "DOES NOT HOLD"
        print(f"  {error}" if isinstance(error, Broken) else traceback.format_exc(), flush=True)
        print(diagnose.collect(trial.kube, trial.namespaces, trial.folder), flush=True)
        print(f"  more in {trial.folder.relative_to(HERE.parent)}", flush=True)
    for line in trial.figures:
        print(f"  {line}", flush=True)
    print(f"  {said} ({time.monotonic() - began:.1f} s)", flush=True)
    return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="all promises")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    wanted = chosen(asked.names, asked.full)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda number, _: sys.exit(128 + number))  # the cluster comes down then, too
    began = time.monotonic()
    where = platform.choose()
    print(f"e2e: Kubernetes is {where.name}", flush=True)
    outcomes = {}
    try:
        where.up()
        print(f"e2e: it is up after {time.monotonic() - began:.1f} s", flush=True)
        where.kube.open()
        product = Product(where.kube, where, OUTPUT)
        print(f"e2e: image {product.image} after {time.monotonic() - began:.1f} s", flush=True)
        for name, module in wanted.items():
            outcomes[name] = attempt(Trial(name, where, asked.full, product), module)
    finally:
        if where.kube:
            where.kube.close()
        if not os.environ.get("KEEP"):
            where.down()
    print()
    for name, outcome in outcomes.items():
        print(f"{name:24} {'holds' if outcome else 'skipped' if outcome is None else 'DOES NOT HOLD'}")
    passed, failed, skipped = (list(outcomes.values()).count(kind) for kind in (True, False, None))
    print(f"e2e: {time.monotonic() - began:.0f} s")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
