#!/usr/bin/env bash
# Everything CI checks, in one place. The last line is `N passed, N failed`.
#
#   tools/run-tests.sh            release build, all tests that run it from outside; public headers alone and examples
#                                 against the installed library with Clang and GCC;
#                                 unit tests, and the gateway and the daemon from outside, under ASan+UBSan;
#                                 concurrent tests under TSan; documents; tree rules
#   tools/run-tests.sh --quick    the release build with its unit tests, and all tests of it
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
jobs=${JOBS:-$(nproc)}
results=$PWD/build/test-results
passed=0 failed=0 skipped=0

step() { printf '\n== %s\n' "$*"; }

# check NAME COMMAND...: a command that counts as one test.
check() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n%s\n' "$name" "$output" | tee -a "$results/failed"
  fi
}

# must NAME COMMAND...: a step that other checks depend on; it counts only if it fails.
must() {
  local name=$1
  shift
  "$@" && return
  failed=$((failed + 1))
  printf 'FAILED: %s\n' "$name" | tee -a "$results/failed"
  return 1
}

# ran LOG: prints "all failed skipped" from the closing lines of ctest. (Its JUnit report counts a program that
# could not be started as skipped.)
ran() {
  awk '
    /^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+$/ { bad = $4; all = $NF; skipped = disabled = 0 }
    /^\t *[0-9]+ - .* \(Skipped\)$/ { ++skipped }
    /^\t *[0-9]+ - .* \(Disabled\)$/ { ++disabled }
    END { print all + 0, bad + 0, skipped + 0, disabled + 0 }' "$1"
}

# more_cases LOG: prints how many more tests passed than the processes that ctest counts. Under a sanitizer one
# process runs many tests. LOG is ctest's own log, with the output of each process.
more_cases() { awk '/^\[       OK \] / { ++n } /^\[=+\] [0-9]+ tests? from .* ran\. / { --n } END { print n + 0 }' "$1"; }

# names LOG: prints the tests that the closing list of ctest calls failed.
names() { sed -nE '/\((Skipped|Disabled)\)$/d; s/^\t *[0-9]+ - (.*) \([^()]*\)( .*)?$/\1/p' "$1"; }

# complaints LOG: prints the first lines in which tests report a failure, for the end of the output.
complaints() { grep -E ': Failure$|^ +Expected|Error: |^FAIL' "$1" | head -8; }

# tests NAME FOLDER [ctest option...]: runs ctest and adds up its closing lines. A failure is final, unless NAME begins with
# `outside`: a test that runs the program from outside, beside others, shares two cores with compilers and browsers. It
# runs once more alone. If it passes then, the end of the output lists it as unsteady, so that it gets fixed.
# A failure that a sanitizer reports is always final.
tests() {
  local name=$1 folder=$2 log=$results/$1.log again=$results/$1-again.log all=0 bad=0 not_run=0 disabled=0 status rest more
  shift 2
  ctest --test-dir "$folder" -j "$jobs" --output-on-failure --test-output-size-passed 1000000 "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  more=$(more_cases "$folder/Testing/Temporary/LastTest.log")
  read -r all bad not_run disabled < <(ran "$log")
  if [[ $name == outside* ]] && [ "$bad" -gt 0 ] && [ "$bad" -le 5 ] && ! grep -qE '(ERROR|WARNING): [A-Z][a-z]+Sanitizer|runtime error:' "$log"; then
    step "the $bad that failed, alone"
    # Tests are selected by name: `--rerun-failed` selects by number, and `-E` changes the numbers.
    ctest --test-dir "$folder" --no-tests=error -R "^($(names "$log" | paste -sd '|'))\$" --output-on-failure 2>&1 | tee "$again"
    status=${PIPESTATUS[0]}
    read -r _ rest _ _ < <(ran "$again")
    { names "$log" | grep -vxF -f <(names "$again") | sed "s/^/$name: /" && complaints "$log"; } >>"$results/unsteady"
    bad=$rest log=$again
  fi
  [ "$bad" = 0 ] || { names "$log" | sed "s/^/$name: /"; complaints "$log"; } >>"$results/failed"
  if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
    printf 'FAILED: ctest (%s) ended with %s\n' "$name" "$status" | tee -a "$results/failed"
    failed=$((failed + 1))
  fi
  passed=$((passed + all + more - bad - not_run)) failed=$((failed + bad)) skipped=$((skipped + not_run + disabled))
}

# build_sanitized PRESET KIND...: builds only what the tests labelled KIND need.
build_sanitized() {
  local preset=$1
  shift
  cmake --preset "$preset" --log-level=WARNING && cmake --build --preset "$preset" -j "$jobs" --target "${@/%/_tests}"
}

# Tests wait for processes, clocks and disks. A compiler with low priority uses that time. An error here is reported
# later, when the same target is built in its turn.
build_ahead() {
  renice -n 19 -p "$BASHPID" >/dev/null
  build_sanitized "$@"
}

# sanitized PRESET KIND: builds the tests labelled KIND with a sanitizer and runs them.
sanitized() {
  local preset=$1 kind=$2
  step "$kind tests under $preset"
  must "build $preset" build_sanitized "$preset" "$kind" || return
  tests "$preset" "build/$preset" --no-tests=error -L "^$kind\$" -j $((jobs + 1))
}

# The suites of the gateway and the daemon against a program with sanitizers. It writes its complaints into files, because
# a test may not look at the errors of a program, or kills it.
sanitized_program() {
  local complaints=$results/sanitizer
  step "the gateway and the daemon under asan"
  must "build the program under asan" build_sanitized asan sanitized || return
  ASAN_OPTIONS=log_path=$complaints:quarantine_size_mb=8 UBSAN_OPTIONS=$UBSAN_OPTIONS:log_path=$complaints \
    tests outside-asan build/asan --no-tests=error -L '^sanitized$' -j $((2 * jobs))
  check "what the sanitizers found in the program" bash -c '! cat "$0".* 2>/dev/null' "$complaints"
}

# Every public header compiles on its own, with the compiler of the product and with Debian's GCC.
headers() {
  step "public headers on their own"
  local pairs broken
  pairs=$(printf '%s\n' include/sallyport/*.h | sed 's/.*/clang++-19 &\ng++ &/')
  broken=$(xargs -P "$jobs" -L 1 bash -c '"$0" -std=c++23 -Wall -Wextra -Werror -fsyntax-only -Iinclude -include "$1" \
    -x c++ /dev/null >&2 || echo "FAILED: $0 $1"' <<<"$pairs")
  [ -z "$broken" ] || printf '%s\n' "$broken" | tee -a "$results/failed"
  failed=$((failed + $(grep -c . <<<"$broken")))
  passed=$((passed + $(wc -l <<<"$pairs") - $(grep -c . <<<"$broken")))
}

# The library as another project uses it: installed, found by CMake, with either compiler.
examples() {
  step "examples against the installed library"
  local compiler
  for compiler in clang++-19 g++; do check "examples with $compiler" tools/check-examples.sh "$compiler"; done
}

# build_release TARGET...
build_release() {
  step "release build"
  must "configure release" cmake --preset release --log-level=WARNING -DSALLYPORT_TESTS=ON -DSALLYPORT_BENCH=ON &&
    must "build release" cmake --build --preset release -j "$jobs" --target "$@"
}

# Tests that run the program from outside wait most of their time for it or for a clock.
test_release() { tests outside build --no-tests=error -j $((2 * jobs)) "$@"; }

finish() {
  local line="$passed passed, $failed failed"
  [ "$skipped" = 0 ] || line+=", $skipped skipped"
  echo "$line" >"$results/summary"
  [ ! -s "$results/unsteady" ] || { step "unsteady: failed beside others, passed alone"; cat "$results/unsteady"; }
  [ ! -s "$results/failed" ] || { step "what failed"; cat "$results/failed"; }
  printf '\n%s\n' "$line"
  [ "$failed" = 0 ]
}

rm -rf "$results"
mkdir -p "$results"
export UBSAN_OPTIONS=print_stacktrace=1
export ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-19 TSAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-19
# Unit tests run once, under sanitizers. The optimised build does not run them again.
built=(outside_tests sallyport_library sallyport_bench)
[ "${1-}" != --quick ] || built=(all)
if ! must "install what is missing" tools/install-deps.sh build test bench || ! build_release "${built[@]}"; then
  finish
  exit
fi
if [ "${1-}" = --quick ]; then
  test_release
else
  build_ahead asan unit sanitized >"$results/ahead.log" 2>&1 &
  test_release -LE "^unit\$" -E "_NOT_BUILT\$"
  headers
  examples
  wait
  build_ahead tsan concurrent >>"$results/ahead.log" 2>&1 &
  sanitized asan unit
  sanitized_program
  wait
  sanitized tsan concurrent
  step "documents and the rules of the tree"
  check "docs/status.md" python3 tools/make_status.py --check
  check "documents" python3 tools/check_docs.py
  check "rules of the tree" python3 tools/check_tree.py --quiet
fi
finish
