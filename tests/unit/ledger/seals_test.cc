#include "ledger/write/seals.h"

#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/try.h"
#include "ledger/entry/opening.h"
#include "ledger/maintenance.h"
#include "ledger/proof/verify.h"
#include "ledger/read/stored_entry.h"
#include "ledger/read/topics.h"
#include "ledger/secret/key_folder.h"
#include "support/eventually.h"
#include "support/ledger_checks.h"
#include "support/test_ledger.h"

namespace sallyport::ledger {

namespace {

using test::TestLedger;

core::Draft with_fact(std::string key, std::optional<std::string> value) {
  core::Draft draft = TestLedger::event({{"n", 1}});
  draft.facts.push_back({"approval", std::move(key), std::move(value)});
  return draft;
}

KeyedDigest secret_of(const TestLedger& ledger) {
  return KeyedDigest(KeyFolder::kept_digest_key(ledger.folder.path())->value());
}

std::string verdict_with_seals(TestLedger& ledger) {
  const KeyedDigest secret = secret_of(ledger);
  const LedgerReport report = verify_ledger(ledger.store(), {}, {}, 2, &secret);
  return report.ok ? "ok" : report.first_bad->check + ": " + report.first_bad->detail;
}

std::vector<std::string> named(TestLedger& ledger) {
  const KeyedDigest secret = secret_of(ledger);
  std::vector<std::string> names;
  EXPECT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(names, changed_facts(view, secret));
    return {};
  }));
  return names;
}

Result<Positions> tried(TestLedger& ledger) {
  return ledger->append_blocking({TestLedger::event({{"n", 2}})}, core::Urgency::Announces);
}

// AP-8, LE-46, LE-54
TEST(SealsTest, AFactThatIsPutBackStopsTheRunningLedgerAtItsNextCommit) {
  TestLedger ledger;
  ledger.open();
  ledger.append(with_fact("a", "approved"));
  ledger.append(with_fact("a", "used"));
  ledger.append_many(3);
  EXPECT_EQ(verdict_with_seals(ledger), "ok");
  ledger.sql("UPDATE facts SET value = 'approved' WHERE key = 'a'");
  const Result<Positions> refused = tried(ledger);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, "corrupt");
  EXPECT_EQ(ledger->health().cause, "corrupt");
  EXPECT_FALSE(tried(ledger));
  ASSERT_EQ(named(ledger).size(), 1u);
  EXPECT_THAT(named(ledger).front(), testing::HasSubstr("the fact `a` of `approval` was restored"));
}

// AP-8, LE-46
TEST(SealsTest, AFactThatWasRemovedAndOneThatNobodyWroteAreNamed) {
  TestLedger ledger;
  ledger.open();
  const core::Position written = ledger.append(with_fact("a", "used"));
  ledger.append(with_fact("b", "x"));
  ledger.append(with_fact("b", std::nullopt));
  EXPECT_EQ(named(ledger), std::vector<std::string>{});
  ledger.sql("DELETE FROM facts WHERE key = 'a'; INSERT INTO facts VALUES ('approval', 'c', 'y')");
  const std::vector<std::string> names = named(ledger);
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0], "the fact `c` of `approval` was written by no entry");
  EXPECT_EQ(names[1], fmt::format("a fact that entry {} wrote was removed", written.sequence));
  ledger.sql("DELETE FROM facts WHERE key = 'c'; INSERT INTO facts VALUES ('approval', 'b', 'x')");
  EXPECT_THAT(named(ledger).front(), testing::HasSubstr("`b` of `approval` was restored"));
}

// LE-46: facts of an earlier commit with the seal of that commit
TEST(SealsTest, AStateOfAnEarlierCommitDoesNotPassForALaterOne) {
  TestLedger ledger;
  ledger.open();
  ledger.append(with_fact("a", "approved"));
  const std::string seal = test::all_entries(ledger.store()).back().stored.seal;
  ledger.append(with_fact("a", "used"));
  ledger.close();
  ledger.sql(
      fmt::format("UPDATE entries SET seal = x'{}' WHERE sequence = (SELECT MAX(sequence) FROM "
                  "entries); UPDATE facts SET value = 'approved' WHERE key = 'a'",
                  hex(as_bytes(seal))));
  const Result<void> opened = ledger.try_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().cause, "corrupt");
  EXPECT_THAT(opened.error().message, testing::HasSubstr("the newest, is not the one"));
}

// LE-46: the visible part of the sums reveals nothing about a single fact
TEST(SealsTest, TheSameFactsLookDifferentInEveryCommit) {
  TestLedger ledger;
  ledger.open();
  const KeyedDigest secret = secret_of(ledger);
  std::vector<std::string> hidden;
  std::vector<SealedSums> sums;
  for (int i = 0; i < 3; ++i) {
    ledger.append_many(1);
    const StoredEntry last = test::all_entries(ledger.store()).back().stored;
    hidden.push_back(std::string(state_part(last.seal)).substr(21, 32));
    sums.push_back(Seals(secret).state(last.checkpoint, last.seal).value().sums);
  }
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[1], sums[2]);
  EXPECT_NE(hidden[0], hidden[1]);
  EXPECT_NE(hidden[1], hidden[2]);
}

// LE-46: a cursor moves without an entry
TEST(SealsTest, FactsThatChangeWithoutAnEntryAreSealedToo) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(2);
  const auto move = [&](const char* value) {
    return ledger->transact([value](WriteView& view) -> Result<std::vector<core::Draft>> {
      SALLYPORT_CHECK_OK(view.put_fact({"cursor", "c", value}));
      return std::vector<core::Draft>{};
    });
  };
  EXPECT_TRUE(move("1"));
  EXPECT_TRUE(move("2"));
  EXPECT_EQ(verdict_with_seals(ledger), "ok");
  ledger.append_many(1);
  EXPECT_TRUE(move("3"));
  ledger.close();
  ledger.open();
  EXPECT_EQ(verdict_with_seals(ledger), "ok");
  ledger.sql("UPDATE facts SET value = '1' WHERE space = 'cursor'");
  EXPECT_THAT(verdict_with_seals(ledger), testing::HasSubstr("the fact `c` of `cursor`"));
}

// LE-42, LE-46, LE-54: while another process writes, a changed fact is detected a moment later
TEST(SealsTest, AFactChangedBesideTheEntriesOfAnotherProcessIsFoundSoon) {
  TestLedger ledger;
  ledger.open();
  ledger.append(with_fact("a", "approved"));
  ledger.append(with_fact("a", "used"));
  const auto store = store::SqliteStore::open({.file = ledger.file()});
  ASSERT_TRUE(store);
  SystemClock clock;
  SystemEntropy entropy;
  core::NoRedactor redactor;
  Ledger::Settings settings = ledger.settings;
  const auto second = Ledger::open({**store, redactor, clock, entropy}, settings);
  ASSERT_TRUE(second) << second.error().message;
  ASSERT_TRUE((*second)->append_blocking({TestLedger::event({{"n", 3}})}, core::Urgency::Reports));
  ledger.sql("UPDATE facts SET value = 'approved' WHERE key = 'a'");
  EXPECT_TRUE(test::eventually([&] { return !ledger->health().ok; }));
  EXPECT_EQ(ledger->health().cause, "corrupt");
}

// LE-46, LE-54: no process appends
TEST(SealsTest, AFactChangedWhileNobodyWritesIsFoundToo) {
  TestLedger ledger;
  ledger.open();
  ledger.append(with_fact("a", "used"));
  ledger.sql("UPDATE facts SET value = 'approved' WHERE key = 'a'");
  EXPECT_TRUE(test::eventually([&] { return !ledger->health().ok; }));
  EXPECT_EQ(ledger->health().cause, "corrupt");
}

// LE-46, LE-60: the index of a pruned block cannot be rebuilt
TEST(SealsTest, TheIndexOfAPrunedBlockIsSealed) {
  TestLedger ledger;
  ledger.open();
  for (int i = 0; i < 3; ++i) ledger.append_many(1400);
  ASSERT_TRUE(ledger->transact(prune(4000, "test", "old")));
  EXPECT_EQ(verdict_with_seals(ledger), "ok");
  const std::pair<const char*, const char*> edits[] = {
      {"UPDATE facets SET count = count + 1 WHERE facet = 6 AND value = 'event'",
       "UPDATE facets SET count = count - 1 WHERE facet = 6 AND value = 'event'"},
      {"INSERT INTO facets VALUES (2, 'agent', 0, 1)", "DELETE FROM facets WHERE value = 'agent'"},
      {"UPDATE blocks SET first_time = first_time - 1",
       "UPDATE blocks SET first_time = first_time + 1"},
      {"UPDATE blocks SET seal = CAST(seal || x'00' AS BLOB)",
       "UPDATE blocks SET seal = substr(seal, 1, 16)"}};
  for (const auto& [edit, undo] : edits) {
    ledger.sql(edit);
    EXPECT_THAT(verdict_with_seals(ledger), testing::HasSubstr("the index")) << edit;
    ledger.sql(undo);
    EXPECT_EQ(verdict_with_seals(ledger), "ok");
  }
}

// LE-46, LE-54 (partly): an unrecorded erasure keeps every commitment, but not the seal.
TEST(SealsTest, NothingIsReadOfAnEntryThatIsNotAsItWasSealed) {
  TestLedger ledger;
  ledger.open();
  const std::uint64_t sequence = ledger.append(TestLedger::event({{"text", "content"}})).sequence;
  const KeyedDigest secret = secret_of(ledger);
  StoredEntry stored = test::all_entries(ledger.store()).at(sequence).stored;
  stored.secret = &secret;
  const Result<std::vector<Opening>> openings = openings_of(stored);
  ASSERT_TRUE(openings) << openings.error().message;
  ASSERT_FALSE(openings->empty());
  std::vector<Opening> erased = *openings;
  erased.front().state = OpeningState::Erased;
  erased.front().salt = {};
  erased.front().value.clear();
  StoredEntry changed = stored;
  changed.openings = pack_openings(erased);
  EXPECT_EQ(openings_of(changed).error().code, ErrorCode::Corrupt);
  changed.secret = nullptr;
  EXPECT_TRUE(openings_of(changed)) << "an auditor's copy cannot check the seal";
  StoredEntry odd = stored;
  odd.odd = true;
  EXPECT_FALSE(openings_of(odd));
  StoredEntry other = stored;
  other.sequence += 1;
  EXPECT_FALSE(openings_of(other)) << "the seal is of its place";
}

// LE-46: the row from before the erasure, with its seal
TEST(SealsTest, WhatWasErasedAndIsPutBackIsFound) {
  TestLedger ledger;
  ledger.open();
  core::Draft draft = TestLedger::event({{"input", "content"}}, "call-1");
  const std::uint64_t sequence = ledger.append(std::move(draft)).sequence;
  ledger.append_many(1);
  const auto row = [&] { return test::all_entries(ledger.store()).at(sequence).stored; };
  const auto put = [&](const StoredEntry& stored) {
    ledger.sql(fmt::format("UPDATE entries SET openings = x'{}', seal = x'{}' WHERE sequence = {}",
                           hex(as_bytes(stored.openings)), hex(as_bytes(stored.seal)), sequence));
  };
  const auto checked = [&] {
    return ledger.store().read(
        [&](ReadView& view) { return check_seals(view, secret_of(ledger)); });
  };
  EXPECT_TRUE(checked());
  const StoredEntry before = row();
  ASSERT_TRUE(ledger->transact(erase({.call_id = "call-1"}, "ops", "asked to")));
  const StoredEntry after = row();
  EXPECT_TRUE(checked());
  put(before);
  ASSERT_FALSE(checked());
  EXPECT_THAT(checked().error().message, testing::HasSubstr("was erased or pruned was put back"));
  StoredEntry broken = after;
  broken.seal[1] = static_cast<char>(broken.seal[1] ^ 1);
  put(broken);
  ASSERT_FALSE(checked());
  EXPECT_THAT(checked().error().message,
              testing::HasSubstr(fmt::format("the seal of entry {} does not hold", sequence)));
  put(after);
  EXPECT_TRUE(checked());
}

// LE-46, LE-52 (partly): data without a seal, such as a manual copy, is sealed once it is accepted.
TEST(SealsTest, WhatAPersonAcceptsIsSealedAnew) {
  TestLedger ledger;
  ledger.open();
  for (int i = 0; i < 3; ++i) ledger.append_many(1400);
  ledger.append(with_fact("a", "used"));
  const auto checked = [&] {
    return ledger.store().read(
        [&](ReadView& view) { return check_seals(view, secret_of(ledger)); });
  };
  EXPECT_TRUE(checked());
  ledger.close();
  ledger.sql("UPDATE facts SET value = 'approved' WHERE key = 'a'; UPDATE blocks SET seal = x'00'");
  EXPECT_FALSE(ledger.try_open());
  ledger.settings.acknowledged_rollback = "looked at";
  ledger.open();
  EXPECT_TRUE(checked());
  EXPECT_EQ(verdict_with_seals(ledger), "ok");
  ledger.close();
  ledger.settings.acknowledged_rollback.clear();
  ledger.open();
  EXPECT_TRUE(tried(ledger));
}

// LE-46: the parts that bind an opening beside its commitment
TEST(SealsTest, AManifestHoldsAllThatTheCommitmentsDoNot) {
  Opening open{.path = "/body/a", .value = "1"};
  Opening withheld{.path = "/body/b", .state = OpeningState::Withheld};
  const auto manifest = [&] {
    std::string out;
    append_manifest(out, pack_openings({open, withheld}));
    return out;
  };
  const std::string before = manifest();
  open.value = "2";
  open.salt[0] = 1;
  EXPECT_EQ(manifest(), before);
  withheld.salt[0] = 1;
  EXPECT_NE(manifest(), before);
  withheld.salt[0] = 0;
  open.state = OpeningState::Withheld;
  EXPECT_NE(manifest(), before);
  EXPECT_FALSE(has_erased(pack_openings({open, withheld})));
  withheld.state = OpeningState::Erased;
  EXPECT_TRUE(has_erased(pack_openings({open, withheld})));
  std::string damaged;
  append_manifest(damaged, "\xff\xff");
  EXPECT_EQ(damaged, "!\xff\xff");
}

}  // namespace

}  // namespace sallyport::ledger
