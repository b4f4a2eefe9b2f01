"""Runs the official clients of the model APIs, from npm, through lists of cases."""
import json
import pathlib
import subprocess

import npm_peers
from model_answers import Answer, repertoire, say

HERE = pathlib.Path(__file__).parent
PEERS = npm_peers.Peers("model-clients", {
    "openai": "7.53.0", "@anthropic-ai/sdk": "1.8.0", "ai": "7.0.169", "@ai-sdk/openai": "4.0.114", "@ai-sdk/anthropic": "4.0.102",
    "@ai-sdk/openai-compatible": "3.0.90", "zod": "4.6.7"})


class Client:
    """One script with its client; `how` names the function to call."""

    def __init__(self, test, name):
        PEERS.need()
        self.test, self.script, self.node = test, HERE / f"model_{name}_client.mjs", npm_peers.node(22)

    def run(self, url, cases, key="none"):
        """Returns the results in the order of the cases: `value` or `error` each."""
        done = subprocess.run([self.node, self.script, url], input=json.dumps(cases), capture_output=True, text=True, timeout=180,
                              env=self.test.environment(MODEL_MODULES=PEERS.modules, MODEL_KEY=key, AI_SDK_LOG_WARNINGS="false"))
        self.test.assertEqual(done.returncode, 0, done.stderr[-4000:] + done.stdout[-2000:])
        return json.loads(done.stdout)


def by_name(answers=None):
    """A script for a provider: the answer whose name is the user's last message."""
    answers = answers or repertoire()

    def choose(request):
        body = json.loads(request.body or b"{}")
        said = [one for one in body.get("messages", body.get("input", [])) if isinstance(one, dict)]
        if said and (said[-1].get("role") == "tool" or "tool_result" in json.dumps(said[-1]) or str(said[-1].get("type", "")).endswith("_output")):
            return Answer(say("The tool said it."), seed="after")
        text = next((one["content"] for one in reversed(said) if one.get("role") == "user"), "")
        text = text if isinstance(text, str) else "".join(part.get("text", "") for part in text)
        return answers.get(text, Answer(say("Hello from the model.")))
    return choose


def cases(ways, asks, **more):
    return [{"how": how, "ask": ask, "more": more} for how in ways for ask in asks]
