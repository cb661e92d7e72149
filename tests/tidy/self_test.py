#!/usr/bin/env python3
"""Each rule of tree.py against a small tree: silent on a good one, loud on one planted fault."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tree  # noqa: E402

GOOD = {
    "broker/base/CMakeLists.txt": "braid_module(base SRCS a.cpp)\n",
    "broker/base/a.hpp": "#pragma once\n#include <vector>\n",
    "broker/io/CMakeLists.txt": "braid_module(io DEPS base)\n",
    "broker/io/b.cpp": '#include "base/a.hpp"\nauto t = std::chrono::steady_clock::now();\n',
    "broker/raft/CMakeLists.txt": "braid_module(raft\n  DEPS io  # and base through it\n  LIBS fmt::fmt)\n",
    "broker/raft/c.cpp": '#include "base/a.hpp"\n#include "io/b.hpp"\n// std::thread in a comment\nauto s = "rand()";\n',
    "operator/app/CMakeLists.txt": "braid_module(operator_app DEPS base)\n",
    "operator/app/e.hpp": '#pragma once\n#include "base/a.hpp"\n',
    "README.md": "# Head line\n[a](broker/base/a.hpp) [b](#head-line) [c](https://example.org) `[d](nowhere)`\n",
}

# check -> list of (file, content, words of the finding)
FAULTS = {
    "layers": [
        ("broker/base/a.hpp", '#include "io/b.hpp"\n', "do not reach io"),
        ("broker/raft/c.cpp", "#include <asio.hpp>\n", "asio in module raft"),
        ("broker/raft/c.cpp", "#include <asio/ip/tcp.hpp>\n", "asio in module raft"),
        ("broker/raft/c.cpp", '#include "c.hpp"\n', "module/file.hpp"),
        ("broker/lost/d.cpp", "int x;\n", "no braid_module"),
        ("operator/app/e.hpp", '#include "io/b.hpp"\n', "module operator_app includes io/b.hpp"),
    ],
    "banned_names": [
        ("broker/raft/c.cpp", "std::thread t;\n", "std::thread"),
        ("broker/raft/c.cpp", "int x = rand();\n", "rand("),
        ("broker/raft/c.cpp", "std::random_device d;\n", "random_device"),
        ("broker/raft/c.cpp", "auto t = std::chrono::system_clock::now();\n", "system_clock::now"),
        ("broker/io/b.cpp", "std::this_thread::sleep_for(1s);\n", "sleep_for"),
        ("tests/unit/x_test.cpp", "usleep(5);\n", "usleep"),
    ],
    "links": [
        ("README.md", "[a](missing.md)\n", "no such file"),
        ("README.md", "# One\n[a](#two)\n", "no such heading"),
    ],
    "file_size": [("broker/base/a.hpp", "\n" * 801, "801 lines")],
    "format": [("broker/base/a.hpp", "int   x ;\n", "not formatted")],
}


def findings(check, files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / ".clang-format").write_text("BasedOnStyle: Google\n")
        for name, content in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        return [f"{path}:{line}: {message}" for path, line, message in tree.CHECKS[check](root)]


def main():
    passed, failed = 0, 0
    for check, faults in FAULTS.items():
        cases = [("a good tree", GOOD, None)]
        cases += [(f"{name} with {content[:40]!r}", {**GOOD, name: content}, words) for name, content, words in faults]
        for what, files, words in cases:
            found = findings(check, files)
            good = not found if words is None else any(words in line for line in found)
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"{check}: {what}: expected {words or 'nothing'}, found {found}")
    missing = set(tree.CHECKS) - set(FAULTS)
    if missing:
        print(f"no planted fault for {sorted(missing)}")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
