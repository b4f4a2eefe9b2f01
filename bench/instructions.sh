#!/usr/bin/env bash
# Counts the instructions of one governed call (8 guards, 3 result guards, 3 event hooks, no store) as
# the difference of two runs under callgrind, so that the start does not count.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# callgrind cannot read the debug information of this compiler.
objcopy --strip-debug build/bin/sallyport_bench "$folder/bench"
count() {
  valgrind --tool=callgrind --callgrind-out-file="$folder/out" "$folder/bench" --calls "$1" hooks 2>&1 |
    sed -n 's/.*Collected : *//p'
}
few=$(count 500)
many=$(count 2500)
echo "$(((many - few) / 2000)) instructions a call"
