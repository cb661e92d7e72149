#!/usr/bin/env python3
"""tree.py CHECK [--root DIR]: a rule that the whole tree keeps and no compiler checks.

layers        a module includes only modules that its DEPS reach; asio stays at the edge
banned_names  threads, clocks, chance and sleeps come in through io
links         every relative link in Markdown leads to a file (and to a heading, where it names one)
file_size     no source file over 800 lines
format        clang-format-19 has nothing to change

Each prints "file:line: what" per finding and exits 1 if there is one. A line may carry `tidy: allow(RULE)` with its reason.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

MAX_LINES = 800
ASIO_MODULES = {"runtime", "net", "kafka_client", "server", "admin", "app"}
THREAD_MODULES = {"io", "runtime", "admin", "app"}
MODULE_FOLDERS = ("broker", "operator")
CODE = {".cpp", ".hpp"}
SOURCES = CODE | {".py", ".java", ".sh", ".go", ".cmake", ".js"}

# rule: (pattern, modules where it is fine, whether tests must keep it too, what to use instead)
BANNED = {
    "thread": (re.compile(r"\bstd::j?thread\b"), THREAD_MODULES, False, "an io::executor"),
    "rand": (re.compile(r"\b(?:std::)?s?rand\s*\("), set(), True, "io::random"),
    "random_device": (re.compile(r"\bstd::random_device\b"), {"io"}, True, "io::random"),
    "clock": (re.compile(r"\b\w+_clock::now\b"), {"io"}, False, "io::clock"),
    "sleep": (re.compile(r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\b"), set(), True, "a wait on the condition itself"),
}


def tracked(root, suffixes=None):
    """Files of the tree, relative: what git knows or could add, so that build folders never count."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"],
                            capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        names = [name for name in listed.stdout.decode().split("\0") if name]
    else:
        names = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
    paths = sorted({pathlib.PurePosixPath(name) for name in names})
    return [p for p in paths if (root / p).is_file() and (suffixes is None or p.suffix in suffixes)]


def without_comments_and_strings(text):
    """Blanks comments and literals but keeps the line breaks, so that line numbers stay true."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'', re.S)
    return token.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def folder_of(path):
    """The folder of a module of the product, such as "broker/wal"; None for other files."""
    return "/".join(path.parts[:2]) if len(path.parts) > 2 and path.parts[0] in MODULE_FOLDERS else None


def modules(root):
    """Folder -> (name of its module, names in its DEPS)."""
    found = {}
    call = re.compile(r"braid_module\(\s*(\w+)([^)]*)\)", re.S)
    for path in sorted(path for top in MODULE_FOLDERS for path in (root / top).glob("*/CMakeLists.txt")):
        match = call.search(re.sub(r"#[^\n]*", "", path.read_text()))
        if not match:
            continue
        deps, inside = set(), False
        for word in match.group(2).split():
            if word.isupper():
                inside = word == "DEPS"
            elif inside:
                deps.add(word)
        found[folder_of(path.relative_to(root))] = match.group(1), deps
    return found


def reach_of(direct):
    """Module -> itself and all modules that its DEPS lead to."""
    def close(name, seen):
        if name not in seen:
            seen.add(name)
            for dep in direct.get(name, ()):
                close(dep, seen)
        return seen

    return {name: close(name, set()) for name in direct}


def check_layers(root):
    found = modules(root)
    reach = reach_of(dict(found.values()))
    include = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
    for path in tracked(root, CODE):
        folder = folder_of(path)
        if folder is None:
            continue
        if folder not in found:
            yield path, 1, f"no braid_module() line in {folder}/CMakeLists.txt"
            continue
        module = found[folder][0]
        for number, line in enumerate((root / path).read_text().splitlines(), 1):
            match = include.match(line)
            if not match or "tidy: allow(layers)" in line:
                continue
            target = match.group(2).split("/")[0]
            if target in reach and target not in reach[module]:
                yield path, number, f"module {module} includes {match.group(2)}, but its DEPS do not reach {target}"
            if target in ("asio", "asio.hpp") and module not in ASIO_MODULES:
                yield path, number, f"asio in module {module}: nothing below runtime knows it"
            if match.group(1) == '"' and "/" not in match.group(2):
                yield path, number, f'includes are "module/file.hpp", not "{match.group(2)}"'


def check_banned_names(root):
    for path in tracked(root, CODE):
        if path.parts[0] not in ("broker", "operator", "tests"):
            continue
        module = (folder_of(path) or "/").split("/")[1] if path.parts[0] == "broker" else None
        text = (root / path).read_text()
        original = text.splitlines()
        for number, line in enumerate(without_comments_and_strings(text).splitlines(), 1):
            for rule, (pattern, allowed, in_tests, instead) in BANNED.items():
                if path.parts[0] == "tests" and not in_tests:
                    continue
                if module in allowed or f"tidy: allow({rule})" in original[number - 1]:
                    continue
                match = pattern.search(line)
                if match:
                    yield path, number, f"{match.group().strip()} is banned here; use {instead}"


def slug(heading):
    """A heading's anchor as code hosts make it."""
    text = re.sub(r"[`*_]|\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))


def check_links(root):
    link = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
    fence = re.compile(r"^(```|~~~).*?^\1", re.S | re.M)
    for path in tracked(root, {".md"}):
        text = fence.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), (root / path).read_text())
        for number, line in enumerate(text.splitlines(), 1):
            for target in link.findall(re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z][a-z0-9+.-]*:", target):
                    continue
                name, _, anchor = target.partition("#")
                file = (root / path).parent / name if name else root / path
                if not file.exists():
                    yield path, number, f"link to {target}: no such file"
                elif anchor and file.suffix == ".md":
                    anchors = {slug(h) for h in re.findall(r"^#+ (.+)$", file.read_text(), re.M)}
                    if anchor not in anchors:
                        yield path, number, f"link to {target}: no such heading"


def check_file_size(root):
    for path in tracked(root, SOURCES):
        lines = (root / path).read_bytes().count(b"\n")
        if lines > MAX_LINES:
            yield path, lines, f"{lines} lines; {MAX_LINES} at most: does it still hold one noun?"


def check_format(root):
    tool = shutil.which("clang-format-19")
    if tool is None:
        yield pathlib.PurePosixPath("."), 0, "clang-format-19 is missing: run `make deps`"
        return
    files = [str(root / path) for path in tracked(root, CODE)]
    if not files:
        return
    result = subprocess.run([tool, "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False)
    for name, line in sorted(set(re.findall(r"^(\S+?):(\d+):\d+: error: code should be", result.stderr, re.M))):
        yield pathlib.Path(name).relative_to(root), int(line), "not formatted: run `make format`"
    if result.returncode != 0 and "code should be" not in result.stderr:
        yield pathlib.PurePosixPath(".clang-format"), 0, result.stderr.strip()


CHECKS = {name[len("check_"):]: function for name, function in list(globals().items()) if name.startswith("check_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("check", choices=sorted(CHECKS))
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    findings = list(CHECKS[arguments.check](root))
    for path, line, message in findings:
        print(f"{path}:{line}: {message}")
    print(f"{arguments.check}: {len(findings)} findings in {len(tracked(root))} files")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
