#!/usr/bin/env python3
"""Writes docs/status.md: every line of the specification, its state, and the test that shows it.

  tools/make_status.py                  rewrites docs/status.md
  tools/make_status.py --check          exit 1 when docs/status.md is not what would be written
  tools/make_status.py --import FOLDER  rewrites docs/spec-lines.tsv from the specification's pages

A test names the lines it shows (`LE-12`, `LE-17..LE-19`, in its name `LE_12`) in the comment above it or in its
body. `LE-12 (partly)` says that a part is still missing, `LE-12 (shape only)` that the test shows a form of JSON and
that no front, header or command reaches the code behind it.
"""
import argparse
import collections
import itertools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREFIXES = "EV|AU|PI|LE|GR|AT|AP|TR|LG|CG|RT|RU|WB|MP|CO|SC"
SPEC_LINE = re.compile(rf"^[\s|*-]*((?:{PREFIXES})-\d+)\**\s*(.*)$")
MENTION = re.compile(
    rf"\b(?P<prefix>{PREFIXES})[-_](?P<first>\d+)(?:\.\.(?:(?P=prefix)-)?(?P<last>\d+))?(?: \((?P<mark>partly|shape only)\))?"
)
TEST_FILES = {".cc", ".h", ".py", ".sh", ".mjs", ".js", ".ts", ".yaml"}

# The form of a test in each language; the groups form its name.
DEFINITIONS = [
    re.compile(r"^\s*(?:TYPED_)?TEST(?:_[FP])?\((\w+),\s*(\w+)"),
    re.compile(r"^\s*(?:async\s+)?def (test_\w+)"),
    re.compile(r"^\s*(?:test|it)\(['\"`]([^'\"`]+)"),
    re.compile(r"^(?:function )?(\w+)\s*\(\)\s*\{"),
    re.compile(r"^(?!using|return|namespace|class|struct)[A-Za-z_][\w:<>,&*\s]*\s[&*]?(\w+)\([^;]*$"),
]
COMMENT = re.compile(r"^\s*(?://|#(?!\s*include)|\*|/\*|\"\"\"|@|template\b)")

Line = collections.namedtuple("Line", "id page text")


def number(line_id):
    return int(line_id.split("-")[1])


def prefix(line_id):
    return line_id.split("-")[0]


def import_lines(folder, target):
    """Stores the id, page and beginning of each line, so that a checkout does not need the specification."""
    rows = []
    for page in sorted(folder.glob("*.md")):
        for text in page.read_text().splitlines():
            match = SPEC_LINE.match(text)
            if match:
                rows.append(Line(match[1], page.stem, shorten(match[2])))
    if not rows:
        sys.exit(f"make_status: no specification lines in `{folder}`")
    # A page may amend lines of other pages. A line belongs to the page that has most lines with its prefix.
    pages = collections.Counter((prefix(row.id), row.page) for row in rows)
    home = {name: max((page for other, page in pages if other == name), key=lambda page: pages[name, page])
            for name in {prefix(row.id) for row in rows}}
    rows = [row for row in rows if home[prefix(row.id)] == row.page]
    target.write_text("id\tpage\ttext\n" + "".join("\t".join(row) + "\n" for row in rows))
    print(f"make_status: {len(rows)} lines from {len({row.page for row in rows})} pages")


def shorten(text, width=140):
    text = re.sub(r"[`*\t]", "", text).strip(" |").removeprefix("(wire) ")
    if len(text) <= width:
        return text
    cut = text[:width]
    last_blank = cut.rfind(" ")
    return (cut[:last_blank] if last_blank > width // 2 else cut).rstrip(" ,;:(") + " ..."


def read_lines(path):
    rows = [row.split("\t") for row in path.read_text().splitlines()[1:]]
    return [Line(*row) for row in rows]


def definition(lines, index):
    line = lines[index]
    if line.endswith(",") and index + 1 < len(lines):  # TEST(Suite, broken before the name
        line += lines[index + 1]
    for pattern in DEFINITIONS:
        match = pattern.match(line)
        if match:
            return ".".join(match.groups())
    return None


def test_at(lines, index):
    """The test that line `index` belongs to: the test around the line or directly below it. None: the whole file."""
    below = index
    while below < len(lines) and COMMENT.match(lines[below]):
        below += 1
    if below < len(lines) and definition(lines, below):
        return definition(lines, below)
    for above in range(index, -1, -1):
        name = definition(lines, above)
        if name:
            return name
        if lines[above][:1] not in ("", " ", "\t", "#"):  # the search has left the body it started in
            return None
    return None


def find_mentions(root):
    """id -> {(file, test or None): `partly`, `shape only`, or empty where the test shows the whole line}"""
    found = collections.defaultdict(dict)
    for folder in ("tests", "bench"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in TEST_FILES or not path.is_file() or {"corpus", "node_modules"} & set(path.parts):
                continue
            lines = path.read_text(errors="replace").splitlines()
            for index, line in enumerate(lines):
                for match in MENTION.finditer(line):
                    place = (path.relative_to(root).as_posix(), test_at(lines, index))
                    for n in range(int(match["first"]), int(match["last"] or match["first"]) + 1):
                        places = found[f"{match['prefix']}-{n}"]
                        places[place] = places.get(place) or match["mark"] or ""
    return found


def deviating_ids(text):
    """Ids that open a bullet, a heading or a table row of docs/deviations.md."""
    heads = re.findall(rf"^[\s|*#-]*((?:(?:{PREFIXES})-\d+[\s,]*)+)", text, flags=re.M)
    return {line_id for head in heads for line_id in re.findall(rf"(?:{PREFIXES})-\d+", head)}


def state_of(line, mentions, deviations):
    places = mentions.get(line.id)
    if not places:
        return "planned"
    if set(places.values()) == {"shape only"}:
        return "shape only"
    return "partly" if all(places.values()) or line.id in deviations else "tested"


def tests_cell(places):
    """Returns test names by file. Each file name occurs once; a mention outside any test names the file alone."""
    by_file = collections.defaultdict(set)
    for file, test in places:
        by_file[file].add(test)
    cells = []
    for file, tests in sorted(by_file.items()):
        names = sorted(t for t in tests if t)
        cells.append(f"`{file}`" + (": " + ", ".join(f"`{n}`" for n in names) if names else ""))
    return "<br>".join(cells)


def rows_of(state, run, mentions):
    """A row per line; a long run of planned lines is one row."""
    if state == "planned" and len(run) > 5:
        return [f"| {run[0].id} to {run[-1].id} | {len(run)} lines | planned | |"]
    return [f"| {line.id} | {escape(line.text)} | {state} | {tests_cell(mentions.get(line.id, {}))} |" for line in run]


def escape(text):
    return text.replace("<", "&lt;").replace("|", "\\|")


INTRO = """# Status

Generated by `make status`; do not edit. Each row is one line of the specification.

- **tested**: at least one test names the line; the test is given.
- **partly**: tested, but a part is missing, or it deviates (see the end of this page).
- **shape only**: the form is there and tested, and nothing in the product uses it yet. Treat it as absent.
- **planned**: no test names it yet. Treat it as absent.
"""


def render(root):
    lines = read_lines(root / "docs/spec-lines.tsv")
    deviations_file = root / "docs/deviations.md"
    deviations = deviations_file.read_text() if deviations_file.exists() else ""
    mentions = find_mentions(root)
    deviating = deviating_ids(deviations)
    states = {line.id: state_of(line, mentions, deviating) for line in lines}
    unknown = sorted(set(mentions) - set(states), key=lambda i: (prefix(i), number(i)))
    if unknown:
        print(f"make_status: tests name lines that do not exist: {', '.join(unknown)}", file=sys.stderr)

    out = [INTRO, "| prefix | page | lines | tested | partly | shape only | planned |", "|---|---|---|---|---|---|---|"]
    groups = collections.OrderedDict()
    for line in lines:
        groups.setdefault((prefix(line.id), line.page), []).append(states[line.id])
    for (name, page), found in groups.items():
        counts = " | ".join(str(found.count(state)) for state in ("tested", "partly", "shape only", "planned"))
        out.append(f"| {name} | {page} | {len(found)} | {counts} |")

    waiting = []
    for page in dict.fromkeys(line.page for line in lines):
        of_page = [line for line in lines if line.page == page]
        if all(states[line.id] == "planned" for line in of_page):
            waiting.append(f"| {page} | {len(of_page)} | {of_page[0].id} to {of_page[-1].id} |")
            continue
        out += ["", f"## {page.capitalize()}", "", "| id | line | state | tests |", "|---|---|---|---|"]
        for state, run in itertools.groupby(of_page, key=lambda line: states[line.id]):
            out += rows_of(state, list(run), mentions)
    if waiting:
        out += ["", "## Planned pages", "", "| page | lines | ids |", "|---|---|---|", *waiting]
    out += ["", "## Deviations", "", re.sub(r"\A# .*\n+", "", deviations).strip() or "None."]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--import", dest="spec", type=pathlib.Path, metavar="FOLDER", help="rewrite docs/spec-lines.tsv")
    options = parser.parse_args()
    if options.spec:
        import_lines(options.spec, options.root / "docs/spec-lines.tsv")
        return 0
    target = options.root / "docs/status.md"
    wanted = render(options.root)
    if not options.check:
        target.write_text(wanted)
        return 0
    if target.exists() and target.read_text() == wanted:
        return 0
    print("docs/status.md is not up to date: run `make status` and commit it", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
