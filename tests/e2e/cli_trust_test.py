#!/usr/bin/env python3
"""Approver keys and the trust graph from outside."""
import base64
import hashlib
import json
import os
import re
import stat
import subprocess
import unittest

from cli_support import CliTest, MAKE_LEDGER
from document_support import blocks

AGENT = "deploy-bot"


def hashed(record):
    without = {name: value for name, value in record.items() if name != "entry_hash"}
    text = json.dumps(without, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def relink(records):
    previous = None
    for index, record in enumerate(records, 1):
        record["chain_index"] = index
        record["previous_hash"] = previous
        previous = record["entry_hash"] = hashed(record)
    return previous


class Trust(CliTest):
    def setUp(self):
        super().setUp()
        self.make_ledger(2)
        self.words = self.write("words", "correct horse battery\n")
        self.words.chmod(0o600)

    def init(self, name="user:ada", roles="approver, controller", register=True):
        made = self.good("approvals", "init", "--name", name, "--passphrase-file", self.words, "--json").json()
        if register:
            (self.data / "reviewers.yaml").write_text(
                f'reviewers:\n  - {{name: "{name}", key: "{made["key"]}", roles: [{roles}]}}\n')
        return made

    def change(self, verb, tier, *more):
        return ["trust", verb, AGENT, "--to", tier, "--passphrase-file", self.words, *more]

    def export(self, *more):
        return self.good("trust", "export", *more).json()

    def verify(self, document, *more):
        outcome = self.cli("trust", "verify", self.write("chain.json", json.dumps(document)), "--json", *more)
        return outcome.code, outcome.json()

    # AP-28 (partly)
    def test_init_makes_a_sealed_key_and_says_how_to_register_it(self):
        made = self.init(register=False)
        file = self.data / "approvers" / "user-ada.key"
        self.assertEqual((made["name"], made["file"]), ("user:ada", str(file)))
        self.assertEqual(len(base64.b64decode(made["key"].removeprefix("ed25519:"))), 32)
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertNotIn("correct horse", file.read_text())
        self.refused(1, "approvals", "init", "--name", "user:ada", "--passphrase-file", self.words)
        other = self.good("approvals", "init", "--name", "user:bo", "--passphrase-file", self.words)
        self.assertIn('name: "user:bo", key: "ed25519:', other.out)
        short = self.write("short", "abc")
        short.chmod(0o600)
        self.refused(64, "approvals", "init", "--name", "user:cy", "--passphrase-file", short)
        os.chmod(self.words, 0o644)
        self.refused(1, "approvals", "init", "--name", "user:dan", "--passphrase-file", self.words)

    # TR-15 TR-16 TR-18 TR-9 TR-8 (partly) LG-11 (partly)
    def test_a_person_promotes_and_demotes(self):
        self.init()
        done = self.good(*self.change("promote", "act_auto"), "--json").json()
        self.assertEqual((done["from_tier"], done["to_tier"], done["reviewer"]), ("act_with_approval", "act_auto", "user:ada"))
        score = self.good("trust", "show", AGENT, "--json").json()
        self.assertEqual(score, {
            "agent": AGENT, "action": None, "total": 1, "successes": 0, "failures": 0, "denied": 0, "timeouts": 0,
            "withheld": 0, "success_rate": None, "latest_outcome": None, "latest_timestamp": score["latest_timestamp"],
            "effective_tier": "act_auto", "policy": {"side_effect_level": "network"}})
        self.good(*self.change("demote", "shadow"))
        self.assertEqual(self.good("trust", "show", AGENT, "--json").json()["effective_tier"], "shadow")
        promoted, demoted = self.export()["records"]
        self.assertEqual((promoted["action"], promoted["approver"]), ("trust.promote", "user:ada"))
        meta = demoted["metadata"]
        self.assertEqual((meta["control"], meta["from_tier"], meta["to_tier"]), (True, "act_auto", "shadow"))
        self.assertRegex(meta["approval"]["signatures"][0]["signature"], r"^ed25519:[A-Za-z0-9+/]{86}==$")
        self.assertNotEqual(promoted["metadata"]["control_id"], meta["control_id"])
        shown = self.good("ledger", "show", "--topic", "trust_graph." + AGENT, "--json").lines()
        self.assertEqual([line["body"]["entry_hash"] for line in shown], [promoted["entry_hash"], demoted["entry_hash"]])
        self.refused(1, "ledger", "show", "--topic", "trust_graph.nobody")
        for name in ("a b", "x" * 129, "hitl/approvals"):
            self.assertIn("is not a topic", self.refused(64, "ledger", "show", "--topic", name))
        self.good("ledger", "verify")
        self.good("trust", "verify")

    # TR-15
    def test_only_a_registered_controller_who_is_not_the_agent_may(self):
        self.init(register=False)
        self.assertIn("user:ada", self.refused(1, *self.change("promote", "act_auto")))
        wrong = self.write("wrong", "another passphrase\n")
        wrong.chmod(0o600)
        key = self.data / "approvers" / "user-ada.key"
        self.refused(1, "trust", "promote", AGENT, "--to", "act_auto", "--passphrase-file", wrong)
        name = json.loads(key.read_text())
        (self.data / "reviewers.yaml").write_text(
            f'approvals:\n  reviewers:\n  - {{name: "user:ada", key: "{name["key"]}", roles: [approver]}}\n')
        self.assertIn("controller", self.refused(1, *self.change("promote", "act_auto")))
        key.unlink()
        self.init(name=AGENT)
        self.assertIn("own tier", self.refused(1, *self.change("promote", "act_auto")))
        self.assertEqual(self.export()["records"], [])

    # A refused promotion once left no trace.
    # TR-17
    def test_a_refused_change_of_a_tier_is_recorded(self):
        self.init(register=False)
        key = json.loads((self.data / "approvers" / "user-ada.key").read_text())["key"]

        def register(name, roles):
            (self.data / "reviewers.yaml").write_text(f'reviewers:\n  - {{name: "{name}", key: "{key}", roles: [{roles}]}}\n')

        wrong = self.write("wrong", "another passphrase\n")
        wrong.chmod(0o600)
        register("user:bo", "controller")
        self.refused(1, *self.change("promote", "act_auto"))
        register("user:ada", "approver")
        self.refused(1, *self.change("promote", "act_auto"))
        register("user:ada", "controller")
        self.refused(1, "trust", "promote", AGENT, "--to", "act_auto", "--passphrase-file", wrong)
        self.refused(1, "trust", "demote", "user:ada", "--to", "shadow", "--passphrase-file", self.words)
        refused = [line["body"] for line in self.good("ledger", "show", "--kind", "control", "--json").lines()
                   if line["body"]["control"] == "refused_control"]
        self.assertEqual([body["what"] for body in refused], ["trust promote"] * 3 + ["trust demote"])
        for body, cause in zip(refused, ("is not registered", "is not registered as controller", "does not open", "own tier")):
            self.assertIn(cause, body["cause"])

    # TR-15
    def test_a_change_goes_the_way_it_says(self):
        self.init()
        self.refused(1, *self.change("promote", "suggest"))
        self.refused(1, *self.change("demote", "act_auto"))
        self.refused(64, *self.change("promote", "king"))
        self.good(*self.change("promote", "suggest", "--declared", "shadow"))

    # TR-17 AP-29
    def test_what_an_agent_started_is_refused_and_recorded(self):
        self.init()
        env = self.environment(SALLYPORT_AGENT="agent:coder")
        for words in (self.change("promote", "act_auto"), ["approvals", "init", "--name", "user:eve", "--passphrase-file", self.words]):
            self.assertIn("agent:coder", self.refused(1, *words, env=env))
        controls = [row["body"] for row in self.good("ledger", "show", "--kind", "control", "--json").lines()]
        refused = [body for body in controls if body["control"] == "refused_control"]
        self.assertEqual([body["what"] for body in refused], ["trust promote", "approvals init"])
        self.assertEqual(refused[0]["agent"], "agent:coder")
        self.assertEqual(self.export()["records"], [])

    # TR-20 TR-23 TR-2
    def test_an_export_is_what_others_verify(self):
        empty = self.export()
        self.assertEqual((empty["schema"], empty["records"]), ("opentrustgraph-chain/v0", []))
        self.assertEqual((empty["chain"]["total"], empty["chain"]["root_hash"], empty["chain"]["verified"]), (0, None, True))
        self.assertEqual(self.verify(empty)[0], 0)
        self.init()
        self.good(*self.change("promote", "act_auto"))
        self.good(*self.change("demote", "suggest"))
        document = self.export()
        chain = document["chain"]
        self.assertEqual(set(chain), {"topic", "total", "root_hash", "verified", "generated_at", "producer"})
        self.assertEqual((chain["topic"], chain["total"], chain["verified"]), ("trust_graph", 2, True))
        self.assertEqual(chain["producer"]["name"], "sallyport")
        self.assertEqual([record["chain_index"] for record in document["records"]], [1, 2])
        for record in document["records"]:
            self.assertEqual(len(record), 14)
            self.assertEqual(record["entry_hash"], hashed(record))
        self.assertEqual(chain["root_hash"], document["records"][1]["entry_hash"])
        prefix = self.export("--limit", 1)
        self.assertEqual((prefix["chain"]["total"], prefix["chain"]["root_hash"]), (1, document["records"][0]["entry_hash"]))
        self.assertEqual(self.verify(prefix)[0], 0)
        target = self.folder / "out.json"
        self.good("trust", "export", "--out", target)
        self.assertEqual(json.loads(target.read_text())["records"], document["records"])

    # TR-21 TR-23
    def test_verify_names_the_first_bad_record(self):
        self.init()
        for verb, tier in (("promote", "act_auto"), ("demote", "suggest"), ("promote", "act_auto")):
            self.good(*self.change(verb, tier))
        origin = self.keys()[0].split("+")[0]
        strict = ["--reviewers", self.data / "reviewers.yaml", "--origin", origin]
        code, report = self.verify(self.export(), *strict)
        self.assertEqual((code, report["verified"], report["total"], report["errors"]), (0, True, 3, []))
        self.assertEqual(set(report), {"topic", "total", "verified", "root_hash", "broken_at_event_id", "errors"})

        def broken(change, rehash=False):
            document = self.export()
            change(document["records"])
            if rehash:
                document["chain"]["root_hash"] = relink(document["records"])
            code, report = self.verify(document, *strict)
            self.assertEqual((code, report["verified"]), (1, False))
            return report["broken_at_event_id"], report["errors"][0]

        self.assertEqual(broken(lambda r: r[1].update(trace_id="x")), (2, "record 2: entry_hash mismatch"))
        self.assertEqual(broken(lambda r: r.pop(0))[0], 1)
        self.assertEqual(broken(lambda r: r.insert(1, r[0]))[0], 2)
        self.assertEqual(broken(lambda r: r.pop())[0], 3)
        forged = broken(lambda r: r[1].update(agent="other-bot"), rehash=True)
        self.assertEqual(forged[0], 2)
        self.assertTrue(forged[1].startswith("record 2: unauthorized control"), forged)
        twice = broken(lambda r: r[2]["metadata"].update(control_id=r[0]["metadata"]["control_id"]), rehash=True)
        self.assertEqual(twice[0], 3)

    # The chain of a ledger that was pruned once never verified again.
    # LE-60 TR-20 TR-21
    def test_after_a_prune_the_chain_verifies_from_its_first_record(self):
        self.init()
        self.good(*self.change("promote", "act_auto"))
        first = self.good("ledger", "show", "--kind", "trust", "--json").lines()[-1]["entry"]["sequence"]
        self.good(*self.change("demote", "suggest"))
        self.good("ledger", "prune", "--before", first + 1, "--reason", "old", "--passphrase-file", self.words)
        self.good("ledger", "verify")
        report = self.good("trust", "verify", "--json").json()
        self.assertEqual((report["verified"], report["total"], report["errors"]), (True, 1, []))
        self.assertEqual(report["warnings"], ["records before record 2 were pruned and not checked"])
        outcome = self.cli("trust", "export")
        self.assertIn("does not verify by itself", outcome.err)
        document = outcome.json()
        self.assertEqual((outcome.code, document["chain"]["verified"], len(document["records"])), (0, False, 1))
        self.assertEqual(self.verify(document)[0], 1)

    # TR-21
    def test_a_ledger_whose_controller_is_not_registered_does_not_verify(self):
        self.init()
        self.good(*self.change("promote", "act_auto"))
        self.good("trust", "verify")
        (self.data / "reviewers.yaml").unlink()
        outcome = self.cli("trust", "verify", "--json")
        self.assertEqual(outcome.code, 1)
        self.assertIn("unauthorized control", outcome.json()["errors"][0])

    # Such an export once failed as `trust_chain` wherever nobody knew the reviewers, and with the key of another log too.
    # LE-49 LE-64
    def test_an_export_with_a_promotion_verifies_with_the_key_alone(self):
        self.init()
        self.good(*self.change("promote", "act_auto"))
        export = self.folder / "export.jsonl"
        self.good("ledger", "export", "--out", export)
        key, elsewhere = self.keys()[0], self.folder / "elsewhere"
        elsewhere.mkdir(mode=0o700)

        def verify(key, *more, data=elsewhere):
            outcome = self.run_bare("ledger", "verify", export, "--key", key, "--json", *more, "--data-dir", data)
            return outcome.code, outcome.json()

        code, report = verify(key)
        self.assertEqual((code, report["ok"], len(report["warnings"])), (0, True, 1))
        self.assertIn("was not checked for 1 promotions", report["warnings"][0])
        (elsewhere / "config.yaml").write_text("nonsense: [")
        self.assertEqual(verify(key), (code, report))
        people = self.data / "reviewers.yaml"
        self.assertEqual((verify(key, "--reviewers", people)[0], "warnings" in verify(key, "--reviewers", people)[1]), (0, False))
        stranger = self.write("others.yaml", people.read_text().replace("user:ada", "user:bo"))
        code, report = verify(key, "--reviewers", stranger)
        self.assertEqual((code, report["first_bad"]["check"]), (1, "trust_chain"))
        subprocess.run([MAKE_LEDGER, self.folder / "other", "1"], check=True, timeout=120)
        other = self.run_bare("keys", "show", "--json", "--data-dir", self.folder / "other").lines()[0]["key"]
        for data in (elsewhere, self.data):
            code, report = verify(other, data=data)
            self.assertEqual((code, report["first_bad"]["check"]), (1, "checkpoint_signature"))

    # TR-21 TR-22
    def test_numbers_are_hashed_as_they_are_written(self):
        record = ('{"action":"a","agent":"b","approver":null,"autonomy_tier":"act_auto","chain_index":1,"cost_usd":1.50,'
                  '"metadata":{},"outcome":"success","previous_hash":null,"record_id":"r","schema":"opentrustgraph/v0",'
                  '"timestamp":"2026-11-15T02:00:00Z","trace_id":"t"}')
        digest = "sha256:" + hashlib.sha256(record.encode()).hexdigest()
        chain = json.dumps({"topic": "trust_graph", "total": 1, "root_hash": digest, "producer": {"name": "other", "version": "1"}})
        text = f'{{"schema":"opentrustgraph-chain/v0","chain":{chain},"records":[{record[:-1]},"entry_hash":"{digest}"}}]}}'
        self.assertEqual(self.cli("trust", "verify", self.write("c.json", text)).code, 0)
        changed = text.replace("1.50", "1.5")
        self.assertEqual(self.cli("trust", "verify", self.write("c.json", changed)).code, 1)
        self.assertEqual(self.cli("trust", "verify", "-", stdin=text.encode()).code, 0)

    # TR-19
    def test_records_can_be_asked_for(self):
        self.init()
        self.good(*self.change("promote", "act_auto"))
        self.good(*self.change("demote", "suggest"))
        show = lambda *more: [row["action"] for row in self.good("trust", "show", "--records", "--json", *more).lines()]
        self.assertEqual(show(), ["trust.promote", "trust.demote"])
        self.assertEqual(show("--limit", 1), ["trust.demote"])
        self.assertEqual(show("--action", "trust.promote"), ["trust.promote"])
        self.assertEqual(show("--tier", "suggest"), ["trust.demote"])
        self.assertEqual(show("--outcome", "denied"), [])
        self.assertEqual(show("--since", "2100-01-01"), [])
        self.assertEqual(show("--until", "2020-01-01"), [])
        traces = self.good("trust", "show", AGENT, "--by-trace", "--json").lines()
        self.assertEqual([len(trace["records"]) for trace in traces], [1, 1])
        self.assertIn(AGENT, self.good("trust", "show").out)
        document = self.write("chain.json", json.dumps(self.export()))
        self.assertEqual(self.good("trust", "show", AGENT, "--file", document, "--json").json()["total"], 2)
        self.refused(64, "trust", "show", "--since", "yesterday")
        self.assertEqual(self.good("trust", "show", "nobody", "--json").json()["total"], 0)

    # TR-15 TR-20 TR-21
    def test_the_examples_of_the_document_are_what_happens(self):
        shown_on_page = blocks("docs/autonomy.md", "console")
        self.assertEqual(len(shown_on_page), 3)
        for block in shown_on_page:
            for command in re.split(r"^\$ sallyport ", block, flags=re.MULTILINE)[1:]:
                words, _, wanted = command.partition("\n")
                shown = self.good(*words.split()).out
                pattern = re.escape(wanted).replace(re.escape("..."), ".*")
                self.assertRegex(shown, rf"\A{pattern}\Z", words)


if __name__ == "__main__":
    unittest.main()
