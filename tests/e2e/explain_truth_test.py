#!/usr/bin/env python3
"""`policy explain` of recorded calls: the policy text, front and facts of that time, holes, and the effect of changes."""
import json
import time
import unittest

from explain_support import RecordedCalls

AWS = "AKIAIOSFODNN7EXAMPLE"
CONTEXT = ("decided_at", "as_of", "class_source", "caution", "definition", "front")


class ExplainTruth(RecordedCalls):
    def hook(self, policy, tool, input, call="t-1", event="PreToolUse", **more):
        said = {"session_id": "s-1", "hook_event_name": event, "tool_name": tool, "tool_input": input, "tool_use_id": call,
                "cwd": str(self.project), **more}
        return self.cli("hook", "--agent", "claude-code", "--policy", str(policy), stdin=json.dumps(said).encode())

    def explain(self, call, *more, code=None):
        words = call if isinstance(call, str) else json.dumps(call)
        outcome = self.cli("policy", "explain", words, "--json", *more)
        self.assertEqual(outcome.err, "")
        seen = outcome.json()
        self.assertEqual(outcome.code, 0 if seen["verdict"] == "runs" else 1)
        return seen

    def call(self, agent="agent:a", tool="echo", server="fake", **input):
        return {"agent": agent, "server": server, "tool": tool, "input": input}

    # WB-8 LE-69 (partly)
    def test_every_record_says_what_the_decision_was_made_of(self):
        policy = self.write("p.yaml", "version: 1\nautonomy: {tier: act_auto, agent_tiers: {x: suggest}}\n"
                            "guardrails:\n  checks:\n    - {type: blocklist, stage: tool_use, id: word, words: [swordfish]}\n")
        self.run_calls(policy, ("echo", {"message": "a"}), ("echo", {"message": "swordfish"}))
        self.hook(policy, "Read", {"file_path": "/etc/hosts"})
        self.hook(policy, "Read", {"file_path": "/etc/hosts"}, event="PostToolUse", tool_response={"type": "text", "file": {"content": "x"}})
        fronts = set()
        for row in self.audits():
            body = row["body"]
            self.assertEqual([name for name in CONTEXT if name not in body], [], body)
            self.assertRegex(body["decided_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
            self.assertLessEqual(body["as_of"], row["entry"]["sequence"])
            self.assertGreater(body["as_of"], 0)
            self.assertIs(body["caution"], False)
            if body["front"] == "mcp":
                self.assertRegex(body["definition"], "^sha256:[0-9a-f]{64}$")
            fronts.add(body["front"])
        self.assertEqual(fronts, {"mcp", "hook"})
        self.good("ledger", "verify")

    # WB-7
    def test_the_text_of_a_policy_is_kept_once_as_it_was(self):
        text = "# the key of the check is %s\nversion: 1\nautonomy: {tier: act_auto}\n" % AWS
        policy = self.write("p.yaml", text)
        self.run_calls(policy, ("echo", {"message": "a"}))
        self.run_calls(policy, ("echo", {"message": "b"}))
        wanted = self.good("policy", "check", policy, "--json").json()["hash"]
        rows = self.good("ledger", "show", "--kind", "control", "--limit", "1000", "--json").lines()
        loaded = [row["body"] for row in rows if row["body"].get("control") == "policy_loaded"]
        self.assertEqual([body.get("text") for body in loaded], [text, None])
        self.assertEqual(self.good("policy", "show", wanted).out, text)
        self.refused(1, "policy", "show", "sha256:" + "0" * 64)

    # RU-20 (partly): the line once named neither the rule nor its effect.
    def test_the_tail_of_the_ledger_names_a_rule_that_has_expired(self):
        policy = self.write("p.yaml", "version: 1\nautonomy: {tier: act_auto}\nrules:\n"
                            "  - {id: last-week, then: deny, when: {tool: echo}, expires: 2026-01-01T00:00:00Z}\n")
        self.run_calls(policy, ("echo", {"message": "a"}))
        self.assertIn("rule_expired: last-week", self.good("ledger", "tail", "--topic", "rules").out)

    # WB-7
    def test_a_kept_policy_that_extends_another_loads_with_its_hash(self):
        base = self.write("base.yaml", "version: 1\nautonomy: {tier: act_auto}\nrules:\n  - {id: a, then: deny, when: {tool: x}}\n")
        policy = self.write("p.yaml", "version: 1\nextends: base.yaml\nrules:\n  - {id: b, then: ask, when: {tool: y}}\n")
        [call] = self.run_calls(policy, ("echo", {"message": "a"}))
        wanted = self.cli("policy", "check", policy, "--json").json()["hash"]
        base.unlink()
        again = self.write("again.yaml", self.good("policy", "show", wanted).out)
        self.assertEqual(self.cli("policy", "check", again, "--json").json()["hash"], wanted)
        self.assertEqual(self.explain(call)["verdict"], "runs")
        refused = self.explain(self.call(tool="x"), "--policy", str(again))
        self.assertEqual(refused["decided_by"]["name"], "a")

    # WB-9
    def test_a_redaction_names_its_detector_and_whether_it_was_the_whole_string(self):
        policy = self.write("p.yaml", "version: 1\nautonomy: {tier: act_auto}\n")
        self.run_calls(policy, ("echo", {"message": AWS}), ("echo", {"message": "key " + AWS}))
        whole, part = [[one for one in row["entry"]["redactions"] if one["path"] == "/requested_input/message"][0]
                       for row in self.audits() if row["body"].get("terminal")]
        self.assertEqual((whole["detector"], whole["whole"]), ("aws_access_key_id", True))
        self.assertEqual((part["detector"], "whole" in part), ("aws_access_key_id", False))

    # WB-33 WB-38
    def test_a_redacted_call_is_never_said_to_run_where_the_hole_decides(self):
        policy = self.write("p.yaml", "version: 1\nautonomy: {tier: act_auto}\nguardrails:\n  checks:\n"
                            "    - {type: regex, stage: tool_use, id: aws, patterns: ['AKIA[0-9A-Z]{16}']}\n")
        [call] = self.run_calls(policy, ("echo", {"message": "key " + AWS}))
        seen = self.explain(call)
        self.assertEqual((seen["verdict"], seen["reason"], seen["missing"]), ("undecided", "input_redacted", "/message"))
        self.assertEqual([hole["detector"] for hole in seen["holes"]], ["aws_access_key_id"])
        self.assertEqual(seen["recorded"]["outcome"], "blocked")
        self.assertTrue(self.cli("policy", "explain", call).out.startswith("undecided: input_redacted; /message lost aws_access_key_id"))
        # The policy had no hash and was once reported as a different one.
        self.assertTrue(seen["recorded"]["same_policy"])
        other = self.write("q.yaml", policy.read_text().replace("id: aws", "id: keys"))
        for named, options in ((policy, ()), (other, ("--policy", other))):
            self.assertEqual(self.explain(call, *map(str, options))["policy"]["hash"], self.good("policy", "check", named, "--json").json()["hash"])

    # WB-26 WB-33 WB-38
    def test_a_redacted_call_is_decided_where_every_word_or_no_word_of_the_form_hits(self):
        check = "version: 1\nautonomy: {tier: act_auto}\nguardrails:\n  checks:\n    - {type: regex, stage: tool_use, id: aws, patterns: ['%s']}\n"
        policy = self.write("p.yaml", check % "A[KS]IA[0-9A-Z]{16}")
        [call] = self.run_calls(policy, ("echo", {"message": "key " + AWS}))
        seen = self.explain(call)
        self.assertEqual((seen["verdict"], seen["decided_by"]["name"], seen["recorded"]["reproduced"]), ("refused", "aws", True))
        self.assertEqual(seen["decided_by"]["place"], f"{policy}:5:8")
        no_word = self.write("q.yaml", check % "swordfish")
        self.assertEqual(self.explain(call, "--policy", str(no_word))["verdict"], "runs")
        for pattern in ("key A[KS]IA", "y A[A-Z]IA[A-Z0-9]+", "IA[A-Z0-9]{16}"):
            self.assertEqual(self.explain(call, "--policy", str(self.write("q.yaml", check % pattern)))["verdict"], "refused", pattern)
        for pattern in ("AKIA", "IA[A-Z]{16}", "[0-9]"):
            self.assertEqual(self.explain(call, "--policy", str(self.write("q.yaml", check % pattern)))["verdict"], "undecided", pattern)
        for pattern in ("A[a-z]", "key  A", "[a-z]AKIA"):
            self.assertEqual(self.explain(call, "--policy", str(self.write("q.yaml", check % pattern)))["verdict"], "runs", pattern)

    # WB-8 WB-33
    def test_a_call_of_a_hook_is_judged_as_the_hook_judged_it(self):
        policy = self.write("p.yaml", "version: 1\nautonomy: {tier: act_with_approval}\n")
        self.hook(policy, "Read", {"file_path": "/etc/hosts"})
        self.hook(policy, "Read", {"file_path": "/etc/hosts"}, event="PostToolUse", tool_response={"type": "text", "file": {"content": "x"}})
        [call] = {row["entry"]["call_id"] for row in self.audits()}
        seen = self.explain(call)
        self.assertEqual((seen["verdict"], seen["classification"]["tier"], seen["recorded"]["outcome"]), ("runs", "Observe", "completed"))
        self.assertEqual((seen["call"]["front"], seen["recorded"]["reproduced"]), ("hook", True))

    # WB-8 WB-33 RU-77
    def test_a_call_of_a_hook_under_rules_is_judged_in_its_folder(self):
        policy = self.write("p.yaml", "version: 1\nautonomy: {tier: act_auto}\nrules:\n"
                            "  - {id: outside, then: deny, when: {class: fs.delete, outside: workspace}}\n"
                            "  - {id: push, then: ask, when: {command: git push}}\n")
        self.hook(policy, "Bash", {"command": "rm -rf /srv/x"}, call="t-1")
        self.hook(policy, "Bash", {"command": "rm -rf ./x"}, call="t-2")
        verdicts = {}
        for row in self.audits():
            seen = self.explain(row["entry"]["call_id"])
            verdicts[seen["call"]["input"]["command"]] = seen
        outside = verdicts["rm -rf /srv/x"]
        self.assertEqual((outside["verdict"], outside["decided_by"]["name"], outside["recorded"]["reproduced"]), ("refused", "outside", True))
        self.assertEqual(outside["decided_by"]["place"], f"{policy}:4:6")
        for member in ("verdict", "rule", "place", "matches", "opaque", "effects"):
            self.assertIn(member, outside["rules"])
        self.assertEqual(outside["rules"]["matches"][0]["match"], "yes")
        self.assertIn("without one of these the rule does not match: class fs.delete, outside workspace", outside["causes"][0]["text"])

    # WB-10 WB-33
    def test_a_recorded_call_is_judged_with_the_policy_of_then_and_with_that_of_now(self):
        policy = self.write("p.yaml", "version: 1\nautonomy: {tier: act_auto}\n")
        [call] = self.run_calls(policy, ("echo", {"message": "a"}))
        policy.write_text("version: 1\nautonomy: {tier: suggest}\n")
        then, now = self.explain(call), self.explain(call, "--now")
        self.assertEqual((then["verdict"], then["policy"]["note"]), ("runs", "the policy text at that time"))
        self.assertEqual((now["verdict"], now["decided_by"]["place"]), ("proposed", f"{policy}:2:18"))
        policy.unlink()
        self.assertEqual(self.explain(call)["verdict"], "runs")

    # WB-10
    def test_a_budget_is_counted_as_it_was_then(self):
        policy = self.write("p.yaml", "version: 1\nautonomy: {tier: act_auto, budget: {max_per_hour: 2}}\n")
        self.run_calls(policy, *[("echo", {"message": str(i)}) for i in range(2)])
        client = self.client(options=["--policy", str(policy), "--name", "fake"])
        client.open()
        client.ask("tools/call", {"name": "echo", "arguments": {"message": "third"}})
        end = time.monotonic() + 60
        while not self.good("approvals", "list", "--json").lines() and time.monotonic() < end:
            time.sleep(0.1)
        rows = [row for row in self.audits() if row["entry"]["tool_name"] == "echo"]
        seen = {row["body"]["requested_input"]["message"]: self.explain(row["entry"]["call_id"]) for row in rows}
        self.assertEqual({message: one["verdict"] for message, one in seen.items()}, {"0": "runs", "1": "runs", "third": "asks"})
        self.assertEqual(seen["third"]["autonomy"]["source"], "budget")

    # WB-10
    def test_the_budget_of_a_grant_is_counted_as_it_was_then(self):
        terms = self.write("grant.json", json.dumps([{"server": "fake", "tool": "echo", "constraints": [], "operations": ["invoke", "read_result"],
                                                      "max_invocations": 2}]))
        agent = self.good("policy", "explain", json.dumps({"tool": "echo", "input": {}}), "--policy", "transparent", "--json").json()["call"]["agent_id"]
        token = self.write("token.json", self.good("grants", "issue", "--subject", agent, "--grant", terms).out)
        issuer = json.loads(token.read_text())["issuer"]
        policy = self.write("p.yaml", f'version: 1\nautonomy: {{tier: act_auto}}\ngrants: {{required: all, trusted_issuers: ["{issuer}"]}}\n')
        self.run_calls(policy, *[("echo", {"message": str(i)}) for i in range(3)], env={"SALLYPORT_GRANT": str(token)})
        rows = [row for row in self.audits() if row["entry"]["tool_name"] == "echo" and row["body"].get("terminal")]
        seen = {row["body"]["requested_input"]["message"]: self.explain(row["entry"]["call_id"], "--grant", str(token)) for row in rows}
        self.assertEqual({message: (one["verdict"], one["reason"]) for message, one in seen.items()},
                         {"0": ("runs", None), "1": ("runs", None), "2": ("refused", "grant_budget")})
        self.assertTrue(all(one["recorded"]["reproduced"] for one in seen.values()))

    # WB-38
    def test_rules_decide_a_redacted_call_where_they_look_past_the_hole(self):
        policy = self.write("p.yaml", "version: 1\nautonomy: {tier: act_auto}\nrules:\n"
                            "  - {id: out, then: deny, when: {class: fs.write, outside: workspace}}\n"
                            "  - {id: keys, then: deny, when: {path: '**/AKIA0*'}}\n")
        calls = [("Write", {"file_path": "/srv/x", "content": "key " + AWS}), ("Write", {"file_path": "x", "content": "key " + AWS}),
                 ("Read", {"file_path": "/srv/" + AWS}), ("Bash", {"command": f"curl -H 'X: {AWS}' https://example.org"}),
                 ("Bash", {"command": f"rm /srv/{AWS}/x"})]
        for number, (tool, input) in enumerate(calls):
            for event, more in (("PreToolUse", {}), ("PostToolUse", {"tool_response": {"type": "text"}})):
                self.hook(policy, tool, input, call=f"t-{number}", event=event, **more)
        rows = {row["body"]["tool_call_id"]: row["entry"]["call_id"] for row in self.audits() if row["body"].get("terminal")}
        seen = [self.explain(rows[f"t-{number}"]) for number in range(len(calls))]
        self.assertEqual([one["verdict"] for one in seen], ["refused", "runs", "undecided", "runs", "undecided"])
        self.assertEqual([one["recorded"]["reproduced"] for one in seen], [True, True, None, True, None])
        self.assertEqual(seen[0]["decided_by"]["name"], "out")
        for one, path in ((seen[2], "/file_path"), (seen[4], "/command")):
            self.assertEqual((one["reason"], one["missing"]), ("input_redacted", path))
            self.assertIn("AKIA0*", one["text"])
        # The placeholder that fills a hole during the decision is not shown.
        self.assertNotIn("AKIA0123", json.dumps(seen))
        self.assertNotIn(AWS, json.dumps([one for one in seen]))

    def changes(self, seen, kind):
        return [[edit["text"] for edit in change["edits"]] for change in seen["changes"] if change["kind"] == kind]

    # WB-27 WB-28
    def test_two_checks_that_block_are_two_causes_and_one_change_of_both(self):
        policy = self.write("p.yaml", "version: 1\nautonomy: {tier: act_auto}\nguardrails:\n  checks:\n"
                            "    - {type: blocklist, stage: tool_use, id: one, words: [alpha]}\n"
                            "    - {type: blocklist, stage: tool_use, id: two, words: [beta]}\n")
        seen = self.explain(self.call(message="alpha beta"), "--policy", str(policy))
        self.assertEqual([(cause["kind"], cause["name"], cause["place"]) for cause in seen["causes"]],
                         [("check", "one", f"{policy}:5:8"), ("check", "two", f"{policy}:6:8")])
        self.assertEqual(self.changes(seen, "policy"), [["on_fail: block -> log", "on_fail: block -> log"]])
        self.assertEqual(len(self.changes(seen, "input")), 1)
        edited = policy.read_text().replace("words: [", "on_fail: log, words: [")
        self.assertEqual(self.explain(self.call(message="alpha beta"), "--policy", str(self.write("q.yaml", edited)))["verdict"], "runs")

    # WB-27 WB-28
    def test_a_human_is_required_over_a_tier(self):
        policy = self.write("p.yaml", "version: 1\nautonomy:\n  tier: act_with_approval\n  requires_human_actions: [echo]\n")
        seen = self.explain(self.call(message="x"), "--policy", str(policy))
        self.assertEqual([cause["name"] for cause in seen["causes"]], ["tier", "requires_human"])
        [edits] = [edits for edits in self.changes(seen, "policy") if len(edits) == 2]
        self.assertEqual(edits[0], "tier: act_with_approval -> act_auto")
        self.assertEqual(self.changes(seen, "world")[0][0].split(" says yes")[0], "1 of the registered approvers")

    # WB-27 WB-28
    def test_a_human_a_ceiling_and_a_tier_are_three_causes(self):
        policy = self.write("p.yaml", "version: 1\nautonomy:\n  tier: act_with_approval\n  ceiling: act_with_approval\n  requires_human: true\n")
        seen = self.explain(self.call(message="x"), "--policy", str(policy))
        self.assertEqual([(cause["name"], cause["place"]) for cause in seen["causes"]],
                         [("tier", f"{policy}:3:9"), ("ceiling", f"{policy}:4:12"), ("requires_human", f"{policy}:5:19")])
        [edits] = [edits for edits in self.changes(seen, "policy") if len(edits) == 3]
        self.assertEqual(sorted(edits), ["autonomy.requires_human: true -> false", "ceiling: act_with_approval -> act_auto",
                                         "tier: act_with_approval -> act_auto"])
        fixed = self.write("q.yaml", "version: 1\nautonomy:\n  tier: act_auto\n  ceiling: act_auto\n")
        self.assertEqual(self.explain(self.call(message="x"), "--policy", str(fixed))["verdict"], "runs")

    # Only the first name of a list was a cause, and the change took out two names and named one of them twice.
    # WB-27 WB-28
    def test_everything_that_requires_a_person_is_a_cause_of_its_own(self):
        call = {"agent": "bot", "server": "fs", "tool": "write_file", "input": {"path": "/a"}}
        policy = self.write("p.yaml", "version: 1\nautonomy:\n  tier: act_auto\n  requires_human_actions: [bash, write_file, fs.write]\n"
                            "  requires_human_agents: [bot]\n")
        seen = self.explain(call, "--policy", str(policy))
        self.assertEqual([(cause["name"], cause["place"]) for cause in seen["causes"]],
                         [("requires_human", f"{policy}:4:34"), ("requires_human", f"{policy}:4:46"), ("requires_human", f"{policy}:5:27")])
        [edits] = self.changes(seen, "policy")
        self.assertEqual(edits, ["autonomy/requires_human_actions: without `write_file`", "autonomy/requires_human_actions: without `fs.write`",
                                 "autonomy/requires_human_agents: without `bot`"])
        fixed = self.write("q.yaml", "version: 1\nautonomy:\n  tier: act_auto\n  requires_human_actions: [bash]\n")
        self.assertEqual(self.explain(call, "--policy", str(fixed))["verdict"], "runs")

    # The decider had no place.
    # WB-26 WB-27 WB-28
    def test_a_scope_that_decides_has_its_place_and_can_be_changed(self):
        call = {"agent": "bot", "server": "fs", "tool": "write_file", "input": {"path": "/a"}}
        head = "version: 1\nautonomy: {tier: act_auto}\nscopes:\n  - {for: {agent: other}, autonomy: {tier: shadow}}\n"
        for scope, verdict, column, edit in (
                ("tier: suggest, action_tiers: {fs.write: act_with_approval}", "asks", 76, "fs.write: act_with_approval -> act_auto"),
                ("ceiling: suggest", "proposed", 45, "ceiling: suggest -> act_auto"),
                ("requires_human: true", "asks", 52, "scopes.1.autonomy.requires_human: true -> false"),
                ("budget: {max_per_hour: 0}", "asks", 45, "scopes.1.autonomy.budget: removed")):
            with self.subTest(scope=scope):
                policy = self.write("p.yaml", head + "  - {for: {agent: bot}, autonomy: {%s}}\n" % scope)
                seen = self.explain(call, "--policy", str(policy))
                self.assertEqual((seen["verdict"], seen["decided_by"]["place"]), (verdict, f"{policy}:5:{column}"))
                self.assertEqual([cause["place"] for cause in seen["causes"]], [f"{policy}:5:{column}"])
                self.assertEqual(self.changes(seen, "policy"), [[edit]])

    # It named the row of the class that the tool is called like, which does not count for the tool.
    # WB-26 AT-3
    def test_a_tool_that_is_named_like_a_class_is_decided_by_the_row_of_its_own_class(self):
        policy = self.write("p.yaml", "version: 1\nautonomy:\n  action_tiers:\n    fs.write: act_auto\n    unknown: suggest\n")
        seen = self.explain({"agent": "bot", "server": "fs", "tool": "fs.write", "input": {}}, "--policy", str(policy))
        self.assertEqual((seen["verdict"], seen["decided_by"]["place"]), ("proposed", f"{policy}:5:14"))
        self.assertIn(["unknown: suggest -> act_auto"], self.changes(seen, "policy"))

    # `policy test` named the rule, and the explanation the tool.
    # WB-1 RU-77
    def test_a_rule_that_allows_what_is_free_anyway_decides_here_as_in_a_case(self):
        policy = self.write("p.yaml", "version: 1\ntools: [{tool: look, tier: observe, class: none}]\nautonomy: {tier: act_auto}\n"
                            "rules:\n  - {id: free, then: allow, when: {class: none}}\n")
        call = {"agent": "bot", "server": "fs", "tool": "look", "input": {}}
        seen = self.explain(call, "--policy", str(policy))
        self.assertEqual((seen["verdict"], seen["decided_by"]["kind"], seen["decided_by"]["name"], seen["decided_by"]["place"]),
                         ("runs", "rule", "free", f"{policy}:5:6"))
        cases = self.write("c.json", json.dumps([{"name": "c", "call": call, "expect": {"decided_by": "rule free"}}]))
        self.good("policy", "test", policy, "--cases", cases)

    # It read the disk of today, and took an unknown folder for no folder.
    # WB-33 WB-2
    def test_what_rules_would_look_at_and_the_record_lacks_leaves_a_call_undecided(self):
        then = self.write("then.yaml", "version: 1\nautonomy: {tier: act_auto}\n")
        link = self.project / "out"
        link.symlink_to("/etc")
        for number, (tool, input) in enumerate((("Write", {"file_path": str(link / "x"), "content": ""}), ("Bash", {"command": "git push"}))):
            self.hook(then, tool, input, call=f"t-{number}")
            self.hook(then, tool, input, call=f"t-{number}", event="PostToolUse", tool_response={"type": "text"})
        write, push = [row["entry"]["call_id"] for row in self.audits() if row["body"].get("terminal")]
        rules = "version: 1\nautonomy: {tier: act_auto}\nrules:\n  - {id: etc, then: deny, when: {path: /etc/**}}\n  - {id: push, then: deny, when: {class: git.push}}\n"
        new = ("--policy", str(self.write("new.yaml", rules)))
        for _ in range(2):
            seen = self.explain(write, *new)
            self.assertEqual((seen["verdict"], seen["reason"], seen["missing"]), ("undecided", "state_unknown", "workspace"))
            link.unlink(missing_ok=True)
        # A rule that looks at no path refuses the other one, wherever it ran.
        seen = self.explain(push, *new)
        self.assertEqual((seen["verdict"], seen["decided_by"]["name"]), ("refused", "push"))
        no_paths = self.write("class.yaml", "version: 1\nautonomy: {tier: act_auto}\nrules: [{id: w, then: ask, when: {class: fs.write}}]\n")
        self.assertEqual(self.explain(write, "--policy", str(no_paths))["verdict"], "asks")
        at_host = self.write("host.yaml", "version: 1\nautonomy: {tier: act_auto}\nrules: [{id: w, then: ask, when: {class: fs.write, interactive: false}}]\n")
        self.assertEqual(self.explain(write, "--policy", str(at_host))["missing"], "interactive")

    # WB-28
    def test_a_command_that_a_rule_refuses_can_be_left_out(self):
        policy = self.write("p.yaml", "version: 1\nautonomy: {tier: act_auto}\nrules:\n  - {id: push, then: deny, when: {command: git push}}\n")
        call = {"agent": "claude-code", "server": "claude-code", "tool": "Bash", "front": "hook", "input": {"command": "git status && git push"}}
        seen = self.explain(call, "--policy", str(policy))
        self.assertEqual((seen["verdict"], seen["decided_by"]["name"]), ("refused", "push"))
        self.assertIn(["leave out `git push`"], self.changes(seen, "input"))
        self.assertIn(["rule `push`, then: deny -> log"], self.changes(seen, "policy"))

    # WB-3 WB-6
    def test_the_same_question_gives_the_same_bytes_and_writes_nothing(self):
        policy = self.write("p.yaml", "version: 1\nautonomy: {tier: act_with_approval}\n")
        self.run_calls(self.write("a.yaml", "version: 1\nautonomy: {tier: act_auto}\n"), ("echo", {"message": "a"}))
        before = (self.data / "ledger.db").read_bytes()
        at = ("--policy", str(policy), "--json", "--at", "2026-11-16T12:00:00Z")
        first, second = (self.cli("policy", "explain", json.dumps(self.call(message="x")), *at).out for _ in range(2))
        self.assertEqual(first, second)
        self.assertEqual(json.loads(first)["approval"]["deadline"][:10], "2026-11-17")
        self.assertEqual((self.data / "ledger.db").read_bytes(), before)
        self.refused(64, "policy", "explain", json.dumps(self.call(message="x")), "--at", "noon")


if __name__ == "__main__":
    unittest.main()
