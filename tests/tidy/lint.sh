#!/usr/bin/env bash
# lint.sh [FILE...]: the tree checks, the charts, then clang-tidy over every source file; or clang-tidy over the files named.
# Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/debug
passed=0 failed=0
report=$(mktemp)
trap 'rm -f "$report"' EXIT

count() { if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi; }

# Adds up what a program says of itself in its last line.
add_counts_of() {
  local line
  "$@" | tee "$report" || true
  line=$(tail -n 1 "$report")
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
}

for check in format layers banned_names links file_size; do count python3 tests/tidy/tree.py "$check"; done
count python3 tests/tidy/self_test.py
count cmake --build "$build" --target tidy_headers --parallel 2
[ $# -gt 0 ] || add_counts_of tests/charts/lint.py
add_counts_of tests/tidy/clang_tidy.py "$build" "$@"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
