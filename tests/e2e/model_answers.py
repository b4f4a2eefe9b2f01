"""Model answers, written once and rendered in the form of three APIs, as one JSON object and as a stream of events.

    Answer(think("Hm."), say("Hello there."), call("read_file", {"path": "a"}))

A renderer gives `body` (the object of an unstreamed response) and `events` (a list of name and data). A client
accumulates the events to the same object; `accumulate` does what the official clients do.
"""
import base64
import hashlib
import json
import random
import re

MESSAGES, CHAT, RESPONSES = "anthropic_messages", "openai_chat", "openai_responses"
APIS = (MESSAGES, CHAT, RESPONSES)
PATHS = {MESSAGES: "/v1/messages", CHAT: "/v1/chat/completions", RESPONSES: "/v1/responses"}
MODELS = {MESSAGES: "claude-opus-5", CHAT: "gpt-5-mini", RESPONSES: "gpt-5.4"}
CREATED = 1794787200


# The parts of an answer.
def say(text, *citations):
    """A text; a citation is a tuple of the cited text, its title and its address."""
    return {"kind": "say", "text": text, "citations": [dict(zip(("cited", "title", "url"), one)) for one in citations]}


def think(text, signature=None):
    """Readable reasoning. Only the provider reads the signature."""
    return {"kind": "think", "text": text, "signature": signature or opaque("signature of " + text)}


def hidden(data):
    """Reasoning that is not readable."""
    return {"kind": "hidden", "data": data}


def call(name, arguments, id=None):
    """A call that the client executes. Arguments are a value, or a text that is sent unchanged."""
    return {"kind": "call", "name": name, "arguments": arguments, "id": id}


def custom(name, text, id=None):
    """A call of a tool that takes a text in place of JSON."""
    return {"kind": "custom", "name": name, "text": text, "id": id}


def search(query, *results):
    """A call that the provider has executed, and its results as tuples of title and address."""
    return {"kind": "search", "query": query, "results": results}


def remote(name, arguments, output):
    """A call of a tool of a remote MCP server that the provider has executed."""
    return {"kind": "remote", "name": name, "arguments": arguments, "output": output}


def refuse(text):
    """The model's own refusal."""
    return {"kind": "refuse", "text": text}


def strange(text):
    """A block, item or member that no API defines today."""
    return {"kind": "strange", "text": text}


def only(api, value, start=None, between=()):
    """A block, an item or members of a message in the form of one API, left out in the others. `start` is how an item begins, `between` are
    the events after that, as pairs of name and members."""
    return {"kind": "only", "api": api, "value": value, "start": start or value, "between": between}


def opaque(seed, size=48):
    """Returns random bytes without meaning, the same for the same seed."""
    return base64.b64encode(hashlib.shake_256(seed.encode()).digest(size)).decode()


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Answer:
    """The parts of one message, or with `choices` the parts of several. `stop` is `end`, `tools`, `length` or `refusal`, by
    default what the parts imply. `grain` says how a text is cut into deltas: by words, by a number of characters, or by chance
    with a `random.Random`. Ids depend on `seed` alone, so both forms of one answer are equal."""

    def __init__(self, *parts, choices=None, stop=None, usage=(25, 40), cached=0, logprobs=False, grain=None, seed="1", model=None, strange_events=(), with_usage=False):
        self.choices = [list(one) for one in choices] if choices else [list(parts)]
        self.parts, self.stop, self.usage, self.cached = self.choices[0], stop, usage, cached
        self.logprobs, self.grain, self.seed, self.model = logprobs, grain, seed, model
        self.strange_events, self.with_usage, self.cuts = strange_events, with_usage, {}

    def render(self, api):
        return {MESSAGES: Messages, CHAT: Chat, RESPONSES: Responses}[api](self)

    def body(self, api):
        return self.render(api).body()

    def events(self, api):
        return self.render(api).events()

    def json(self, api):
        """Returns the bytes of the unstreamed form, in the provider's layout."""
        text = compact(self.body(api)) if api == MESSAGES else json.dumps(self.body(api), indent=2, ensure_ascii=False)
        return text.encode()

    def stream(self, api):
        return frames(self.events(api))

    def text(self):
        return "".join(part["text"] for part in self.parts if part["kind"] == "say")


def frames(events):
    """Returns the events as the bytes of a stream."""
    return b"".join(((f"event: {name}\n" if name else "") + f"data: {data}\n\n").encode() for name, data in events)


class Renderer:
    def __init__(self, answer):
        self.answer = answer
        self.chance = random.Random(answer.seed)

    def id(self, prefix, *what):
        return prefix + hashlib.sha256(repr((self.answer.seed, prefix, what)).encode()).hexdigest()[:24]

    def pieces(self, text):
        grain = self.answer.grain
        if not text:
            return []
        if grain is None:
            return re.findall(r"\s*\S+|\s+$", text)
        if isinstance(grain, int):
            return [text[at:at + grain] for at in range(0, len(text), grain)]
        if text not in self.answer.cuts:  # random, but the same in every form of the answer
            self.answer.cuts[text] = sorted({0, len(text), *(grain.randrange(len(text)) for _ in range(grain.randrange(1, 12)))})
        cuts = self.answer.cuts[text]
        return [text[start:end] for start, end in zip(cuts, cuts[1:])]

    def call_id(self, part, at, prefix):
        return part["id"] or self.id(prefix, at)

    @staticmethod
    def arguments(part):
        return part["arguments"] if isinstance(part["arguments"], str) else compact(part["arguments"])

    def stop(self, parts):
        if self.answer.stop:
            return self.answer.stop
        kinds = {part["kind"] for part in parts}
        return "tools" if kinds & {"call", "custom"} or any(part.get("api") == CHAT and "function_call" in part["value"] for part in parts) else "refusal" if "refuse" in kinds else "end"

    def logprobs_of(self, text):
        return [{"token": piece, "logprob": -0.0312, "bytes": list(piece.encode()), "top_logprobs": []} for piece in self.pieces(text)]


class Messages(Renderer):
    """Anthropic Messages."""
    STOPS = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens", "refusal": "refusal"}

    def usage(self, output):
        taken, _ = self.answer.usage
        return {"input_tokens": taken, "cache_creation_input_tokens": 0, "cache_read_input_tokens": self.answer.cached,
                "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
                "output_tokens": output, "service_tier": "standard", "inference_geo": "not_available"}

    def message(self, content, stop, details, usage):
        return {"model": self.answer.model or MODELS[MESSAGES], "id": self.id("msg_"), "type": "message", "role": "assistant", "content": content,
                "stop_reason": stop, "stop_sequence": None, "stop_details": details, "usage": usage}

    def blocks(self):
        """Yields each part as the block at its start, its deltas, and the whole block."""
        for at, part in enumerate(self.answer.parts):
            kind = part["kind"]
            if kind == "say":
                cited = [{"type": "web_search_result_location", "cited_text": one["cited"], "url": one["url"], "title": one["title"],
                          "encrypted_index": opaque(one["url"])} for one in part["citations"]]
                start = {"type": "text", "text": "", **({"citations": []} if cited else {})}
                yield start, [*({"type": "citations_delta", "citation": one} for one in cited),
                              *({"type": "text_delta", "text": piece} for piece in self.pieces(part["text"]))], {
                    **start, "text": part["text"], **({"citations": cited} if cited else {})}
            elif kind == "think":
                yield {"type": "thinking", "thinking": "", "signature": ""}, [
                    *({"type": "thinking_delta", "thinking": piece} for piece in self.pieces(part["text"])),
                    {"type": "signature_delta", "signature": part["signature"]}], {
                    "type": "thinking", "thinking": part["text"], "signature": part["signature"]}
            elif kind == "hidden":
                whole = {"type": "redacted_thinking", "data": part["data"]}
                yield whole, [], whole
            elif kind in ("call", "custom"):
                arguments = self.arguments(part) if kind == "call" else compact({"input": part["text"]})
                yield from self.tool("tool_use", self.call_id(part, at, "toolu_"), part["name"], arguments)
            elif kind == "search":
                id = self.id("srvtoolu_", at)
                yield from self.tool("server_tool_use", id, "web_search", compact({"query": part["query"]}))
                whole = {"type": "web_search_tool_result", "tool_use_id": id, "content": [
                    {"type": "web_search_result", "title": title, "url": url, "encrypted_content": opaque(url), "page_age": None} for title, url in part["results"]]}
                yield whole, [], whole
            elif kind == "remote":
                id = self.id("mcptoolu_", at)
                start = {"type": "mcp_tool_use", "id": id, "name": part["name"], "input": part["arguments"], "server_name": "far"}
                yield start, [], start
                whole = {"type": "mcp_tool_result", "tool_use_id": id, "is_error": False, "content": [{"type": "text", "text": part["output"]}]}
                yield whole, [], whole
            elif kind == "strange":
                whole = {"type": "hologram", "frames": [part["text"], {"deep": 1.50}]}
                yield whole, [], whole
            elif kind == "only" and part["api"] == MESSAGES:
                yield part["start"], list(part["between"]), part["value"]

    def tool(self, type, id, name, arguments):
        start = {"type": type, "id": id, "name": name, "input": {}}
        try:
            whole = {**start, "input": json.loads(arguments)}
        except ValueError:
            whole = start
        yield start, [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *self.pieces(arguments)]], whole

    def details(self):
        text = next((part["text"] for part in self.answer.parts if part["kind"] == "refuse"), None)
        return None if text is None else {"type": "refusal", "category": "cyber", "explanation": text}

    def body(self):
        content = [whole for _, _, whole in self.blocks()]
        return self.message(content, self.STOPS[self.stop(self.answer.parts)], self.details(), self.usage(self.answer.usage[1]))

    def events(self):
        made = [{"type": "message_start", "message": self.message([], None, None, self.usage(1))}]
        for index, (start, deltas, _) in enumerate(self.blocks()):
            made.append({"type": "content_block_start", "index": index, "content_block": start})
            if index == 0:
                made.append({"type": "ping"})
            made += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            made.append({"type": "content_block_stop", "index": index})
        made += [{"type": "weather", "note": text, "degrees": 21.50} for text in self.answer.strange_events]
        usage = {key: value for key, value in self.usage(self.answer.usage[1]).items() if key.endswith("_tokens")}
        made += [{"type": "message_delta", "delta": {"stop_reason": self.STOPS[self.stop(self.answer.parts)], "stop_sequence": None,
                                                     "stop_details": self.details()}, "usage": usage},
                 {"type": "message_stop"}]
        return [(event["type"], compact(event)) for event in made]


class Chat(Renderer):
    """OpenAI chat completions; reasoning as compatible servers send it."""
    STOPS = {"end": "stop", "tools": "tool_calls", "length": "length", "refusal": "stop"}

    def head(self, object):
        return {"id": self.id("chatcmpl-"), "object": object, "created": CREATED, "model": self.answer.model or MODELS[CHAT]}

    def tail(self):
        return {"service_tier": "default", "system_fingerprint": "fp_" + self.id("")[:10]}

    def usage(self):
        taken, given = self.answer.usage
        return {"prompt_tokens": taken, "completion_tokens": given, "total_tokens": taken + given,
                "prompt_tokens_details": {"cached_tokens": self.answer.cached, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}}

    def calls(self, index, parts):
        for at, part in enumerate(parts):
            id = self.call_id(part, (index, at), "call_") if part["kind"] in ("call", "custom") else None
            if part["kind"] == "call":
                yield {"id": id, "type": "function", "function": {"name": part["name"], "arguments": self.arguments(part)}}
            elif part["kind"] == "custom":
                yield {"id": id, "type": "custom", "custom": {"name": part["name"], "input": part["text"]}}

    @staticmethod
    def joined(parts, kind):
        found = [part["text"] for part in parts if part["kind"] == kind]
        return "".join(found) if found else None

    def annotations(self, parts):
        return [{"type": "url_citation", "url_citation": {"start_index": 0, "end_index": len(part["text"]), "title": one["title"], "url": one["url"]}}
                for part in parts for one in part.get("citations", [])]

    def only(self, parts):
        return {name: value for part in parts if part.get("api") == CHAT for name, value in part["value"].items()}

    def extra(self, parts):
        """Returns members of a choice that the API does not define."""
        text = self.joined(parts, "strange")
        return {} if text is None else {"hologram": {"frames": [text], "deep": 1.50}}

    def choice(self, index, parts):
        content, thought = self.joined(parts, "say"), self.joined(parts, "think")
        calls = list(self.calls(index, parts))
        message = {"role": "assistant", "content": content, **({"reasoning_content": thought} if thought is not None else {}),
                   "refusal": self.joined(parts, "refuse"), **({"tool_calls": calls} if calls else {}), "annotations": self.annotations(parts), **self.only(parts)}
        logprobs = {"content": self.logprobs_of(content or ""), "refusal": None} if self.answer.logprobs else None
        return {"index": index, "message": message, "logprobs": logprobs, "finish_reason": self.STOPS[self.stop(parts)], **self.extra(parts)}

    def body(self):
        choices = [self.choice(index, parts) for index, parts in enumerate(self.answer.choices)]
        return {**self.head("chat.completion"), "choices": choices, "usage": self.usage(), **self.tail()}

    def deltas(self, index, parts):
        yield {"role": "assistant", "content": "" if self.joined(parts, "say") is not None else None, "refusal": None}
        for part in parts:
            name = {"say": "content", "think": "reasoning_content", "refuse": "refusal"}.get(part["kind"])
            if name:
                yield from ({name: piece} for piece in self.pieces(part["text"]))
            if part.get("citations"):
                yield {"annotations": self.annotations([part])}
        if self.only(parts):
            yield self.only(parts)
        for at, made in enumerate(self.calls(index, parts)):
            inner, field = (made["function"], "arguments") if made["type"] == "function" else (made["custom"], "input")
            yield {"tool_calls": [{"index": at, **made, made["type"]: {**inner, field: ""}}]}
            yield from ({"tool_calls": [{"index": at, made["type"]: {field: piece}}]} for piece in self.pieces(inner[field]))

    def chunk(self, choices, **more):
        return {**self.head("chat.completion.chunk"), **self.tail(), "choices": choices, **more}

    def events(self):
        with_usage = {"usage": None} if self.answer.with_usage else {}
        open_choices = [[index, parts, list(self.deltas(index, parts))] for index, parts in enumerate(self.answer.choices)]
        made = []
        while open_choices:  # the chunks of several choices interleave
            one = self.chance.choice(open_choices)
            index, parts, left = one
            if left:
                delta = left.pop(0)
                probable = self.answer.logprobs and delta.get("content")
                logprobs = {"content": [{"token": delta["content"], "logprob": -0.0312, "bytes": list(delta["content"].encode()), "top_logprobs": []}],
                            "refusal": None} if probable else None
                made.append(self.chunk([{"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": None}], **with_usage,
                                       obfuscation=opaque(str(len(made)))[:self.chance.randrange(1, 16)]))
            else:
                made.append(self.chunk([{"index": index, "delta": {}, "logprobs": None, "finish_reason": self.STOPS[self.stop(parts)], **self.extra(parts)}],
                                       **with_usage, obfuscation="x"))
                open_choices.remove(one)
        made += [self.chunk([], weather={"note": text}) for text in self.answer.strange_events]
        if self.answer.with_usage:
            made.append(self.chunk([], usage=self.usage(), obfuscation="abc"))
        return [*((None, compact(chunk)) for chunk in made), (None, "[DONE]")]


class Responses(Renderer):
    """OpenAI Responses."""

    def response(self, status, output, usage, incomplete=None):
        return {"id": self.id("resp_"), "object": "response", "created_at": CREATED, "status": status, "background": False,
                "completed_at": CREATED + 2 if status == "completed" else None, "error": None, "incomplete_details": incomplete, "instructions": None,
                "max_output_tokens": None, "max_tool_calls": None, "model": self.answer.model or MODELS[RESPONSES], "output": output,
                "parallel_tool_calls": True, "previous_response_id": None, "prompt_cache_key": None, "reasoning": {"effort": "medium", "summary": "detailed"},
                "safety_identifier": None, "service_tier": "default", "store": True, "temperature": 1.0, "text": {"format": {"type": "text"}, "verbosity": "medium"},
                "tool_choice": "auto", "tools": [], "top_logprobs": 0, "top_p": 0.98, "truncation": "disabled", "usage": usage, "user": None, "metadata": {}}

    def usage(self):
        taken, given = self.answer.usage
        return {"input_tokens": taken, "input_tokens_details": {"cached_tokens": self.answer.cached}, "output_tokens": given,
                "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": taken + given}

    def outcome(self):
        """Returns the status, and the response's reason if it is incomplete."""
        if self.stop(self.answer.parts) == "length":
            return "incomplete", {"reason": "max_output_tokens"}
        return "completed", None

    def items(self):
        """Yields each part as the item at its start, the events between, and the whole item. An event has no `output_index` here."""
        for at, part in enumerate(self.answer.parts):
            if part["kind"] != "only":
                yield getattr(self, "item_" + part["kind"])(at, part)
            elif part["api"] == RESPONSES:
                yield part["start"], [(name, {"item_id": part["value"]["id"], **more}) for name, more in part["between"]], part["value"]

    def in_message(self, at, part_kind, empty, whole, between):
        id = self.id("msg_", at)
        start = {"id": id, "type": "message", "status": "in_progress", "content": [], "role": "assistant"}
        place = {"item_id": id, "content_index": 0}
        return start, [("content_part.added", {**place, "part": empty}), *((name, {**place, **more}) for name, more in between),
                       ("content_part.done", {**place, "part": whole})], {**start, "status": "completed", "content": [whole]}

    def item_say(self, at, part):
        cited, place = [], 0
        for one in part["citations"]:
            cited.append({"type": "url_citation", "start_index": place, "end_index": min(len(part["text"]), place + 5), "title": one["title"], "url": one["url"]})
            place += 5
        empty = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
        probabilities = self.logprobs_of(part["text"]) if self.answer.logprobs else []
        whole = {**empty, "annotations": cited, "logprobs": probabilities, "text": part["text"]}
        deltas = [("output_text.delta", {"delta": piece, "logprobs": probabilities[n:n + 1], "obfuscation": opaque(f"{at} {n}")[:self.chance.randrange(1, 16)]})
                  for n, piece in enumerate(self.pieces(part["text"]))]
        return self.in_message(at, "output_text", empty, whole, [
            *deltas, *(("output_text.annotation.added", {"annotation_index": n, "annotation": one}) for n, one in enumerate(cited)),
            ("output_text.done", {"text": part["text"], "logprobs": probabilities})])

    def item_refuse(self, at, part):
        return self.in_message(at, "refusal", {"type": "refusal", "refusal": ""}, {"type": "refusal", "refusal": part["text"]}, [
            *(("refusal.delta", {"delta": piece}) for piece in self.pieces(part["text"])), ("refusal.done", {"refusal": part["text"]})])

    def item_think(self, at, part):
        id = self.id("rs_", at)
        place = {"item_id": id, "summary_index": 0}
        whole = {"type": "summary_text", "text": part["text"]}
        item = {"id": id, "type": "reasoning", "summary": [whole], "encrypted_content": part["signature"]}
        return {**item, "summary": [], "encrypted_content": opaque("begin", 6)}, [
            ("reasoning_summary_part.added", {**place, "part": {"type": "summary_text", "text": ""}}),
            *(("reasoning_summary_text.delta", {**place, "delta": piece, "obfuscation": "z"}) for piece in self.pieces(part["text"])),
            ("reasoning_summary_text.done", {**place, "text": part["text"]}), ("reasoning_summary_part.done", {**place, "part": whole})], item

    def item_hidden(self, at, part):
        item = {"id": self.id("rs_", at), "type": "reasoning", "summary": [], "encrypted_content": part["data"]}
        return item, [], item

    def item_call(self, at, part):
        arguments = self.arguments(part)
        item = {"id": self.id("fc_", at), "type": "function_call", "status": "completed", "arguments": arguments,
                "call_id": self.call_id(part, at, "call_"), "name": part["name"]}
        place = {"item_id": item["id"]}
        return {**item, "status": "in_progress", "arguments": ""}, [
            *(("function_call_arguments.delta", {**place, "delta": piece, "obfuscation": "q"}) for piece in self.pieces(arguments)),
            ("function_call_arguments.done", {**place, "arguments": arguments})], item

    def item_custom(self, at, part):
        item = {"id": self.id("ctc_", at), "type": "custom_tool_call", "status": "completed", "call_id": self.call_id(part, at, "call_"),
                "input": part["text"], "name": part["name"]}
        place = {"item_id": item["id"]}
        return {**item, "status": "in_progress", "input": ""}, [
            *(("custom_tool_call_input.delta", {**place, "delta": piece}) for piece in self.pieces(part["text"])),
            ("custom_tool_call_input.done", {**place, "input": part["text"]})], item

    def item_search(self, at, part):
        item = {"id": self.id("ws_", at), "type": "web_search_call", "status": "completed", "action": {
            "type": "search", "query": part["query"], "sources": [{"type": "url", "url": url} for _, url in part["results"]]}}
        place = {"item_id": item["id"]}
        return {"id": item["id"], "type": "web_search_call", "status": "in_progress"}, [
            (f"web_search_call.{state}", place) for state in ("in_progress", "searching", "completed")], item

    def item_remote(self, at, part):
        arguments = compact(part["arguments"])
        item = {"id": self.id("mcp_", at), "type": "mcp_call", "status": "completed", "approval_request_id": None, "arguments": arguments, "error": None,
                "name": part["name"], "output": part["output"], "server_label": "far"}
        place = {"item_id": item["id"]}
        return {**item, "status": "in_progress", "arguments": "", "output": None}, [
            ("mcp_call.in_progress", place), ("mcp_call_arguments.delta", {**place, "delta": arguments}),
            ("mcp_call_arguments.done", {**place, "arguments": arguments}), ("mcp_call.completed", place)], item

    def item_strange(self, at, part):
        item = {"id": self.id("holo_", at), "type": "hologram_call", "status": "completed", "frames": [part["text"], {"deep": 1.50}]}
        return item, [], item

    def body(self):
        status, incomplete = self.outcome()
        return self.response(status, [whole for _, _, whole in self.items()], self.usage(), incomplete)

    def events(self):
        status, incomplete = self.outcome()
        made = [("created", {"response": self.response("in_progress", [], None)}), ("in_progress", {"response": self.response("in_progress", [], None)})]
        for index, (start, between, whole) in enumerate(self.items()):
            place = {"output_index": index}
            made.append(("output_item.added", {**place, "item": start}))
            made += [(name, {**place, **event}) for name, event in between]
            made.append(("output_item.done", {**place, "item": whole}))
        made += [("weather.changed", {"note": text, "degrees": 21.50}) for text in self.answer.strange_events]
        made.append((status, {"response": self.response(status, [whole for _, _, whole in self.items()], self.usage(), incomplete)}))
        return [("response." + name, compact({"type": "response." + name, "sequence_number": number, **event})) for number, (name, event) in enumerate(made)]


# The result that a client accumulates from the events.
def accumulate(api, events):
    """Returns the object that the events of a stream accumulate to."""
    said = [json.loads(data) for _, data in events if data != "[DONE]"]
    return {MESSAGES: accumulate_messages, CHAT: accumulate_chat, RESPONSES: accumulate_responses}[api](said)


def accumulate_messages(said):
    message, texts = None, {}
    for event in said:
        if event["type"] == "message_start":
            message = event["message"]
        elif event["type"] == "content_block_start":
            assert event["index"] == len(message["content"]), f"the index {event['index']} leaves a gap"  # MP-43
            message["content"].append(event["content_block"])
        elif event["type"] == "content_block_delta":
            block, delta = message["content"][event["index"]], event["delta"]
            if delta["type"] == "input_json_delta":
                texts[event["index"]] = texts.get(event["index"], "") + delta["partial_json"]
            elif delta["type"] == "citations_delta":
                block.setdefault("citations", []).append(delta["citation"])
            elif delta["type"] == "signature_delta":
                block["signature"] = delta["signature"]
            elif delta["type"] == "compaction_delta":
                block["content"] = (block.get("content") or "") + (delta["content"] or "")
            else:
                name = delta["type"].removesuffix("_delta")
                block[name] += delta[name]
        elif event["type"] == "message_delta":
            message.update(event["delta"])
            message["usage"].update(event["usage"])
    for index, text in texts.items():
        if text:
            message["content"][index]["input"] = json.loads(text)
    return message


def accumulate_chat(said):
    whole = None
    for chunk in said:
        choices = chunk.pop("choices", [])
        chunk.pop("obfuscation", None)
        if whole is None:
            whole = {**chunk, "object": "chat.completion", "choices": []}
        elif chunk.get("usage"):
            whole["usage"] = chunk["usage"]
        for one in choices:
            while len(whole["choices"]) <= one["index"]:
                whole["choices"].append({"index": len(whole["choices"]), "message": {"content": None, "refusal": None}, "logprobs": None, "finish_reason": None})
            choice = whole["choices"][one["index"]]
            add_delta(choice["message"], one.pop("delta"))
            logprobs = one.pop("logprobs", None)
            if logprobs:
                choice["logprobs"] = choice["logprobs"] or {"content": [], "refusal": None}
                choice["logprobs"]["content"] += logprobs["content"]
            choice.update({name: value for name, value in one.items() if value is not None})
    return whole


def add_delta(message, delta):
    for name, value in delta.items():
        if name == "tool_calls":
            calls = message.setdefault("tool_calls", [])
            for one in value:
                index = one.pop("index")
                assert index <= len(calls), f"the index {index} of a tool call leaves a gap"  # MP-43
                if index == len(calls):
                    calls.append(one)
                else:
                    for kind in ("function", "custom"):
                        for field, text in one.get(kind, {}).items():
                            calls[index][kind][field] += text
        elif name == "annotations":
            message[name] = message.get(name, []) + value
        elif name == "role" or value is None:
            message.setdefault(name, value)
        elif isinstance(value, dict):  # `function_call`, `audio`
            known = message.setdefault(name, {})
            for field, text in value.items():
                known[field] = known[field] + text if isinstance(known.get(field), str) else text
        else:
            message[name] = (message.get(name) or "") + value


def accumulate_responses(said):
    """Returns the final object after a check against the deltas: it repeats their text, and numbers have no gaps."""
    texts = {}
    # A keep-alive has the number of the event before it, so that a resuming client misses no event (MP-15).
    said = [event for at, event in enumerate(said)
            if not (at and event["type"] == "response.in_progress" and event["sequence_number"] == said[at - 1]["sequence_number"])]
    for number, event in enumerate(said):
        assert event["sequence_number"] == number, f"{event['sequence_number']} is not {number}"  # MP-43
        kind, _, state = event["type"].removeprefix("response.").rpartition(".")
        if kind in REPEATED:
            place = (kind, event["item_id"], event.get("content_index", event.get("summary_index")))
            if state == "delta":
                texts[place] = texts.get(place, "") + event["delta"]
            elif state == "done":
                assert event[REPEATED[kind]] == texts.get(place, ""), f"{event} is not {texts.get(place)!r}"  # MP-42
        elif event["type"] == "response.output_item.done":
            texts["item", event["output_index"]] = event["item"]
    assert said[-1]["type"] in ("response.completed", "response.incomplete", "response.failed"), said[-1]["type"]
    whole = said[-1]["response"]
    assert whole["output"] == [item for place, item in texts.items() if place[0] == "item"], "the final object is not what the items said"  # MP-42
    for item in whole["output"]:
        for index, part in enumerate(item.get("content") or []):
            kind, name = {"output_text": ("output_text", "text"), "refusal": ("refusal", "refusal"), "reasoning_text": ("reasoning_text", "text")}[part["type"]]
            assert part[name] == texts.get((kind, item["id"], index), ""), f"{part} is not what left in deltas"
    return whole


REPEATED = {"output_text": "text", "refusal": "refusal", "reasoning_text": "text", "reasoning_summary_text": "text",
            "function_call_arguments": "arguments", "custom_tool_call_input": "input", "mcp_call_arguments": "arguments"}


# One answer of each kind, for tests of all kinds.
def repertoire():
    return {
        "text": Answer(say("The quick brown fox jumps over the lazy dog — déjà vu, 世界 🦊.\nSecond line."), seed="text"),
        "reasoning": Answer(think("First I look at the question, then I answer."), say("It is forty-two."), seed="reasoning"),
        "hidden": Answer(hidden(opaque("hidden")), say("So be it."), seed="hidden"),
        "one call": Answer(call("read_file", {"path": "/etc/hosts", "lines": [1, 2.50], "note": "a \"quoted\" ünicode"}), seed="one"),
        "parallel calls": Answer(say("I look at both."), call("read_file", {"path": "a"}), call("write_file", {"path": "b", "text": "hello there"}),
                                 call("now", {}), seed="parallel"),
        "custom call": Answer(custom("patch", "*** Begin Patch\n+ hello\n*** End Patch"), seed="custom"),
        "citations": Answer(say("Foxes are quick and brown animals.", ("a quick fox", "On foxes", "https://example.com/foxes"),
                                ("brown", "Colours", "https://example.com/colours")), seed="citations"),
        "server tools": Answer(search("quick foxes", ("On foxes", "https://example.com/foxes")), remote("lookup", {"word": "fox"}, "a fox is an animal"),
                               say("I looked it up."), seed="server"),
        "refusal": Answer(refuse("I cannot help with that."), seed="refusal"),
        "json": Answer(say('{"name": "fox", "legs": 4, "note": "a \\"quick\\" one"}'), seed="json"),
        "length": Answer(say("This answer is cut off in the"), stop="length", seed="length"),
        "strange": Answer(say("Before."), strange("what is this"), say("After."), strange_events=("it rains",), seed="strange"),
        "empty": Answer(say(""), seed="empty"),
        "three choices": Answer(choices=[[say("The first choice says this.")], [say("Second."), call("now", {"zone": "UTC"})], [say("And a third one, longer than both.")]],
                                seed="three"),
        "logprobs": Answer(say("Sure thing, friend."), logprobs=True, seed="logprobs"),
        "usage": Answer(say("Counted."), cached=10, with_usage=True, seed="usage"),
    }
