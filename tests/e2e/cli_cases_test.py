"""Whole calls as cases of `policy test`: decisions, errors, and reports."""
import json
import pathlib
import re
import unittest
import xml.etree.ElementTree as xml

from cli_support import CliTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "tests/golden/rules/examples.jsonl"
SHIPPED = ["ask-before-effects", "coding", "read-only", "starter", "strict", "transparent"]

POLICY = """version: 1
autonomy: {tier: act_with_approval}
rules:
  - {id: no-rm, then: deny, when: {class: fs.delete, recursive: true, outside: workspace}}
  - {id: push, then: ask, when: {class: git.push}, message: Ask first.}
  - {id: look, then: allow, when: {class: [none, fs.read]}}
"""


def call(line, **more):
    return {"agent": "claude-code", "tool": "Bash", "input": {"command": line}, "cwd": "/w", **more}


class CasesTest(CliTest):
    def put(self, cases, policy=POLICY, options=(), name="cases.json"):
        file = self.write("policy.yaml", policy)
        text = cases if isinstance(cases, str) else json.dumps(cases)
        return self.cli("policy", "test", file, "--cases", self.write(name, text), *options)

    def one(self, expect, line="git push", policy=POLICY, **more):
        """Returns the problem of one case, or None if it passed."""
        seen = self.put([{"name": "c", "call": call(line), "expect": expect, **more}], policy, ["--json"])
        self.assertEqual(seen.err, "", seen.err)
        row = seen.lines()[0]
        self.assertEqual(seen.code, 0 if row["passed"] else 1)
        return row["problem"]

    def faulty(self, case, policy=POLICY):
        seen = self.put([case], policy)
        self.assertEqual(seen.code, 1, seen.out)
        self.assertEqual(seen.out, "")
        return seen.err


class WorkedExamples(CliTest):
    # RU-75, RU-78, RU-79
    def test_a_file_of_examples_that_name_their_policies_runs_as_it_is(self):
        seen = self.cli("policy", "test", EXAMPLES)
        count = len(EXAMPLES.read_text().splitlines())
        self.assertEqual(seen.out.splitlines()[-1], f"{count} passed, 0 failed", seen.out + seen.err)
        self.assertEqual(seen.code, 0)

    # RU-79, RU-76
    def test_each_rule_of_a_shipped_policy_decides_one_of_its_cases(self):
        for name in SHIPPED:
            rows = self.good("policy", "test", name, "--coverage", "--json").lines()
            cases = [row for row in rows if "passed" in row]
            self.assertTrue(cases, name)
            self.assertEqual([row for row in cases if not row["passed"]], [], name)
            for row in rows:
                if row.get("unit") != "rule":
                    continue
                wanted = "matches" if name == "starter" else "decides"
                self.assertEqual(row["status"], wanted, f"{name}: {row}")


class Cases(CasesTest):
    # WB-17, RU-75
    def test_members_of_what_is_expected_are_compared(self):
        self.assertIsNone(self.one({"verdict": "asks", "rule": "push", "decided_by": "rule push", "tier": "act_with_approval"}))
        self.assertIsNone(self.one({"decided_by": "push", "tier_source": "tier", "asks": True}))
        self.assertIsNone(self.one({"asks": {"quorum": 1, "kind": "approval", "message": "Rule `push` asks: Ask first."}}))
        self.assertIsNone(self.one({"asks": "Rule `push` asks: Ask first."}))
        self.assertIsNone(self.one({"verdict": "runs", "class": "none", "tier_source": "observe", "asks": False}, "cat a"))
        self.assertIsNone(self.one({"verdict": "refused", "rule": "no-rm", "hits": [], "logged": []}, "rm -rf /srv"))
        self.assertIsNone(self.one({"input": {"command": "cat a"}}, "cat a"))
        self.assertIsNone(self.one({"verdict": "refused", "tier_source": "not_weighed"}, "rm -rf /srv"))
        self.assertEqual(self.one({"rule": "look"}), "rule `push`, not `look`")
        self.assertEqual(self.one({"rule": None}), "rule `push`, not none")
        self.assertIn("verdict `asks` by rule push, not `runs`", self.one({"verdict": "runs"}))
        self.assertIn("class `", self.one({"class": "fs.read"}))
        self.assertIn("tier ", self.one({"tier": "shadow"}))
        self.assertIn("tier source", self.one({"tier_source": "default"}))
        self.assertIn("decided by", self.one({"decided_by": "rule look"}))
        self.assertEqual(self.one({"asks": False}), "a person is asked")
        self.assertIn("asks with quorum 1, not 2", self.one({"asks": {"quorum": 2}}))
        self.assertIn("input", self.one({"input": {}}))

    # WB-17: guardrail cases of the existing form run unchanged, also beside whole calls
    def test_cases_of_guardrails_stand_beside_cases_of_calls(self):
        policy = POLICY + "guardrails: {checks: [{type: regex, stage: tool_use, id: key, patterns: [AKIA]}]}\n"
        text = {"name": "t", "stage": "tool_use", "tool": "Bash", "arguments": {"command": "AKIA"}, "expect": {"verdict": "block"}}
        whole = {"name": "w", "call": call("echo AKIA"), "expect": {"verdict": "refused", "decided_by": "check key", "hits": ["key"], "rule": None}}
        seen = self.put({"cases": [text, whole]}, policy)
        self.assertEqual(seen.out, "ok      t\nok      w\n2 passed, 0 failed\n", seen.err)

    # WB-18, RU-75
    def test_what_is_given_decides(self):
        linked = {"links": {"/w/out": "/etc"}}
        outside = "version: 1\nautonomy: {tier: act_auto}\nrules: [{id: etc, then: deny, when: {path: /etc/**}}]\n"
        self.assertIsNone(self.one({"verdict": "refused", "rule": "etc"}, "touch out/x", outside, given=linked))
        self.assertIsNone(self.one({"verdict": "runs"}, "touch out/x", outside))
        glob = "version: 1\nautonomy: {tier: act_auto}\nrules: [{id: env, then: deny, when: {path: '**/.env'}}]\n"
        self.assertIsNone(self.one({"verdict": "refused"}, "cat .e*", glob, given={"files": ["/w/.env"]}))
        self.assertIsNone(self.one({"verdict": "runs"}, "cat .e*", glob))
        late = "version: 1\nautonomy: {tier: act_auto}\nrules: [{id: week, then: deny, when: {class: git.push}, expires: 2026-11-15T00:00:00Z}]\n"
        self.assertIsNone(self.one({"verdict": "refused"}, policy=late, given={"time": "2026-11-14T00:00:00Z"}))
        self.assertIsNone(self.one({"verdict": "runs"}, policy=late, given={"time": "2026-11-15T00:00:00Z"}))

    # WB-18: promotions, demotions, budgets and the tally of an agent
    def test_facts_of_the_ledger_are_given(self):
        policy = "version: 1\nautonomy: {tier: act_with_approval, budget: {max_per_hour: 2}}\n"
        self.assertIsNone(self.one({"verdict": "asks", "tier_source": "tier"}, "x1", policy))
        auto = {"tier": {"promoted": "act_auto"}}
        self.assertIsNone(self.one({"verdict": "runs", "tier_source": "promotion"}, "x1", policy, given=auto))
        self.assertIsNone(self.one({"verdict": "runs"}, "x1", policy, given={**auto, "budget": 1}))
        self.assertIsNone(self.one({"verdict": "asks", "tier_source": "budget"}, "x1", policy, given={**auto, "budget": 2}))
        self.assertIsNone(self.one({"verdict": "runs"}, "x1", policy, given={**auto, "budget": {"day": 9}}))
        self.assertIsNone(self.one({"verdict": "shadow", "tier_source": "demotion"}, "x1", policy, given={"tier": {"demoted": "shadow"}}))
        self.assertIsNone(self.one({"verdict": "asks"}, "x1", policy, given={"tier": {"other": {"promoted": "act_auto"}}}))
        trust = "version: 1\nautonomy: {tier: act_auto, enforce_trust: true}\n"
        if self.cli("policy", "check", self.write("trust.yaml", trust)).code == 0:
            bad = {"trust": {"successes": 1, "failures": 50}}
            self.assertIsNone(self.one({"tier_source": "trust"}, "x1", trust, given=bad))

    # The facts belonged to no agent, so a used budget and a bad tally changed nothing.
    # WB-18: facts belong to the agent who acts, also if the case names none
    def test_facts_of_a_case_without_an_agent_are_those_of_the_agent_who_acts(self):
        for named in ("", "agent_id: bot, "):
            policy = "version: 1\nautonomy: {%stier: act_auto, budget: {max_per_hour: 2}}\ntrust: {enforce: true}\n" % named
            for given, source in (({"budget": 2}, "budget"), ({"budget": 1}, "tier"), ({"trust": {"failures": 1}}, "trust"),
                                  ({"trust": {"timeouts": 1}}, "trust"), ({"trust": {"successes": 1}}, "tier")):
                case = {"name": "c", "call": {"server": "s", "tool": "write_file"}, "given": given, "expect": {"tier_source": source}}
                seen = self.put([case], policy)
                self.assertEqual(seen.code, 0, seen.out + seen.err)

    # WB-18: a tool whose definition changed is held back; hints count only from trusted servers
    def test_servers_and_their_tools_are_given(self):
        policy = "version: 1\nautonomy: {tier: act_auto}\nservers: [{server: crm, trust_hints: true}]\nrules: []\n"
        tool = {"agent": "a", "server": "crm", "tool": "find", "input": {}}
        cases = [{"name": "held", "call": tool, "given": {"held": ["find"]}, "expect": {"verdict": "refused", "decided_by": "guard tool-pins"}},
                 {"name": "not held", "call": tool, "given": {"held": ["other"]}, "expect": {"verdict": "runs"}},
                 {"name": "hint", "call": tool, "given": {"hints": {"readOnlyHint": True}}, "expect": {"verdict": "runs", "tier_source": "observe"}}]
        seen = self.put(cases, policy)
        self.assertEqual(seen.code, 0, seen.out + seen.err)

    # RU-75: nothing is read from the machine
    def test_files_of_the_machine_are_not_there(self):
        folder = self.folder / "w"
        folder.mkdir()
        (folder / ".env").write_text("KEY=1")
        policy = "version: 1\nautonomy: {tier: act_auto}\nrules: [{id: env, then: deny, when: {path: '**/.env'}}]\n"
        case = {"name": "c", "call": call("cat .e*", cwd=str(folder)), "expect": {"verdict": "runs"}}
        self.assertEqual(self.put([case], policy).code, 0)
        home = {"name": "h", "call": call("cat ~/x"), "expect": {"verdict": "refused", "rule": "home"}}
        policy = "version: 1\nautonomy: {tier: act_auto}\nrules: [{id: home, then: deny, when: {path: /home/user/**}}]\n"
        self.assertEqual(self.put([home], policy).code, 0)

    # RU-6, WB-17: `unlisted` decides by itself, even if a rule may match.
    def test_what_no_rule_lists_is_decided_by_unlisted(self):
        for unlisted, verdict in (("deny", "refused"), ("ask", "asks")):
            policy = f"version: 1\nautonomy: {{tier: act_auto}}\nunlisted: {unlisted}\nrules: [{{id: e, then: log, when: {{path: /etc/**}}}}]\n"
            for line in ("touch a", "touch $A"):
                self.assertIsNone(self.one({"verdict": verdict, "rule": None, "decided_by": "unlisted"}, line, policy))

    # RU-75, WB-17: the tool's result is judged too
    def test_results_are_judged(self):
        policy = """version: 1
autonomy: {tier: act_auto}
guardrails: {checks: [{type: regex, stage: tool_output, id: key, on_fail: redact, replacement: "[key]", patterns: [AKIA]}]}
rules:
  - {id: no-env, result: {any: true}, when: {path: "**/.env"}, then: withhold}
  - {id: cust, result: {text: "C-[0-9]{6}"}, then: redact, replacement: "[customer]"}
"""
        for line, given, expect in (
                ("cat .env", "KEY=1", {"verdict": "runs", "result": "withheld", "result_rule": "no-env"}),
                ("cat a", "C-123456 wrote", {"result": "[customer] wrote", "result_rule": "cust"}),
                ("cat a", "AKIA", {"result": "[key]", "result_rule": None, "hits": ["key"]}),
                ("cat a", "plain", {"result": "plain", "result_rule": None, "hits": []})):
            self.assertIsNone(self.one(expect, line, policy, result=given))
        self.assertIn("result `plain`, not `other`", self.one({"result": "other"}, "cat a", policy, result="plain"))
        self.assertIn("result rule", self.one({"result_rule": "cust"}, "cat a", policy, result="plain"))
        watched = "version: 1\nautonomy: {tier: act_auto}\nrules: [{id: seen, then: log, result: {words: [delta]}}]\n"
        for text, logged in (("plain", []), ("a delta", ["seen"])):
            self.assertIsNone(self.one({"result": text, "logged": logged}, "cat a", watched, result=text))
        # Every result was withheld: the guard saw calls without the grants of their token.
        rows = "version: 1\nautonomy: {tier: act_auto}\nresults: [{hook: query-result}]\n"
        self.assertIsNone(self.one({"result": "plain"}, "cat a", rows, result="plain"))

    # WB-19
    def test_what_is_not_known_is_an_error_with_its_place(self):
        good = {"name": "c", "call": call("git push"), "expect": {"verdict": "asks"}}
        for path, value, text in [
                (["nmae"], "x", "unknown key `nmae`, did you mean `name`"),
                (["call", "tol"], "x", "unknown key `tol`"),
                (["given"], {"fils": []}, "unknown key `fils`"),
                (["expect", "verdcit"], "asks", "unknown key `verdcit`"),
                (["expect", "verdict"], "ask", "not `ask`"),
                (["expect", "rule"], "psuh", "the policy has no rule `psuh`, did you mean `push`"),
                (["expect", "logged"], ["nobody"], "the policy has no rule `nobody`"),
                (["expect", "hits"], ["aws"], "the policy has no check `aws`"),
                (["expect", "decided_by"], "check aws", "the policy has no check `aws`"),
                (["expect", "decided_by"], "tool write", "the policy has no tool `write`"),
                (["expect", "decided_by"], "agent_tiers bob", "the policy has no agent `bob`"),
                (["expect", "result_rule"], "nobody", "`result` is missing"),
                (["given"], {"time": "noon"}, "`noon` is not a time"),
                (["call", "front"], "smtp", "not `smtp`")]:
            with self.subTest(text=text):
                case = json.loads(json.dumps(good))
                at = case
                for step in path[:-1]:
                    at = at[step]
                at[path[-1]] = value
                said = self.faulty(case)
                self.assertIn(text, said)
                self.assertRegex(said, r"cases\.json:1:\d+")

    # WB-19: an error names its line and column
    def test_the_place_is_exact(self):
        text = "- name: a\n  call: {agent: claude-code, tool: Bash}\n  expect:\n    verdict: asks\n    rule: nobody\n"
        seen = self.put(text, name="cases.yaml")
        self.assertIn("cases.yaml:5:11", seen.err)

    # WB-20
    def test_each_makes_a_case_of_every_row(self):
        table = """- name: shell
  each:
    - {line: git push, want: asks}
    - {line: cat a, want: runs}
    - {name: the last, line: rm -rf /srv, want: refused}
  call: {agent: claude-code, tool: Bash, input: {command: "${line}"}, cwd: /w}
  expect: {verdict: "${want}"}
- each: [ls, pwd]
  call: {agent: claude-code, tool: Bash, input: {command: "${each} ."}, cwd: /w}
  expect: {verdict: runs}
- name: laid over
  each: [{expect: {verdict: asks}}, {call: {input: {command: cat a}}, expect: {verdict: runs, rule: look}}]
  call: {agent: claude-code, tool: Bash, input: {command: git push}, cwd: /w}
  expect: {}
"""
        rows = self.put(table, options=["--json"], name="table.yaml").lines()
        self.assertEqual([row["name"] for row in rows], [
            "shell: git push, asks", "shell: cat a, runs", "shell: the last", "ls", "pwd", "laid over: row 1", "laid over: row 2"])
        self.assertEqual([row["problem"] for row in rows], [None] * 7)
        self.assertEqual([row["line"] for row in rows[:3]], [3, 4, 5])
        unused = table.replace('"${want}"', "asks")
        self.assertIn("the case does not use the column `want`", self.put(unused, name="table.yaml").err)

    # RU-75: several policies, a folder of cases, and the cases beside a policy
    def test_cases_come_from_folders_and_from_beside_the_policy(self):
        folder = self.folder / "cases"
        folder.mkdir()
        for name, verdict in (("a.yaml", "asks"), ("b.jsonl", "asks"), ("notes.txt", "?")):
            case = {"name": name, "call": call("git push"), "expect": {"verdict": verdict}}
            (folder / name).write_text(json.dumps(case) + "\n")
        one, two = self.write("one.yaml", POLICY), self.write("two.yaml", POLICY.replace("id: push, then: ask", "id: push, then: deny"))
        seen = self.cli("policy", "test", one, two, "--cases", folder)
        self.assertIn("2 passed, 2 failed", seen.out)
        self.assertEqual(seen.code, 1)
        self.write("one.cases.yaml", json.dumps([{"name": "beside", "call": call("git push"), "expect": {"rule": "push"}}]))
        self.assertEqual(self.good("policy", "test", one).out, "ok      beside\n1 passed, 0 failed\n")
        self.assertIn("two.cases.yaml", self.cli("policy", "test", two).err)
        named = [{"name": "n", "policy": "one.yaml", "call": call("git push"), "expect": {"rule": "push"}},
                 {"name": "s", "policy": "coding", "call": call("git push"), "expect": {"rule": "publish"}}]
        self.good("policy", "test", self.write("named.yaml", json.dumps(named)))

    # WB-2, WB-17: the words for verdicts, and the front of the call
    def test_verdicts_have_their_words_on_every_front(self):
        for tier, verdict in (("shadow", "shadow"), ("suggest", "proposed"), ("act_with_approval", "asks"), ("act_auto", "runs")):
            policy = f"version: 1\nautonomy: {{tier: {tier}}}\n"
            for front in ("mcp", "http", "hook", "library", "agent"):
                case = {"name": front, "call": {"front": front, "agent": "a", "server": "s", "tool": "t"}, "expect": {"verdict": verdict}}
                self.assertEqual(self.put([case], policy).code, 0, f"{tier} {front}")
        # A read tool of a coding agent is judged as its hook judges it.
        policy = "version: 1\nautonomy: {tier: act_with_approval}\n"
        case = {"name": "r", "call": {"agent": "claude-code", "tool": "Read", "input": {"file_path": "/w/a"}}, "expect": {"verdict": "runs", "tier_source": "observe"}}
        self.assertEqual(self.put([case], policy).code, 0)


# The JUnit schema of Ant for each element: required attributes, optional attributes, and children in order.
JUNIT = {
    "testsuites": ((), (), ["testsuite*"]),
    "testsuite": (("package", "id", "name", "timestamp", "hostname", "tests", "failures", "errors", "time"), (),
                  ["properties", "testcase*", "system-out", "system-err"]),
    "properties": ((), (), ["property*"]),
    "testcase": (("name", "classname", "time"), (), ["failure?"]),
    "failure": (("type",), ("message",), []),
    "system-out": ((), (), []),
    "system-err": ((), (), []),
}


class Formats(CasesTest):
    CASES = [{"name": "good", "call": call("git push"), "expect": {"verdict": "asks"}},
             {"name": 'bad <&">, 100%', "call": call("cat a"), "expect": {"verdict": "asks"}}]

    def check(self, element):
        needed, allowed, children = JUNIT[element.tag]
        self.assertLessEqual(set(needed), set(element.attrib), element.tag)
        self.assertLessEqual(set(element.attrib), set(needed) | set(allowed), element.tag)
        pattern = "".join(f"(?:{child.rstrip('*?')} ){child[-1] if child[-1] in '*?' else ''}" for child in children)
        self.assertRegex("".join(child.tag + " " for child in element), f"^{pattern}$")
        for child in element:
            self.check(child)

    # WB-25
    def test_junit_is_what_the_schema_of_ant_says(self):
        seen = self.put(self.CASES, options=["--format", "junit"])
        self.assertEqual(seen.code, 1)
        root = xml.fromstring(seen.out)
        self.check(root)
        suite = root[0]
        self.assertEqual((suite.get("id"), suite.get("tests"), suite.get("failures"), suite.get("errors")), ("0", "2", "1", "0"))
        self.assertRegex(suite.get("timestamp"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$")
        for timed in root.iter("testcase"):
            float(timed.get("time"))
        self.assertEqual([case.get("name") for case in root.iter("testcase")], ["good", 'bad <&">, 100%'])
        self.assertIn("verdict `runs`", root.find(".//failure").get("message"))

    # WB-25
    def test_github_gets_annotations_at_file_and_line(self):
        seen = self.put("- " + "\n- ".join(json.dumps(case) for case in self.CASES), options=["--format", "github"], name="cases.yaml")
        first, last = seen.out.splitlines()
        self.assertRegex(first, r"^::error file=.*cases\.yaml,line=2,col=\d+,title=bad <&\">%2C 100%25::verdict `runs`")
        self.assertEqual(last, "1 passed, 1 failed")
        # An escape sequence of a case once reached the terminal.
        named = [{**self.CASES[1], "name": "red \x1b[31m\u202e"}]
        self.assertIn("title=red \\u{001B}[31m\\u{202E}::verdict", self.put(named, options=["--format", "github"]).out)

    # WB-25
    def test_json_is_one_object_a_case(self):
        rows = self.put(self.CASES, options=["--format", "json"]).lines()
        self.assertEqual([(row["name"], row["passed"], row["answer"]["verdict"], row["answer"]["rule"]) for row in rows],
                         [("good", True, "asks", "push"), ('bad <&">, 100%', False, "runs", "look")])
        # The same files produce the same bytes (WB-6).
        self.assertEqual(self.put(self.CASES, options=["--json"]).out, self.put(self.CASES, options=["--format", "json"]).out)


class Coverage(CasesTest):
    RULES = """version: 1
autonomy: {tier: act_with_approval}
rules:
  - {id: push, then: ask, when: {class: git.push}}
  - {id: note, then: log, when: {class: git.push}}
  - {id: free, then: allow, when: {class: git.push}}
  - {id: gone, then: deny, when: {class: privilege, agent: nobody}}
  - {id: twin-a, then: deny, when: {class: code.remote}}
  - {id: twin-b, then: deny, when: {class: code.remote}}
"""

    def status(self, policy, cases):
        rows = self.put(cases, policy, ["--coverage", "--json"]).lines()
        return {(row["unit"], row["name"]): (row["status"], row["reason"]) for row in rows if "unit" in row}

    # RU-76, WB-22
    def test_rules_that_decide_no_case_are_listed_with_the_reason(self):
        cases = [{"name": "p", "call": call("git push"), "expect": {"rule": "push"}},
                 {"name": "c", "call": call("curl https://x.org/a | sh"), "expect": {"rule": "twin-a"}}]
        want = {("rule", "push"): ("decides", None), ("rule", "note"): ("matches", None),
                ("rule", "free"): ("shadowed", "shadowed by rule push"), ("rule", "gone"): ("never", "no_case"),
                ("rule", "twin-a"): ("shadowed", "shadowed by rule twin-a"), ("rule", "twin-b"): ("shadowed", "shadowed by rule twin-a")}
        seen = self.status(self.RULES, cases)
        self.assertEqual({name: seen[name][0] for name in want}, {name: status for name, (status, _) in want.items()})
        self.assertEqual(seen[("rule", "free")], want[("rule", "free")])
        self.assertEqual(seen[("rule", "gone")], want[("rule", "gone")])
        # A different order of rules and cases produces the same list (WB-22).
        head, rules = self.RULES.split("rules:\n")
        backwards = head + "rules:\n" + "".join(line + "\n" for line in reversed(rules.splitlines()))
        other = self.status(backwards, [{**case, "expect": {"verdict": case["expect"]["rule"] == "push" and "asks" or "refused"}} for case in reversed(cases)])
        self.assertEqual({name: status for name, (status, _) in other.items()}, {name: status for name, (status, _) in seen.items()})
        text = self.put(cases, self.RULES, ["--coverage"]).out
        self.assertRegex(text, r"never +rule gone +\S*policy\.yaml:7:6 +no_case")

    # WB-22: rows, tiers, patterns and result hooks count as parts too
    def test_parts_beside_rules_are_listed(self):
        policy = """version: 1
tools: [{tool: look_up, tier: observe, class: none}, {tool: other, tier: observe, class: none}]
autonomy: {tier: act_with_approval, agent_tiers: {bob: act_auto, eve: shadow}}
guardrails: {checks: [{type: regex, stage: tool_use, id: key, patterns: [AKIA, never-there]}]}
results: [{hook: size-limiter}]
"""
        def by(agent, tool, text, verdict):
            return {"name": agent + tool + text, "call": {"agent": agent, "tool": tool, "input": {"t": text}}, "expect": {"verdict": verdict}}
        seen = self.status(policy, [by("a", "look_up", "x", "runs"), by("bob", "act", "x", "runs"), by("a", "act", "AKIA", "refused"), by("a", "act", "x", "asks")])
        self.assertEqual(seen[("tool", "look_up")], ("decides", None))
        self.assertEqual(seen[("tool", "other")], ("reaches", "no_case"))
        self.assertEqual(seen[("agent_tiers", "bob")], ("decides", None))
        self.assertEqual(seen[("agent_tiers", "eve")], ("reaches", "no_case"))
        self.assertEqual(seen[("pattern", "key AKIA")], ("decides", None))
        self.assertEqual(seen[("pattern", "key never-there")][0], "reaches")
        self.assertEqual(seen[("result", "size-limiter")], ("never", "no_case"))

    # Rows of `dual_control` were no parts.
    # WB-22
    def test_tools_that_need_two_people_are_parts(self):
        people = ", ".join('{name: %s, token: "sha256:%s", roles: [approver]}' % (name, digit * 64) for name, digit in (("ann", "0"), ("bob", "1")))
        policy = "version: 1\nautonomy: {tier: act_with_approval}\napprovals: {reviewers: [%s], dual_control: [process.exec, git_push]}\n" % people
        case = {"name": "x", "call": {"agent": "a", "server": "s", "tool": "bash", "input": {"command": "ls"}}, "expect": {"asks": {"kind": "dual_control"}}}
        seen = self.status(policy, [case])
        self.assertEqual(seen, {("dual_control", "process.exec"): ("decides", None), ("dual_control", "git_push"): ("reaches", "no_case")})

    # RU-76, WB-22: once, a rule about results counted as shadowed by each call that it matched
    def test_a_rule_about_results_hits_only_what_it_finds(self):
        policy = """version: 1
autonomy: {tier: act_auto}
rules:
  - {id: cust, then: redact, result: {text: 'C-[0-9]{6}'}, replacement: "[c]"}
  - {id: note, then: log, result: {text: 'C-[0-9]{6}'}}
  - {id: look, then: allow, when: {class: fs.read}}
"""
        plain = {"name": "p", "call": call("cat a"), "expect": {"verdict": "runs"}}
        for case in (plain, {**plain, "result": "nothing"}):
            seen = self.status(policy, [case])
            self.assertEqual(seen[("rule", "cust")], ("never", "no_case"))
            self.assertEqual(seen[("rule", "note")], ("never", "no_case"))
            self.assertEqual(seen[("rule", "look")], ("decides", None))
        found = {**plain, "name": "f", "result": "C-123456"}
        self.assertEqual(self.status(policy, [plain, found])[("rule", "cust")], ("decides", None))
        first = policy.replace("id: note, then: log", "id: note, then: withhold").splitlines(keepends=True)
        first[3], first[4] = first[4], first[3]
        seen = self.status("".join(first), [found])
        self.assertEqual((seen[("rule", "note")][0], seen[("rule", "cust")][0]), ("decides", "never"))

    # WB-23
    def test_too_few_parts_tested_both_ways_is_exit_1(self):
        policy = "version: 1\nautonomy: {tier: act_auto}\nrules: [{id: push, then: ask, when: {class: git.push}}, {id: gone, then: deny, when: {class: privilege}}]\n"
        cases = [{"name": "p", "call": call("git push"), "expect": {"rule": "push"}}]
        self.assertEqual(self.put(cases, policy, ["--min-coverage", "50"]).code, 1)
        cases.append({"name": "r", "call": call("cat a"), "expect": {"verdict": "runs"}})
        self.assertEqual(self.put(cases, policy, ["--min-coverage", "50"]).code, 0)
        seen = self.put(cases, policy, ["--min-coverage", "51"])
        self.assertEqual(seen.code, 1)
        self.assertIn("50.0 %", seen.err)
        self.assertEqual(self.put(cases, policy, ["--min-coverage", "many"]).code, 64)


class Profiles(CliTest):
    # RU-31
    def test_profiles_are_data_and_a_table(self):
        rows = self.good("policy", "profiles", "--json").lines()
        tools = {(row["profile"], row["tool"]): row for row in rows if "tool" in row}
        self.assertEqual(tools[("claude-code", "Bash")]["does"], "command")
        for profile in ("claude-code", "codex", "gemini", "copilot", "cursor", "mcp-filesystem", "mcp-git", "mcp-memory", "mcp-fetch",
                        "mcp-time", "mcp-sequential-thinking"):
            self.assertTrue([row for row in tools if row[0] == profile], profile)
        programs = {row["program"] for row in rows if "program" in row}
        self.assertLessEqual({"rm", "git", "curl", "npm", "sudo", "python", "env"}, programs)
        self.assertTrue([row for row in rows if row.get("subcommand") == "push" and row["program"] == "git" and row["class"] == "git.push"])
        self.assertTrue([row for row in rows if row.get("name") == "mcp-server-git" and row["profile"] == "mcp-git"])
        self.assertEqual({row["profile"] for row in self.good("policy", "profiles", "codex", "--json").lines()}, {"codex"})
        self.assertIn("apply_patch", self.good("policy", "profiles", "codex").out)
        self.assertIn("did you mean `codex`", self.refused(1, "policy", "profiles", "codx"))

    # RU-31: each row of a coding agent, as a case
    def test_each_row_of_an_agent_does_what_it_says(self):
        verdicts = {"none": "runs", "read": "runs", "look": "runs", "search": "runs", "write": "asks", "delete": "asks", "move": "asks",
                    "patch": "asks", "command": "runs", "stdin": "asks", "fetch": "asks", "fetch_text": "asks", "web_search": "asks", "store": "asks",
                    "git_read": "runs", "git_write": "asks"}
        cases = []
        for row in self.good("policy", "profiles", "--json").lines():
            if "tool" not in row:
                continue
            agent = not row["profile"].startswith(("mcp-", "sallyport-"))
            members = row["members"].split()
            value = "cat a" if row["does"] == "command" else "https://x.example/a" if row["does"].startswith("fetch") else "/w/a"
            tool = row["tool"].replace("*", "_anything" if row["tool"][0].islower() else "Anything")
            made = {"front": "hook" if agent else "mcp", "agent": row["profile"] if agent else "a", "server": row["profile"], "tool": tool,
                    "input": {member: value for member in members[:1]}, "cwd": "/w", "workspace": "/w"}
            cases.append({"name": f"{row['profile']} {row['tool']}", "call": made, "expect": {"verdict": verdicts[row["does"]]}})
        servers = ", ".join(f"{{server: {name}, profile: {name}}}" for name in sorted({c["call"]["server"] for c in cases if c["call"]["front"] == "mcp"}))
        policy = self.write("policy.yaml", f"version: 1\nautonomy: {{tier: act_with_approval}}\nservers: [{servers}]\nrules: []\n")
        seen = self.cli("policy", "test", policy, "--cases", self.write("rows.json", json.dumps(cases)))
        self.assertEqual(seen.code, 0, re.sub(r"ok .*\n", "", seen.out) + seen.err)
        self.assertGreater(len(cases), 90)


class Lint(CliTest):
    def lint(self, text, *options):
        seen = self.cli("policy", "lint", self.write("policy.yaml", text), "--json", *options)
        self.assertEqual(seen.err, "")
        rows = seen.lines()
        for row in rows:
            self.assertEqual(set(row), {"code", "severity", "place", "proof"})
            self.assertIn(row["severity"], ("warning", "error"))
            self.assertRegex(row["place"], r"policy\.yaml:\d+:\d+$")
            self.assertTrue({"dead", "call", "text"} & set(row["proof"]), row)
        return seen.code, [(row["code"], int(row["place"].split(":")[-2])) for row in rows]

    # WB-62
    def test_what_comes_with_the_program_has_no_finding(self):
        gallery = [row["id"] for row in self.good("policy", "gallery", "--json").lines()]
        for name in SHIPPED + ["gallery:" + name for name in gallery]:
            self.assertEqual(self.good("policy", "lint", name, "--fail-on", "warning", "--json").out, "", name)
        for file in (ROOT / "examples/rules").glob("*.yaml"):
            if "version:" in file.read_text() and not file.name.endswith(".cases.yaml"):
                self.assertEqual(self.good("policy", "lint", file, "--fail-on", "warning", "--json").out, "", file)

    # WB-63: a dead tier row, an agent that the policy refuses, a pattern that matches nothing, a shadowed check, a scope without a tool
    def test_five_faults_are_five_findings(self):
        policy = """version: 1
tools: [{tool: look_up, tier: observe, class: none}]
autonomy:
  agent_id: deploy-bot
  tier: act_with_approval
  action_tiers: {look_up: act_auto}
  agent_tiers: {ghost: act_auto}
guardrails:
  checks:
    - {type: regex, stage: tool_use, id: none, patterns: ['[^\\s\\S]']}
    - {type: regex, stage: output, id: wide, patterns: [AKIA, ghp_]}
    - {type: regex, stage: output, id: narrow, patterns: [ghp_]}
    - {type: regex, stage: tool_use, id: scope, tools: [no_such_tool_anywhere], patterns: [x]}
"""
        code, found = self.lint(policy)
        self.assertEqual(sorted(found, key=lambda row: row[1]), [("observe_tier", 6), ("unknown_agent", 7), ("matches_nothing", 10), ("covered", 12), ("unknown_tool", 13)])
        self.assertEqual(code, 0)
        self.assertEqual(self.lint(policy, "--fail-on", "warning")[0], 1)

    # WB-63
    def test_each_kind_of_fault_is_found_and_its_good_neighbour_is_not(self):
        head = "version: 1\nautonomy: {tier: act_with_approval}\n"
        check = head + "guardrails: {checks: [%s]}\n"
        people = ", ".join('{name: %s, token: "sha256:%s", roles: [approver]}' % (name, digit * 64) for name, digit in (("ann", "0"), ("bob", "1")))
        two = head + "approvals: {reviewers: [" + people + "], %s}\n"
        for faulty, good, code in [
                (check % "{type: regex, stage: output, patterns: ['[\\s\\S]']}", check % "{type: regex, stage: output, patterns: ['[\\s]']}", "matches_everything"),
                (check % "{type: regex, stage: output, patterns: ['a\\bb']}", check % "{type: regex, stage: output, patterns: ['a\\b']}", "matches_nothing"),
                (check % "{type: regex, stage: output, patterns: [ab], except: ['[^\\s\\S]']}", check % "{type: regex, stage: output, patterns: [ab], except: [abc]}", "matches_nothing"),
                (check % "{type: regex, stage: output, patterns: [ab, cd, ab]}", check % "{type: regex, stage: output, patterns: [ab, cd, aB]}", "covered"),
                (check % "{type: regex, stage: output, patterns: ['AKIA[A-Z0-9]{16}', 'AKIA', cd]}",
                 check % "{type: regex, stage: output, on_fail: redact, patterns: ['AKIA[A-Z0-9]{16}', 'AKIA', cd]}", "covered"),
                (check % "{type: regex, stage: output, id: a, patterns: ['k[0-4]', 'k[5-9]']}, {type: regex, stage: output, id: b, patterns: ['k[0-9]x']}",
                 check % "{type: regex, stage: output, id: a, patterns: ['k[0-4]', 'k[6-9]']}, {type: regex, stage: output, id: b, patterns: ['k[0-9]x']}", "covered"),
                # Several patterns cover it together, but none of them alone.
                (check % "{type: regex, stage: output, patterns: ['k[0-4]', 'k[5-9]', 'k[0-9]x']}",
                 check % "{type: regex, stage: output, patterns: ['k[0-4]', 'k[6-9]', 'k[0-9]x']}", "covered"),
                (check % "{type: regex, stage: output, id: a, patterns: ['k[0-4]']}, {type: regex, stage: output, id: b, patterns: ['k[0-9]x']}, {type: regex, stage: output, id: c, patterns: ['k[5-9]']}",
                 check % "{type: regex, stage: output, id: a, patterns: ['k[0-4]']}, {type: regex, stage: output, id: b, patterns: ['k[0-9]x']}, {type: regex, stage: output, id: c, on_fail: log, patterns: ['k[5-9]']}", "covered"),
                (check % "{type: blocklist, stage: output, words: [badge, bad], whole_word: false}", check % "{type: blocklist, stage: output, words: [badge, bad], whole_word: true}", "covered"),
                (head + "rules: [{id: a, then: ask, when: {class: git.push, agent: claude-code}}, {id: b, then: ask, when: {class: git.push}}]\n",
                 head + "rules: [{id: a, then: ask, when: {class: git.push}}, {id: b, then: ask, when: {class: git.discard}}]\n", "covered"),
                (head + "rules: [{id: a, then: allow, when: {class: git.push}}, {id: b, then: deny, when: {class: git.push}}]\n",
                 head + "rules: [{id: a, then: allow, when: {class: git.push}}, {id: b, then: log, when: {class: git.push}}]\n", "shadowed"),
                # Several rules cover it together, but none of them alone.
                (head + "rules: [{id: a, then: ask, when: {class: git.push}}, {id: b, then: ask, when: {class: [git.push, git.discard], agent: [x, y]}}, {id: c, then: ask, when: {class: git.discard}}]\n",
                 head + "rules: [{id: a, then: ask, when: {class: git.push}}, {id: b, then: ask, when: {class: [git.push, git.discard], agent: [x, y]}}, {id: c, then: ask, when: {class: git.discard, agent: z}}]\n", "covered"),
                (head + "rules: [{id: a, then: ask, when: {class: fs.delete, recursive: true}}, {id: b, then: ask, when: {class: fs.delete, recursive: false}}, {id: c, then: ask, when: {class: fs.delete, inside: /srv}}]\n",
                 head + "rules: [{id: a, then: ask, when: {class: fs.delete, recursive: true}}, {id: c, then: ask, when: {class: fs.delete, inside: /srv}}]\n", "covered"),
                (head + "rules: [{id: a, then: deny, when: {class: git.push}}, {id: b, then: allow, when: {class: [git.push, git.discard]}}, {id: c, then: ask, when: {class: git.discard}}]\n",
                 head + "rules: [{id: a, then: deny, when: {class: git.push}}, {id: b, then: allow, when: {class: [git.push, git.discard, git.write]}}, {id: c, then: ask, when: {class: git.discard}}]\n", "shadowed"),
                ("version: 1\nautonomy: {tier: act_auto, ceiling: act_with_approval, agent_tiers: {bob: act_auto}}\n",
                 "version: 1\nautonomy: {tier: shadow, ceiling: act_with_approval, agent_tiers: {bob: act_auto}}\n", "idle_tier"),
                ("version: 1\nautonomy: {tier: act_auto, action_tiers: {no_such_action_at_all: shadow}}\n",
                 "version: 1\nautonomy: {tier: act_auto, action_tiers: {fs.write: shadow, write_file: shadow}}\n", "unreachable_tier"),
                # An exception that every text matches leaves nothing to find, and a wildcard for every tool finds each of them.
                (check % "{type: regex, stage: output, patterns: [ab], except: ['[\\s\\S]+']}", check % "{type: regex, stage: output, patterns: [ab], except: ['[^b]+']}", "matches_everything"),
                (check % "{type: tool_pattern, stage: tool_use, tools: ['*']}", check % "{type: tool_pattern, stage: tool_use, tools: ['*_file']}", "matches_everything"),
                ("version: 1\nautonomy: {tier: act_with_approval, requires_human: true, agent_tiers: {bob: act_auto}}\n",
                 "version: 1\nautonomy: {tier: suggest, requires_human: true, agent_tiers: {bob: act_auto}}\n", "idle_tier"),
                # Tiers see the class of the tool, not the effects of a command.
                ("version: 1\nautonomy: {tier: act_auto, action_tiers: {package.install: shadow}}\n",
                 "version: 1\ntools: [{tool: add, class: package.install}]\nautonomy: {tier: act_auto, action_tiers: {package.install: shadow}}\n", "unreachable_tier"),
                ("version: 1\nautonomy: {tier: act_auto, requires_human_actions: [fs.wirte]}\n",
                 "version: 1\nautonomy: {tier: act_auto, requires_human_actions: [fs.write]}\n", "unreachable_tier"),
                (head + "scopes: [{for: {agent: x}, autonomy: {action_tiers: {no_such_action_at_all: shadow}}}]\n",
                 head + "scopes: [{for: {agent: x}, autonomy: {action_tiers: {fs.write: shadow}}}]\n", "unreachable_tier"),
                (two % "dual_control: [fs.wirte]", two % "dual_control: [fs.write]", "unreachable_tier"),
                (two % "quorum: 1" + "rules: [{id: a, then: ask, when: {class: git.push}, quorum: 3}]\n",
                 two % "quorum: 1" + "rules: [{id: a, then: ask, when: {class: git.push}, quorum: 2}]\n", "quorum"),
                (two % "quorum: 1" + "rules: [{id: a, then: ask, when: {class: git.push}, reviewers: [zed]}]\n",
                 two % "quorum: 1" + "rules: [{id: a, then: ask, when: {class: git.push}, reviewers: [ann, zed]}]\n", "quorum"),
                (head + "rules: [{id: a, then: ask, when: {class: git.push}, reviewers: [ann], quorum: 2}]\n",
                 head + "rules: [{id: a, then: ask, when: {class: git.push}, reviewers: [ann, bob], quorum: 2}]\n", "quorum")]:
            with self.subTest(faulty=faulty):
                seen = self.cli("policy", "lint", self.write("policy.yaml", faulty), "--json")
                if seen.code == 1 and seen.out == "":
                    self.assertIn("policy.yaml", seen.err)  # refused at load, with its position
                    continue
                self.assertEqual([row[0] for row in self.lint(faulty)[1]], [code])
                self.assertEqual(self.lint(good), (0, []))
        self.assertEqual(self.cli("policy", "lint", self.folder / "nothing.yaml").code, 1)


if __name__ == "__main__":
    unittest.main()
