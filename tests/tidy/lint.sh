#!/usr/bin/env bash
# lint.sh [FILE...]: the tree checks, then clang-tidy over every source file, or over the files named. Ends with
# "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/debug
passed=0 failed=0
count() { if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi; }

for check in format layers banned_names links file_size; do count python3 tests/tidy/tree.py "$check"; done
count python3 tests/tidy/self_test.py
count cmake --build "$build" --target tidy_headers --parallel 2

report=$(mktemp)
trap 'rm -f "$report"' EXIT
tests/tidy/clang_tidy.py "$build" "$@" | tee "$report" || true
line=$(tail -n 1 "$report")
case $line in
  *" passed, "*" failed")
    passed=$((passed + ${line%% *}))
    line=${line#*passed, }
    failed=$((failed + ${line%% *}))
    ;;
  *) failed=$((failed + 1)) ;;
esac
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
