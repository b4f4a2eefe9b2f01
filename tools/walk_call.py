#!/usr/bin/env python3
"""Runs one call with an effect through the core and prints its walk: every function that is entered, in order.

  tools/walk_call.py            a line for each stay in a file of a stage, as docs/architecture.md has it
  tools/walk_call.py --all      every function of src/core with its file

The core is built in build/walk so that it notes each function that is entered.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "walk"
STAGES = {"governor", "first_door", "decide", "judge", "asking", "execution", "preparing", "second_door", "pipeline", "closer",
          "journal", "call_record", "ending", "call_events", "sink_feed"}
LIBRARIES = ["fmt", "sodium", "crypto", "icuuc", "icui18n", "simdjson"]

PROGRAM = r"""
#include <boost/json.hpp>
#include <cstdio>

#include "support/governed.h"

namespace { std::FILE* out = nullptr; }
extern char __executable_start;
extern "C" void __cyg_profile_func_enter(void* function, void*) {
  if (out) std::fprintf(out, "%lx\n", static_cast<long>(static_cast<char*>(function) - &__executable_start));
}
extern "C" void __cyg_profile_func_exit(void*, void*) {}

int main(int, char** argv) {
  using namespace sallyport;
  test::Governed governed;
  governed.plan.tool("", "write_file", {Tier::Confirm, "fs.write"});
  governed.plan.guard(std::make_shared<test::FunctionGuard>("guard", [](const Call&) { return Verdict::allow(); }));
  governed.plan.result_guard(std::make_shared<test::FunctionResultGuard>(
      "result-guard", [](const Envelope&, const ResultContext&) { return Verdict::allow(); }));
  if (!governed.build()) return 1;
  Call call = test::Governed::read_file();
  call.tool = "write_file";
  out = std::fopen(argv[1], "w");
  const Result<Answer> answer = governed.call(std::move(call));
  std::fclose(std::exchange(out, nullptr));
  return answer && answer->result.success ? 0 : 1;
}
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def build():
    """Compiles the core with instrumentation for function entries; the program itself has none."""
    run("cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_C_COMPILER=clang-19", "-DCMAKE_CXX_COMPILER=clang++-19",
        "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -gline-tables-only -finstrument-functions",
        "-DSALLYPORT_UNITY=ON", "-DSALLYPORT_TESTS=OFF", "-DSALLYPORT_BENCH=OFF", "--log-level=WARNING")
    run("cmake", "--build", BUILD, "--target", "sallyport_core", "sallyport_base")
    source = BUILD / "walk.cc"
    source.write_text(PROGRAM)
    includes = [BUILD / "inc" / "core", BUILD / "inc" / "base", ROOT / "include", ROOT / "tests"]
    run("clang++-19", "-std=c++23", "-DBOOST_ASIO_SEPARATE_COMPILATION", "-DBOOST_ASIO_NO_DEPRECATED",
        "-DBOOST_ASIO_DISABLE_BOOST_COROUTINE", "-DFMT_SHARED", "-O0", "-gline-tables-only", *(f"-I{path}" for path in includes),
        source, BUILD / "src" / "libsallyport_core.a", BUILD / "src" / "libsallyport_base.a", *(f"-l{name}" for name in LIBRARIES),
        "-o", BUILD / "walk")


def walk():
    """Returns (file, function) of src/core in the order of entry."""
    with tempfile.NamedTemporaryFile(mode="r") as entered:
        run(BUILD / "walk", entered.name)
        addresses = entered.read().split()
    known = sorted(set(addresses))
    places = run("llvm-symbolizer-19", f"--obj={BUILD / 'walk'}", "--demangle", "--no-inlines",
                 input="".join(f"0x{address}\n" for address in known)).split("\n\n")
    named = {}
    for address, place in zip(known, places):
        name, _, line = place.strip().partition("\n")
        file = re.search(r"/src/(core/[^:]+):", line)
        name = re.sub(r"\(anonymous namespace\)::|sallyport::|core::|\[abi:cxx11\]", "", name)
        name = re.sub(r"[<(].*", "", name)
        if file and re.fullmatch(r"\w+(::\w+)*", name) and not name.startswith("_"):
            named[address] = (file.group(1), name)
    return [named[address] for address in addresses if address in named]


def main():
    build()
    steps = walk()
    if "--all" in sys.argv[1:]:
        for file, name in steps:
            print(f"{file:<36}{name}")
        return
    stays = []
    for file, name in steps:
        if pathlib.Path(file).stem not in STAGES:
            continue
        if not stays or stays[-1][0] != file:
            stays.append((file, []))
        name = name.split("::")[-1]
        if name not in stays[-1][1]:
            stays[-1][1].append(name)
    for file, names in stays:
        print(f"{file:<28}{', '.join(names)}")
    print(f"{len(stays)} stays; {len({file for file, _ in steps})} files of src/core in all")


main()
