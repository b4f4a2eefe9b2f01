#!/usr/bin/env bash
# Builds the examples against an installed copy, as a user would, and compares what they print.
#
#   tools/check-examples.sh COMPILER     clang++-19 or g++; needs the release build
set -euo pipefail
cd "$(dirname "$0")/.."
compiler=$1
prefix=$PWD/build/installed
folder=$PWD/build/examples-$compiler
cmake --install build --prefix "$prefix" >/dev/null
cmake -S examples -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$folder"
for output in examples/*/output.txt; do
  example=$(basename "$(dirname "$output")")
  diff -u "$output" <("$folder/example_$example")
done
