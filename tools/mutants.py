#!/usr/bin/env python3
"""Breaks the code on purpose, one place at a time, and asks whether a test that runs in process notices.

  tools/mutants.py [--count 50] [--seed N] [--folders core,ledger] [--files 'src/core/record/journal.cc']

A mutant flips one comparison, one logical operator, one negation or one returned bool. It is killed when a test
program fails, crashes or hangs; it survives when every program that links the changed folder passes. A mutant that
does not compile is drawn again. The work happens on a copy of the tree in build/mutants, compiled source by source
without optimising; the first run builds all of it. Exit 1 when fewer than nine of ten mutants are killed.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import subprocess
import sys
import time

from check_tree import code_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutants"
TREE, BUILD = WORK / "tree", WORK / "build"
FOLDERS = ["core", "ledger", "grants", "trust", "autonomy", "guards", "mcp"]

# The test programs that reach a folder, nearest first; each is run only while the mutant lives.
PROGRAMS = {
    "core": ["core", "embed", "ledger", "hook", "mcp", "policy"],
    "ledger": ["ledger", "store", "embed", "app"],
    "grants": ["grants", "policy", "app"],
    "trust": ["trust", "autonomy", "policy", "app"],
    "autonomy": ["autonomy", "policy", "embed"],
    "guards": ["guards", "policy", "embed"],
    "mcp": ["mcp", "app"],
}

SWAPS = [
    (re.compile(r" == "), " != "), (re.compile(r" != "), " == "),
    (re.compile(r" && "), " || "), (re.compile(r" \|\| "), " && "),
    (re.compile(r" < "), " <= "), (re.compile(r" <= "), " < "),
    (re.compile(r" > "), " >= "), (re.compile(r" >= "), " > "),
    (re.compile(r"(?<=[(\s])!(?=[A-Za-z_(*])"), ""),
    (re.compile(r"\breturn true;"), "return false;"), (re.compile(r"\breturn false;"), "return true;"),
]
Mutant = collections.namedtuple("Mutant", "path start end text line")


def run(*command, timeout=None, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout, **options)


def copy_tree():
    """The tree as it is now; files that did not change keep their time, so that little is built again."""
    names = run("git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z").stdout.split("\0")
    wanted = {name for name in names if name and (ROOT / name).is_file()}
    for name in wanted:
        source, target = ROOT / name, TREE / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        target.chmod(source.stat().st_mode)
    for old in TREE.rglob("*"):
        if old.is_file() and str(old.relative_to(TREE)) not in wanted:
            old.unlink()


def build(*programs):
    jobs = str(os.cpu_count() or 2)
    return run("cmake", "--build", BUILD, "-j", jobs, "--target", *programs)


def prepare(folders):
    copy_tree()
    configured = run("cmake", "-G", "Ninja", "-S", TREE, "-B", BUILD, "-DCMAKE_C_COMPILER=clang-19",
                     "-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g0",
                     "-DSALLYPORT_BENCH=OFF", "--log-level=WARNING")
    if configured.returncode != 0:
        sys.exit(configured.stdout + configured.stderr)
    programs = sorted({f"unit_{name}" for folder in folders for name in PROGRAMS[folder]})
    built = build(*programs)
    if built.returncode != 0:
        sys.exit(built.stdout[-4000:] + built.stderr[-4000:])


def places(path):
    """Every way to break this source in one place."""
    text = path.read_text()
    code = code_of(text)  # the same length, with comments and strings blanked
    for pattern, swap in SWAPS:
        for match in pattern.finditer(code):
            if "SALLYPORT_INVARIANT" in line_at(text, match.start()):
                continue  # ends the program where outside input never comes
            yield Mutant(path, match.start(), match.end(), swap, text.count("\n", 0, match.start()) + 1)


def line_at(text, place):
    return text[text.rfind("\n", 0, place) + 1:text.find("\n", place)]


def fate(mutant, folder, patience):
    """`killed`, `survived`, or None where it does not compile."""
    text = mutant.path.read_text()
    mutant.path.write_text(text[:mutant.start] + mutant.text + text[mutant.end:])
    try:
        for name in PROGRAMS[folder]:
            program = f"unit_{name}"
            if build(program).returncode != 0:
                return None
            try:
                if run(BUILD / "bin" / program, "--gtest_brief=1", timeout=patience, cwd=WORK).returncode != 0:
                    return "killed"
            except subprocess.TimeoutExpired:
                return "killed"
        return "survived"
    finally:
        mutant.path.write_text(text)


def draw(chance, folders, files):
    """One folder as likely as another, then one place of it."""
    by_folder = {}
    for folder in folders:
        sources = sorted((TREE / "src" / folder).rglob("*.cc"))
        if files:
            sources = [source for source in sources if str(source.relative_to(TREE)) in files]
        by_folder[folder] = [mutant for source in sources for mutant in places(source)]
    while any(by_folder.values()):
        folder = chance.choice([name for name, left in by_folder.items() if left])
        yield folder, by_folder[folder].pop(chance.randrange(len(by_folder[folder])))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=50)
    options.add_argument("--seed", type=int, default=None)
    options.add_argument("--folders", default=",".join(FOLDERS))
    options.add_argument("--files", default="")
    options.add_argument("--patience", type=int, default=120, help="seconds until a test program counts as hanging")
    options = options.parse_args()
    folders = options.folders.split(",")
    unknown = [folder for folder in folders if folder not in PROGRAMS]
    if unknown:
        sys.exit(f"mutants: no folder `{unknown[0]}`; known are {', '.join(PROGRAMS)}")
    seed = options.seed if options.seed is not None else int(time.time())
    print(f"mutants: seed {seed}, building {WORK.relative_to(ROOT)}", flush=True)
    prepare(folders)
    score = collections.defaultdict(collections.Counter)
    judged = 0
    for folder, mutant in draw(random.Random(seed), folders, options.files.split() if options.files else []):
        if judged == options.count:
            break
        before = line_at(mutant.path.read_text(), mutant.start).strip()
        ended = fate(mutant, folder, options.patience)
        if ended is None:
            continue
        judged += 1
        score[folder][ended] += 1
        place = f"{mutant.path.relative_to(TREE)}:{mutant.line}"
        print(f"{judged:4} {ended:8} {place}  {mutant.text.strip() or 'without !'}  |  {before}", flush=True)
    killed = sum(counts["killed"] for counts in score.values())
    for folder, counts in sorted(score.items()):
        print(f"{folder:10} {counts['killed']} of {sum(counts.values())} killed")
    print(f"{killed} of {judged} killed")
    sys.exit(0 if judged and killed * 10 >= judged * 9 else 1)


if __name__ == "__main__":
    main()
