#!/usr/bin/env python3
"""House rules that neither the compiler nor clang-tidy knows.

Errors (exit 1) are rules; a new exception is a line in ALLOWED with its reason. Warnings ask for a second
look at long files and functions and change nothing.

  tools/check_tree.py [--root FOLDER] [--quiet]     --quiet leaves the warnings out
"""
import argparse
import pathlib
import re
import subprocess
import sys

# The folders of src/ that make the program.
PROGRAM = ("app", "daemon", "daemon_client", "machine", "outside", "people", "records", "servers", "setup", "terminal", "workbench", "workspace")

# Maps a rule to the files (or folders, with a closing slash) that may break it, and why.
ALLOWED = {
    "open-catch": {
        "src/core/plan/judge.cc": "folds a guard's exception into a denial",
        "src/base/shielded.h": "turns whatever a host's function throws into an error",
        "src/base/on_pool.h": "carries whatever a function throws to the one who waits",
        "src/cli/main.cc": "the last line of defence before exit 70",
        "tests/": "tests may assert on anything",
    },
    "spawn": {
        "src/base/race.h": "work against time: the one place that starts a coroutine nobody may have to wait for",
        "src/base/together.h": "several at once, all of which are waited for",
        "src/base/run_on.h": "one task, which the caller waits for",
        "src/embed/run_task.h": "tasks on the engine's loop, which a host's thread waits for or not",
        "src/net/task_group.cc": "a group that cancels and waits for all that it started",
        "examples/": "programs of users",
        **{f"src/{room}/": "a part of the program, which starts the first coroutine and runs the loop to its end" for room in PROGRAM},
        "src/cli/": "commands are composition roots",
        "tests/": "tests drive coroutines to their end themselves",
        "bench/": "like tests",
    },
    "ambient": {
        "src/base/clock.cc": "the real clock",
        "src/base/entropy.cc": "the real randomness",
        "src/embed/run_task.h": "a host's thread starts a task and waits for its end",
        "examples/": "programs of users",
        **{f"src/{room}/": "a part of the program, which reads the environment and hands it on" for room in PROGRAM},
        "src/config/variables.cc": "the default source of the variables in a configuration",
        "src/cli/": "commands are composition roots",
        "tests/": "tests compare with the real clock",
        "bench/": "like tests",
    },
}

# Each row has the rule, a pattern for code (comments and strings are blanked), and the required alternative.
CODE_RULES = [
    ("open-catch", re.compile(r"\bcatch\s*\(\s*\.\.\.\s*\)"), "`catch (...)`: catch what the library throws, in its adapter"),
    ("spawn", re.compile(r"\basio::detached\b|\bco_spawn\b"), "coroutines are started by base/race.h"),
    ("ambient", re.compile(r"\bsystem_clock::now\b|\b(?:secure_)?getenv\b"), "clock and environment are parameters"),
]
RELATIVE_INCLUDE = re.compile(r'^\s*#\s*include\s*"\.\./')
SOURCE_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"][^">]*\.(?:cc|cpp|c)[">]')
SHARED_MEMBER = re.compile(r"\bshared_ptr<(?!\s*const\b)[^()]*;\s*$")
LATER = re.compile(r"\b(?:TODO(?!\((?:perf|port|cleanup)\): )|FIXME|XXX)\b")
REGISTRY = re.compile(r"https?://[^/\s\"'`]*(?:registry|artifact|mirror|nexus|pypi|npmjs)[^\s\"'`]*", re.I)

CPP = {".cc", ".h"}
SCRIPTS = {".py", ".sh", ".mjs", ".js", ".cmake"}
LIMITS = {"header": 250, "source": 500, "test": 600, "function": 60}


def tree_files(root):
    """Returns tracked and new files as relative paths; outside a git repository it returns every file."""
    git = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True)
    if git.returncode == 0:
        names = [pathlib.PurePosixPath(n) for n in git.stdout.decode().split("\0") if n]
    else:
        names = [pathlib.PurePosixPath(p.relative_to(root)) for p in root.rglob("*")]
        names = [n for n in names if n.parts[0] not in ("build", ".git")]
    return sorted(n for n in names if (root / n).is_file())


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


NOT_CODE = re.compile(
    r'R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"'  # raw string
    r"|//[^\n]*|/\*.*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+'",  # not the separator of 1'000
    re.S,
)


def code_of(text):
    """The text with comments, strings and preprocessor lines blanked; line numbers stay."""
    text = NOT_CODE.sub(blank, text)
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", blank, text, flags=re.M)


TYPE_HEAD = re.compile(r"\b(?:class|struct|union|enum)\b[^()=]*$")
FUNCTION_HEAD = re.compile(r"\)[\s\w:&<>,*\[\]\-.(){}]*$")


def scopes(code):
    """Yields (kind, head line, first line, last line) of every braced scope; kind is namespace, type, function or block."""
    stack = []
    line, head, head_line = 1, "", 1
    for c in code:
        if c == "\n":
            line += 1
        if c == "{":
            inside = any(kind == "function" for kind, _, _ in stack)
            if inside:
                kind = "block"
            elif re.search(r"\bnamespace\b", head) or 'extern ' in head and "(" not in head:
                kind = "namespace"
            elif TYPE_HEAD.search(head):
                kind = "type"
            elif FUNCTION_HEAD.search(head):
                kind = "function"
            else:
                kind = "block"
            stack.append((kind, head_line, line))
        elif c == "}" and stack:
            kind, first_head, first = stack.pop()
            yield kind, first_head, first, line
        if c in "{};":
            head, head_line = "", 0
        else:
            head += c
            if not head_line and not c.isspace():
                head_line = line


def allowed(rule, name):
    return any(str(name) == place or place.endswith("/") and str(name).startswith(place) for place in ALLOWED.get(rule, ()))


def check_cpp(name, text):
    """Yields (line, is_error, message)."""
    lines = text.split("\n")
    code_text = code_of(text)
    code = code_text.split("\n")
    for number, line in enumerate(code, 1):
        for rule, pattern, advice in CODE_RULES:
            if pattern.search(line) and not allowed(rule, name):
                yield number, True, f"{advice} [{rule}]"
    for number, line in enumerate(lines, 1):
        if RELATIVE_INCLUDE.match(line):
            yield number, True, "relative include: name the file from its module's root [relative-include]"
        if SOURCE_INCLUDE.match(line):
            yield number, True, "a source is compiled, not included; what others need stands in a header [source-include]"

    found = list(scopes(code_text))
    for kind, _, first, last in found:
        if kind != "type":
            continue
        nested = [(f, l) for k, _, f, l in found if first <= f and l <= last and (f, l) != (first, last)]
        for number in range(first + 1, last):
            if any(f <= number <= l for f, l in nested) or not SHARED_MEMBER.search(code[number - 1]):
                continue
            if "//" not in lines[number - 1] and not lines[number - 2].lstrip().startswith("//"):
                yield number, True, "a shared_ptr member to something mutable needs its reason in a comment [shared-ptr]"

    for kind, head_line, _, last in found:
        length = last - head_line + 1
        if kind == "function" and length > LIMITS["function"]:
            yield head_line, False, f"function of {length} lines, more than {LIMITS['function']}"
    kind = "test" if name.parts[0] == "tests" else "header" if name.suffix == ".h" else "source"
    length = text.count("\n")
    if length > LIMITS[kind]:
        yield 1, False, f"{kind} of {length} lines, more than {LIMITS[kind]}: is a noun missing?"


def check_text(name, text, machine_paths):
    is_code = name.suffix in CPP | SCRIPTS or name.name in ("Makefile", "CMakeLists.txt")
    for number, line in enumerate(text.split("\n"), 1):
        if is_code and name != THIS and LATER.search(line):
            yield number, True, "what can wait is `TODO(perf|port|cleanup): sentence`; the rest is done now [todo]"
        for path in machine_paths:
            if path in line:
                yield number, True, f"path of one machine, `{path}` [machine-path]"
        if REGISTRY.search(line):
            yield number, True, "address of a package registry [registry]"


THIS = pathlib.PurePosixPath("tools/check_tree.py")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--quiet", action="store_true", help="leave the warnings out")
    options = parser.parse_args()
    root = options.root.resolve()
    machine_paths = ["/" + "work/", f"{root}/"]
    errors = 0
    for name in tree_files(root):
        try:
            text = (root / name).read_text()
        except UnicodeDecodeError:
            continue  # test data
        found = list(check_text(name, text, machine_paths))
        if name.suffix in CPP:
            found += check_cpp(name, text)
        for line, is_error, message in sorted(found):
            errors += is_error
            if is_error or not options.quiet:
                print(f"{name}:{line}: {'error' if is_error else 'second look'}: {message}")
    if errors:
        print(f"check_tree: {errors} errors", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
