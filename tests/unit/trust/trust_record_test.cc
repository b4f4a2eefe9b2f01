#include "trust/trust_record.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "trust/record_text.h"
#include "vectors.h"

namespace sallyport::trust {
namespace {

TrustRecord sample() {
  return {.record_id = "01966f4c-3000-7000-8000-000000000001",
          .agent = "deploy-bot",
          .action = "fs.write",
          .outcome = Outcome::Denied,
          .trace_id = "trace_1",
          .autonomy_tier = Autonomy::Shadow,
          .timestamp = "2026-11-15T02:00:00Z",
          .metadata = to_metadata({.enforcement = "shadow_noop",
                                   .builtin = "write_file",
                                   .action_class = "fs.write",
                                   .call_id = "call_1"}),
          .chain_index = 1,
          .entry_hash = vectors::kFirstHash};
}

std::string place(TrustRecord record) {
  const Result<void> checked = check_record(record);
  return checked ? "" : checked.error().where;
}

// TR-1 TR-2 TR-6
TEST(TrustRecordTest, TheFirstRecordOfThePageHasItsBytes) {
  json::object object = to_json(sample());
  EXPECT_EQ(object.size(), 14u);
  object.erase("entry_hash");
  EXPECT_EQ(canonical_json(object), vectors::kFirst);
  RecordText text;
  ASSERT_TRUE(text.read(vectors::kFirst));
  EXPECT_EQ(text.entry_hash(), vectors::kFirstHash);
}

// TR-1
TEST(TrustRecordTest, ARecordReadsBackAndFaultsAreNamed) {
  const Result<TrustRecord> read = trust_record_from_json(to_json(sample()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(sample()));
  json::object wrong = to_json(sample());
  wrong["outcome"] = "skipped";
  EXPECT_EQ(trust_record_from_json(wrong).error().where, "record.outcome");
  wrong = to_json(sample());
  wrong.erase("agent");
  EXPECT_EQ(trust_record_from_json(wrong).error().where, "record.agent");
  wrong = to_json(sample());
  wrong["cost_usd"] = "1";
  EXPECT_EQ(trust_record_from_json(wrong).error().where, "record.cost_usd");
}

// TR-1 TR-3
TEST(TrustRecordTest, OnlyWhatAllVerifiersWriteAlikeIsAccepted) {
  EXPECT_EQ(place(sample()), "");
  const auto changed = [](auto change) {
    TrustRecord record = sample();
    change(record);
    return place(record);
  };
  EXPECT_EQ(changed([](auto& r) { r.metadata["caf\xc3\xa9"] = 1; }), "metadata");
  EXPECT_EQ(changed([](auto& r) { r.metadata["rate"] = 0.5; }), "metadata.rate");
  EXPECT_EQ(changed([](auto& r) { r.metadata["list"] = {json::object{{"n", 1.5}}}; }),
            "metadata.list.n");
  EXPECT_EQ(changed([](auto& r) { r.metadata["name"] = "caf\xc3\xa9"; }), "");
  for (const double good : {0.0, 0.0001, 0.21, 3.0, 999999999999999.0}) {
    EXPECT_EQ(changed([&](auto& r) { r.cost_usd = good; }), "") << good;
  }
  for (const double bad : {-1.0, 0.00009, 1e15, 1e300}) {
    EXPECT_EQ(changed([&](auto& r) { r.cost_usd = bad; }), "cost_usd") << bad;
  }
  EXPECT_EQ(changed([](auto& r) { r.timestamp = "2026-11-15T02:00:00.5Z"; }), "timestamp");
  EXPECT_EQ(changed([](auto& r) { r.timestamp = "2026-11-15T02:00:00+01:00"; }), "timestamp");
  EXPECT_EQ(changed([](auto& r) { r.record_id = "01966f4c-3000-4000-8000-000000000001"; }),
            "record_id");
  EXPECT_EQ(changed([](auto& r) { r.approver = ""; }), "approver");
  EXPECT_EQ(changed([](auto& r) { r.agent = ""; }), "agent");
}

// TR-8
TEST(TrustRecordTest, ItsEntryIsOfKindTrustOnTheTopicOfTheGraph) {
  const core::Draft draft = trust_draft(sample());
  EXPECT_EQ(draft.kind, core::Kind::Trust);
  EXPECT_EQ(draft.topic, "trust_graph");
  EXPECT_EQ(draft.subject->agent_id, "deploy-bot");
  EXPECT_EQ(draft.subject->call_id, "call_1");
  EXPECT_EQ(draft.outcome, "denied");
}

TEST(TrustRecordTest, AChangeOfTierIsControlByItsActionOrByItsMark) {
  TrustRecord record = sample();
  EXPECT_FALSE(record.is_control());
  record.metadata["control"] = false;
  EXPECT_FALSE(record.is_control());
  record.metadata["control"] = true;
  EXPECT_TRUE(record.is_control());
  record.metadata.erase("control");
  for (const char* const action : {"trust.promote", "trust.demote"}) {
    record.action = action;
    EXPECT_TRUE(record.is_control()) << action;
  }
}

TEST(TrustRecordTest, WhatDidNotRunForItsTierIsWithheld) {
  TrustRecord record = sample();
  for (const auto& [how, withheld] : {std::pair("shadow_noop", true),
                                      {"suggest_approval_request", true},
                                      {"approval_granted", false},
                                      {"nonsense", false}}) {
    record.metadata["autonomy.enforcement"] = how;
    EXPECT_EQ(record.is_withheld(), withheld) << how;
  }
}

// TR-6 TR-7
TEST(TrustRecordTest, MetadataHoldsReferencesAndSignatures) {
  EXPECT_EQ(
      canonical_json(to_metadata({"approval_granted", "shell", "process.exec", "call_2", "apr_1"})),
      R"({"action_class":"process.exec","approval_request_id":"apr_1",)"
      R"("autonomy.enforcement":"approval_granted","builtin":"shell","call_id":"call_2"})");
  EXPECT_EQ(
      canonical_json(approval_metadata(2, {{"user:ada", "2026-11-15T02:00:00Z", "ledger:7"}})),
      R"({"quorum":2,"required":true,"signatures":[{"reviewer":"user:ada",)"
      R"("signature":"ledger:7","signed_at":"2026-11-15T02:00:00Z"}]})");
}

// TR-1 (partly)
TEST(TrustRecordTest, TimesHaveWholeSeconds) {
  EXPECT_EQ(whole_seconds(*from_rfc3339("2026-11-15T02:00:00.999999Z")), "2026-11-15T02:00:00Z");
}

}  // namespace
}  // namespace sallyport::trust
