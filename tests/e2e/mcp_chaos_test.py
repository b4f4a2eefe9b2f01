#!/usr/bin/env python3
"""Servers that die, lie, flood and stall: the gate keeps running, and every call ends in one record."""
import os
import pathlib
import time
import unittest

from mcp_support import PATIENCE, McpTest, alive

CALLS = int(os.environ.get("SALLYPORT_CHAOS_CALLS", "500"))


class Chaos(McpTest):
    # AU-17 AU-28
    def test_a_server_that_dies_in_the_middle_is_started_again(self):
        pids = self.folder / "pids"
        client = self.client(env={"FAKE_NOTE_PIDS": pids})
        client.open()
        for tool, code in (("die", 3), ("die_before", 4)):
            result = client.result(tool)
            self.assertTrue(result["isError"])
            self.assertIn(f"exit code {code}", result["content"][0]["text"])
        self.assertEqual(client.said("echo", {"message": "back"}), "back")
        client.close()
        self.assertEqual(len(pids.read_text().split()), 3)
        ends = {r["tool_name"]: r for r in self.one_end_for_each_call(3)}
        self.assertEqual(ends["die"]["effect_state"], "unknown")

    def test_requests_in_flight_are_answered_when_the_server_dies(self):
        client = self.client()
        client.open()
        id = client.ask("resources/templates/list", {"never": True})
        client.call("die")
        self.assertIn("the server ended", client.answer(id)["error"]["message"])

    def test_garbage_wrong_ids_and_second_answers_harm_nobody(self):
        client = self.client()
        client.open()
        self.assertEqual(client.said("garbage"), "after the garbage")
        self.assertEqual(client.said("wrong_id"), "the right one")
        self.assertEqual(client.said("twice"), "first")
        self.assertEqual(client.said("half_line"), "in two pieces")
        self.assertEqual(client.said("spoof_progress"), "spoofed")
        self.assertEqual(client.said("echo", {"message": "x"}), "x")
        client.wait_for_error("an answer to no open request")
        client.wait_for_error("something that is not a message")
        client.close()
        self.one_end_for_each_call(6)

    def test_calls_that_have_not_ended_hold_no_more_than_there_is_room_for(self):
        client = self.client()
        client.open()
        def ask(tool, arguments):
            return client.ask("tools/call", {"name": tool, "arguments": arguments})
        client.said("echo", {"message": "opened"})
        ask("slow", {"seconds": 600})
        text = "x" * (15 << 20)
        for _ in range(4):
            ask("echo", {"message": text})
        refused = client.answer(ask("echo", {"message": text}))
        self.assertEqual(refused["error"]["code"], -31429)
        client.process.kill()

    # PI-85
    def test_an_answer_that_cannot_be_read_is_withheld(self):
        client = self.client()
        client.open()
        for tool in ("duplicate_keys", "deep"):
            result = client.result(tool)
            self.assertTrue(result["isError"])
            self.assertIn("upstream sent malformed output", result["content"][0]["text"])
        client.close()
        ends = self.one_end_for_each_call(2)
        self.assertEqual([r["outcome"]["result"]["output"] for r in ends], ["upstream sent malformed output"] * 2)

    def test_a_flood_passes_and_the_answer_comes_behind_it(self):
        client = self.client()
        client.open()
        self.assertEqual(client.result("flood", {"count": 20000}, timeout=280)["content"][0]["text"], "flooded")
        self.assertEqual(len([m for m in client.kept if m.get("method") == "notifications/message"]), 20000)
        client.close()
        self.one_end_for_each_call(1)

    # PI-85
    def test_a_result_as_large_as_a_message_may_be(self):
        client = self.client()
        client.open()
        size = 4 << 20
        self.assertEqual(len(client.result("huge", {"bytes": size}, timeout=280)["content"][0]["text"]), size)
        too_large = client.result("huge", {"bytes": (16 << 20) + 1}, timeout=280)
        self.assertTrue(too_large["isError"])
        self.assertIn("malformed", too_large["content"][0]["text"])
        self.assertEqual(client.said("echo", {"message": "x"}), "x")
        client.close()
        self.one_end_for_each_call(3)

    def test_a_server_that_stalls_holds_up_nobody_else(self):
        client = self.client()
        client.open()
        client.ask("tools/call", {"name": "stall", "arguments": {}})
        self.assertEqual(client.said("echo", {"message": "x"}), "x")
        begin = time.monotonic()
        self.assertEqual(client.close(), 0)
        self.assertLess(time.monotonic() - begin, 60)
        ends = {r["tool_name"]: r for r in self.one_end_for_each_call(2)}
        self.assertEqual(ends["stall"]["outcome"]["result"]["output"], "cancelled")

    def test_answers_on_their_way_still_arrive_when_the_client_has_closed_its_end(self):
        client = self.client()
        client.open()
        id = client.ask("tools/call", {"name": "slow", "arguments": {"seconds": 0.2}})
        client.process.stdin.close()
        self.assertEqual(client.answer(id)["result"]["content"][0]["text"], "slept")
        self.assertEqual(client.close(), 0)

    def test_no_process_is_left_behind(self):
        pids = self.folder / "pids"
        client = self.client(env={"FAKE_NOTE_PIDS": pids})
        client.open()
        client.ask("tools/call", {"name": "stall", "arguments": {}})
        client.said("echo", {"message": "x"})
        client.process.kill()
        client.process.wait()
        server = int(pids.read_text())
        end = time.monotonic() + PATIENCE
        while alive(server) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertFalse(alive(server))
        # The next process closes the open entries.
        other = self.client()
        other.open()
        other.close()
        ends = {r["tool_name"]: r for r in self.one_end_for_each_call(2)}
        self.assertEqual(ends["stall"]["effect_state"], "unknown")

    def test_a_server_that_cannot_be_started_is_said_so(self):
        client = self.client("/no/such/server")
        client.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        self.assertEqual(client.process.wait(PATIENCE), 1)
        client.wait_for_error("`/no/such/server` cannot be started")

    def test_a_server_that_never_opens_is_given_up(self):
        client = self.client(env={"FAKE_NEVER_OPENS": 1})
        id = client.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        self.assertIn("the server ended", client.answer(id)["error"]["message"])

    def test_many_calls_at_once_with_accidents_between_them_end_each_in_one_record(self):
        pids = self.folder / "pids"
        client = self.client(env={"FAKE_NOTE_PIDS": pids})
        client.open()
        self.play(client, 100)
        files, memory = self.cost(client)
        self.play(client, CALLS - 102)
        files_after, memory_after = self.cost(client)
        self.assertLessEqual(files_after, files + 2)
        self.assertLess(memory_after - memory, 64 << 10, "kB")
        self.assertEqual(client.close(), 0)
        self.one_end_for_each_call(CALLS)
        self.assertEqual([pid for pid in map(int, pids.read_text().split()) if alive(pid)], [])

    @staticmethod
    def play(client, calls):
        """Makes many calls at a time; sometimes the server dies."""
        habits = ["echo", "garbage", "twice", "wrong_id", "error", "secret", "structured", "exact", "duplicate_keys"]
        for begin in range(0, calls, 250):
            ids = []
            for i in range(begin, min(begin + 250, calls)):
                tool = "die" if i % 97 == 96 else habits[i % len(habits)]
                ids.append(client.ask("tools/call", {"name": tool, "arguments": {"message": str(i)}}))
            for id in ids:
                client.answer(id, timeout=280)

    @staticmethod
    def cost(client):
        """Returns open files and memory in kB while the server runs."""
        client.said("echo", {"message": "x"})
        process = pathlib.Path(f"/proc/{client.process.pid}")
        memory = next(line for line in (process / "status").read_text().splitlines() if line.startswith("VmRSS"))
        return len(list((process / "fd").iterdir())), int(memory.split()[1])


if __name__ == "__main__":
    unittest.main()
