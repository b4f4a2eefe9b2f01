#!/usr/bin/env python3
"""Runs the recipes of the pages for operators and users unchanged, with the test's names in place of the page's."""
import json
import os
import re
import subprocess
import unittest

from document_support import ROOT, DocumentTest, blocks
from mcp_peers_test import PEERS
from mcp_support import LEGACY

CALL = "call-00002"


class Recipes(DocumentTest):
    def verifier_key(self):
        return self.shell("sallyport keys show | tail -n 1 | cut -d' ' -f1").strip()

    # The tested program replaces the one that `make` would build. `make test` runs this test.
    def test_make_run_shows_the_demo_and_an_agent(self):
        run, test = self.block("README.md", "make run").splitlines()
        (self.folder / "examples").symlink_to(ROOT / "examples")
        shown = self.shell(run.replace("make run", f"make -f {ROOT}/Makefile --old-file build run"))
        for words in ("1. ten calls", "6. one byte of a copy of the file is changed", "$ sallyport agent run", "agent:tidy"):
            self.assertIn(words, shown)
        self.assertIn("tools/run-tests.sh", self.shell(test.replace("make test", f"make -f {ROOT}/Makefile --dry-run test")))

    def test_the_tool_server_of_the_readme_behind_the_gate(self):
        PEERS.need()
        notes = self.home / "notes"
        notes.mkdir()
        (notes / "a.txt").write_text("from the notes")
        (self.folder / "node_modules").symlink_to(PEERS.modules)
        command, listing = self.block("README.md", "sallyport mcp --policy ask-before-effects").splitlines()[:2]
        gate = subprocess.Popen(["bash", "-c", command], env=self.env, cwd=self.folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)
        for close in (gate.wait, gate.kill, gate.stdout.close, gate.stdin.close):
            self.addCleanup(close)
        for message in ({"id": 1, "method": "initialize", "params": {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
                        {"method": "notifications/initialized"},
                        {"id": 2, "method": "tools/call", "params": {"name": "read_text_file", "arguments": {"path": str(notes / "a.txt")}}},
                        {"id": 3, "method": "tools/call", "params": {"name": "write_file", "arguments": {"path": str(notes / "b.txt"), "content": "x"}}}):
            gate.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            gate.stdin.flush()
        read = next(json.loads(line) for line in gate.stdout if json.loads(line).get("id") == 2)
        self.assertIn("from the notes", json.dumps(read))
        waits = f"until {listing.split('#')[0].strip()} | grep -q write_file; do sleep 0.2; done"
        self.shell(waits, timeout=90)
        self.assertFalse((notes / "b.txt").exists())

    def test_the_agent_without_a_network(self):
        command = self.block("docs/agent.md", '--policy starter "Tidy up"')
        shown = self.shell(f"cp -r {ROOT}/examples . && {command}")
        self.assertRegex(shown, "finished|done|tidy")
        self.assertIn("agent:tidy", self.shell("sallyport ledger calls"))
        self.assertIn("tool_execution_started", self.shell(self.block("docs/events.md", "ledger show --kind event")))

    def test_completion_of_the_command_line_page(self):
        self.shell("mkdir -p ~/.config/fish/completions ~/.zfunc")
        self.assertIn("sallyport", self.shell(self.block("docs/cli.md", "sallyport completion bash", "") + "complete -p sallyport"))
        for name in (".config/fish/completions/sallyport.fish", ".zfunc/_sallyport"):
            self.assertIn("ledger", (self.home / name).read_text(), name)

    def test_a_receipt_is_checked_as_the_page_about_the_library_says(self):
        self.make_ledger()
        verify = self.block("docs/embedding.md", "sallyport verify receipt.json").replace("VKEY", self.verifier_key())
        self.assertTrue(self.shell(f"sallyport ledger receipt call-00001 --out receipt.json\n{verify}").endswith("verified\n"))

    # CG-57 (partly)
    def test_grants_are_issued_narrowed_and_revoked_as_the_page_says(self):
        for name, text in re.findall(r"as `([\w.]+)`:\n\n```json\n(.*?)```", (ROOT / "docs/grants.md").read_text(), re.DOTALL):
            self.write(name, text)
        scripts = blocks("docs/grants.md", "sh")
        self.assertEqual(len(scripts), 5)
        for script in scripts:
            self.shell(script)

    def test_filters_of_records(self):
        self.make_ledger()
        for line in self.block("docs/audit.md", "--outcome blocked").splitlines():
            line = line.replace("--session s-1", "--session session-0").replace("--outcome blocked", "--outcome completed").replace("--tool transfer", "--tool read_file")
            self.shell(line)

    def test_the_command_line_page_on_one_ledger(self):
        self.make_ledger()
        first, second = self.commands("docs/cli.md", "ledger tial")
        self.assertIn("is not a time", self.shell(first + " 2>&1", code=64))
        self.assertIn("did you mean `sallyport ledger tail`", self.shell(second + " 2>&1", code=64))
        (tail,) = self.commands("docs/cli.md", "ledger tail -n 2 --tool write_file")
        self.assertEqual(self.shell(tail).count("write_file"), 2)
        (check,) = self.commands("docs/cli.md", "policy check examples/guardrails/policy.yaml")
        self.assertIn("is valid, `support-desk`", self.shell(f"cd {ROOT} && {check}"))
        receipt = "\n".join(self.commands("docs/cli.md", "ledger receipt call-00001"))
        self.assertTrue(self.shell(receipt).endswith("verified\n"))
        proof = "\n".join(self.commands("docs/cli.md", "ledger proof 2 8"))
        self.assertTrue(self.shell(proof).endswith("verified\n"))
        gallery = "\n".join(self.commands("docs/cli.md", "policy gallery secrets > guardrails.json")).replace("| head -n 3", "> list; head -n 3 list")
        self.assertIn("secrets", self.shell(gallery))
        self.assertIn("checks", json.loads((self.folder / "guardrails.json").read_text()))
        erase, hold, prune = self.commands("docs/cli.md", "ledger erase --call call-00002")
        self.assertIn("/body/requested_input", self.shell(erase))
        self.assertIn("hold case-7 set", self.shell(hold))
        self.assertIn("lift it first", self.shell(f"! {prune} 2>&1"))
        (doctor,) = self.commands("docs/cli.md", "fail signing.key")
        self.assertIn("ok", self.shell(doctor + " || true"))
        self.shell('chmod 0644 "$SALLYPORT_DATA_DIR/keys/signing.key"')
        self.assertRegex(self.shell(f"! {doctor}"), "signing.key.*has mode 0644, other users can read it; chmod 0600")

    def test_backup_and_checkpoints_of_operations(self):
        self.make_ledger(60)
        self.assertIn("verified", self.shell(self.block("docs/operations.md", "VACUUM INTO 'backup/ledger.db'")))
        self.shell(self.block("docs/operations.md", ".backup backup/ledger.db"))
        kept = self.block("docs/operations.md", "ledger checkpoint > kept.note")
        self.assertIn("verified", self.shell(kept))
        key = self.verifier_key()
        for script in (self.block("docs/operations.md", "ledger verify log.jsonl"), self.block("docs/operations.md", "verify --consistency proof.11")):
            # Only the sizes after a commit have a checkpoint: here that is 99.
            script = script.replace("VKEY", key).replace("11 100", "11 99").replace("proof.100", "proof.99")
            self.assertIn("verified", self.shell(script))

    def test_keys_erasing_holds_and_pruning_of_operations(self):
        self.make_ledger()
        old = self.verifier_key()
        said = self.shell(self.block("docs/operations.md", "keys rotate\n"))
        rotation = next(line.strip() for line in said.splitlines() if "--out rotation.json" in line)
        verify = self.block("docs/operations.md", "--rotation rotation.json").replace("OLD_VKEY", old)
        self.assertIn("verified", self.shell(f"{rotation}\nsallyport ledger receipt call-00001 --out receipt.json\n{verify}"))
        hold, erase = self.block("docs/operations.md", "--id case-17 --call CALL").replace("CALL", CALL).splitlines()
        self.assertIn("lift it first", self.shell(f"{hold}\n! {erase} 2>&1"))
        self.assertIn("erased values", self.shell(self.block("docs/operations.md", "hold lift case-17").replace("CALL", CALL)))
        self.shell(self.block("docs/operations.md", "ledger prune --before 5"))
        self.assertIn("pruned", self.shell("sallyport ledger show --kind control --json"))
        said = self.shell(self.block("docs/operations.md", "keys rotate --compromised"))
        number = re.search(r"ledger receipt (\d+)", said)
        if number:  # a receipt of that rotation does not help
            refused = self.shell(f"sallyport ledger receipt {number[1]} --out rotation.json; ! sallyport verify receipt.json --key '{old}' --rotation rotation.json")
            self.assertNotIn("\nverified", refused)

    def test_a_call_is_explained_and_a_ledger_verified_as_the_command_line_page_says(self):
        """The page shows `...` for parts that differ from run to run."""
        command, *shown = self.block("docs/cli.md", "$ sallyport policy explain '{", "").splitlines()
        said = self.shell(f"! {command.removeprefix('$ ')}").splitlines()
        self.assertEqual(len(said), len(shown), said)
        for line, wanted in zip(said, shown):
            self.assertRegex(line, "^" + ".*".join(map(re.escape, wanted.split("..."))) + "$")
        self.make_ledger()
        command, *shown = self.block("docs/cli.md", "unknown_outcome  call call-00003", "").splitlines()
        said = self.shell(command.removeprefix("$ "))
        self.assertEqual([line.split()[0] for line in said.splitlines()][:3], [line.split()[0] for line in shown][:3])
        self.assertTrue(said.endswith("verified\n"))
        (tail,) = self.commands("docs/mcp.md", "ledger tail -n 1 --kind tool_audit")
        self.assertIn("tool_audit", self.shell(tail))

    def test_the_doctor_damage_and_a_restored_backup_of_operations(self):
        self.make_ledger(18)
        self.assertIn("ok", self.shell(self.block("docs/operations.md", "sallyport doctor\n")))
        self.assertIn("verified", self.shell(self.block("docs/operations.md", "sallyport ledger verify\n")))
        self.shell('sqlite3 "$SALLYPORT_DATA_DIR/ledger.db" "VACUUM INTO \'earlier.db\'" && sallyport ledger hold add --id one --call call-00002 --reason r')
        self.shell('rm -f "$SALLYPORT_DATA_DIR"/ledger.db-* && cp earlier.db "$SALLYPORT_DATA_DIR/ledger.db"')
        self.assertIn("it was cut back", self.shell("! sallyport ledger hold add --id two --call call-00002 --reason r 2>&1"))
        self.shell(self.block("docs/operations.md", "ledger acknowledge --reason"))
        self.shell("sallyport ledger hold add --id two --call call-00002 --reason r && sallyport ledger verify")

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files to other accounts")
    def test_the_system_set_up_below_a_folder(self):
        """`--root` writes the files of an image; tests/security/system_setup_test.py covers a machine with accounts and a service."""
        _, rehearse, install = self.block("docs/operations.md", "setup --system --dry-run").splitlines()
        root = self.folder / "image"
        (root / "etc").mkdir(parents=True)
        for name in ("passwd", "group"):
            (root / "etc" / name).write_text("root:x:0:0:root:/root:/bin/sh\n" if name == "passwd" else "root:x:0:\n")
        said = {}
        for line in (rehearse, install):
            command = line.split("#")[0].strip().replace("sudo /usr/local/bin/sallyport", "sallyport") + f" --root {root}"
            said[line] = self.shell(command)
            self.assertEqual((root / "etc/sallyport/sallyport.yaml").exists(), line is install, said[line])
        page = (ROOT / "docs/operations.md").read_text()
        for path in re.findall(r"^\| `(/etc/[^`]+)` \|", page, flags=re.MULTILINE):
            self.assertTrue((root / path.lstrip("/")).exists(), path)

    def test_streams_of_guardrails(self):
        stream = self.block("docs/guardrails.md", "guard stream --config gallery:secrets", "console")
        command, *shown = stream.splitlines()
        # A command's exit code shows that it found something.
        self.assertEqual(self.shell(f"{command.removeprefix('$ ')} || true").splitlines(), shown)
        text = self.block("docs/guardrails.md", "cat message.jsonl", "console")
        parts = re.split(r"^\$ .*\n", text, flags=re.MULTILINE)
        self.write("aws.json", parts[1])
        self.write("message.jsonl", parts[2])
        run = self.commands("docs/guardrails.md", "cat message.jsonl", "console")[2]
        self.assertEqual(self.shell(f"{run} || true"), parts[3])

    def test_rules_are_checked_explained_and_tested_as_the_page_says(self):
        check, explain = self.commands("docs/rules.md", "--fail-on warning")
        self.write("policy.yaml", self.block("docs/rules.md", "name: mine", "yaml"))
        self.shell(check)
        self.assertIn("Blocked by rule", self.shell(f"! {explain}"))
        (test,) = self.commands("docs/rules.md", "policy test examples/rules/policy.yaml", "console")
        self.shell(f"cd {ROOT} && {test}")

    def test_a_hook_is_set_up_and_the_doctor_looks_at_it(self):
        (init,) = self.commands("docs/coding-agents.md", "sallyport init --agent claude-code")
        shown = self.shell(init)
        for line in self.block("docs/coding-agents.md", "$ sallyport init --agent claude-code", "").splitlines()[2:]:
            self.assertIn(line.strip(), shown)
        self.assertIn("hook of claude-code", self.shell("sallyport doctor || true"))

    # The page once showed a word that the doctor does not print.
    def test_the_doctor_says_that_codex_does_not_trust_the_hook(self):
        self.shell("sallyport init --agent codex")
        command, _, shown = self.block("docs/coding-agents.md", "hook of codex", "").splitlines()
        self.assertIn(shown, self.shell(f"! {command.removeprefix('$ ')}").splitlines())

    def test_calls_are_backtested_as_the_page_says(self):
        self.make_ledger()
        self.write("next.yaml", "version: 1\nautonomy: {tier: act_auto}\n")
        (command,) = self.commands("docs/explaining.md", "policy backtest next.yaml")
        shown = self.shell(command.replace(",undecided:5", ""))
        for name in ("calls", "undecided", "reproduced", "same"):
            self.assertIn(name, shown)

    def test_the_page_that_verifies_comes_out_of_the_program(self):
        self.shell(self.block("docs/console.md", "verify --page > verify.html", "bash"))
        self.assertIn("<html", (self.folder / "verify.html").read_text()[:2000].lower())

    def test_formats_are_checked_with_common_tools(self):
        script = "".join(blocks("docs/formats.md", "bash"))
        expected = [line.removeprefix("# ").strip() for line in script.splitlines() if line.startswith("# ")]
        shown = self.shell(f"cd {ROOT}\n" + script.replace("build/bin/sallyport", "sallyport"))
        self.assertEqual([line.strip() for line in shown.splitlines()], expected)


if __name__ == "__main__":
    unittest.main()
