#!/usr/bin/env python3
"""run.py --broker PROGRAM --load PROGRAM --kafka JARS --data FOLDER: BraidMQ and Apache Kafka side by side, three brokers each.

Rows of side_by_side.py and gaps.py, with targets; 0 when everything could be measured, held or not. README.md says what they mean.
"""

import argparse
import pathlib
import shutil
import signal
import sys
import tempfile

import gaps
import side_by_side
from report import load_average, table, write_json
from systems import Braid, Load, harness

GROUPS = [*side_by_side.ROWS, *gaps.ROWS]


def measure(options, folder, show):
    for rows in (side_by_side.ROWS, gaps.ROWS):
        names = [name for name in rows if name in options.only]
        if not names:
            continue
        t = harness.Test("peers", options.broker, options.kafka)
        try:
            if rows is gaps.ROWS:
                gaps.measure(names, t, options.kafka, options, show)
            else:
                side_by_side.measure(names, Braid(t), options.kafka, folder, Load(options.load), options, show)
        finally:
            t.close()


def main():
    def path(text):
        return pathlib.Path(text).resolve()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--broker", type=path, required=True)
    parser.add_argument("--load", type=path, required=True, help="kafka_load")
    parser.add_argument("--kafka", type=path, required=True, help="folder of Apache Kafka's jars")
    parser.add_argument("--data", type=path, required=True, help="folder for all brokers' data, on the file system to be measured")
    parser.add_argument("--json", type=path)
    parser.add_argument("--only", nargs="*", choices=GROUPS, default=GROUPS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10, help="of each round")
    parser.add_argument("--warm-up", type=float, default=20, help="seconds before the first round of a row")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--drains", type=int, default=20)
    parser.add_argument("--strict", action="store_true", help="end with 1 when a target is missed")
    options = parser.parse_args()
    # Brokers have sessions of their own: they end with us, however we are ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options.data.mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(options.data)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="peers-"))
    rows, loads = [], {"before": load_average()}

    def show(row):
        rows.append(row)
        print(f"  {row.what}: {row.measured}", file=sys.stderr, flush=True)
    try:
        measure(options, folder, show)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    loads["after"] = load_average()
    print(table(rows, loads))
    if options.json:
        write_json(options.json, rows, loads)
    return 1 if options.strict and any(row.held is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
