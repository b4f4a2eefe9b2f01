#!/usr/bin/env python3
"""The client that the public suite starts against its test servers. It drives a command on standard streams, so that the
suite judges the command: the gate, with the suite's address after its own arguments.

   conformance_client.py COMMAND WORDS... URL

It opens, lists everything and uses everything in the lists, and answers every question. It filters nothing.
"""
import json
import os
import pathlib
import sys
import tempfile

from mcp_links import LEGACY, MODERN, Speaker, StdioLink

DESCRIPTION = "https://conformance-test.local/client-metadata.json"  # which the suite knows
EXAMPLES = {"string": "text", "number": 2, "integer": 1, "boolean": True, "object": {}, "array": [], "null": None}


def filled(schema):
    """Content for a form: the proposed value, else any value of the right type."""
    return {name: value.get("default", EXAMPLES.get(value.get("type"), "text")) for name, value in schema.get("properties", {}).items()}


class Driver(Speaker):
    def reply(self, method, params):
        if method == "elicitation/create":
            return {"action": "accept", "content": {**filled(params["requestedSchema"]), **{name: True for name in ("confirmed",) if name in params["requestedSchema"].get("properties", {})}}}
        if method == "sampling/createMessage":
            return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "yes"}}
        return {"roots": []}

    def everything(self, method, key):
        """Returns all items of a list, or nothing if there is no such list."""
        answer = self.request(method)
        return answer.get("result", {}).get(key, [])

    def arguments(self, tool, tools):
        if tool["name"].endswith("echo_schema") or "schema" in tool["inputSchema"].get("properties", {}):
            return {"schema": next(other["inputSchema"] for other in tools if other is not tool)}
        return {name: EXAMPLES.get(value.get("type"), "text") for name, value in tool["inputSchema"].get("properties", {}).items()
                if name in tool["inputSchema"].get("required", [])}


def drive(driver):
    opened = driver.open()["result"]
    offers = opened["capabilities"]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    tools = driver.everything("tools/list", "tools")
    planned = {call["name"]: call["arguments"] for call in context.get("toolCalls", [])}
    for tool in tools:
        driver.complete("tools/call", {"name": tool["name"], "arguments": planned.get(tool["name"], driver.arguments(tool, tools))})
    if "resources" in offers:
        for resource in driver.everything("resources/list", "resources"):
            driver.complete("resources/read", {"uri": resource["uri"]})
    if "prompts" in offers:
        for prompt in driver.everything("prompts/list", "prompts"):
            driver.complete("prompts/get", {"name": prompt["name"]})


def login_words(scenario, context):
    """A person's answers to the command about a login: the identity there, and that the person sits at a browser."""
    if not scenario.startswith("auth/"):
        return [], {}
    words, more = ["--login"], {"BROWSER": f"{sys.executable} {pathlib.Path(__file__).with_name('oauth_browser.py')}"}
    if scenario == "auth/basic-cimd":
        words += ["--client-id", DESCRIPTION]
    if "client_id" in context:
        words += ["--client-id", context["client_id"]]
    if "client_secret" in context:
        words += ["--client-secret-env", "CONFORMANCE_SECRET"]
        more["CONFORMANCE_SECRET"] = context["client_secret"]
    if "private_key_pem" in context:
        key = pathlib.Path(tempfile.mkstemp(dir=".")[1])
        key.write_text(context["private_key_pem"])
        words += ["--client-key-file", key]
    if "client-credentials" in scenario:
        words += ["--client-credentials"]
    return words, more


def main():
    version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", LEGACY)
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    words, more = login_words(os.environ.get("MCP_CONFORMANCE_SCENARIO", ""), context)
    link = StdioLink([*sys.argv[1:], *words], {**os.environ, **more}, pathlib.Path.cwd())
    try:
        drive(Driver(MODERN if version == MODERN else LEGACY, link))
    finally:
        link.close()


if __name__ == "__main__":
    main()
