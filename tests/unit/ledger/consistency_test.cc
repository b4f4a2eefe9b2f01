#include <gtest/gtest.h>

#include "ledger/proof/key_history.h"
#include "ledger/proof/receipt.h"
#include "ledger/proof/tree.h"
#include "log_of_leaves.h"
#include "support/test_ledger.h"
#include "vectors.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;
using vectors::trust;
using vectors::with;

// LE-18
TEST(ConsistencyTest, EveryPairOfSizesUpTo130IsProved) {
  LogOfLeaves log(130);
  for (std::uint64_t size = 1; size <= 130; ++size) {
    for (std::uint64_t old_size = 1; old_size <= size; ++old_size) {
      const Proof proof = log.consistency(old_size, size);
      ASSERT_TRUE(consistent(old_size, log.root(old_size), size, log.root(size), proof))
          << old_size << " to " << size;
    }
  }
}

// LE-18
TEST(ConsistencyTest, PairsOfSizesUpTo300AreProved) {
  LogOfLeaves log(300);
  for (std::uint64_t size = 131; size <= 300; size += 7) {
    for (std::uint64_t old_size = 1; old_size <= size; ++old_size) {
      const Proof proof = log.consistency(old_size, size);
      ASSERT_TRUE(consistent(old_size, log.root(old_size), size, log.root(size), proof))
          << old_size << " to " << size;
    }
  }
}

// LE-18
TEST(ConsistencyTest, SpoiledProofsFail) {
  LogOfLeaves log(300);
  std::uint64_t variety = 0;
  for (std::uint64_t size = 1; size <= 300; size += size < 50 ? 1 : 31) {
    for (std::uint64_t old_size = 1; old_size <= size; ++old_size) {
      for (const Proof& proof : spoiled(log.consistency(old_size, size), ++variety)) {
        ASSERT_FALSE(consistent(old_size, log.root(old_size), size, log.root(size), proof))
            << old_size << " to " << size;
      }
    }
  }
}

// LE-18
TEST(ConsistencyTest, AnotherPastIsNotConsistent) {
  LogOfLeaves log(64);
  const Hash other = leaf_hash("another past");
  for (std::uint64_t size = 1; size <= 64; ++size) {
    for (std::uint64_t old_size = 1; old_size <= size; ++old_size) {
      const Proof proof = log.consistency(old_size, size);
      ASSERT_FALSE(consistent(old_size, other, size, log.root(size), proof));
      ASSERT_FALSE(consistent(old_size, log.root(old_size), size, other, proof));
      if (old_size == size) continue;
      ASSERT_FALSE(consistent(size, log.root(size), old_size, log.root(old_size), proof));
      ASSERT_FALSE(consistent(0, empty_root(), size, log.root(size), proof));
    }
  }
}

// Two signed states of one log, and the proof between them as text.
struct Pair {
  std::string older;
  std::string newer;
  std::string proof;
};

Pair pair_of(std::uint64_t old_size, std::uint64_t size) {
  LogOfLeaves log(size);
  const SigningKey key = vectors::signing_key();
  const std::string origin(vectors::kOrigin);
  return {Checkpoint{origin, old_size, log.root(old_size)}.sign({&key}),
          Checkpoint{origin, size, log.root(size)}.sign({&key}),
          consistency_text(old_size, size, log.consistency(old_size, size))};
}

std::string step_of(const Pair& pair, const Trust& pinned = trust()) {
  const Verification answer = verify_consistency(pair.older, pair.newer, pair.proof, pinned);
  return answer.ok ? "passed" : answer.step;
}

// LE-38
TEST(ConsistencyTest, AProofIsTextWithSizesAndHashes) {
  EXPECT_EQ(pair_of(2, 4).proof,
            "sallyport/consistency-proof/v1\n2\n4\n"
            "EmBS23eYJA5jpYSHo70DmnfWBaaiGPlHC1gu0eSQESE=\n");
  EXPECT_EQ(pair_of(4, 4).proof, "sallyport/consistency-proof/v1\n4\n4\n");
}

// LE-38
TEST(ConsistencyTest, TwoCheckpointsAndTheirProofVerifyOffline) {
  for (std::uint64_t size = 1; size <= 20; ++size) {
    for (std::uint64_t old_size = 1; old_size <= size; ++old_size) {
      EXPECT_EQ(step_of(pair_of(old_size, size)), "passed") << old_size << " to " << size;
    }
  }
  const Pair pair = pair_of(5, 11);
  const Verification answer = verify_consistency(pair.older, pair.newer, pair.proof, trust());
  EXPECT_EQ(answer.origin, vectors::kOrigin);
  EXPECT_EQ(answer.sequence, 11U);
}

// LE-35, LE-38
TEST(ConsistencyTest, WhatWasChangedIsNamed) {
  const Pair good = pair_of(5, 11);
  const Pair other = pair_of(6, 11);
  EXPECT_EQ(step_of({good.older, good.newer, other.proof}), "size");
  EXPECT_EQ(step_of({good.newer, good.older, good.proof}), "size");
  EXPECT_EQ(step_of({with(good.older, "\n5\n", "\n6\n"), good.newer, good.proof}), "signature");
  EXPECT_EQ(step_of({good.older, with(good.newer, "\n11\n", "\n12\n"), good.proof}), "signature");
  EXPECT_EQ(step_of(good, {vectors::signing_key("other.example").verifier()}), "key");
  EXPECT_EQ(step_of(good, {.key = trust().key, .origin = "elsewhere.example"}), "origin");
  const std::size_t end = good.proof.rfind('\n', good.proof.size() - 2) + 1;
  std::string forged = good.proof;
  forged[end] = forged[end] == 'A' ? 'B' : 'A';
  EXPECT_EQ(step_of({good.older, good.newer, forged}), "inclusion");
  EXPECT_EQ(step_of({good.older, good.newer, good.proof.substr(0, end)}), "inclusion");
  EXPECT_EQ(step_of({good.older, good.newer, good.proof + good.proof.substr(end)}), "inclusion");
}

// LE-78
TEST(ConsistencyTest, MalformedProofsFailAtForm) {
  const Pair good = pair_of(5, 11);
  const std::string hash = base64(leaf_hash("x")) + "\n";
  std::string hashes;
  for (int i = 0; i < 65; ++i) hashes += hash;
  for (const std::string& bad :
       {std::string(), std::string("5\n11\n"), good.proof.substr(0, good.proof.size() - 1),
        with(good.proof, "/v1", "/v2"), with(good.proof, "\n5\n", "\n05\n"),
        with(good.proof, "\n5\n", "\n+5\n"), with(good.proof, "\n5\n", "\n-5\n"),
        with(good.proof, "\n5\n", "\n5 \n"), with(good.proof, "\n5\n", "\n\n"),
        with(good.proof, "\n11\n", "\n99999999999999999999\n"), good.proof + "\n",
        good.proof + "AA==\n", good.proof + with(hash, "=\n", "\n"),
        "sallyport/consistency-proof/v1\n5\n11\n" + hashes, good.proof + std::string(20'000, 'A'),
        std::string("sallyport/consistency-proof/v1\n5\n"),
        std::string("sallyport/consistency-proof/v1\n")}) {
    EXPECT_EQ(step_of({good.older, good.newer, bad}), "form") << bad;
  }
  EXPECT_EQ(step_of({"", good.newer, good.proof}), "form");
  EXPECT_EQ(step_of({good.older, good.newer.substr(1), good.proof}), "signature");
  EXPECT_EQ(step_of({good.older, with(good.newer, "\n\n", "\n"), good.proof}), "form");
}

struct State {
  std::string checkpoint;
  std::uint64_t size = 0;
};

State state_of(TestLedger& ledger) {
  State state;
  EXPECT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
    state.size = view.size().value();
    state.checkpoint = view.entry(state.size - 1).value()->checkpoint;
    return {};
  }));
  return state;
}

std::string proof_between(TestLedger& ledger, const State& older, const State& newer) {
  std::string text;
  EXPECT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
    const Proof proof = consistency_proof(older.size, newer.size, subtree_hash(view)).value();
    text = consistency_text(older.size, newer.size, proof);
    return {};
  }));
  return text;
}

std::string receipt_of(TestLedger& ledger, std::uint64_t sequence) {
  std::string text;
  EXPECT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
    text = make_receipt(view, sequence, true).value().json();
    return {};
  }));
  return text;
}

// A ledger with one key rotation, with the states before, at and after it.
class RotatedLedger : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ledger_.open();
    EXPECT_TRUE(ledger_.store().read([&](ReadView& view) -> Result<void> {
      old_key_ = key_history(view).value().at(0).key;
      return {};
    }));
    ledger_.append_many(300);
    before_ = state_of(ledger_);
    receipt_before_ = receipt_of(ledger_, 17);
    new_key_ = ledger_->rotate_key(GetParam()).value();
    at_ = state_of(ledger_);
    ledger_.append_many(300);
    after_ = state_of(ledger_);
    // Issued long after the rotation, when the newest checkpoint has one signature only.
    rotation_ = receipt_of(ledger_, at_.size - 1);
  }

  TestLedger ledger_;
  VerifierKey old_key_;
  VerifierKey new_key_;
  State before_;
  State at_;
  State after_;
  std::string receipt_before_;
  std::string rotation_;
};

using HonestRotation = RotatedLedger;
using CompromisedRotation = RotatedLedger;
INSTANTIATE_TEST_SUITE_P(, HonestRotation, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(, CompromisedRotation, testing::Values(true));

// LE-26, LE-27: the receipt of a rotation was once made under the newest checkpoint, which the old
// key had not signed, so a verifier that had pinned that key could not use it
TEST_P(HonestRotation, TheOldPinAcceptsTheNewKeyWithTheRotationsReceipt) {
  const std::string receipt = receipt_of(ledger_, after_.size - 1);
  EXPECT_EQ(verify_receipt(receipt, {.key = old_key_}).step, "key");
  EXPECT_TRUE(verify_receipt(receipt, {.key = new_key_}).ok);
  const Verification answer = verify_receipt(receipt, {.key = old_key_, .rotations = {rotation_}});
  EXPECT_TRUE(answer.ok) << answer.step << ": " << answer.detail;
  EXPECT_TRUE(verify_receipt(rotation_, {.key = old_key_}).ok);
  EXPECT_TRUE(verify_receipt(rotation_, {.key = new_key_}).ok);
}

// LE-27
TEST_P(HonestRotation, TheOldPinStillHoldsForWhatItSigned) {
  EXPECT_TRUE(verify_receipt(receipt_before_, {.key = old_key_}).ok);
  EXPECT_TRUE(verify_receipt(receipt_before_, {.key = old_key_, .rotations = {rotation_}}).ok);
  EXPECT_EQ(verify_receipt(receipt_before_, {.key = new_key_}).step, "key");
}

// LE-27
TEST_P(HonestRotation, AnythingButThatReceiptHandsNoTrustOn) {
  const std::string receipt = receipt_of(ledger_, after_.size - 1);
  const auto step = [&](std::string rotation) {
    const Verification answer =
        verify_receipt(receipt, {.key = old_key_, .rotations = {std::move(rotation)}});
    return answer.ok ? "passed" : answer.step;
  };
  EXPECT_EQ(step(receipt), "key");
  EXPECT_EQ(step(receipt_before_), "key");
  EXPECT_EQ(step(""), "key");
  EXPECT_EQ(step(with(rotation_, R"("compromised":false)", R"("compromised":true)")), "key");
  const std::string forged = vectors::signing_key(old_key_.name, 9).verifier().text();
  EXPECT_EQ(step(with(rotation_, new_key_.text(), forged)), "key");
  const Verification twice =
      verify_receipt(receipt, {.key = old_key_, .rotations = {rotation_, rotation_}});
  EXPECT_EQ(twice.step, "key");
  EXPECT_FALSE(twice.ok);
}

// LE-27, LE-38
TEST_P(HonestRotation, ConsistencyIsProvedAcrossAndBehindARotation) {
  ledger_.append_many(10);
  const State last = state_of(ledger_);
  const Trust with_rotation{.key = old_key_, .rotations = {rotation_}};
  for (const auto& [older, newer] : std::initializer_list<std::pair<State, State>>{
           {before_, at_}, {before_, after_}, {at_, after_}, {after_, last}}) {
    const std::string proof = proof_between(ledger_, older, newer);
    const Verification answer =
        verify_consistency(older.checkpoint, newer.checkpoint, proof, with_rotation);
    EXPECT_TRUE(answer.ok) << older.size << " to " << newer.size << ": " << answer.detail;
  }
  const std::string proof = proof_between(ledger_, before_, after_);
  EXPECT_EQ(step_of({before_.checkpoint, after_.checkpoint, proof}, {.key = old_key_}), "key");
}

// LE-27
TEST_P(HonestRotation, RotationsAreFollowedInTheirOrder) {
  const VerifierKey third = ledger_->rotate_key(false).value();
  const std::string second_rotation = receipt_of(ledger_, state_of(ledger_).size - 1);
  ledger_.append_many(3);
  const std::string receipt = receipt_of(ledger_, 5);
  EXPECT_TRUE(verify_receipt(receipt, {.key = third}).ok);
  EXPECT_TRUE(
      verify_receipt(receipt, {.key = old_key_, .rotations = {rotation_, second_rotation}}).ok);
  EXPECT_FALSE(
      verify_receipt(receipt, {.key = old_key_, .rotations = {second_rotation, rotation_}}).ok);
  EXPECT_FALSE(verify_receipt(receipt, {.key = old_key_, .rotations = {second_rotation}}).ok);
  EXPECT_FALSE(verify_receipt(receipt, {.key = old_key_, .rotations = {rotation_}}).ok);
}

// LE-36
TEST_P(HonestRotation, ABadLineByEitherTrustedKeyFails) {
  Receipt bad = *Receipt::parse(rotation_);
  const std::size_t at = bad.checkpoint.size() - 10;
  bad.checkpoint[at] = bad.checkpoint[at] == 'A' ? 'B' : 'A';
  EXPECT_TRUE(verify_receipt(bad.json(), {.key = old_key_}).ok);
  EXPECT_EQ(verify_receipt(bad.json(), {.key = old_key_, .rotations = {rotation_}}).step,
            "signature");
}

// LE-27
TEST_P(CompromisedRotation, ACompromisedKeyHandsNoTrustOn) {
  const std::string receipt = receipt_of(ledger_, after_.size - 1);
  EXPECT_TRUE(verify_receipt(receipt, {.key = new_key_}).ok);
  const Verification answer = verify_receipt(receipt, {.key = old_key_, .rotations = {rotation_}});
  EXPECT_FALSE(answer.ok);
  EXPECT_EQ(answer.step, "key");
  EXPECT_NE(answer.detail.find("compromised"), std::string::npos);
}

}  // namespace
}  // namespace sallyport::ledger
