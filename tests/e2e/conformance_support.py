"""Runs the public conformance suite and counts whole scenarios; starts the fixture server that the suite requires.

The suite's own `N passed` counts single checks, and even a missing server passes dozens of them. Here a scenario is
good if at least one check passed and none failed.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import time

from cli_support import BIN
from npm_peers import Peers, node

HERE = pathlib.Path(__file__).parent / "conformance"
SCOPE = "@modelcontextprotocol/"
PEERS = Peers("conformance", {f"{SCOPE}conformance": "0.2.0-alpha.12", f"{SCOPE}server": "2.4.0", f"{SCOPE}client": "2.4.0", f"{SCOPE}node": "2.0.0"})
REVISIONS = ("2025-11-25", "2026-07-28")


class Scenario:
    def __init__(self, name, scored, checks):
        self.name = name
        self.scored = scored
        self.passed = [check["id"] for check in checks if check["status"] == "SUCCESS"]
        self.noted = [check["id"] for check in checks if check["status"] == "INFO"]
        self.failed = [f"{check['id']}: {check.get('errorMessage', '')}" for check in checks if check["status"] == "FAILURE"]
        self.warned = [f"{check['id']}: {check.get('errorMessage', '')}" for check in checks if check["status"] == "WARNING"]

    def good(self):
        return bool(self.passed) and not self.failed


class Score:
    """The output of one run of the suite, scenario by scenario."""

    def __init__(self, title, scenarios):
        self.title = title
        self.scenarios = {scenario.name: scenario for scenario in scenarios}

    def good(self, scored=True):
        return {name for name, scenario in self.scenarios.items() if scenario.good() and scenario.scored == scored}

    def bad(self, scored=True):
        return {name for name, scenario in self.scenarios.items() if not scenario.good() and scenario.scored == scored}

    def line(self):
        counted = len(self.good()) + len(self.bad())
        more = len(self.good(False)) + len(self.bad(False))
        return f"{self.title:<44} {len(self.good()):>3} of {counted:>3} required   {len(self.good(False)):>3} of {more:>3} not required"

    def faults(self, scored=True):
        """Returns the failures, check by check."""
        return [f"{name}: {fault}" for name in sorted(self.bad(scored)) for fault in self.scenarios[name].failed or ["no check passed"]]

    def lost(self, base):
        """Returns the checks that passed at `base` and not here; checks that do not apply here are not lost."""
        return [f"{name}: {check}" for name, scenario in sorted(base.scenarios.items())
                for check in sorted(set(scenario.passed) - set(self.scenarios[name].passed) - set(self.scenarios[name].noted))]


def required(revision, leg):
    """The scenarios that a revision requires of `leg` (server or client), by the suite's own list."""
    text = (PEERS.modules / SCOPE / "conformance" / "requirements" / f"{revision}.yaml").read_text()
    part = re.search(rf"^{leg}:\n((?:  - .*\n)+)", text, re.M).group(1)
    return set(re.findall(r"^  - (\S+)$", part, re.M))


def run_suite(title, revision, words, folder, env, timeout=300):
    """One run of all scenarios of a revision against a server."""
    out = pathlib.Path(folder) / "results" / re.sub(r"\W+", "-", f"{title} {revision}")
    said = suite(["server", *words, "--requirements", revision, "-o", out], folder, env, timeout)
    if not re.search(r"^Total:", said, re.M):
        raise AssertionError(f"the suite did not finish: {said[-4000:]}")
    scored = required(revision, "server")
    scenarios = []
    for file in out.glob("**/checks.json"):
        name = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", str(file.parent.relative_to(out))).removeprefix("server-")
        scenarios.append(Scenario(name, name in scored, json.loads(file.read_text())))
    score = Score(f"{title}, {revision}", scenarios)
    missing = scored - set(score.scenarios)
    if missing:
        raise AssertionError(f"the suite left out {sorted(missing)}")
    return score


def run_server_scenario(title, name, url, folder, env, timeout=120):
    """One scenario against a server, whether a revision requires it or not."""
    out = pathlib.Path(folder) / "results" / re.sub(r"\W+", "-", f"{title} {name}")
    said = suite(["server", "--url", url, "--scenario", name, "-o", out], folder, env, timeout)
    files = list(out.glob("**/checks.json"))
    if len(files) != 1:
        raise AssertionError(f"{name} did not run: {said[-4000:]}")
    return Scenario(name, False, json.loads(files[0].read_text()))


def run_client_scenario(name, revision, command, folder, env, more=(), timeout=60):
    """Runs one scenario with the suite as server and `command` as client; the address follows the command's arguments."""
    out = pathlib.Path(folder) / "results" / re.sub(r"\W+", "-", f"client {name} {revision}")
    said = suite(["client", "--command", shlex.join(map(str, command)), "--scenario", name, "--spec-version", revision, "-o", out, *more], folder, env, timeout)
    files = list(out.glob("**/checks.json"))
    if len(files) != 1:
        raise AssertionError(f"{name} did not run: {said[-4000:]}")
    return Scenario(name, True, json.loads(files[0].read_text()))


def suite(words, folder, env, timeout):
    entry = PEERS.modules / SCOPE / "conformance" / "dist" / "index.js"
    done = subprocess.run([node(22), entry, *map(str, words)], capture_output=True, text=True, timeout=timeout, env=env, cwd=folder)
    return done.stdout + done.stderr


def fixture_environment(env):
    return {**env, "MCP_MODULES": str(PEERS.modules)}


def stdio_fixture(era="both"):
    """The command of the fixture on standard streams."""
    return [node(20), str(HERE / "stdio.mjs"), era]


class Listening:
    """A process that prints its address. Its output goes to a file, so that it never waits for a reader."""

    def __init__(self, command, env, cwd, pattern=r"(http://[\w.:-]+/\w+)", timeout=60):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=env, cwd=cwd)
        end = time.monotonic() + timeout
        while not (found := re.search(pattern, self.said())):
            if self.process.poll() is not None or time.monotonic() > end:
                said = self.said()
                self.stop()
                raise AssertionError(f"{command} did not say where it listens: {said}")
            time.sleep(0.02)
        self.url = found.group(1)

    def said(self):
        size = os.fstat(self.log.fileno()).st_size
        return os.pread(self.log.fileno(), size, 0).decode("utf-8", "replace")

    def stop(self, timeout=20):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()


def http_fixture(env, cwd, era="both"):
    """The fixture over HTTP, already listening."""
    return Listening([node(20), HERE / "http.mjs", era], fixture_environment(env), cwd)


def tasks_fixture(*words):
    """The command of the server with tasks, over HTTP or (`stdio`) on standard streams."""
    return [node(20), str(HERE / "tasks.mjs"), *words]


def http_gate(test, upstream, policy="transparent", folder="data", **more):
    """The gate over HTTP before one upstream, already listening; it asks for no token, as the suite has none."""
    config = {"version": 1, "serve": {"listen": "127.0.0.1:0", "policy": policy, "auth": "none", "upstreams": [{"name": "fixture", **upstream}], **more}}
    file = test.write(f"serve-{folder}.yaml", json.dumps(config))
    gate = Listening([BIN, "serve", "--config", file, "--data-dir", test.folder / folder], fixture_environment(test.environment()), test.folder)
    test.addCleanup(gate.stop)
    return gate
