#!/usr/bin/env python3
"""Tests the runbook of docs/cluster.md line by line, and `ops/compose.yaml` key by key."""
import os
import pathlib
import pwd
import queue
import re
import signal
import subprocess
import sys
import threading
import unittest

import yaml

from cli_support import BIN
from document_support import DocumentTest, blocks
from mcp_support import FAKE
from postgresql_support import PROGRAMS, Postgresql
from serve_support import ServeTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = """version: 1
data_dir: {data}
ledger:
  store: {{postgresql: "postgresql:///audit?host={hosts}&user=gateway&target_session_attrs=read-write"}}
serve:
  listen: 127.0.0.1:0
  upstreams:
    - name: fake
      command: ["{python}", "{fake}"]
"""


class Shell:
    """One shell for the whole runbook, so that jobs and variables last."""

    def __init__(self, folder, environment):
        self.process = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        cwd=folder, env=environment, text=True, start_new_session=True)
        self.heard = queue.Queue()
        threading.Thread(target=self.hear, daemon=True).start()

    def hear(self):
        for line in self.process.stdout:
            self.heard.put(line)

    def run(self, line):
        """Returns exit code and output."""
        self.process.stdin.write(f"{line}\necho \"@@@$?\"\n")
        self.process.stdin.flush()
        said = ""
        while "@@@" not in said:
            try:
                said += self.heard.get(timeout=90)
            except queue.Empty:
                raise AssertionError(f"{line}: it does not end; it said: {said}") from None
        before, _, code = said.rpartition("@@@")
        return int(code), before

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@unittest.skipIf(PROGRAMS is None, "postgresql is not installed")
class ClusterRunbookTest(ServeTest):
    def programs(self):
        """The names that the runbook uses. PostgreSQL does not run as root."""
        folder = self.folder / "bin"
        folder.mkdir()
        (folder / "sallyport").symlink_to(pathlib.Path(BIN).resolve())
        account = pwd.getpwnam("postgres")
        as_postgres = f"setpriv --reuid={account.pw_uid} --regid={account.pw_gid} --clear-groups " if os.geteuid() == 0 else ""
        for name in ("createdb", "dropdb", "psql", "pg_dump", "pg_basebackup", "pg_ctl"):
            other = as_postgres if name in ("pg_basebackup", "pg_ctl") else ""
            script = folder / name
            script.write_text(f'#!/bin/sh\nexec {other}{PROGRAMS / name} "$@"\n')
            script.chmod(0o755)
        return folder

    # SC-1, SC-46 (partly), SC-47 (partly), SC-54
    def test_the_runbook_works_as_it_stands(self):
        primary = Postgresql()
        self.addCleanup(primary.stop)
        standby = pathlib.Path(str(primary.folder) + "-standby")
        standby.mkdir()
        if os.geteuid() == 0:
            account = pwd.getpwnam("postgres")
            os.chown(standby, account.pw_uid, account.pw_gid)
        for name in ("one", "two"):
            self.write(f"{name}.yaml", CONFIG.format(data=self.folder / name, hosts=f"{primary.folder},{standby}",
                                                     python=sys.executable, fake=FAKE))
        environment = self.environment(PGHOST=primary.folder, PGUSER="owner", PRIMARY=primary.folder, STANDBY=standby)
        environment["PATH"] = f"{self.programs()}:{environment['PATH']}"
        shell = Shell(self.folder, environment)
        self.addCleanup(subprocess.run, [self.folder / "bin" / "pg_ctl", "-s", "-D", standby / "data", "-m", "immediate", "stop"],
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(shell.end)
        lines = [line for block in blocks("docs/cluster.md", "sh") for line in block.splitlines() if line]
        self.assertGreater(len(lines), 30)
        for line in lines:
            code, said = shell.run(line)
            ends = (code != 0) == line.endswith("# refused")
            # `doctor` also reports what this machine lacks; `wait` returns a gateway's exit code.
            self.assertTrue(ends or "doctor" in line or "wait" in line, f"{line}: {code} {said}")


@unittest.skipIf(PROGRAMS is None, "postgresql is not installed")
class SettingUp(DocumentTest):
    # SC-4 (partly), SC-10 (partly)
    def test_tables_are_made_by_their_owner_and_a_file_moves_into_them(self):
        database = Postgresql()
        self.addCleanup(database.stop)
        self.env.update(PATH=f"{PROGRAMS}:{self.env['PATH']}", PGHOST=str(database.folder), PGUSER="owner")
        self.shell("createdb audit\n" + self.block("docs/cluster.md", "psql audit -c 'CREATE ROLE", ""))
        self.make_ledger()

        def here(text):
            return re.sub(r"postgresql://(\w+)@\S+", rf'"postgresql:///audit?user=\1&host={database.folder}"', text)
        self.shell(here(self.block("docs/cluster.md", "ledger move --to", "")))
        self.write("shared.yaml", here(self.block("docs/cluster.md", "postgresql://gateway@", "yaml")))
        self.assertIn("verified", self.shell("sallyport ledger verify --config shared.yaml"))
        self.assertIn("outside of the project", self.shell("sallyport ledger show call-00001 --config shared.yaml"))
        self.assertIn("permission denied", self.shell("psql -U gateway audit -c 'DELETE FROM sallyport.entries' 2>&1 || true"))


@unittest.skipIf(PROGRAMS is None, "postgresql is not installed")
class ComposeTest(ServeTest):
    """All files and keys that `ops/compose.yaml` names exist."""

    SERVICE = {"image", "user", "environment", "command", "entrypoint", "configs", "volumes", "healthcheck", "working_dir",
               "depends_on", "ports", "restart"}

    def setUp(self):
        super().setUp()
        self.compose = yaml.safe_load((ROOT / "ops" / "compose.yaml").read_text())

    def test_every_key_volume_config_and_service_that_is_named_exists(self):
        self.assertLessEqual(set(self.compose), {"name", "services", "configs", "volumes"})
        for name, service in self.compose["services"].items():
            self.assertLessEqual(set(service), self.SERVICE, name)
            self.assertLessEqual(set(service.get("depends_on", {})), set(self.compose["services"]))
            for volume in service["volumes"]:
                self.assertIn(volume.split(":")[0], self.compose["volumes"])
            for config in service.get("configs", []):
                self.assertIn(config["source"], self.compose["configs"])

    def test_every_setting_of_postgresql_exists(self):
        words = self.compose["services"]["primary"]["command"]
        settings = [word.split("=")[0] for before, word in zip(words, words[1:]) if before == "-c"]
        self.assertGreater(len(settings), 1)
        known = subprocess.run([PROGRAMS / "postgres", "--describe-config"], check=True, capture_output=True, text=True,
                               **({"user": "postgres"} if os.geteuid() == 0 else {})).stdout
        names = {line.split("\t")[0] for line in known.splitlines()}
        self.assertLessEqual(set(settings), names)

    def test_the_configuration_of_the_gateways_is_one(self):
        text = self.compose["configs"]["gateway"]["content"]
        text = re.sub(r'\$\{AGENT_TOKEN_SHA256[^}]*\}', "0" * 64, text)
        text = re.sub(r'\$\{MCP_SERVER[^}]*\}', "https://tools.example.com/mcp", text)
        self.assertNotIn("$", text)
        # There is no host of that name: everything up to the database connection was accepted.
        said = self.run_bare("serve", "--config", self.write("gateway.yaml", text), "--data-dir", self.data)
        self.assertRegex(said.err, "could not translate host name|the connection to the database is lost|does not answer")


if __name__ == "__main__":
    unittest.main()
