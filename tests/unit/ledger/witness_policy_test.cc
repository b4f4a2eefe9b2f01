#include "ledger/proof/witness_policy.h"

#include <gtest/gtest.h>

#include "support/test_witness.h"

namespace sallyport::ledger {
namespace {

using test::TestWitness;

constexpr std::string_view kLog =
    "sallyport.example/test+d0e5ad83+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4";

class WitnessPolicyTest : public testing::Test {
 protected:
  WitnessPolicyTest() {
    for (int i = 1; i <= 6; ++i) {
      witnesses.emplace_back(fmt::format("witness.example/{}", i), static_cast<std::uint8_t>(i));
    }
  }

  std::string line(int i, std::string_view name, std::string_view url = "") const {
    return fmt::format("witness {} {} {}\n", name, witnesses[i].verifier().text(), url);
  }
  // The example of the specification: two of three, and one of three.
  std::string two_levels() const {
    return fmt::format(
        "# comment\n\nlog {}\n\n{}{}{} group X-witnesses 2 X1 X2 X3\n{}{}{}"
        "group\tY-witnesses any Y1 Y2 Y3  \ngroup X-and-Y all X-witnesses Y-witnesses\n"
        "quorum X-and-Y\n",
        kLog, line(0, "X1"), line(1, "X2"), line(2, "X3"), line(3, "Y1"), line(4, "Y2"),
        line(5, "Y3"));
  }
  static std::string why(const std::string& text) {
    const Result<WitnessPolicy> policy = WitnessPolicy::parse(text, "file");
    return policy ? "accepted" : policy.error().where + ": " + policy.error().message;
  }

  std::vector<TestWitness> witnesses;
};

// SC-57
TEST_F(WitnessPolicyTest, GroupsOfGroupsMakeTheQuorum) {
  const Result<WitnessPolicy> policy = WitnessPolicy::parse(two_levels());
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->logs.size(), 1u);
  EXPECT_EQ(policy->witnesses.size(), 6u);
  EXPECT_TRUE(policy->is_met_by({"X1", "X3", "Y2"}));
  EXPECT_TRUE(policy->is_met_by({"X1", "X2", "X3", "Y1", "Y2", "Y3"}));
  EXPECT_FALSE(policy->is_met_by({"X1", "Y1", "Y2", "Y3"}));
  EXPECT_FALSE(policy->is_met_by({"X1", "X2", "X3"}));
  EXPECT_FALSE(policy->is_met_by({}));
}

TEST_F(WitnessPolicyTest, NoneAsksForNoWitnessAndOneWitnessCanBeTheQuorum) {
  EXPECT_TRUE(WitnessPolicy::parse("quorum none\n")->is_met_by({}));
  const Result<WitnessPolicy> one =
      WitnessPolicy::parse(line(0, "a", "https://a.example/w") + line(1, "b") + "quorum a\n");
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->witnesses[0].url, "https://a.example/w");
  EXPECT_TRUE(one->is_met_by({"a"}));
  EXPECT_FALSE(one->is_met_by({"b"}));
}

// SC-57
TEST_F(WitnessPolicyTest, WhatTheFormatForbidsIsRefusedWithItsLine) {
  EXPECT_EQ(why(""), "file:0: there is no `quorum` line");
  EXPECT_EQ(why("quorum none"), "file:1: the last LF is missing");
  EXPECT_EQ(why("quorum none\nquorum none\n"), "file:2: there is a `quorum` line already");
  EXPECT_EQ(why("quorum a\n" + line(0, "a")), "file:1: `a` is not defined on a line before");
  EXPECT_EQ(why(line(0, "a") + line(1, "a")), "file:2: `a` is defined already");
  EXPECT_EQ(why(line(0, "a") + line(0, "b")), "file:2: the key of `b` is that of `a`");
  EXPECT_EQ(why(line(0, "none")), "file:1: `none` is a name of the format itself");
  EXPECT_EQ(why(line(0, "a") + "group g any a\ngroup h any a\n"),
            "file:3: `a` is a member already");
  EXPECT_EQ(why("group g any g\n"), "file:1: `g` is not defined on a line before");
  EXPECT_EQ(why(line(0, "a") + "group g 2 a\n"),
            "file:2: `2` is not all, any or a number from 1 to 1");
  EXPECT_EQ(why(line(0, "a") + "group g 01 a\n"),
            "file:2: `01` is not all, any or a number from 1 to 1");
  EXPECT_EQ(why("group g any\n"), "file:1: write `group NAME all|any|K NAME...`");
  EXPECT_EQ(why("quorum\r none\n"), "file:1: a line holds a control character");
  EXPECT_EQ(why("qourum none\n"), "file:1: `qourum` is not log, witness, group or quorum");
  EXPECT_EQ(why(fmt::format("witness a {}\n", kLog)),
            "file:1: only keys of Ed25519 cosignatures (type 4) are known for a witness");
  EXPECT_EQ(why(fmt::format("log {}\n", witnesses[0].verifier().text())),
            "file:1: only Ed25519 keys (type 1) are known");
  EXPECT_EQ(why(fmt::format("log {}\nlog {} https://x\n", kLog, kLog)),
            "file:2: this log is there already");
  EXPECT_EQ(why(std::string(64 * 1024, '#') + "\n"), "file:0: a policy is at most 64 KiB");
  EXPECT_EQ(why(std::string(64 * 1024 - 13, '#') + "\nquorum none\n"), "accepted");
  EXPECT_EQ(why("quorum no\x7fne\n"), "file:1: a line holds a control character");
  EXPECT_EQ(why("quorum none\n#\x1f\n"), "file:2: a line holds a control character");
  EXPECT_EQ(why(line(0, "a") + "group g 0 a\n"),
            "file:2: `0` is not all, any or a number from 1 to 1");
  EXPECT_EQ(why(line(0, "a") + "group g 1 a\nquorum g\n"), "accepted");
}

// SC-57
TEST_F(WitnessPolicyTest, EachLineHasItsWords) {
  const std::string key = witnesses[0].verifier().text();
  EXPECT_EQ(why(fmt::format("log {} https://x\nquorum none\n", kLog)), "accepted");
  for (const std::string& text :
       {std::string("log\n"), fmt::format("log {} https://x y\n", kLog)}) {
    EXPECT_EQ(why(text), "file:1: write `log VKEY [URL]`");
  }
  for (const std::string& text : {std::string("witness\n"), std::string("witness a\n"),
                                  "witness a " + key + " https://x y\n"}) {
    EXPECT_EQ(why(text), "file:1: write `witness NAME VKEY [URL]`");
  }
  for (const std::string text : {"quorum\n", "quorum none none\n"}) {
    EXPECT_EQ(why(text), "file:1: write `quorum NAME`");
  }
}

// SC-57
TEST_F(WitnessPolicyTest, SixtyFourLinesOfAKindAreTheMost) {
  std::string text;
  std::string groups;
  for (int i = 0; i < 64; ++i) {
    const TestWitness witness(fmt::format("w.example/{}", i), static_cast<std::uint8_t>(100 + i));
    text += fmt::format("witness w{} {}\n", i, witness.verifier().text());
    groups += fmt::format("group g{} any w{}\n", i, i);
  }
  EXPECT_EQ(why(text + groups + "quorum g0\n"), "accepted");
  EXPECT_EQ(why(text + line(0, "more")), "file:65: more than 64 lines `witness`");
  EXPECT_EQ(why(text + groups + "group more any g0\n"), "file:129: more than 64 lines `group`");
}

// SC-55 SC-57
TEST_F(WitnessPolicyTest, ACosignatureCountsUnderItsOwnKeyTimeAndText) {
  const Result<WitnessPolicy> policy =
      WitnessPolicy::parse(line(0, "a") + line(1, "b") + "group g all a b\nquorum g\n");
  ASSERT_TRUE(policy);
  Note note{.text = "origin\n1\nAAAA\n"};
  EXPECT_EQ(require_quorum(note, *policy).error().message,
            "no quorum `g`: 0 of 2 witnesses cosigned, missing a, b");
  note.signatures = {witnesses[0].cosign(note.text), witnesses[5].cosign(note.text)};
  EXPECT_EQ(require_quorum(note, *policy).error().message,
            "no quorum `g`: 1 of 2 witnesses cosigned, missing b");
  note.signatures.push_back(witnesses[1].cosign(note.text, 1));
  EXPECT_EQ(require_quorum(note, *policy), (std::set<std::string>{"a", "b"}));

  note.signatures.back() = witnesses[1].cosign(note.text, (1ull << 63) - 1);
  EXPECT_TRUE(require_quorum(note, *policy));

  for (const NoteSignature& bad :
       {witnesses[1].cosign("origin\n2\nAAAA\n"), witnesses[1].cosign(note.text, 0),
        witnesses[1].cosign(note.text, 1ull << 63)}) {
    note.signatures.back() = bad;
    EXPECT_EQ(require_quorum(note, *policy).error().message,
              "the cosignature by `b` does not verify");
  }
  note.signatures.back().signature.resize(5);
  EXPECT_FALSE(require_quorum(note, *policy));
}

TEST_F(WitnessPolicyTest, AKeyIsWrittenAsItWasRead) {
  const std::string text = witnesses[0].verifier().text();
  const Result<VerifierKey> key = VerifierKey::parse(text, KeyType::Cosignature);
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(key->text(), text);
  EXPECT_FALSE(VerifierKey::parse(text));
}

}  // namespace
}  // namespace sallyport::ledger
