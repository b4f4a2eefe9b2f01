#!/usr/bin/env python3
"""Eras, transports and features in all combinations.

The fixture server supports both eras, so the expected result through the gate is known: the result of the same client on a
server of its own era without the gate. Between two sides of one era that is every message, except ids and sessions;
if the gate translates, `translated` lists the permitted differences.
"""
import copy
import unittest

from cli_support import BIN, CliTest
from conformance_support import PEERS, fixture_environment, http_fixture, http_gate, stdio_fixture
from mcp_links import LEGACY, META, MODERN, HttpLink, Speaker, StdioLink

ERAS = {LEGACY: "legacy", MODERN: "modern"}
ANSWERS = {
    "sampling/createMessage": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Paris"}, "stopReason": "endTurn"},
    "elicitation/create": {"action": "accept", "content": {"username": "ann", "email": "ann@example.org", "name": "Ann", "color": "blue", "context": "tests"}},
    "roots/list": {"roots": [{"uri": "file:///r", "name": "r"}]},
}


def call(name, arguments=None, **more):
    return lambda speaker: speaker.complete("tools/call", {"name": name, "arguments": arguments or {}, **more})


def ask(method, **params):
    return lambda speaker: speaker.complete(method, params)


def pages(speaker):
    """Returns all pages of a list, and the answer for a missing page."""
    seen, cursor = [], None
    while True:
        page = speaker.request("resources/list", {} if cursor is None else {"cursor": cursor})
        seen.append(page)
        cursor = page["result"].get("nextCursor")
        if cursor is None:
            return seen + [speaker.request("resources/list", {"cursor": "nowhere"})]


def progress(speaker):
    return speaker.request("tools/call", {"name": "test_tool_with_progress", "arguments": {}, "_meta": {"progressToken": "mine"}})


def logging(speaker):
    """Messages reach the clients that subscribed, and no others."""
    if speaker.era == LEGACY:
        level = lambda name: speaker.request("logging/setLevel", {"level": name})
    else:
        level = lambda name: setattr(speaker, "level", None if name == "error" else name)
    level("info")
    loud = speaker.request("tools/call", {"name": "test_tool_with_logging", "arguments": {}})
    level("error")
    quiet = speaker.request("tools/call", {"name": "test_logging_tool", "arguments": {}})
    return [loud, quiet]


def cancelling(speaker):
    """A cancelled call gets no answer, and its server gets the cancellation."""
    speaker.request("tools/call", {"name": "count_cancelled", "arguments": {}})
    id = speaker.ask("tools/call", {"name": "slow", "arguments": {}, "_meta": {"progressToken": "slow"}})
    speaker.request("tools/call", {"name": "test_simple_text", "arguments": {}})
    speaker.cancel(id)
    for _ in range(200):
        count = speaker.request("tools/call", {"name": "count_cancelled", "arguments": {}})
        if count["result"]["content"][0]["text"] != "0":
            return count
    raise AssertionError("the server never heard that the call was cancelled")


def changes(speaker):
    """Each change is sent once, to its subscribers."""
    id = None
    if speaker.era == MODERN:
        id = speaker.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": ["test://watched-resource"]}})
        speaker.wait_for("notifications/subscriptions/acknowledged")
    else:
        speaker.request("resources/subscribe", {"uri": "test://watched-resource"})
    answers = []
    for tool, method in (("test_trigger_tool_change", "notifications/tools/list_changed"), ("test_trigger_prompt_change", "notifications/prompts/list_changed"),
                         ("touch_watched_resource", "notifications/resources/updated")):
        answers.append(speaker.request("tools/call", {"name": tool, "arguments": {}}))
        speaker.wait_for(method)
    if id is not None:
        speaker.cancel(id)
        for message in speaker.heard:
            assert message["params"]["_meta"].pop(META + "subscriptionId") == id, message
    else:
        answers.append(speaker.request("resources/unsubscribe", {"uri": "test://watched-resource"}))
    return answers


FEATURES = {
    "list of tools": ask("tools/list"),
    "call": call("test_simple_text"),
    "all kinds of content": call("test_multiple_content_types"),
    "structured content": call("structured", {"a": 2, "b": 3}),
    "error of a tool": call("test_error_handling"),
    "arguments that do not fit": call("structured", {"a": "two"}),
    "pages": pages,
    "templates": ask("resources/templates/list"),
    "resource": ask("resources/read", uri="test://static-text"),
    "binary resource": ask("resources/read", uri="test://static-binary"),
    "resource of a template": ask("resources/read", uri="test://template/7/data"),
    "resource that is not there": ask("resources/read", uri="test://nothing"),
    "list of prompts": ask("prompts/list"),
    "prompt": ask("prompts/get", name="test_prompt_with_arguments", arguments={"arg1": "x", "arg2": "y"}),
    "prompt that is not there": ask("prompts/get", name="nothing"),
    "completion": ask("completion/complete", ref={"type": "ref/prompt", "name": "test_prompt_with_arguments"}, argument={"name": "arg1", "value": "par"}),
    "sampling": call("test_sampling", {"prompt": "What is the capital of France?"}),
    "elicitation": call("test_elicitation", {"message": "Who are you?"}),
    "elicitation with choices": call("test_elicitation_sep1330_enums"),
    "elicitation for a prompt": ask("prompts/get", name="test_input_required_result_prompt"),
    "roots": call("test_input_required_result_list_roots"),
    "several questions": call("test_input_required_result_multiple_inputs"),
    "questions in turn": call("test_input_required_result_multi_round"),
    "metadata": call("meta", _meta={"example.org/mine": {"deep": [1, {"x": None}]}}),
    "progress": progress,
    "logging": logging,
    "cancel": cancelling,
    "changes": changes,
    "unknown method": ask("unknown/method", a=1),
}


class Matrix(CliTest):
    @classmethod
    def setUpClass(cls):
        PEERS.need()

    def speaker(self, era, link):
        self.addCleanup(link.close)
        return Speaker(era, link, ANSWERS)

    def env(self):
        return fixture_environment(self.environment())

    def direct(self, transport, era):
        """A client and the fixture, directly connected."""
        if transport == "stdio":
            return self.speaker(era, StdioLink(stdio_fixture(ERAS[era]), self.env(), self.folder))
        fixture = http_fixture(self.environment(), self.folder, ERAS[era])
        self.addCleanup(fixture.stop)
        return self.speaker(era, HttpLink(fixture.url))

    def gated(self, transport, upstream, client_era, server_era):
        """The same, with the gate between them."""
        if upstream == "http":
            fixture = http_fixture(self.environment(), self.folder, server_era)
            self.addCleanup(fixture.stop)
        if transport == "http":
            server = {"url": fixture.url} if upstream == "http" else {"command": stdio_fixture(server_era)}
            return self.speaker(client_era, HttpLink(http_gate(self, server).url))
        server = ["--url", fixture.url] if upstream == "http" else ["--", *stdio_fixture(server_era)]
        command = [BIN, "mcp", "--data-dir", self.data, "--policy", "transparent", "--name", "fixture", *server]
        return self.speaker(client_era, StdioLink(command, self.env(), self.folder))

    @staticmethod
    def transcript(speaker):
        """Returns the client's view, feature by feature."""
        seen = {"opening": [speaker.open(), speaker.heard]}
        for name, feature in FEATURES.items():
            speaker.heard = []
            seen[name] = [feature(speaker), speaker.heard]
        return seen


def translated(transcript):
    """Returns the part that is equal in both eras: a question without its token, and no parameters in place of empty ones."""
    for _, heard in transcript.values():
        for message in heard:
            message.setdefault("params", {})
            if not message["method"].startswith("notifications/"):
                message["params"].pop("_meta", None)
    return transcript


def as_it_is(transcript):
    return transcript


def without_marks(transcript):
    """Returns forms as the server sent them, without the server name that the gate puts before the message."""
    for _, heard in transcript.values():
        for message in heard:
            if message["method"] == "elicitation/create":
                said = message["params"]["message"]
                assert said.startswith("[from server `"), message
                message["params"]["message"] = said.split("`] ", 1)[1]
    return transcript


class StreamsToStreams(Matrix):
    """Named after the transports of the client and of the server."""
    transport = "stdio"
    upstream = "stdio"
    maxDiff = None
    known = {}

    def without_gate(self, era):
        if (self.transport, era) not in self.known:
            self.known[self.transport, era] = self.transcript(self.direct(self.transport, era))
        return self.known[self.transport, era]

    def same(self, client_era, server_era, but=as_it_is):
        seen = but(without_marks(self.transcript(self.gated(self.transport, self.upstream, client_era, server_era))))
        wanted = but(copy.deepcopy(self.without_gate(client_era)))
        for name in wanted:
            with self.subTest(name):
                self.assertEqual(seen[name], wanted[name])

    def test_sessions_on_both_sides(self):
        self.same(LEGACY, "legacy")

    def test_sessions_to_a_server_of_both_eras(self):
        self.same(LEGACY, "both")

    def test_stateless_on_both_sides(self):
        self.same(MODERN, "modern")

    def test_stateless_to_a_server_of_both_eras(self):
        self.same(MODERN, "both")

    def test_sessions_to_stateless(self):
        self.same(LEGACY, "modern", translated)

    def test_stateless_to_sessions(self):
        self.same(MODERN, "legacy", translated)

    def test_a_tool_that_is_not_there_is_refused_by_the_gate(self):
        for era in ERAS:
            speaker = self.gated(self.transport, self.upstream, era, "both")
            speaker.open()
            refused = speaker.request("tools/call", {"name": "no_such_tool", "arguments": {}})["result"]
            self.assertTrue(refused["isError"])
            self.assertIn("unknown tool `no_such_tool`", refused["content"][0]["text"])


class HttpToStreams(StreamsToStreams):
    transport = "http"


class StreamsToHttp(StreamsToStreams):
    upstream = "http"


class HttpToHttp(StreamsToStreams):
    transport = "http"
    upstream = "http"


if __name__ == "__main__":
    unittest.main()
