#!/usr/bin/env python3
"""run.py --broker PROGRAM --java FOLDER [WORD...]: runs the integration tests whose names match one of the expressions, or all.

With --external HOST:PORT the tests speak to a broker that runs already, and those that need one of their own are skipped:
this is how to see whether a test cries wolf. Ends with "N passed, N failed" (", N skipped").
"""

import argparse
import concurrent.futures
import importlib
import pathlib
import re
import signal
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import harness  # noqa: E402


def discover(words):
    tests = []
    for path in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(path.stem)
        for name, function in vars(module).items():
            full = f"{path.stem[5:]}.{name[5:]}"
            if name.startswith("test_") and callable(function) and (not words or any(re.search(w, full) for w in words)):
                tests.append((full, function))
    return tests


def run_one(name, function, arguments):
    """(outcome, words, seconds)"""
    started = time.monotonic()
    test = harness.Test(name, arguments.broker, arguments.java, arguments.external)
    outcome, words = "passed", ""
    try:
        try:
            function(test)
        finally:
            test.close()
    except harness.Skip as e:
        outcome, words = "skipped", str(e)
    except Exception:  # Whatever a test raises is its failure; the others still run.
        outcome, words = "failed", traceback.format_exc()
        for broker in test.brokers:
            if broker.process is not None and broker.log.exists():
                words += f"--- {broker.log}\n{broker.log.read_text(errors='replace')[-3000:]}"
    return outcome, words, time.monotonic() - started


def address(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--broker", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--java", type=lambda p: pathlib.Path(p).resolve(), default=HERE.parents[1] / "build/deps/java")
    parser.add_argument("--external", type=address)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    if not arguments.external and not (arguments.broker and arguments.broker.is_file()):
        print(f"no broker at {arguments.broker}: run `make build`")
        print("0 passed, 1 failed")
        return 1

    signal.signal(signal.SIGTERM, harness.end_all)
    count = {"passed": 0, "failed": 0, "skipped": 0}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        running = {pool.submit(run_one, name, function, arguments): name for name, function in discover(arguments.words)}
        for future in concurrent.futures.as_completed(running):
            outcome, words, seconds = future.result()
            count[outcome] += 1
            print(f"{outcome:<8}{running[future]} ({seconds:.1f} s){': ' + words if outcome == 'skipped' else ''}", flush=True)
            if outcome == "failed":
                print("    " + words.rstrip().replace("\n", "\n    "), flush=True)
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    print(f"{count['passed']} passed, {count['failed']} failed{skipped}")
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
