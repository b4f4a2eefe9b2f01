#!/usr/bin/env python3
"""Breaks the code on purpose, one place at a time, and asks whether a test that runs in process notices.

  tools/mutants.py [--count 50] [--seed N] [--folders core,ledger] [--files 'src/core/record/journal.cc']

A mutant flips one comparison, one logical operator, one negation or one returned bool. All mutants of a run are
compiled at once; the environment variable MUTANT names the one that is alive, so the tree is built once. A mutant
is killed when a test suite fails, crashes or hangs. It survives when every suite that reaches its line passes.
A mutant that does not compile is left out.

The work happens on a copy of the tree in build/mutants; its first build takes long. `--in-place build/x` breaks the
sources of this tree instead while the folder build/x is built, and restores them then. Exit 1 when fewer than nine
of ten mutants are killed.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

from check_tree import code_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutants"
FOLDERS = ["core", "ledger", "grants", "trust", "autonomy", "guards", "mcp"]

# The test programs that cover a folder, nearest first; each runs only while the mutant is active.
PROGRAMS = {
    "core": ["core", "embed", "policy", "ledger", "grants", "autonomy", "hook", "people", "mcp"],
    "ledger": ["ledger", "embed", "store", "app", "records", "people"],
    "grants": ["grants", "policy", "app"],
    "trust": ["trust", "autonomy", "policy", "people", "records", "app"],
    "autonomy": ["autonomy", "policy", "embed"],
    "guards": ["guards", "policy", "embed"],
    "mcp": ["mcp", "app"],
}

SWAPS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&",
         "!": "without !", "true": "false", "false": "true"}
PLACE = re.compile(r"(?<= )(==|!=|<=|>=|<|>|&&|\|\|)(?=\s)(?! [{=;])|(?<=[(\s])(!)(?=[A-Za-z_(*])|(?<=\breturn )(true|false)(?=;)")
# The operators that end an operand of a logical operator.
EDGE = re.compile(r"[;,?]|(?<!:):(?!:)|(?<=\s)[-+*/|&^]?=(?=\s)|\b(?:return|co_return)\b")

# `a == b` becomes `a == Flip{7} == b`, and `!a` becomes `Not{7}->*a`: the same precedence, so no parser is needed.
HEADER = """
#pragma once
#pragma GCC system_header
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
namespace mutants {
struct State {
  int alive = -1;
  char* reached = nullptr;
  State() {
    if (const char* id = getenv("MUTANT")) alive = atoi(id);
    if (const char* path = getenv("MUTANTS_REACHED")) {
      const int file = open(path, O_RDWR);
      void* map = mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (map != MAP_FAILED) reached = static_cast<char*>(map);
      close(file);
    }
  }
};
inline bool alive(int id) {
  static const State state;
  if (state.reached != nullptr) state.reached[id] = 1;
  return id == state.alive;
}
struct Flip { int id; };
struct Not { int id; };
template <class T> bool operator->*(Not n, T&& value) { return alive(n.id) ? static_cast<bool>(value) : !value; }
template <class T> struct Left { T&& value; int id; };
#define MUTANTS_SWAP(op, swap) \\
  template <class T> Left<T> operator op(T&& value, Flip flip) { return {std::forward<T>(value), flip.id}; } \\
  template <class T, class U> bool operator op(Left<T> left, U&& right) { \\
    return alive(left.id) ? left.value swap right : left.value op right; \\
  }
MUTANTS_SWAP(==, !=)
MUTANTS_SWAP(!=, ==)
MUTANTS_SWAP(<, <=)
MUTANTS_SWAP(<=, <)
MUTANTS_SWAP(>, >=)
MUTANTS_SWAP(>=, >)
}  // namespace mutants
"""
Mutant = collections.namedtuple("Mutant", "id folder path word start begin end lines source")
Suite = collections.namedtuple("Suite", "program name seconds reached")


def run(*command, timeout=None, **options):
    """Runs the command as a process group of its own, which is killed if the wait is interrupted."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", start_new_session=True, **options) as child:
        try:
            out, error = child.communicate(timeout=timeout)
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, child.returncode, out, error)


def copy_tree(tree):
    """Copies the current tree. Unchanged files keep their modification time, so that little is rebuilt."""
    names = run("git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z").stdout.split("\0")
    wanted = {name for name in names if name and (ROOT / name).is_file()}
    for name in wanted:
        source, target = ROOT / name, tree / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        target.chmod(source.stat().st_mode)
    for old in tree.rglob("*"):
        if old.is_file() and str(old.relative_to(tree)) not in wanted:
            old.unlink()


def configure(tree, build):
    """Builds with the checks of the standard library, which detect reads past the end as the sanitizers of `make test` do."""
    made = run("cmake", "-G", "Ninja", "-S", tree, "-B", build, "-DCMAKE_C_COMPILER=clang-19",
               "-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_BUILD_TYPE=Debug",
               "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g0 -D_GLIBCXX_ASSERTIONS",
               "-DSALLYPORT_UNITY=ON", "-DSALLYPORT_BENCH=OFF", "--log-level=WARNING")
    if made.returncode != 0:
        sys.exit(made.stdout + made.stderr)


def operands(code, start, end, stops):
    """Returns the bounds of the operands of the logical operator at `start`; `stops` end the right operand."""
    begin, depth = start, 0
    while begin > 0 and (depth > 0 or code[begin - 1] not in "({["):
        depth += {")": 1, "}": 1, "]": 1, "(": -1, "{": -1, "[": -1}.get(code[begin - 1], 0)
        begin -= 1
    outside = flat(code[begin:start])
    edges = [edge.end() for edge in re.finditer(EDGE.pattern + ("" if "&&" not in stops else r"|\|\|"), outside)]
    begin += max(edges, default=0)
    last, depth = end, 0
    while last < len(code) and (depth > 0 or code[last] not in ")}]"):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(code[last], 0)
        last += 1
    outside = flat(code[end:last])
    edge = re.search(EDGE.pattern + "".join("|" + re.escape(stop) for stop in stops), outside)
    return begin, end + edge.start() if edge else last


def flat(code):
    """Returns the code with everything in brackets blanked."""
    depth, out = 0, []
    for c in code:
        depth -= c in ")}]"
        out.append(c if depth == 0 and c not in "(){}[]" else " ")
        depth += c in "({["
    return "".join(out)


def places(folder, path):
    """Returns every mutant of this source, without ids."""
    text = path.read_text()
    code = code_of(text)  # has the same length, with comments and strings blanked
    lines = text.split("\n")
    for match in PLACE.finditer(code):
        word, start = match.group(), match.start()
        begin, end = start, match.end()
        if word in ("&&", "||"):
            begin, end = operands(code, start, end, ["&&", "||"] if word == "&&" else ["||"])
        line, last = (text.count("\n", 0, place) + 1 for place in (start, end))
        if "SALLYPORT_INVARIANT" not in lines[line - 1]:  # ends the program on a state that outside input cannot cause
            yield Mutant(0, folder, path, word, start, begin, end, range(line, last + 1), lines[line - 1].strip())


def draw(chance, tree, folders, files, count):
    """Picks `count` mutants. Each folder is equally likely, and no two mutants share an expression."""
    left = {folder: [place for source in sorted((tree / "src" / folder).rglob("*.cc"))
                     if not files or str(source.relative_to(tree)) in files for place in places(folder, source)]
            for folder in folders}
    drawn = []
    while len(drawn) < count and any(left.values()):
        folder = chance.choice([name for name, rest in left.items() if rest])
        one = left[folder].pop(chance.randrange(len(left[folder])))
        if not any(one.path == other.path and one.begin <= other.end and other.begin <= one.end for other in drawn):
            drawn.append(one._replace(id=len(drawn)))
    return drawn


def broken(text, mutants):
    """Returns the source with all its mutants; each is inactive until MUTANT names it. Line numbers do not change."""
    for one in sorted(mutants, key=lambda mutant: mutant.begin, reverse=True):
        alive, word = f"::mutants::alive({one.id})", one.word
        end = one.start + len(word)
        if word in ("&&", "||"):  # a || b is !(!a && !b)
            middle = (f"({alive} != (({alive} != static_cast<bool>({text[one.begin:one.start]})) {word} "
                      f"({alive} != static_cast<bool>({text[end:one.end]}))))")
            text = text[:one.begin] + " " + middle + text[one.end:]
            continue
        middle = f"::mutants::Not{{{one.id}}}->*" if word == "!" else \
            f"{alive} != {word}" if word in ("true", "false") else f"{word} ::mutants::Flip{{{one.id}}} {word}"
        text = text[:one.start] + middle + text[end:]
    return f'#include "{WORK}/mutants.h"\n#line 1\n' + text


def build_all(build, programs, drawn):
    """Builds the programs with the mutants and returns the mutants that compile. The sources are restored afterwards."""
    originals = {one.path: one.path.read_text() for one in drawn}
    try:
        while True:
            for path, text in originals.items():
                wanted = broken(text, [one for one in drawn if one.path == path])
                if path.read_text() != wanted:
                    path.write_text(wanted)
            made = run("cmake", "--build", build, "-j", os.cpu_count() or 2, "--target", *programs, "--", "-k", "0")
            if made.returncode == 0:
                return drawn
            said = {(path, int(line)) for path, line in
                    re.findall(r"^(\S+?):(\d+):\d+: ", made.stdout + made.stderr, re.M)}
            fits = [one for one in drawn if not any((str(one.path), line) in said for line in one.lines)]
            if len(fits) == len(drawn):
                sys.exit(made.stdout[-4000:] + made.stderr[-4000:])
            drawn = fits
    finally:
        for path, text in originals.items():
            path.write_text(text)


def passes(program, suite, patience, **environment):
    try:
        return run(program, "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={suite}*", timeout=patience,
                   cwd=WORK, env={**os.environ, **environment}).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def measured(program):
    """For each suite of a program: the mutants that it reaches, and its run time without an active mutant."""
    suites = []
    for name in re.findall(r"^(\S+\.)", run(program, "--gtest_list_tests").stdout, re.M):
        marks = WORK / f"{program.name}.reached"
        marks.write_bytes(bytes(1 << 16))
        began = time.monotonic()
        if not passes(program, name, 1800, MUTANTS_REACHED=str(marks)):
            print(f"mutants: {name}* of {program.name} fails while no mutant is alive, and is left out", flush=True)
            continue
        suites.append(Suite(program, name, time.monotonic() - began, marks.read_bytes()))
    return sorted(suites, key=lambda suite: suite.seconds)


def fate(one, suites):
    """Runs the suites that reach a mutant until one fails: the suites of the nearest program first, quick ones first."""
    near = [suite for name in PROGRAMS[one.folder] for suite in suites[name] if suite.reached[one.id]]
    if not near:
        return "unreached"
    noticed = any(not passes(suite.program, suite.name, 20 + 5 * suite.seconds, MUTANT=str(one.id)) for suite in near)
    return "killed" if noticed else "survived"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=50)
    options.add_argument("--seed", type=int, default=None)
    options.add_argument("--folders", default=",".join(FOLDERS))
    options.add_argument("--files", default="")
    options.add_argument("--in-place", metavar="BUILD", help="a build folder of this tree")
    options = options.parse_args()
    folders = options.folders.split(",")
    unknown = [folder for folder in folders if folder not in PROGRAMS]
    if unknown:
        sys.exit(f"mutants: no folder `{unknown[0]}`; known are {', '.join(PROGRAMS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the sources are restored
    seed = options.seed if options.seed is not None else int(time.time())
    tree, build = (ROOT, ROOT / options.in_place) if options.in_place else (WORK / "tree", WORK / "build")
    print(f"mutants: seed {seed}, building {build.relative_to(ROOT)}", flush=True)
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / "mutants.h").write_text(HEADER)
    if not options.in_place:
        copy_tree(tree)
        configure(tree, build)
    programs = {name: build / "bin" / f"unit_{name}" for folder in folders for name in PROGRAMS[folder]}
    drawn = draw(random.Random(seed), tree, folders, options.files.split(), options.count)
    drawn = build_all(build, [program.name for program in programs.values()], drawn)
    score = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as crew:
        suites = dict(zip(programs, crew.map(measured, programs.values())))
        for one, ended in zip(drawn, crew.map(lambda one: fate(one, suites), drawn)):
            score[one.folder][ended] += 1
            print(f"{one.id:4} {ended:9} {one.path.relative_to(tree)}:{one.lines[0]}  "
                  f"{one.word} -> {SWAPS[one.word]}  |  {one.source}", flush=True)
    killed = sum(counts["killed"] for counts in score.values())
    for folder, counts in sorted(score.items()):
        print(f"{folder:10} {counts['killed']} of {sum(counts.values())} killed")
    print(f"{killed} of {len(drawn)} killed")
    sys.exit(0 if drawn and killed * 10 >= len(drawn) * 9 else 1)


if __name__ == "__main__":
    main()
