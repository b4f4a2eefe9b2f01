#include "trust/control.h"

#include <gtest/gtest.h>
#include <sodium.h>

#include <boost/json.hpp>

#include "trust/record_text.h"
#include "vectors.h"

namespace sallyport::trust {

vectors::KeyPair vectors::key_from_seed(std::uint8_t first) {
  std::array<std::uint8_t, 32> seed;
  for (std::uint8_t& byte : seed) byte = first++;
  KeyPair pair;
  crypto_sign_ed25519_seed_keypair(pair.key.data(), pair.secret.data(), seed.data());
  return pair;
}

namespace {

ControlStatement statement() {
  return {.action = "trust.promote",
          .agent = "deploy-bot",
          .control_id = "01966f4c-3000-7000-8000-0000000000c1",
          .from_tier = Autonomy::Shadow,
          .to_tier = Autonomy::ActWithApproval,
          .ledger = vectors::kOrigin,
          .reviewer = "user:ops-lead",
          .signed_at = "2026-11-15T02:01:00Z"};
}

WallTime at(const char* time) {
  return *from_rfc3339(time);
}

// Returns the reason of the refusal, or an empty string if there is none.
std::string refusal(const ControlStatement& statement, std::string_view signature,
                    const Reviewers& people, const char* time = "2026-11-15T02:01:02Z") {
  const Result<void> checked = check_control(statement, signature, people, at(time));
  return checked ? "" : checked.error().message;
}

// TR-16
TEST(ControlTest, TheVectorIsSignedAndAccepted) {
  EXPECT_EQ(statement().text(), vectors::kStatement);
  EXPECT_EQ(sign(statement(), vectors::key_from_seed(0x20).secret), vectors::kSignature);
  EXPECT_EQ(refusal(statement(), vectors::kSignature, vectors::people()), "");
}

// TR-15 TR-16
TEST(ControlTest, TheRecordOfTheVectorHasItsBytesAndItsHash) {
  TrustRecord record =
      control_record(statement(), vectors::kSignature, "01966f4c-3000-7000-8000-000000000002",
                     "trace_2", at("2026-11-15T02:01:02.9Z"));
  ASSERT_TRUE(check_record(record));
  record.chain_index = 2;
  record.previous_hash = vectors::kFirstHash;
  json::object object = to_json(record);
  object.erase("entry_hash");
  EXPECT_EQ(canonical_json(object), vectors::kSecond);
  RecordText text;
  ASSERT_TRUE(text.read(canonical_json(object)));
  EXPECT_EQ(text.entry_hash(), vectors::kSecondHash);
  EXPECT_TRUE(record.is_control());
}

// TR-15
TEST(ControlTest, WhoIsNotARegisteredControllerChangesNothing) {
  Reviewers only_approves = vectors::people();
  only_approves.people[0].roles = {"approver"};
  EXPECT_NE(refusal(statement(), vectors::kSignature, only_approves), "");
  EXPECT_NE(refusal(statement(), vectors::kSignature, {}), "");
  Reviewers other_key = vectors::people();
  other_key.people[0].key = vectors::key_from_seed(0x40).key;
  EXPECT_NE(refusal(statement(), vectors::kSignature, other_key), "");
  Reviewers no_key = vectors::people();
  no_key.people[0].key.reset();
  EXPECT_NE(refusal(statement(), vectors::kSignature, no_key), "");
}

// TR-15
TEST(ControlTest, AnAgentCannotPromoteItself) {
  ControlStatement own = statement();
  own.reviewer = own.agent;
  Reviewers people = vectors::people();
  people.people[0].name = own.agent;
  const std::string signature = sign(own, vectors::key_from_seed(0x20).secret);
  EXPECT_NE(refusal(own, signature, people).find("its own tier"), std::string::npos);
}

// TR-16
TEST(ControlTest, ASignatureHoldsForItsBytesAlone) {
  const auto changed = [](auto change) {
    ControlStatement other = statement();
    change(other);
    return refusal(other, vectors::kSignature, vectors::people());
  };
  EXPECT_NE(changed([](auto& s) { s.agent = "other-bot"; }), "");
  EXPECT_NE(changed([](auto& s) { s.to_tier = Autonomy::ActAuto; }), "");
  EXPECT_NE(changed([](auto& s) { s.from_tier = Autonomy::Suggest; }), "");
  EXPECT_NE(changed([](auto& s) { s.ledger = "another.example/log"; }), "");
  EXPECT_NE(changed([](auto& s) { s.signed_at = "2026-11-15T02:01:01Z"; }), "");
  EXPECT_NE(changed([](auto& s) { s.control_id.back() = '2'; }), "");
  EXPECT_NE(refusal(statement(), "ed25519:AAAA", vectors::people()), "");
  EXPECT_NE(refusal(statement(), "", vectors::people()), "");
}

// TR-16
TEST(ControlTest, ASignatureIsGoodForTenMinutes) {
  const auto when = [](const char* time) {
    return refusal(statement(), vectors::kSignature, vectors::people(), time);
  };
  EXPECT_EQ(when("2026-11-15T02:11:00Z"), "");
  EXPECT_NE(when("2026-11-15T02:11:00.000001Z"), "");
  EXPECT_EQ(when("2026-11-15T01:51:00Z"), "");
  EXPECT_NE(when("2026-11-15T01:50:59Z"), "");
}

// TR-15
TEST(ControlTest, APromotionGoesUpAndADemotionDown) {
  const auto signed_change = [](const char* action, Autonomy from, Autonomy to) {
    ControlStatement change = statement();
    change.action = action;
    change.from_tier = from;
    change.to_tier = to;
    return refusal(change, sign(change, vectors::key_from_seed(0x20).secret), vectors::people());
  };
  EXPECT_EQ(signed_change("trust.demote", Autonomy::ActAuto, Autonomy::Shadow), "");
  EXPECT_NE(signed_change("trust.demote", Autonomy::Shadow, Autonomy::ActAuto), "");
  EXPECT_NE(signed_change("trust.promote", Autonomy::ActAuto, Autonomy::Shadow), "");
  EXPECT_NE(signed_change("trust.promote", Autonomy::Suggest, Autonomy::Suggest), "");
  EXPECT_NE(signed_change("trust.crown", Autonomy::Shadow, Autonomy::ActAuto), "");
}

// TR-16 (partly)
TEST(ControlTest, KeysAreTextsOfOneForm) {
  const PublicKey key = vectors::key_from_seed(0x20).key;
  EXPECT_EQ(key_from(key_text(key)), key);
  EXPECT_FALSE(key_from("ed25519:AAAA"));
  EXPECT_FALSE(key_from(key_text(key).substr(8)));
}

}  // namespace
}  // namespace sallyport::trust
