#!/usr/bin/env python3
"""Tests the tools of our own agent through the real program, and their call records."""
import re
import signal
import unittest

from agent_support import AgentTest, call


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


class Tools(AgentTest):
    def texts(self):
        return [text for role, text in self.said() if role == "tool"]

    # RT-26 (partly), RT-36, RT-38
    def test_a_file_is_written_and_edited_and_the_record_holds_what_was_prepared(self):
        self.run_agent([{"calls": [call("write_file", path="a.txt", content="one\n")]},
                        {"calls": [call("edit_file", path="a.txt", old="one", new="two")]}, {"text": "done"}])
        self.assertEqual((self.work / "a.txt").read_text(), "two\n")
        edit = self.records()[1]
        self.assertEqual(edit["outcome"]["kind"], "completed")
        snapshot = edit["effective_input"]["prepared_snapshot"]
        self.assertEqual(set(snapshot), {"path", "before_sha256", "after_sha256", "diff"})
        self.assertIn("-one\n+two\n", snapshot["diff"])

    # RT-29, RT-32, EV-42
    def test_a_path_outside_is_refused_and_on_record(self):
        self.run_agent([{"calls": [call("read_file", path="../agent.json"),
                                   call("write_file", path="../x", content="x")]}, {"text": "done"}])
        denied = [payload for kind, payload in self.events() if kind == "authorization_denied"]
        self.assertEqual([(row["action"], row["detail"]) for row in denied],
                         [("read_file", "../agent.json"), ("write_file", "../x")])
        self.assertFalse((self.folder / "x").exists())

    # RT-40, RT-41, RT-44
    def test_a_command_runs_and_the_record_says_in_which_sandbox(self):
        self.run_agent([{"calls": [call("shell", command="pwd; env; exit 3")]}, {"text": "done"}], shell={})
        text = self.texts()[0]
        self.assertIn(str(self.work.resolve()), text)
        self.assertIn("PATH=", text)
        self.assertNotIn("TERM=", text, "the runtime has it, and the list does not name it")
        self.assertIn("[exit code 3]", text)
        data = self.records()[0]["outcome"]["result"]["data"]
        self.assertEqual((data["exit_code"], data["signal"], data["timed_out"]), (3, None, False))
        self.assertRegex(data["sandbox"], "landlock|seccomp|none: ")

    # RT-46, RT-50, RT-52
    def test_a_background_command_ends_with_the_process_and_its_end_is_on_record(self):
        self.run_agent([{"calls": [call("background_start", command="echo $$ > pid; echo hello; sleep 300")]},
                        {"calls": [call("shell", command="while ! test -s pid; do sleep 0.05; done")]},
                        {"text": "done"}], shell={})
        pid = int((self.work / "pid").read_text())
        self.wait_until(lambda: not is_running(pid))
        ends = [payload["status"] for kind, payload in self.events() if kind == "background_task_finished"]
        self.assertEqual(ends, ["interrupted"])
        (task,) = self.good("agent", "show", "s-1", "--json").json()["tasks"]
        self.assertEqual(task["status"], "interrupted")
        self.assertTrue(re.fullmatch(r"[0-9a-f-]{36}", task["task_id"]))

    # RT-53
    def test_a_command_dies_with_a_runtime_that_is_killed(self):
        options = self.agent([{"calls": [call("shell", command="echo $$ > pid; exec sleep 300")]}, {"text": "done"}], shell={})
        process = self.start("run", "do it", "--session", "s-1", *options)
        pid = self.work / "pid"
        self.wait_until(lambda: pid.exists() and pid.read_text().endswith("\n"))
        child = int(pid.read_text())
        self.assertTrue(is_running(child))
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.wait_until(lambda: not is_running(child))

    # RT-89
    def test_a_root_that_is_missing_is_named_and_nothing_starts(self):
        options = self.agent([{"text": "hello"}], roots=[{"path": "absent", "write": False}])
        outcome = self.cli("agent", "run", "x", *options)
        self.assertNotEqual(outcome.code, 0)
        self.assertIn("agent.roots[0]", outcome.err)
        self.assertEqual(self.kinds(), [])


if __name__ == "__main__":
    unittest.main()
