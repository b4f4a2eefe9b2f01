// Keys: made once, rotated in the log, adopted by every process.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "ledger/proof/key_history.h"
#include "ledger/secret/key_folder.h"
#include "ledger/secret/private_file.h"
#include "support/ledger_checks.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;
using test::verdict;

VerifierKey key_in(const TestLedger& ledger) {
  const auto keys = KeyFolder::open(ledger.folder.path());
  const auto key = keys->signing_key();
  EXPECT_TRUE(key && *key);
  return (*key)->verifier();
}

std::vector<KeyPeriod> history(TestLedger& ledger) {
  std::vector<KeyPeriod> periods;
  EXPECT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
    auto found = key_history(view);
    if (!found) return std::unexpected(found.error());
    periods = std::move(*found);
    return {};
  }));
  return periods;
}

std::size_t signatures(const std::string& checkpoint) {
  const Result<Note> note = Note::parse(checkpoint);
  return note ? note->signatures.size() : 0;
}

// A second writer on the same ledger, as another process would be.
struct Other {
  explicit Other(TestLedger& ledger) {
    store = *store::SqliteStore::open({.file = ledger.file()});
    auto another = Ledger::open({*store, redactor, clock, entropy}, ledger.settings);
    EXPECT_TRUE(another) << another.error().message;
    opened = std::move(*another);
  }
  Result<Positions> append() {
    std::vector<core::Draft> drafts = {TestLedger::event({{"n", 1}})};
    return opened->append_blocking(std::move(drafts), core::Urgency::Announces);
  }
  Ledger* operator->() { return opened.get(); }

  std::unique_ptr<store::SqliteStore> store;
  core::NoRedactor redactor;
  SystemClock clock;
  SystemEntropy entropy;
  std::unique_ptr<Ledger> opened;
};

// LE-23, LE-25
TEST(RotationTest, TheKeyIsMadeOnFirstUseForItsOwnerAlone) {
  TestLedger ledger;
  ledger.open();
  struct stat status{};
  ASSERT_EQ(stat((ledger.folder / "keys").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  ASSERT_EQ(stat((ledger.folder / "keys/signing.key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  const std::string origin = ledger->origin();
  EXPECT_EQ(origin.size(), std::string("sallyport.local/").size() + 32);
  EXPECT_TRUE(origin.starts_with("sallyport.local/"));
  EXPECT_EQ(key_in(ledger).name, origin);
  ledger.close();
  ledger.open();
  EXPECT_EQ(ledger->origin(), origin);
}

// LE-23
TEST(RotationTest, TheOriginIsSetBeforeTheFirstEntryAndNeverChanges) {
  TestLedger ledger;
  ledger.settings.origin = "example.org/log";
  ledger.open();
  EXPECT_EQ(ledger->origin(), "example.org/log");
  ledger.close();
  ledger.settings.origin = "example.org/other";
  const auto refused = ledger.try_open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
  ledger.settings.origin = "";
  ledger.open();
  EXPECT_EQ(ledger->origin(), "example.org/log");
}

// LE-25
TEST(RotationTest, AKeyThatOthersCanReadStopsTheStart) {
  TestLedger ledger;
  ledger.open();
  ledger.close();
  chmod((ledger.folder / "keys/signing.key").c_str(), 0644);
  const auto refused = ledger.try_open();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("chmod 0600"), std::string::npos);
  chmod((ledger.folder / "keys/signing.key").c_str(), 0600);
  ledger.open();
}

// LE-26
TEST(RotationTest, RotationIsSignedByBothKeysAndThenByTheNewOneOnly) {
  TestLedger ledger;
  ledger.open();
  const VerifierKey old = key_in(ledger);
  const auto rotated = ledger->rotate_key(false);
  ASSERT_TRUE(rotated) << rotated.error().message;
  const auto entries = test::all_entries(ledger.store());
  const json::object& body = entries.back().body.as_object();
  EXPECT_EQ(body.at("control"), "key_rotated");
  EXPECT_EQ(body.at("old"), json::value(old.text()));
  EXPECT_EQ(body.at("new"), json::value(rotated->text()));
  EXPECT_EQ(body.at("compromised"), json::value(false));
  EXPECT_EQ(signatures(entries.back().stored.checkpoint), 2u);
  ledger.append(TestLedger::event({{"n", 1}}));
  EXPECT_EQ(signatures(test::newest_checkpoint(ledger.store())), 1u);
  EXPECT_EQ(key_in(ledger), *rotated);
  EXPECT_FALSE(std::filesystem::exists(ledger.folder / "keys/signing.key.next"));
  EXPECT_EQ(verdict(ledger.store()), "ok");
  ledger.close();
  ledger.open();
  EXPECT_EQ(verdict(ledger.store(), {}, old), "ok");
}

// LE-27
TEST(RotationTest, WhoPinnedTheOldKeyFollowsAnHonestRotationOnly) {
  for (const bool compromised : {false, true}) {
    TestLedger ledger;
    ledger.open();
    const VerifierKey old = key_in(ledger);
    ASSERT_TRUE(ledger->rotate_key(compromised));
    const std::uint64_t at = test::all_entries(ledger.store()).size() - 1;
    const std::string rotation = test::receipt_of(ledger.store(), at);
    const std::uint64_t later = ledger.append(TestLedger::event({{"n", 1}})).sequence;
    const std::string receipt = test::receipt_of(ledger.store(), later);
    EXPECT_FALSE(verify_receipt(receipt, {.key = old}).ok);
    const Verification followed = verify_receipt(receipt, {.key = old, .rotations = {rotation}});
    EXPECT_EQ(followed.ok, !compromised) << followed.detail;
  }
}

// The ledger itself was once accepted with a key that was marked as compromised when it was
// rotated, though its export and its receipts were not.
// LE-27
TEST(RotationTest, ALedgerIsNotAcceptedWithAKeyThatWasCompromised) {
  TestLedger ledger;
  ledger.open();
  const VerifierKey first = key_in(ledger);
  ASSERT_TRUE(ledger->rotate_key(false));
  const VerifierKey second = key_in(ledger);
  EXPECT_EQ(verdict(ledger.store(), {}, first), "ok");
  ASSERT_TRUE(ledger->rotate_key(true));
  const std::uint64_t rotated_at = test::all_entries(ledger.store()).size() - 1;
  ledger.append_many(3);
  ASSERT_TRUE(ledger->rotate_key(false));
  EXPECT_EQ(verdict(ledger.store(), {}, key_in(ledger)), "ok");
  for (const VerifierKey& old : {first, second}) {
    EXPECT_EQ(verdict(ledger.store(), {}, old),
              "checkpoint_signature at " + std::to_string(rotated_at));
  }
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-28
TEST(RotationTest, TheHistoryTellsBetweenWhichSizesEachKeySigned) {
  TestLedger ledger;
  ledger.open();
  const VerifierKey first = key_in(ledger);
  ledger.append_many(300);
  ASSERT_TRUE(ledger->rotate_key(false));
  const std::uint64_t second_from = test::all_entries(ledger.store()).size();
  ledger.append_many(10);
  ASSERT_TRUE(ledger->rotate_key(true));
  const std::uint64_t third_from = test::all_entries(ledger.store()).size();
  const std::vector<KeyPeriod> periods = history(ledger);
  ASSERT_EQ(periods.size(), 3u);
  EXPECT_EQ(periods[0].key, first);
  EXPECT_EQ(periods[0].last_size, second_from);
  EXPECT_EQ(periods[1].first_size, second_from);
  EXPECT_EQ(periods[1].last_size, third_from);
  EXPECT_TRUE(periods[1].compromised);
  EXPECT_EQ(periods[2].first_size, third_from);
  EXPECT_EQ(periods[2].last_size, std::nullopt);
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-27 LE-28: an entry of a caller may contain any text.
TEST(RotationTest, OnlyAnEntryOfTheLedgerItselfChangesKeys) {
  TestLedger ledger;
  ledger.open();
  SystemEntropy entropy;
  const std::string other = SigningKey::generate(ledger->origin(), entropy).verifier().text();
  for (const char* const control : {"key_rotated", "key_created"}) {
    const std::uint64_t at =
        ledger
            .append(TestLedger::event(
                {{"control", control}, {"key", other}, {"new", other}, {"compromised", false}}))
            .sequence;
    ledger.append_many(2);
    EXPECT_EQ(history(ledger).size(), 1u) << control;
    const json::value receipt = json::parse(test::receipt_of(ledger.store(), at));
    EXPECT_EQ(receipt.at("tree_size"), test::all_entries(ledger.store()).size()) << control;
  }
}

// LE-26
TEST(RotationTest, EveryProcessSignsWithTheNewKeyFromItsNextCommitOn) {
  TestLedger ledger;
  ledger.open();
  Other other(ledger);
  ASSERT_TRUE(other.append());
  ASSERT_TRUE(ledger->rotate_key(false));
  ASSERT_TRUE(other.append());
  EXPECT_EQ(signatures(test::newest_checkpoint(ledger.store())), 1u);
  ASSERT_TRUE(other->rotate_key(false));
  ledger.append(TestLedger::event({{"n", 2}}));
  EXPECT_EQ(verdict(ledger.store()), "ok");
  EXPECT_EQ(history(ledger).size(), 3u);
}

// A rotation cut short after its commit once left the old key in place; the start and other
// processes find the staged one, and a second rotation does not lose it.
TEST(RotationTest, ARotationCutShortBeforeTheFilesChangedIsFinishedByTheNextWriter) {
  TestLedger ledger;
  ledger.open();
  const std::string old = *read_private_file(ledger.folder / "keys/signing.key").value();
  const auto rotated = ledger->rotate_key(false);
  ASSERT_TRUE(rotated);
  Other other(ledger);
  const auto undo_files = [&] {
    std::filesystem::rename(ledger.folder / "keys/signing.key",
                            ledger.folder / "keys/signing.key.next");
    ASSERT_TRUE(create_private_file(ledger.folder / "keys/signing.key", old));
  };
  undo_files();
  ASSERT_TRUE(other.append());
  ASSERT_TRUE(other->rotate_key(false));
  EXPECT_EQ(verdict(ledger.store()), "ok");
  ledger.append(TestLedger::event({{"n", 2}}));
  EXPECT_EQ(key_in(ledger), history(ledger).back().key);
  other.opened.reset();
  undo_files();
  ledger.close();
  ledger.open();
  EXPECT_FALSE(std::filesystem::exists(ledger.folder / "keys/signing.key.next"));
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// A key that has signed never begins a second log (LE-24).
TEST(RotationTest, AnEmptyLedgerBesideAKeyThatHasSignedIsRefused) {
  TestLedger ledger;
  ledger.open();
  ledger.close();
  std::filesystem::remove(ledger.file());
  const auto refused = ledger.try_open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, "corrupt");
}

TEST(RotationTest, ALedgerWithoutItsKeyIsNotGivenAnotherOne) {
  TestLedger ledger;
  ledger.open();
  ledger.close();
  std::filesystem::remove(ledger.folder / "keys/signing.key");
  EXPECT_FALSE(ledger.try_open());
  EXPECT_FALSE(std::filesystem::exists(ledger.folder / "keys/signing.key"));
}

}  // namespace
}  // namespace sallyport::ledger
