#!/usr/bin/env python3
"""Runs every test of a build: what CTest knows (unit, conformance, sim, tidy), the kinds and the operator on a real Kubernetes API
server, then the integration tests. Says how many cases of each row of broker/docs/bad-input.md passed: their names begin with it.

Counts cases, not programs: a GoogleTest program counts its cases, any other CTest test counts as one. Ends with a table by
group and the line "N passed, N failed"; exits 1 when anything failed, or when nothing ran.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
GTEST_PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?\.", re.M)
GTEST_FAILED = re.compile(r"^\[  FAILED  \] (\d+) tests?, listed below", re.M)
# Rows whose parts are there; F13 wants telemetry.
BAD_INPUT = [f"F{number}" for number in (*range(1, 13), 14)]
ROW_PASSED = re.compile(r"^(?:\[       OK \] [\w/]+\.|passed +\w+\.)(F\d+)_", re.M | re.I)
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)


def count_case(case):
    """(passed, failed) of one CTest test; a program that died counts one failure on top of what it managed to say."""
    output = case.findtext("system-out") or ""
    ok = case.get("status") == "run"
    passed = sum(int(n) for n in GTEST_PASSED.findall(output))
    failed = sum(int(n) for n in GTEST_FAILED.findall(output))
    if ok:
        return (passed or 1), 0
    return passed, (failed or 1)


def count_rows(rows, output):
    rows.update(row.upper() for row in ROW_PASSED.findall(output))


def run_ctest(build, jobs, only, rows):
    """Counts by group (the name before the first dot)."""
    groups = collections.OrderedDict()
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "ctest.xml"
        command = ["ctest", "--test-dir", str(build), f"-j{jobs}", "--output-on-failure", "--no-tests=ignore" if only else "--no-tests=error",
                   "--output-junit", str(report), "--test-output-size-passed", "65536",
                   "--test-output-size-failed", "1048576", "--test-output-truncation", "head"]
        if only:
            command += ["-R", only]
        status = subprocess.run(command, check=False).returncode
        if not report.exists():
            return {"ctest": (0, 1)}
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            if case.get("status") == "disabled":
                continue
            group = case.get("name").split(".")[0]
            count_rows(rows, case.findtext("system-out") or "")
            passed, failed = groups.get(group, (0, 0))
            more_passed, more_failed = count_case(case)
            groups[group] = (passed + more_passed, failed + more_failed)
    # Only an honest sum may end well: CTest said no, so one failure at least must show.
    if status != 0 and not any(failed for _, failed in groups.values()):
        groups["ctest"] = (0, 1)
    return groups


def run_program(command, rows):
    """Counts of the closing line of a program that runs cases of its own."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    last = None
    for line in process.stdout:
        print(line, end="", flush=True)
        count_rows(rows, line)
        last = CLOSING.match(line.strip()) or last
    status = process.wait()
    if last is None:
        return 0, 1
    passed, failed = int(last.group(1)), int(last.group(2))
    return passed, max(failed, 1 if status != 0 else 0)


def programs(build, only):
    """Name -> command. `only` picks from the names of kinds and operator, and from the cases of integration."""
    found = {
        "kinds": [ROOT / "tests/operator/crds/run.py"],
        "operator": [ROOT / "tests/operator/reconcile/run.py", "--operator", build / "operator/app/braid-operator",
                     "--topics", "100", "--quiet", "10", "--ready-seconds", "0"]}
    chosen = {name: command for name, command in found.items() if not only or re.search(only, name)}
    chosen["integration"] = [sys.executable, ROOT / "tests/integration/run.py", "--broker", build / "broker/app/braid-broker",
                             "--java", ROOT / "build/deps/java", *([only] if only else [])]
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/debug")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="a regular expression on the names of tests")
    arguments = parser.parse_args()
    rows = collections.Counter()
    groups = dict(run_ctest(arguments.build.resolve(), arguments.jobs, arguments.only, rows))
    for name, command in programs(arguments.build.resolve(), arguments.only).items():
        groups[name] = run_program(command, rows)
    untested = [row for row in BAD_INPUT if not rows[row]]
    if untested and not arguments.only:
        groups["bad input"] = (0, len(untested))

    print(f"\n{'group':<14}{'passed':>8}{'failed':>8}")
    for group, (passed, failed) in groups.items():
        print(f"{group:<14}{passed:>8}{failed:>8}")
    print("rows of bad input, and their tests that passed: " + ", ".join(f"{row} {rows[row]}" for row in BAD_INPUT))
    passed = sum(p for p, _ in groups.values())
    failed = sum(f for _, f in groups.values())
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
