#!/usr/bin/env python3
"""Under `sallyport setup --system` the account of an agent can only ask: everything else is refused, and the service's ledger records
every attempt that goes through our program."""
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import unittest

from document_support import at_terminal, block
from system_support import (DATA, ETC, PATIENCE, PROGRAM, PYTHON, RUN, MachineTest, claude, enter_machine, options_of, ran,
                            run, sallyport)

# Tries all file operations as the user who runs it. Prints the operations that succeeded.
TRY_FILES = r'''
import os, sys
worked = []
def attempt(name, action):
    try:
        action()
        worked.append(name)
    except OSError:
        pass
for path in sys.stdin.read().splitlines():
    attempt("read " + path, lambda: open(path, "rb").read(1) if not os.path.isdir(path) else os.listdir(path))
    attempt("write " + path, lambda: os.close(os.open(path, os.O_WRONLY)))
    attempt("append " + path, lambda: os.close(os.open(path, os.O_WRONLY | os.O_APPEND)))
    attempt("truncate " + path, lambda: os.truncate(path, 0))
    attempt("unlink " + path, lambda: os.unlink(path))
    attempt("rename " + path, lambda: os.rename(path, path + ".gone"))
    attempt("take " + path, lambda: os.rename(path, os.path.expanduser("~/taken")))
    attempt("link " + path, lambda: os.link(path, os.path.expanduser("~/linked-" + str(len(path)))))
    attempt("symlink " + path, lambda: os.symlink("/etc/passwd", path + ".link"))
    attempt("make " + path, lambda: os.mkdir(path + ".made"))
    attempt("chmod " + path, lambda: os.chmod(path, 0o777))
    attempt("chown " + path, lambda: os.chown(path, os.getuid(), -1))
    attempt("stat " + path, lambda: os.stat(path))
print("\n".join(worked))
'''


class Asking(MachineTest):
    """The hook and the relay ask the service, and no other process decides."""

    # AT-12, AU-59
    def test_a_hook_of_another_account_is_judged_by_the_policy_of_the_service(self):
        self.assertIsNone(self.hook(claude("PreToolUse", "toolu_a", session="s-a")))
        self.assertIsNone(self.hook(ran("toolu_a", session="s-a")))
        denied = self.hook(claude("PreToolUse", "toolu_b", "git push --force", session="s-a"))
        self.assertEqual(denied["permissionDecision"], "deny")
        lines = self.shown("--kind", "tool_audit", "--session", "agent/s-a")
        self.assertEqual({line["entry"]["agent_id"] for line in lines}, {"claude-code@agent"})
        self.assertEqual([line["body"]["outcome"]["kind"] for line in lines], ["completed", "blocked"])
        origin = next(guard for guard in lines[0]["body"]["guards"] if guard["guard"] == "hook.origin")["evidence"]
        headers = origin["trigger"]["headers"]
        self.assertEqual((headers["user"], headers["uid"]), ("agent", str(pwd.getpwnam("agent").pw_uid)))
        self.assertGreater(int(headers["pid"]), 0)

    def test_a_policy_that_the_agent_names_is_not_used_and_the_attempt_is_on_record(self):
        mine = pathlib.Path("/srv/home/agent/mine.yaml")
        mine.write_text("version: 1\nautonomy: {tier: act_auto}\nhook: {on_failure: allow}\n")
        mine.chmod(0o644)
        event = claude("PreToolUse", "toolu_p", "git push --force")
        for _ in range(2):
            self.assertEqual(self.hook(event, "--policy", mine)["permissionDecision"], "deny")
        self.assertEqual(self.hook(event, "--data-dir", "/srv/home/agent/own")["permissionDecision"], "deny")
        self.assertFalse(pathlib.Path("/srv/home/agent/own").exists())
        told = [body for body in self.controls() if body["what"] == "hook --policy"]
        self.assertEqual([body["who"] for body in told], ["uid:agent"])

    def test_a_result_without_a_call_is_recorded_with_the_account_that_sent_it(self):
        self.hook(ran("toolu_forged", "rm -rf /", "all tests pass", session="s-f"))
        lines = self.shown("--kind", "tool_audit", "--session", "agent/s-f")
        self.assertEqual(len(lines), 1)
        self.assertIn('"uid": "%d"' % pwd.getpwnam("agent").pw_uid, json.dumps(lines[0]["body"]["guards"]))
        notes = [line["body"]["kind"] for line in self.shown("--topic", "hooks", "--session", "agent/s-f")]
        self.assertIn("ran_unasked", notes)

    def test_a_user_reaches_no_call_and_no_session_of_another_user(self):
        self.assertIsNone(self.hook(claude("PreToolUse", "toolu_x", session="s-x")))
        self.hook(ran("toolu_x", text="forged", session="s-x"), user="other")
        self.hook({"hook_event_name": "SessionEnd", "session_id": "s-x"}, user="other")
        self.assertEqual(self.records("--session", "agent/s-x"), [])
        self.assertIsNone(self.hook(ran("toolu_x", text="real", session="s-x")))
        self.assertEqual([body["outcome"]["kind"] for body in self.records("--session", "agent/s-x")], ["completed"])
        self.assertEqual({line["entry"]["agent_id"] for line in self.shown("--session", "other/s-x", "--kind", "tool_audit")},
                         {"claude-code@other"})

    # AP-33
    def test_the_yes_of_a_host_under_the_account_of_the_agent_approves_nothing(self):
        self.addCleanup(self.configure)
        self.configure(policy="version: 1\nautonomy: {tier: act_with_approval}\n")
        said = self.hook(claude("PreToolUse", "toolu_y", session="s-y"), "--interactive", "yes")
        self.assertNotEqual(said["permissionDecision"], "ask")
        self.hook(ran("toolu_y", session="s-y"), "--interactive", "yes")
        states = sallyport("sallyport", "approvals", "list", "--json", "--state", "approved")
        self.assertEqual((states.code, states.out.strip()), (0, ""), states.err)
        self.assertNotIn("completed", [body["outcome"]["kind"] for body in self.records("--session", "agent/s-y")])

    def test_a_relay_reaches_a_tool_server_that_runs_under_its_own_account(self):
        for server, account in (("tools", "sallyport-tools"), ("mail", "mailbot")):
            with self.subTest(server):
                status = json.loads(self.relay("--name", server, call=("status", {})))
                entry = pwd.getpwnam(account)
                self.assertEqual(status["uid"], [entry.pw_uid] * 3)
                self.assertEqual(status["gid"], [entry.pw_gid] * 3)
                self.assertEqual(status["groups"], sorted(set(os.getgrouplist(account, entry.pw_gid))))
                self.assertEqual({status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")}, {"0" * 16})
                self.assertEqual((status["NoNewPrivs"], status["fds"]), ("1", []))
                self.assertEqual((status["cwd"], status["home"], status["user"]), (entry.pw_dir, entry.pw_dir, account))
        calls = [line for line in self.shown("--kind", "tool_audit", "--tool", "status")]
        self.assertEqual({line["entry"]["agent_id"] for line in calls}, {"uid:agent"})
        opened = [line["body"] for line in self.shown("--topic", "clients")]
        self.assertEqual({body["uid"] for body in opened}, {pwd.getpwnam("agent").pw_uid})
        self.assertTrue(all(body["pid"] > 0 for body in opened))

    def test_a_tool_server_cannot_read_what_belongs_to_the_service(self):
        for file in (DATA / "ledger.db", DATA / "keys" / "signing.key", ETC / "policy.yaml"):
            self.assertIn("refused", self.relay("--name", "tools", call=("read", {"file": str(file)})))

    def test_a_relay_that_names_no_server_reaches_all_of_them(self):
        tools = {tool["name"] for tool in self.relay(method="tools/list")["tools"]}
        self.assertLessEqual({"mail.read", "mail.status", "tools.read", "tools.status"}, tools)

    def test_the_agent_does_not_choose_what_the_service_runs(self):
        before = len(self.controls())
        for words in (("--", "/bin/sh", "-c", "id > /tmp/owned"), ("--name", "tools", "--policy", "starter"),
                      ("--url", "http://127.0.0.1:1/mcp")):
            said = sallyport("agent", "mcp", *words)
            self.assertEqual(said.code, 1, said.err)
            self.assertIn("--name NAME", said.err)
        told = self.controls()[before:]
        self.assertEqual([(body["who"], body["what"]) for body in told], [("uid:agent", "mcp")] * 3)
        said = sallyport("agent", "mcp", "--name", "no-such")
        self.assertEqual(said.code, 1)
        self.assertIn("names no tool server `no-such`", said.err)

    def test_one_user_does_not_take_all_places(self):
        # Runs as the agent: the uid of a connection is the uid of the process that connects.
        script = ("import socket, sys, time\nheld = [socket.socket(socket.AF_UNIX) for _ in range(60)]\n"
                  "for peer in held: peer.connect('/run/sallyport/mcp.sock')\n"
                  "print('held', flush=True)\nsys.stdin.read()\n")
        greedy = subprocess.Popen([PYTHON, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options_of("agent"))
        try:
            self.assertEqual(greedy.stdout.readline(), b"held\n")
            status = json.loads(self.relay("--name", "tools", call=("status", {}), user="other"))
            self.assertEqual(status["user"], "sallyport-tools")
        finally:
            greedy.communicate(b"")

    def relay(self, *words, call=None, method=None, user="agent"):
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "hand", "version": "1"}}
        asked = {"method": method, "params": {}} if method else {"method": "tools/call", "params": {
            "name": call[0], "arguments": call[1]}}
        messages = [{"id": 1, "method": "initialize", "params": opening}, {"method": "notifications/initialized"}, {"id": 2, **asked}]
        relay = subprocess.Popen([PROGRAM, "mcp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 **options_of(user))
        for message in messages:
            relay.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            relay.stdin.flush()
            if "id" in message:
                said = {}
                while said.get("id") != message["id"]:
                    line = relay.stdout.readline()
                    self.assertTrue(line, relay.stderr.read().decode() if not line else "")
                    said = json.loads(line)
        out, err = relay.communicate(timeout=PATIENCE)
        self.assertEqual((relay.returncode, err), (0, b""))
        return said["result"]["content"][0]["text"] if call else said["result"]


class Refused(MachineTest):
    """Attacks of an agent's account on the service."""

    COMMANDS = [
        ("approvals approve", ("approvals", "approve", "apr-1")), ("approvals list", ("approvals", "list")),
        ("trust promote", ("trust", "promote", "claude-code", "--to", "act_auto")),
        ("pins accept", ("pins", "accept", "tools")),
        ("ledger erase", ("ledger", "erase", "--session", "s-1", "--reason", "x")),
        ("ledger prune", ("ledger", "prune", "--before", "1", "--reason", "x")),
        ("ledger show", ("ledger", "show")), ("keys show", ("keys", "show")), ("keys rotate", ("keys", "rotate")),
        ("grants issue", ("grants", "issue", "--subject", "x", "--grant", "/dev/null")),
        ("mcp logout", ("mcp", "logout", "--url", "https://example.com/mcp")), ("doctor", ("doctor",))]

    # AP-29
    def test_commands_about_the_service_are_refused_and_each_is_on_record(self):
        uid = pwd.getpwnam("agent").pw_uid
        pathlib.Path("/srv/home/agent/link").symlink_to(DATA)
        for what, words in self.COMMANDS:
            with self.subTest(what):
                before = len(self.controls())
                said = sallyport("agent", *words)
                self.assertEqual(said.code, 1, said.err)
                self.assertIn("the attempt is on record", said.err + said.out)
                self.assertIn("sudo -u sallyport", said.err + said.out)
                body = self.controls()[before]
                self.assertEqual((body["who"], body["uid"], body["what"]), ("uid:agent", uid, what))
                self.assertGreater(body["pid"], 0)
        for more in (("--data-dir", str(DATA)), ("--data-dir", "/srv/home/agent/link"), ("--config", str(ETC / "sallyport.yaml"))):
            before = len(self.controls())
            said = sallyport("agent", "approvals", "approve", "apr-1", *more)
            self.assertIn("the attempt is on record", said.err)
            self.assertEqual(self.controls()[before]["what"], "approvals approve")
        mine = pathlib.Path("/srv/home/agent/mine-config.yaml")
        mine.write_text(f"version: 1\ndata_dir: {DATA}\n")
        said = sallyport("agent", "approvals", "approve", "apr-1", "--config", mine)
        self.assertIn("the attempt is on record", said.err)
        said = sallyport("agent", "approvals", "list", env={"SALLYPORT_DATA_DIR": str(DATA)})
        self.assertIn("the attempt is on record", said.err)

    def test_a_folder_of_ones_own_is_ones_own(self):
        said = sallyport("agent", "keys", "show", "--data-dir", "/srv/home/agent/own")
        self.assertNotIn("on record", said.err)
        self.assertIn("no ledger", said.err)

    def test_what_needs_no_ledger_of_the_service_is_for_everybody(self):
        log = pathlib.Path("/srv/home/agent/log.jsonl")
        log.write_text(sallyport("sallyport", "ledger", "export").out)
        key = json.loads(sallyport("sallyport", "keys", "show", "--json").out)
        before = len(self.controls())
        for words in (("ledger", "verify", log), ("policy", "show"), ("policy", "check", ETC / "none.yaml"), ("ledger", "schema"),
                      ("init", "--agent", "claude-code", "--print")):
            said = sallyport("agent", *words)
            self.assertNotIn("on record", said.err, words)
        self.assertEqual(len(self.controls()), before)
        self.assertTrue(key)

    def test_the_account_of_the_service_finds_its_ledger_by_itself(self):
        said = sallyport("sallyport", "ledger", "verify")
        self.assertEqual(said.code, 0, said.err + said.out)

    def test_no_file_of_the_service_can_be_read_changed_or_replaced(self):
        self.hook(claude("PreToolUse"))
        places = [str(path) for place in (DATA, ETC, RUN) for path in [place, *place.rglob("*")]]
        self.assertTrue(any(path.endswith("ledger.db") for path in places))
        self.assertTrue(any(path.endswith("signing.key") for path in places))
        said = run("agent", PYTHON, "-c", TRY_FILES, stdin="\n".join(places).encode())
        self.assertEqual(said.code, 0, said.err)
        worked = set(said.out.split("\n")) - {""}
        # All users may read where the service is.
        allowed = {f"{verb} {place}" for place in (ETC, RUN) for verb in ("read", "stat")}
        allowed |= {f"stat {path}" for place in (DATA, ETC, RUN) for path in [place, *place.glob("*")]}
        allowed |= {f"read {ETC / 'system.json'}"}
        self.assertEqual(worked - allowed, set())
        inside = {name for name in worked if name.split()[1].startswith(str(DATA) + "/")}
        self.assertEqual(inside, set())
        self.assertIsNone(self.hook(claude("PreToolUse", "toolu_2")))

    def test_processes_of_the_service_are_out_of_reach(self):
        pid = self.service.process.pid
        script = ("import os, signal, sys\npid = int(sys.argv[1])\nworked = []\n"
                  "for name in ('mem', 'environ', 'fd', 'maps'):\n"
                  "    try:\n        p = f'/proc/{pid}/{name}'\n        os.listdir(p) if name == 'fd' else open(p, 'rb').read(1)\n"
                  "        worked.append(name)\n    except OSError: pass\n"
                  "try:\n    os.kill(pid, signal.SIGTERM)\n    worked.append('kill')\nexcept OSError: pass\nprint(worked)\n")
        said = run("agent", PYTHON, "-c", script, str(pid))
        self.assertEqual(said.out.strip(), "[]", said.err)
        status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
        uid = str(pwd.getpwnam("sallyport").pw_uid)
        self.assertEqual(status["Uid"].split(), [uid] * 4)
        self.assertEqual(status["NoNewPrivs"], "1")
        wanted = 1 << 5 | 1 << 6 | 1 << 7  # kill, setgid, setuid
        self.assertEqual({int(status[name], 16) for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")}, {wanted})

    def test_root_of_a_user_namespace_is_still_the_agent(self):
        if run("agent", "unshare", "-Ur", "true").code != 0:
            self.skipTest("user namespaces are not allowed here")
        self.assertEqual(run("agent", "unshare", "-Ur", "id", "-u").out, "0\n")
        for words in (("approvals", "list"), ("ledger", "erase", "--session", "s", "--reason", "x"), ("keys", "show")):
            said = run("agent", "unshare", "-Ur", PROGRAM, *words)
            self.assertEqual((said.code, said.out), (1, ""), said.err)
        event = json.dumps(claude("PreToolUse", "toolu_n", session="s-n")).encode()
        said = run("agent", "unshare", "-Ur", PROGRAM, "hook", "--agent", "claude-code", stdin=event)
        self.assertIn('"deny"', said.out)
        before = len(self.controls())
        script = r'''
import json, os, socket, struct
assert os.geteuid() == 0
peer = socket.socket(socket.AF_UNIX)
peer.connect("/run/sallyport/hook.sock")
peer.recv(4 + len("sallyport-hook/1"), socket.MSG_WAITALL)
said = json.dumps({"refused": "keys rotate"}).encode() + b"\n"
peer.sendall(struct.pack(">I", len(said)) + said)
peer.recv(4)
'''
        said = run("agent", "unshare", "-Ur", PYTHON, "-c", script)
        self.assertEqual(said.code, 0, said.err)
        self.assertEqual([body["who"] for body in self.controls()[before:]], ["uid:agent"])

    def test_root_reads_the_ledger_of_the_service_and_leaves_no_file_of_its_own(self):
        self.assertEqual(sallyport(None, "approvals", "list").code, 0)
        said = sallyport(None, "keys", "rotate")
        self.assertEqual(said.code, 1, said.out)
        self.assertIn("not_owner", said.err)
        self.assertEqual({path.stat().st_uid for path in DATA.rglob("*")}, {pwd.getpwnam("sallyport").pw_uid})

    def test_attempts_without_end_are_counted_and_do_not_fill_the_ledger(self):
        before = len(self.controls())
        script = r'''
import json, socket, struct
def frame(peer):
    size = struct.unpack(">I", peer.recv(4, socket.MSG_WAITALL))[0]
    return peer.recv(size, socket.MSG_WAITALL)
for number in range(300):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect("/run/sallyport/hook.sock")
    frame(peer)
    said = json.dumps({"refused": "approvals approve" if number else "x\n\u001b[2Jfake"}).encode() + b"\n"
    peer.sendall(struct.pack(">I", len(said)) + said)
    peer.recv(4)
    peer.close()
'''
        said = run("other", PYTHON, "-c", script)
        self.assertEqual(said.code, 0, said.err)
        told = self.controls()[before:]
        self.assertEqual(told[0]["what"], "unknown")
        self.assertLess(len(told), 60)
        self.assertGreater(len(told), 20)

    def test_wrong_frames_get_no_answer_and_end_nothing(self):
        script = r'''
import os, socket, struct
for said in (b"", b"{}\n", b"\xff" * 100, b'{"refused":1}\n', b'{"agent":"claude-code","policy":"../x","interactive":true}\n{}',
             b'{"agent":"nobody","policy":"","interactive":true}\n{}', b'{"server":{}}', b"[" * 5000):
    for name in ("hook", "mcp"):
        peer = socket.socket(socket.AF_UNIX)
        peer.settimeout(20)
        peer.connect(f"/run/sallyport/{name}.sock")
        peer.sendall(struct.pack(">I", len(said)) + said)
        peer.shutdown(socket.SHUT_WR)
        try:
            while peer.recv(65536): pass
        except ConnectionResetError: pass
peer = socket.socket(socket.AF_UNIX)
peer.connect("/run/sallyport/mcp.sock")
peer.sendall(b"\xff\xff\xff\xff")
while peer.recv(65536): pass
'''
        said = run("agent", PYTHON, "-c", script)
        self.assertEqual(said.code, 0, said.err)
        self.assertIsNone(self.hook(claude("PreToolUse", "toolu_3")))


class Approving(MachineTest):
    """A registered person may approve, through the account of the service."""

    POLICY = "version: 1\nautonomy: {tier: act_with_approval}\n"

    def pending(self):
        return [json.loads(line)["request_id"] for line in sallyport("sallyport", "approvals", "list", "--json").out.splitlines()]

    # AP-29, AP-36
    def test_a_person_approves_what_the_agent_cannot(self):
        words = RUN / "words"
        words.write_text("correct horse battery\n")
        words.chmod(0o600)
        shutil.chown(words, "sallyport")
        self.addCleanup(words.unlink)
        said = sallyport("sallyport", "approvals", "init", "--name", "user:ada", "--passphrase-file", words)
        self.assertEqual(said.code, 0, said.err)
        self.assertIn(str(ETC / "reviewers.yaml"), said.out)
        (ETC / "reviewers.yaml").write_text(said.out[said.out.index("reviewers:\n"):])
        said = self.hook(claude("PreToolUse", "toolu_q", session="s-q"))
        self.assertIn("approvals approve", said["permissionDecisionReason"])
        [approval] = self.pending()
        before = len(self.controls())
        for words_of_agent in (("approve", approval), ("deny", approval), ("cancel", approval), ("answer", approval, "--text", "yes")):
            refused = sallyport("agent", "approvals", *words_of_agent)
            self.assertEqual(refused.code, 1, refused.err)
        self.assertEqual([body["what"] for body in self.controls()[before:]],
                         ["approvals approve", "approvals deny", "approvals cancel", "approvals answer"])
        # A separate ledger with the same id is not the ledger of the service.
        sallyport("agent", "approvals", "approve", approval, "--data-dir", "/srv/home/agent/own")
        self.assertEqual(self.pending(), [approval])
        self.assertEqual(self.hook(claude("PreToolUse", "toolu_q2", session="s-q"))["permissionDecision"], "deny")
        said = sallyport("sallyport", "approvals", "approve", approval, "--passphrase-file", words)
        self.assertEqual(said.code, 0, said.err)
        self.assertIsNone(self.hook(claude("PreToolUse", "toolu_q3", session="s-q")))


class Recipes(MachineTest):
    """Steps 3 and 4 of docs/operations.md, with `runuser` in the place of `sudo`."""

    POLICY = Approving.POLICY
    UPSTREAMS = "  upstreams:\n    - {name: files, command: [/usr/bin/python3, /srv/sallyport/server.py]}\n"

    def setUp(self):
        programs = pathlib.Path("/srv/programs")
        programs.mkdir()
        self.addCleanup(shutil.rmtree, programs)
        (programs / "sallyport").symlink_to(PROGRAM)
        (programs / "sudo").write_text('#!/bin/sh\naccount=$2; shift 2\nexec runuser -u "$account" -- "$@"\n')
        (programs / "sudo").chmod(0o755)
        self.path = {"PATH": f"{programs}:/usr/sbin:/usr/bin:/sbin:/bin"}

    def script(self, user, text, code=0, **more):
        said = run(user, "bash", "-euo", "pipefail", "-c", text, env=self.path, **more)
        self.assertEqual(said.code, code, f"{text}: {said.err}")
        return said

    # AP-29 (partly)
    def test_agents_are_connected_and_people_answer_as_the_page_says(self):
        init, relay = block("docs/operations.md", "sallyport mcp --name files").splitlines()
        self.script("agent", init)
        asked = [{"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}},
                 {"method": "notifications/initialized"}, {"id": 2, "method": "tools/list"}]
        said = self.script("agent", relay, stdin="".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in asked).encode())
        self.assertIn('"status"', said.out)
        hook = json.loads(pathlib.Path("/srv/home/agent/.claude/settings.json").read_text())["hooks"]["PreToolUse"][0]["hooks"][0]

        def event(call):
            return run("agent", hook["command"], *hook["args"], stdin=json.dumps(claude("PreToolUse", call)).encode()).out
        request = re.search(r"approvals approve (apr_[\w-]+)", event("toolu_r"))[1]
        init, listing, approve, tail, refused = block("docs/operations.md", "approvals init --name user:dana").splitlines()
        options = {"env": {**options_of(None)["env"], **self.path}, "cwd": "/"}
        printed, _ = at_terminal(init, [("passphrase", "correct horse"), ("once more", "correct horse")], **options)
        (ETC / "reviewers.yaml").write_text(printed[printed.index("reviewers:\n"):])
        self.assertIn(request, self.script(None, listing).out)
        printed, _ = at_terminal(approve.replace("ID", request), [("passphrase of user:dana", "correct horse")], **options)
        self.assertIn("approved by user:dana", printed)
        self.assertEqual(event("toolu_r2"), "")
        command, shown = block("docs/operations.md", "the attempt is on record", "").splitlines()
        self.assertEqual(self.script("agent", command.removeprefix("$ "), code=1).err.strip(), shown.replace("dana", "agent"))
        self.assertIn("approval_decision: approved", self.script(None, tail).out)
        self.assertIn('"uid:agent"', self.script(None, refused).out)


if __name__ == "__main__":
    enter_machine()
    unittest.main()
