#!/usr/bin/env python3
"""clang_tidy.py BUILD [FILE...]: clang-tidy-19 over the sources that BUILD compiles, or over those named.

Most of clang-tidy's time goes into the standard headers, again for each file. So the files of a folder that have the same
flags are checked as one, which is some eight times faster; where they do not compile together (two helpers of one name),
the group is halved until they do. A group that passed is not checked again until one of its files, a header of ours or
.clang-tidy changes. Ends with "N passed, N failed", counted in files.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = "clang-tidy-19"
OURS = ("broker", "operator", "client", "tests")
# Chatter about what was suppressed, and the including file that no one wrote.
NOISE = ("warnings generated", "warning generated", "Suppressed ", "Use -header-filter", "warnings treated as errors")
DEPENDENCY_FLAGS = {"-MD": 1, "-c": 1, "-MT": 2, "-MF": 2, "-o": 2}


def flags_of(entry):
    """The compiler and its flags, without what names this one file."""
    words = shlex.split(entry["command"]) if "command" in entry else list(entry["arguments"])
    while words and "clang++" not in os.path.basename(words[0]):
        words.pop(0)  # env, ccache
    kept, position = [], 0
    while position < len(words):
        skipped = DEPENDENCY_FLAGS.get(words[position], 0)
        if not skipped and words[position] != entry["file"]:
            kept.append(words[position])
        position += skipped or 1
    return tuple(kept)


def sources_of(entry):
    """The file, or those that CMake compiles as one (unity builds)."""
    path = pathlib.Path(entry["file"])
    if path.parent.name != "Unity":
        return [path]
    return [pathlib.Path(name) for name in re.findall(r'^#include "(.+)"$', path.read_text(), re.M)]


def groups_of(build, wanted):
    groups = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        for path in sources_of(entry):
            if not path.is_relative_to(ROOT):
                continue
            name = path.relative_to(ROOT)
            if name.parts[0] not in OURS or (wanted and str(name) not in wanted):
                continue
            groups.setdefault((name.parent, flags_of(entry), entry["directory"]), []).append(name)
    return groups


class Checker:
    def __init__(self, build):
        self.work = build / "lint"
        self.work.mkdir(exist_ok=True)
        names = subprocess.run(["git", "ls-files", "*.hpp", "*.def", ".clang-tidy"], cwd=ROOT, check=True,
                               capture_output=True, text=True).stdout.split()
        self.common = hashlib.sha256()
        for name in names:
            if (ROOT / name).is_file():
                self.common.update(name.encode() + (ROOT / name).read_bytes())

    def key(self, flags, names):
        digest = self.common.copy()
        digest.update("\0".join(flags).encode())
        for name in names:
            digest.update(str(name).encode() + (ROOT / name).read_bytes())
        return digest.hexdigest()[:24]

    def check(self, flags, directory, names):
        """Returns (passed, failed, output)."""
        key = self.key(flags, names)
        stamp = self.work / f"{key}.ok"
        if stamp.exists():
            return len(names), 0, ""
        together = self.work / f"{key}.cpp"
        together.write_text("".join(f'#include "{ROOT / name}"\n' for name in names))
        try:
            if len(names) > 1:
                compiles = subprocess.run([*flags, "-Wno-everything", "-fsyntax-only", str(together)], cwd=directory,
                                          capture_output=True, text=True)
                if compiles.returncode != 0:
                    middle = len(names) // 2
                    halves = [self.check(flags, directory, part) for part in (names[:middle], names[middle:])]
                    return tuple(sum(values) if not isinstance(values[0], str) else "".join(values)
                                 for values in zip(*halves))
            run = subprocess.run(
                [TOOL, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", "--checks=-bugprone-suspicious-include",
                 f"--header-filter=({ROOT}/({'|'.join(OURS)})|/modules)/.*", str(together), "--", *flags[1:],
                 "-Wno-everything"], cwd=directory, capture_output=True, text=True)
        finally:
            together.unlink()
        if run.returncode == 0:
            stamp.touch()
            return len(names), 0, ""
        output = "".join(f"{line}\n" for line in (run.stdout + run.stderr).splitlines()
                         if not any(noise in line for noise in NOISE))
        guilty = sum(1 for name in names if f"{ROOT / name}:" in output) or 1
        return len(names) - guilty, guilty, output.replace(f"{ROOT}/", "")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    checker = Checker(build)
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=int(os.environ.get("JOBS", "2"))) as pool:
        waiting = [pool.submit(checker.check, flags, directory, sorted(names))
                   for (_, flags, directory), names in groups_of(build, set(sys.argv[2:])).items()]
        for done in concurrent.futures.as_completed(waiting):
            good, bad, output = done.result()
            passed, failed = passed + good, failed + bad
            sys.stdout.write(output)
            sys.stdout.flush()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
