#!/usr/bin/env bash
# run_programs.sh FOLDER PATTERN [ARGUMENT...]: runs every program below FOLDER whose name matches PATTERN.
set -euo pipefail
folder=$1 pattern=$2
shift 2
passed=0 failed=0
while IFS= read -r program; do
  echo "== $(basename "$program")"
  if "$program" "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done < <(find "$folder" -type f -perm -u+x -name "$pattern" | sort)
if [ $((passed + failed)) -eq 0 ]; then
  echo "no program $pattern in $folder: this tree has none yet" >&2
  exit 3
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
