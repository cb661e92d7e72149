#!/usr/bin/env bash
# lint.sh [FILE...]: the tree checks, then clang-tidy-19 on the files (else those that differ from BASE, default
# origin/HEAD; a clone that differs in nothing takes its last commit). Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/debug
# A file costs some ten seconds; a commit that moves the whole tree must not cost an hour.
LINT_MAX=${LINT_MAX:-60}
passed=0 failed=0
count() { if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi; }

for check in format layers banned_names links file_size; do count python3 tests/tidy/tree.py "$check"; done
count python3 tests/tidy/self_test.py
count cmake --build "$build" --target tidy_headers --parallel 2

if [ $# -gt 0 ]; then
  files=("$@")
else
  base=$(git merge-base HEAD "${BASE:-origin/HEAD}" 2>/dev/null || true)
  if [ -z "$base" ] || { [ "$base" = "$(git rev-parse HEAD)" ] && git diff --quiet HEAD; }; then
    base=$(git rev-parse --verify -q HEAD~1 || git hash-object -t tree /dev/null)
  fi
  mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- '*.cpp')
fi

# Only what the build compiles has flags to check it with; headers are checked through the sources that include them.
known=()
for file in "${files[@]}"; do
  if grep -qF "\"$PWD/$file\"" "$build/compile_commands.json"; then known+=("$file"); fi
done
echo "clang-tidy: ${#known[@]} files"
if [ ${#known[@]} -gt "$LINT_MAX" ]; then
  echo "clang-tidy: only $LINT_MAX of them; LINT_MAX=1000 takes all"
  mapfile -t known < <(printf '%s\n' "${known[@]}" | sort -R --random-source=<(yes) | head -n "$LINT_MAX")
fi
tidy() {
  local output
  if ! output=$(clang-tidy-19 -p "$build" --quiet "$1" 2>&1); then
    # Its own chatter about suppressed warnings says nothing.
    printf '%s\n' "$output" | grep -vE 'warnings? (generated|treated as)|^Suppressed|^Use -header-filter'
    return 1
  fi
}
for ((i = 0; i < ${#known[@]}; i += 2)); do
  tidy "${known[i]}" & first=$!
  second=
  if ((i + 1 < ${#known[@]})); then tidy "${known[i + 1]}" & second=$!; fi
  count wait "$first"
  if [ -n "$second" ]; then count wait "$second"; fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
