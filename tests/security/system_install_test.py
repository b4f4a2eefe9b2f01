#!/usr/bin/env python3
"""Tests `sallyport setup --system` itself: the files it installs, their owners, and the removal."""
import json
import os
import pathlib
import pwd
import shutil
import stat
import unittest

from system_support import DATA, ETC, PROGRAM, RUN, Service, enter_machine, run, sallyport, setup


class Installing(unittest.TestCase):
    """`setup --system` itself."""

    def setUp(self):
        self.addCleanup(setup, "--undo", "--purge")

    def tree(self, root="/"):
        names = [ETC, DATA, RUN, pathlib.Path("/var/lib/sallyport-tools"), pathlib.Path("/etc/systemd/system/sallyport.service")]
        below = [pathlib.Path(root) / name.relative_to("/") for name in names]
        return sorted(str(path) for name in below if name.exists() for path in [name, *(name.rglob("*") if name.is_dir() else [])])

    def accounts(self):
        return {name for name in ("sallyport", "sallyport-tools") if name in {entry.pw_name for entry in pwd.getpwall()}}

    def test_what_is_installed_belongs_to_whom_it_should_and_a_second_run_changes_nothing(self):
        first = setup()
        self.assertTrue(first["changed"])
        service, tools = pwd.getpwnam("sallyport"), pwd.getpwnam("sallyport-tools")
        self.assertEqual((service.pw_shell, tools.pw_shell), ("/usr/sbin/nologin",) * 2)
        wanted = {ETC: (0, 0, 0o755), ETC / "sallyport.yaml": (0, service.pw_gid, 0o640), ETC / "policy.yaml": (0, service.pw_gid, 0o640),
                  ETC / "reviewers.yaml": (0, service.pw_gid, 0o640), ETC / "system.json": (0, 0, 0o644),
                  DATA: (service.pw_uid, service.pw_gid, 0o700), RUN: (service.pw_uid, service.pw_gid, 0o755),
                  pathlib.Path("/var/lib/sallyport-tools"): (tools.pw_uid, tools.pw_gid, 0o700),
                  pathlib.Path("/etc/systemd/system/sallyport.service"): (0, 0, 0o644)}
        for path, (uid, gid, mode) in wanted.items():
            status = path.stat()
            self.assertEqual((path, status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)), (path, uid, gid, mode))
        again = setup()
        self.assertEqual((again["changed"], again["steps"]), (False, []))
        (ETC / "policy.yaml").write_text("version: 1\nautonomy: {tier: shadow}\n")
        os.chmod(ETC / "policy.yaml", 0o666)
        self.assertTrue(setup()["changed"])
        self.assertIn("shadow", (ETC / "policy.yaml").read_text())
        self.assertEqual(stat.S_IMODE((ETC / "policy.yaml").stat().st_mode), 0o640)

    def test_a_dry_run_changes_nothing_and_needs_no_root(self):
        before = self.tree()
        said = sallyport("agent", "setup", "--system", "--dry-run")
        self.assertEqual(said.code, 0, said.err)
        self.assertIn("would add the account sallyport\n", said.out)
        self.assertEqual((self.tree(), self.accounts()), (before, set()))
        said = sallyport("agent", "setup", "--system")
        self.assertEqual(said.code, 1)
        self.assertIn("needs root", said.err)

    def test_undo_leaves_the_ledger_and_its_owner_and_purge_leaves_nothing(self):
        before = self.tree()
        service = Service().start()
        service.stop()
        shown = setup("--undo", "--dry-run")
        self.assertFalse(shown["changed"])
        self.assertTrue((ETC / "system.json").exists())
        setup("--undo")
        left = self.tree()
        self.assertTrue(all(name.startswith(str(DATA)) for name in left), left)
        self.assertTrue((DATA / "ledger.db").exists())
        self.assertEqual(self.accounts(), {"sallyport"})
        # The folder is unchanged: the same set-up continues with it.
        setup()
        said = sallyport("sallyport", "ledger", "verify")
        self.assertEqual(said.code, 0, said.err + said.out)
        setup("--undo", "--purge")
        self.assertEqual((self.tree(), self.accounts()), (before, set()))
        self.assertEqual(setup("--undo")["steps"], [])

    def test_undo_keeps_a_configuration_that_somebody_changed(self):
        setup()
        (ETC / "policy.yaml").write_text("version: 1\nautonomy: {tier: shadow}\n")
        setup("--undo")
        self.assertEqual([path.name for path in ETC.iterdir()], ["policy.yaml"])

    def test_a_program_that_others_can_replace_is_not_installed(self):
        place = pathlib.Path("/srv/home/agent/sallyport")
        shutil.copy(PROGRAM, place)
        os.chown(place, pwd.getpwnam("agent").pw_uid, -1)
        for change in (lambda: None, lambda: os.chown(place, 0, 0)):
            change()
            said = run(None, place, "setup", "--system")
            self.assertEqual(said.code, 1)
            self.assertIn("others than root can replace this program", said.err)
        self.assertEqual(self.accounts(), set())

    def test_an_account_that_somebody_logs_in_with_is_not_taken(self):
        said = sallyport(None, "setup", "--system", "--user", "agent")
        self.assertEqual(said.code, 1)
        self.assertIn("allows a login", said.err)
        self.assertEqual(sallyport(None, "setup", "--system", "--user", "../x").code, 64)
        self.assertEqual(sallyport(None, "setup").code, 64)
        self.assertEqual(sallyport(None, "setup", "--system", "--purge").code, 64)

    def test_below_another_root_this_machine_stays_as_it_is(self):
        root = pathlib.Path("/srv/root")
        (root / "etc").mkdir(parents=True)
        self.addCleanup(shutil.rmtree, root)
        for name in ("passwd", "group", "shadow", "gshadow"):
            (root / "etc" / name).write_text("root:x:0:0:root:/root:/bin/bash\n" if name == "passwd" else "root:x:0:\n" if name == "group" else "")
        before = self.tree()
        setup("--root", str(root))
        self.assertEqual((self.tree(), self.accounts()), (before, set()))
        said = json.loads((root / "etc/sallyport/system.json").read_text())
        line = next(line for line in (root / "etc/passwd").read_text().splitlines() if line.startswith("sallyport:"))
        self.assertEqual((said["service_uid"], said["socket_dir"]), (int(line.split(":")[2]), "/run/sallyport"))
        self.assertEqual((root / "var/lib/sallyport").stat().st_uid, said["service_uid"])
        setup("--root", str(root), "--undo", "--purge")
        self.assertEqual(self.tree(root), [])

    def test_where_systemd_runs_the_service_is_started_once_and_stopped(self):
        log = pathlib.Path("/run/systemctl.log")
        fake = pathlib.Path("/srv/fake")
        fake.mkdir(exist_ok=True)
        (fake / "systemctl").write_text(f"#!/bin/sh\necho \"$@\" >> {log}\n[ \"$1\" != is-active ] || [ -e /run/active ]\n")
        (fake / "systemctl").chmod(0o755)
        pathlib.Path("/run/systemd/system").mkdir(parents=True)
        self.addCleanup(shutil.rmtree, "/run/systemd")
        env = {"PATH": f"{fake}:/usr/sbin:/usr/bin:/sbin:/bin"}

        def calls(*words):
            log.write_text("")
            said = sallyport(None, "setup", "--system", "--json", *words, env=env)
            self.assertEqual(said.code, 0, said.err)
            return json.loads(said.out), [line for line in log.read_text().splitlines() if not line.startswith("is-active")]
        said, made = calls()
        self.assertEqual(made, ["daemon-reload", "enable sallyport.service", "restart sallyport.service"])
        self.assertFalse(RUN.exists())  # the unit makes it
        pathlib.Path("/run/active").touch()
        said, made = calls()
        self.assertEqual((said["changed"], made), (False, []))
        (ETC / "system.json").chmod(0o600)
        self.assertEqual(calls()[1], ["daemon-reload", "enable sallyport.service", "restart sallyport.service"])
        self.assertEqual(calls("--undo", "--dry-run")[1], [])
        self.assertEqual(calls("--undo")[1], ["disable --now sallyport.service", "daemon-reload"])

    def test_another_account_is_found_again_by_undo(self):
        setup("--user", "gatekeeper")
        self.assertEqual(json.loads((ETC / "system.json").read_text())["service_user"], "gatekeeper")
        setup("--undo", "--purge")
        self.assertEqual([entry.pw_name for entry in pwd.getpwall() if entry.pw_name.startswith("gatekeeper")], [])
        self.assertEqual(self.tree(), [])

    def test_the_unit_is_one_that_systemd_takes_and_rates_as_hardened(self):
        setup()
        unit = "/etc/systemd/system/sallyport.service"
        text = pathlib.Path(unit).read_text()
        for line in ("User=sallyport", "NoNewPrivileges=yes", "PrivateTmp=yes", "ProtectSystem=strict", "SystemCallFilter=@system-service",
                     "CapabilityBoundingSet=CAP_SETUID CAP_SETGID CAP_KILL", f"ExecStart={PROGRAM} serve --config {ETC}/sallyport.yaml"):
            self.assertIn(line + "\n", text)
        if shutil.which("systemd-analyze") is None:
            return
        said = run(None, "systemd-analyze", "verify", "--man=no", unit)
        self.assertEqual((said.code, said.err), (0, ""))
        said = run(None, "systemd-analyze", "security", "--offline=true", "--threshold=35", unit)
        self.assertEqual(said.code, 0, said.out + said.err)


if __name__ == "__main__":
    enter_machine()
    unittest.main()
