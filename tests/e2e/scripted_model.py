"""A model that plays a test's script: one tool call, then a sentence. It supports the streams of three model APIs."""
import http.server
import json
import threading


class ScriptedModel:
    """Answers with the tool call until a result is in the request. `requests` holds all requests; nothing leaves the machine."""

    def __init__(self, test, tool, arguments):
        self.tool, self.arguments, self.requests = tool, arguments, []
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                self.give("application/json", json.dumps({"data": [], "models": []}))

            do_HEAD = do_GET

            def do_POST(self):
                text = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
                body = json.loads(text or "{}")
                path = self.path.split("?")[0]
                model.requests.append((path, body))
                if path.endswith("/messages"):
                    self.give("text/event-stream", model.messages(body))
                elif path.endswith("/responses"):
                    self.give("text/event-stream", model.responses(body))
                elif path.endswith("/chat/completions"):
                    self.give("text/event-stream", model.completions(body))
                elif path.endswith(":streamGenerateContent"):
                    self.give("text/event-stream", model.contents(body))
                elif path.endswith(":generateContent"):
                    self.give("application/json", json.dumps(model.content("done")))
                else:
                    self.give("application/json", json.dumps({"input_tokens": 1}))

            def give(self, kind, text):
                data = text.encode()
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        thread.start()
        test.addCleanup(thread.join)
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)

    def results(self, kind):
        """Returns the tool's answer as the agent sent it to the model."""
        found = []

        def look(value):
            if isinstance(value, dict):
                if value.get("type") == kind or (kind == "functionResponse" and kind in value) or value.get("role") == kind:
                    found.append(json.dumps(value))
                for member in value.values():
                    look(member)
            elif isinstance(value, list):
                for member in value:
                    look(member)
        for _, body in self.requests:
            look(body)
        return found

    def offers(self, tools):
        return any(self.tool in json.dumps(tool) for tool in tools or [])

    # Claude Code
    def messages(self, body):
        asked = self.offers(body.get("tools")) and '"tool_result"' not in json.dumps(body["messages"])
        block = {"type": "tool_use", "id": "toolu_1", "name": self.tool, "input": {}} if asked else {"type": "text", "text": ""}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(self.arguments)} if asked else {"type": "text_delta", "text": "done"}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [], "stop_reason": None,
                   "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        return events([
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use" if asked else "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"}])

    # Codex
    def responses(self, body):
        asked = "_call_output" not in json.dumps(body["input"])
        item = ({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": self.tool, "arguments": json.dumps(self.arguments)} if asked else
                {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]})
        usage = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}
        return events([
            {"type": "response.created", "response": {"id": "resp_1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "resp_1", "usage": usage, "output": [item]}}])

    # Copilot
    def completions(self, body):
        asked = self.offers(body.get("tools")) and not any(message.get("role") == "tool" for message in body["messages"])
        delta = ({"role": "assistant", "content": None, "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {
            "name": self.tool, "arguments": json.dumps(self.arguments)}}]} if asked else {"role": "assistant", "content": "done"})
        chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        said = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if asked else "stop"}],
                 "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}]
        return "".join(f"data: {json.dumps(one)}\n\n" for one in said) + "data: [DONE]\n\n"

    # Gemini CLI
    def contents(self, body):
        asked = self.offers(body.get("tools")) and "functionResponse" not in json.dumps(body["contents"])
        part = {"functionCall": {"name": self.tool, "args": self.arguments}} if asked else {"text": "done"}
        return f"data: {json.dumps(self.content(part))}\n\n"

    @staticmethod
    def content(part):
        part = {"text": part} if isinstance(part, str) else part
        return {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}


def events(list_of_events):
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in list_of_events)
