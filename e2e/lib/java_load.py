"""The load by Java's client of Apache Kafka: Loader and Verifier of tests/integration/java."""

import pathlib
import signal
import subprocess

from lib.base import expect, run
from lib.load import Load

ROOT = pathlib.Path(__file__).resolve().parents[2]
JARS = ROOT / "build/deps/java"
SOURCES = ROOT / "tests/integration/java"
OPTIONS = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
MOST_RECORDS = 10_000_000
ENDED_BY_SIGNAL = 128 + signal.SIGTERM


class JavaLoad(Load):
    """As Load, with the defaults of Java's producer but for shorter timeouts."""

    def __enter__(self):
        self.classes = self.acked.parent / "classes"
        run(["javac", "-cp", f"{JARS}/*", "-d", self.classes, SOURCES / "Loader.java", SOURCES / "Verifier.java"], 120)
        bootstrap, topic, partitions = self.target
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                self.command("Loader", bootstrap, self.acked, 0, MOST_RECORDS, self.rate, f"{topic}:{partitions}"),
                stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL, text=True)
        return self

    def command(self, program, *arguments):
        return ["java", *OPTIONS, "-cp", f"{self.classes}:{JARS}/*", program, *map(str, arguments)]

    def finish(self, seconds=150):
        self.process.terminate()
        said, _ = self.process.communicate(timeout=seconds)
        expect(self.process.returncode == ENDED_BY_SIGNAL, f"the load ended with {self.process.returncode}: {said}")
        count = self.acknowledged()
        expect(f"acknowledged {count} of {count}" in said, f"not all was acknowledged: {said}; noted {count}")
        return {"acknowledged": count}

    def check(self, bootstrap=None):
        """Every acknowledged record is there once, at its offset, and in order."""
        said = run(self.command("Verifier", bootstrap or self.target[0], self.acked, self.target[1]), 180, ok=(0, 1))
        expect("lost 0, faults 0" in said, f"Verifier said: {said}")
        return {"acknowledged": self.acknowledged()}
