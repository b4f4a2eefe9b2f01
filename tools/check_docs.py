#!/usr/bin/env python3
"""Checks what documents claim about files: quoted code is the code, linked files are there."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUOTES = [("docs/architecture.md", "src/core/governor.cc", "Task<Answer> Governor::run(")]


def wrong_quotes():
    for document, source, begin in QUOTES:
        code = (ROOT / source).read_text()
        start = code.index(begin)
        function = code[start:code.index("\n}\n", start) + 3]
        if function not in (ROOT / document).read_text():
            yield f"{document}: does not quote `{begin.strip('(')}` of {source} as it is"


def broken_links():
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text()):
            if "://" not in target and not (document.parent / target).exists():
                yield f"{document.relative_to(ROOT)}: links to `{target}`, which is not there"


def main():
    faults = [*wrong_quotes(), *broken_links()]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
