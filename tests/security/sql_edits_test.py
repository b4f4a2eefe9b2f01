#!/usr/bin/env python3
"""Changes to ledger.db by a program without any key, with SQL."""
import contextlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import unittest

from cli_support import CliTest, MAKE_LEDGER

CHECK_LEDGERS = os.environ.get("CHECK_LEDGERS_BIN", "build/bin/check_ledgers")
ROUNDS = int(os.environ.get("SQL_EDITS", "500"))
SEED = 15
AGENT = "deploy-bot"


def database(path):
    return contextlib.closing(sqlite3.connect(path / "ledger.db", isolation_level=None))


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Checker:
    """`ledger verify` for many folders in one process."""

    def __init__(self):
        self.process = subprocess.Popen([CHECK_LEDGERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def report(self, folder):
        self.process.stdin.write(f"{folder}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


class Editor:
    """Makes one random change and returns its description, or None if the change would have had no effect."""

    def __init__(self, connection, chance):
        self.db = connection
        self.chance = chance
        self.tables = {}
        for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall():
            columns = connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
            self.tables[table] = ([(row[1], row[2]) for row in columns], [row[1] for row in columns if row[5]])

    def edit(self):
        kind = self.chance.choices(["update", "delete", "insert", "swap", "pragma", "schema"], [10, 3, 3, 4, 1, 1])[0]
        return getattr(self, kind)()

    def table(self):
        return self.chance.choice(sorted(self.tables))

    def row(self, table):
        """Returns the key of a random row, as a condition and its values."""
        _, keys = self.tables[table]
        count = self.db.execute(f"SELECT COUNT(*) FROM {quoted(table)}").fetchone()[0]
        if count == 0:
            return None
        # The rows at both ends are together as likely as all rows between them.
        place = self.chance.choice([0, count - 1, self.chance.randrange(count), self.chance.randrange(count)])
        values = self.db.execute(f"SELECT {', '.join(map(quoted, keys))} FROM {quoted(table)} ORDER BY {', '.join(map(quoted, keys))} "
                                 "LIMIT 1 OFFSET ?", (place,)).fetchone()
        return " AND ".join(f"{quoted(key)} = ?" for key in keys), values

    def other(self, table, column, value):
        """Returns another value for this place."""
        choices = [None]
        taken = self.row(table)
        choices.append(self.db.execute(f"SELECT {quoted(column)} FROM {quoted(table)} WHERE {taken[0]}", taken[1]).fetchone()[0])
        if isinstance(value, int):
            choices += [value + 1, value - 1, 0, -value, self.chance.randrange(1 << 40)]
        elif isinstance(value, bytes) and value:
            at = self.chance.randrange(len(value))
            flipped = value[:at] + bytes([value[at] ^ 1 << self.chance.randrange(8)]) + value[at + 1:]
            # The state of an opening is one letter.
            choices += [flipped, flipped, value[:-1], value + b"\0", b"", value.replace(b"jo", b"jw", 1), value.replace(b"jo", b"je", 1)]
        elif isinstance(value, str) and value:
            at = self.chance.randrange(len(value))
            choices += [value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1:], value[:-1], value + "x", "", value.upper()]
        else:
            choices += [b"", b"\0", "", "x", 0]
        return self.chance.choice(choices)

    def update(self):
        table = self.table()
        column, _ = self.chance.choice(self.tables[table][0])
        row = self.row(table)
        if row is None:
            return None
        before = self.db.execute(f"SELECT {quoted(column)} FROM {quoted(table)} WHERE {row[0]}", row[1]).fetchone()[0]
        after = self.other(table, column, before)
        if type(after) is type(before) and after == before:
            return None
        return self.run(f"UPDATE {quoted(table)} SET {quoted(column)} = ? WHERE {row[0]}", (after, *row[1]))

    def delete(self):
        table = self.table()
        row = self.row(table)
        return row and self.run(f"DELETE FROM {quoted(table)} WHERE {row[0]}", row[1])

    def insert(self):
        table = self.table()
        columns, keys = self.tables[table]
        row = self.row(table)
        if row is None:
            return None
        values = list(self.db.execute(f"SELECT * FROM {quoted(table)} WHERE {row[0]}", row[1]).fetchone())
        key = self.chance.choice(keys)
        at = [name for name, _ in columns].index(key)
        values[at] = self.other(table, key, values[at])
        return self.run(f"INSERT INTO {quoted(table)} VALUES ({', '.join('?' * len(values))})", values)

    def swap(self):
        table = self.table()
        columns, keys = self.tables[table]
        rest = [name for name, _ in columns if name not in keys]
        one, two = self.row(table), self.row(table)
        if one is None or one == two:
            return None
        column = self.chance.choice(rest)
        read = lambda row: self.db.execute(f"SELECT {quoted(column)} FROM {quoted(table)} WHERE {row[0]}", row[1]).fetchone()[0]
        first, second = read(one), read(two)
        if first == second:
            return None
        self.run(f"UPDATE {quoted(table)} SET {quoted(column)} = ? WHERE {one[0]}", (second, *one[1]))
        return self.run(f"UPDATE {quoted(table)} SET {quoted(column)} = ? WHERE {two[0]}", (first, *two[1]))

    def pragma(self):
        name = self.chance.choice(["user_version", "application_id"])
        before = self.db.execute(f"PRAGMA {name}").fetchone()[0]
        after = self.chance.choice([0, 1, 2, 3, 99, -1])
        return None if after == before else self.run(f"PRAGMA {name} = {after}", ())

    def schema(self):
        return self.run(self.chance.choice([
            "CREATE TABLE another (a)",
            "CREATE TRIGGER t AFTER INSERT ON entries BEGIN UPDATE entries SET openings = NULL; END",
            "CREATE TRIGGER f BEFORE UPDATE ON facts BEGIN SELECT RAISE(IGNORE); END",
            "CREATE VIEW v AS SELECT * FROM entries",
            "CREATE INDEX i ON entries (leaf)",
            "CREATE UNIQUE INDEX u ON facts (space, key)",
            "ANALYZE",
            "CREATE TABLE counted (a INTEGER PRIMARY KEY AUTOINCREMENT)",
            "ALTER TABLE nodes ADD COLUMN more BLOB",
            "ALTER TABLE facts RENAME TO facts_of_old",
            "ALTER TABLE blocks RENAME COLUMN seal TO seals",
            "DROP TABLE facets"]), ())

    def run(self, statement, values):
        try:
            self.db.execute(statement, values)
        except (sqlite3.IntegrityError, sqlite3.DataError, OverflowError):
            return None  # SQLite itself refuses this
        return statement, [value if not isinstance(value, (bytes, str)) else value[:80] for value in values]


class SqlEdits(CliTest):
    def traffic(self):
        """Calls, approvals, an erasure, trust records, a hold, a rotation and a prune, by several processes."""
        self.good("demo", "--yes", "--no-pause", "--plain")
        words = self.write("words", "correct horse battery\n")
        words.chmod(0o600)
        made = self.good("approvals", "init", "--name", "user:ada", "--passphrase-file", words, "--json").json()
        (self.data / "reviewers.yaml").write_text(
            f'reviewers:\n  - {{name: "user:ada", key: "{made["key"]}", roles: [approver, controller]}}\n')
        writers = [subprocess.Popen([MAKE_LEDGER, self.data, "1200"]) for _ in range(2)]
        for writer in writers:
            self.assertEqual(writer.wait(120), 0)
        self.good("trust", "promote", AGENT, "--to", "act_auto", "--passphrase-file", words)
        for change in (["keys", "rotate"], ["ledger", "erase", "--call", "call-00007", "--reason", "asked for"],
                       ["ledger", "prune", "--before", "60", "--reason", "old"],
                       ["ledger", "hold", "add", "--call", "call-00009", "--reason", "a case"]):
            self.good(*change, "--passphrase-file", words)
        self.good("trust", "demote", AGENT, "--to", "shadow", "--passphrase-file", words)
        with database(self.data) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self.assertGreater(db.execute("SELECT COUNT(*) FROM blocks").fetchone()[0], 0)
            self.assertGreater(db.execute("SELECT COUNT(*) FROM nodes").fetchone()[0], 16)

    # LE-46, LE-48, LE-50
    def test_every_random_edit_is_found(self):
        self.traffic()
        checker = Checker()
        self.addCleanup(checker.close)
        self.assertTrue(checker.report(self.data)["ok"])
        copy = self.folder / "copy"
        shutil.copytree(self.data, copy)
        chance = random.Random(SEED)
        edits, tables, missed = 0, set(), []
        while edits < ROUNDS:
            for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(copy / name)
            shutil.copyfile(self.data / "ledger.db", copy / "ledger.db")
            with database(copy) as db:
                editor = Editor(db, chance)
                done = editor.edit()
            if not done:
                continue
            edits += 1
            tables |= {word.strip(chr(34)) for word in done[0].split()}
            report = checker.report(copy)
            place = report.get("first_bad", {})
            if report["ok"] or not {"sequence", "check", "detail"} <= place.keys():
                missed.append(done)
        self.assertEqual(missed, [])
        self.assertLessEqual({"entries", "facts", "nodes", "blocks", "facets"}, tables)


if __name__ == "__main__":
    unittest.main()
