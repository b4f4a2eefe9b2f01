#include "ledger/proof/cosigned.h"

#include <gtest/gtest.h>

#include "ledger/proof/receipt.h"
#include "support/test_ledger.h"
#include "support/test_witness.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;
using test::TestWitness;

class CosignedTest : public testing::Test {
 protected:
  void SetUp() override {
    ledger.open();
    policy =
        *WitnessPolicy::parse(fmt::format("witness a {}\nwitness b {}\ngroup g all a b\n"
                                          "quorum g\n",
                                          a.verifier().text(), b.verifier().text()));
  }

  // The newest checkpoint as it is stored.
  std::string newest() {
    std::string note;
    EXPECT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
      note = view.head()->checkpoint;
      return {};
    }));
    return note;
  }
  static Note parsed(const std::string& note) { return *Note::parse(note); }
  static std::uint64_t size_of(const std::string& note) {
    return Checkpoint::parse(parsed(note).text)->size;
  }
  void keep(const std::string& note, const std::vector<const TestWitness*>& by) {
    std::vector<NoteSignature> lines;
    for (const TestWitness* witness : by) lines.push_back(witness->cosign(parsed(note).text));
    const auto kept = ledger->transact([&](WriteView& view) -> Result<std::vector<core::Draft>> {
      const Result<void> done = keep_cosignatures(view, note, lines, policy);
      EXPECT_TRUE(done) << done.error().message;
      return std::vector<core::Draft>{};
    });
    EXPECT_TRUE(kept) << kept.error().message;
  }
  Receipt receipt_of(std::uint64_t sequence) {
    Receipt receipt;
    EXPECT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
      Result<Receipt> made = make_receipt(view, sequence, true);
      EXPECT_TRUE(made) << made.error().message;
      if (made) receipt = *made;
      return {};
    }));
    return receipt;
  }
  Trust trust(bool with_policy) {
    Trust trust{.key = *VerifierKey::parse(*ledger->fact("ledger", "key").value())};
    if (with_policy) trust.policy = policy;
    return trust;
  }

  TestLedger ledger;
  TestWitness a{"witness.example/a", 1};
  TestWitness b{"witness.example/b", 2};
  WitnessPolicy policy;
};

// SC-57
TEST_F(CosignedTest, AReceiptStandsUnderTheNewestQuorumAndVerifiesWithAndWithoutAPolicy) {
  const std::uint64_t entry = ledger.append(TestLedger::event({{"n", 1}})).sequence;
  const std::string first = newest();
  keep(first, {&a, &b});
  ledger.append(TestLedger::event({{"n", 2}}));
  keep(newest(), {&a});
  ledger.append(TestLedger::event({{"n", 3}}));
  const Receipt receipt = receipt_of(entry);
  EXPECT_EQ(receipt.tree_size, size_of(first));
  EXPECT_EQ(parsed(receipt.checkpoint).signatures.size(), 3u);
  for (const std::string& text : {receipt.json(), receipt.tlog_proof()}) {
    for (const bool with_policy : {false, true}) {
      const Verification answer = verify_receipt(text, trust(with_policy));
      EXPECT_TRUE(answer.ok) << answer.step << ": " << answer.detail;
    }
  }
}

// SC-57
TEST_F(CosignedTest, WithoutAQuorumAReceiptFailsUnderThePolicyOnly) {
  const std::uint64_t entry = ledger.append(TestLedger::event({{"n", 1}})).sequence;
  keep(newest(), {&a});
  const std::string text = receipt_of(entry).json();
  EXPECT_TRUE(verify_receipt(text, trust(false)).ok);
  const Verification answer = verify_receipt(text, trust(true));
  EXPECT_FALSE(answer.ok);
  EXPECT_EQ(answer.step, "quorum");
  EXPECT_EQ(answer.detail, "no quorum `g`: 1 of 2 witnesses cosigned, missing b");
}

TEST_F(CosignedTest, AnEntryBehindTheLastCosignedCheckpointStandsUnderTheNewest) {
  ledger.append(TestLedger::event({{"n", 1}}));
  keep(newest(), {&a, &b});
  const std::uint64_t entry = ledger.append(TestLedger::event({{"n", 2}})).sequence;
  const Receipt receipt = receipt_of(entry);
  EXPECT_EQ(receipt.tree_size, entry + 1);
  EXPECT_EQ(parsed(receipt.checkpoint).signatures.size(), 1u);
}

// A receipt under a checkpoint of the previous key would fail for verifiers of the new key.
TEST_F(CosignedTest, AfterARotationOlderCosignaturesAreLeftAside) {
  const std::uint64_t entry = ledger.append(TestLedger::event({{"n", 1}})).sequence;
  keep(newest(), {&a, &b});
  ASSERT_TRUE(ledger->rotate_key(false));
  ledger.append(TestLedger::event({{"n", 2}}));
  const Receipt receipt = receipt_of(entry);
  EXPECT_EQ(parsed(receipt.checkpoint).signatures.size(), 1u);
  EXPECT_TRUE(verify_receipt(receipt.json(), trust(false)).ok);
}

// SC-55
TEST_F(CosignedTest, CosignaturesOutliveARestartAndDoNotChangeEntries) {
  ledger.append(TestLedger::event({{"n", 1}}));
  const std::string note = newest();
  keep(note, {&a});
  keep(note, {&b});
  keep(note, {&b});
  EXPECT_EQ(newest(), note);
  ledger.open();
  EXPECT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
    const auto kept = *cosigned_at(view, size_of(note));
    EXPECT_TRUE(kept && kept->has_quorum);
    const std::string whole = *with_cosignatures(view, size_of(note), note);
    EXPECT_EQ(parsed(whole).signatures.size(), 3u);
    return {};
  }));
}

TEST_F(CosignedTest, OldSizesGoAndTheNewestQuorumStays) {
  ledger.append(TestLedger::event({{"n", 0}}));
  const std::uint64_t quorum = size_of(newest());
  keep(newest(), {&a, &b});
  for (int n = 0; n < 20; ++n) {
    ledger.append(TestLedger::event({{"n", n}}));
    keep(newest(), {&a});
  }
  EXPECT_EQ(ledger->facts("cosigned")->size(), kKeptSizes + 1);
  EXPECT_EQ(receipt_of(0).tree_size, quorum);
}

// SC-57
TEST_F(CosignedTest, AConsistencyProofNeedsTheQuorumToo) {
  ledger.append(TestLedger::event({{"n", 1}}));
  const std::string older = newest();
  keep(older, {&a, &b});
  ledger.append(TestLedger::event({{"n", 2}}));
  const std::string newer = newest();
  std::string proof;
  std::string cosigned;
  EXPECT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
    cosigned = *with_cosignatures(view, size_of(older), older);
    return {};
  }));
  const std::vector<NoteSignature> both = {a.cosign(parsed(newer).text),
                                           b.cosign(parsed(newer).text)};
  std::string newer_cosigned = newer;
  for (const NoteSignature& line : both) newer_cosigned += signature_line(line);
  const Verification refused =
      verify_consistency(older, newer, consistency_text(1, 1, {}), trust(true));
  EXPECT_EQ(refused.step, "quorum");
  const Verification sizes =
      verify_consistency(cosigned, newer_cosigned, consistency_text(1, 1, {}), trust(true));
  EXPECT_EQ(sizes.step, "size") << sizes.detail;
}

}  // namespace
}  // namespace sallyport::ledger
