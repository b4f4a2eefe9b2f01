#!/usr/bin/env python3
"""Writes docs/api.md from the route table of a program, so the page lists exactly the routes that the program serves.

    tools/make_api_doc.py build/bin/sallyport            rewrites docs/api.md
    tools/make_api_doc.py --check build/bin/sallyport    fails where the page is not current
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/api.md"
HEAD = """# HTTP API: routes

Made by `tools/make_api_doc.py` from the route table of the program. Do not edit it. [api-shapes.md](api-shapes.md) has the bodies and the rules that all routes share; `GET /api/v1/openapi.json` of a gate returns the same table as OpenAPI 3.1.

All paths are below `/api/v1`. `HEAD` works wherever `GET` works.
"""


def openapi(program):
    """Returns the API document of a temporary gate on a free port, without tool servers."""
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "config.yaml"
        config.write_text("version: 1\nserve: {listen: '127.0.0.1:0', auth: none}\n")
        process = subprocess.Popen([program, "--data-dir", folder + "/data", "serve", "--json", "--config", config], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        try:
            line = process.stdout.readline()
            if not line:
                sys.exit("it did not start: " + process.stderr.read())
            url = urllib.parse.urlsplit(json.loads(line)["url"])
            with urllib.request.urlopen(f"http://{url.netloc}/api/v1/openapi.json", timeout=20) as answer:
                return json.load(answer)
        finally:
            process.terminate()
            process.communicate(timeout=20)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def members(schema):
    """Returns the members of a body; optional members are marked with `?`."""
    if not schema:
        return ""
    if schema.get("type") == "array":
        return "list of {" + members(schema["items"]) + "}"
    needed = schema.get("required", [])
    return ", ".join(name if name in needed else name + "?" for name in schema.get("properties", {}))


def content(body):
    return next(iter(body.get("content", {}).values()), {}).get("schema", {})


def row(method, path, operation):
    query = ", ".join(one["name"] for one in operation.get("parameters", []) if one.get("in") == "query")
    sent = members(content(operation.get("requestBody", {})))
    took = "; ".join(piece for piece in (query and "query: " + query, sent and "body: " + sent) if piece)
    who = operation["description"].removeprefix("For: ").removesuffix(".")
    return f"| `{method.upper()} {path[1:]}` | {cell(who)} | {cell(operation['summary'])} | {cell(took)} |"


def page(document):
    lines = [HEAD]
    for tag in document["tags"]:
        rows = [row(method, path, operation) for path, item in sorted(document["paths"].items()) for method, operation in sorted(item.items())
                if tag["name"] in operation["tags"]]
        lines += [f"## {tag['name']}\n", "| route | for | what | takes |", "|---|---|---|---|", *rows, ""]
    return "\n".join(lines)


def main():
    words = sys.argv[1:]
    check = words[:1] == ["--check"]
    if len(words) != 1 + check:
        sys.exit(__doc__)
    text = page(openapi(words[-1]))
    if not check:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit("docs/api.md is not what the program serves; run tools/make_api_doc.py PROGRAM")


if __name__ == "__main__":
    main()
