#!/usr/bin/env python3
"""Checks what documents claim about files: quoted code is the code, examples and commands are tested, linked files are there."""
import ast
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUOTES = [("docs/architecture.md", "src/core/call/governor.cc", f"Task<{begin}(") for begin in
          ("Answer> Governor::run", "Answer> Governor::govern", "Answer> Governor::conduct",
           "std::optional<Answer>> Governor::admit")]
WHOLE = [("docs/embedding.md", "examples/CMakeLists.txt")]
WHOLE += [("docs/embedding.md", f"examples/{name}/{file}") for name in
          ("embed", "hooks", "events", "retry", "gate", "pipeline", "scopes", "topics", "rows")
          for file in ("main.cc", "output.txt")]
WHOLE += [("docs/serve.md", "examples/serve/oauth.yaml")]
WHOLE += [("docs/guardrails.md", f"examples/guardrails/{name}") for name in ("policy.yaml", "cases.yaml")]
WHOLE += [("docs/rules.md", f"examples/rules/{name}") for name in ("policy.yaml", "policy.cases.yaml", "team.yaml", "results.yaml")]
WHOLE += [("docs/external-guards.md", f"examples/external/{name}") for name in
          ("policy.yaml", "freeze.py", "limit_rows.py", "hide_hosts.py", "archive.sh", "rate.py")]
WHOLE += [("docs/model-proxy.md", f"examples/models/{name}") for name in ("sallyport.yaml", "policy.yaml")]
EXAMPLES = "tests/unit/embed/header_examples_test.cc"
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```\n(?=\n?([^\n]*))", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(\$ |sallyport [a-z]+( |$))", re.MULTILINE)
EXCUSE = "No test runs "  # begins the paragraph after the block; the text says what the block needs


def wrong_quotes():
    for document, source, begin in QUOTES:
        code = (ROOT / source).read_text()
        start = code.index(begin)
        function = code[start:code.index("\n}\n", start) + 3]
        if function not in (ROOT / document).read_text():
            yield f"{document}: does not quote `{begin.strip('(')}` of {source} as it is"
    for document, source in WHOLE:
        if f"\n{(ROOT / source).read_text()}```\n" not in (ROOT / document).read_text():
            yield f"{document}: does not quote {source} as it is"


def bare(code):
    return "".join(code.split())


def untested_examples():
    """Each line of code in the head comment of a public header also occurs in a test."""
    tested = bare((ROOT / EXAMPLES).read_text())
    for header in sorted(ROOT.glob("include/sallyport/*.h")):
        head = header.read_text().partition("#pragma once")[0]
        lines = re.findall(r"^//   (.*)", head, re.MULTILINE)
        if not lines:
            yield f"{header.relative_to(ROOT)}: has no example in its head comment"
        for line in lines:
            if bare(re.sub(r"//.*", "", line)).rstrip(";") not in tested:
                yield f"{header.relative_to(ROOT)}: `{line.strip()}` does not stand in {EXAMPLES}"


def taken_blocks():
    """The blocks that tests use (document_support.py): page, kind and words of the block; no words if a test uses all of a kind."""
    for test in ROOT.glob("tests/**/*.py"):
        text = test.read_text()
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)] if "document_support" in text else []
        for call in calls:
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            page, *given = [each.value for each in call.args if isinstance(each, ast.Constant)] or [""]
            if name == "blocks" and len(given) == 1:
                yield page, given[0], ""
            elif name in ("block", "commands") and given:
                yield page, given[1] if len(given) > 1 else {"block": "sh", "commands": ""}[name], given[0]


def untested_commands():
    """Each block of commands is run by a test, quotes a file of the tree, or states why it cannot be tested."""
    tested = set(taken_blocks())
    quoted = {(ROOT / source).read_text() for _, source in WHOLE}
    for document in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]:
        page, text = str(document.relative_to(ROOT)), document.read_text()
        for found in FENCE.finditer(text):
            _, kind, block, behind = found.groups()
            commands = kind in ("sh", "bash", "console") or (kind == "" and COMMAND.search(textwrap.dedent(block)))
            taken = any((page, kind) == (where, of) and words in textwrap.dedent(block) for where, of, words in tested)
            if commands and not taken and block not in quoted and not behind.strip().startswith(EXCUSE):
                line = text.count("\n", 0, found.start()) + 1
                yield f"{page}:{line}: no test takes this block of commands from the page"


def broken_links():
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text()):
            if "://" not in target and not (document.parent / target).exists():
                yield f"{document.relative_to(ROOT)}: links to `{target}`, which is not there"


def main():
    faults = [*wrong_quotes(), *untested_examples(), *untested_commands(), *broken_links()]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
