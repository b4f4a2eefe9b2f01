#include "trust/chain.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <ctime>
#include <sstream>

#include "base/digest.h"
#include "base/encoding.h"
#include "support/effort.h"
#include "trust/chain_file.h"
#include "vectors.h"

namespace sallyport::trust {
namespace {

// Records that are linked as a producer links them.
std::vector<std::string> chain_of(std::size_t count) {
  std::vector<std::string> records;
  std::string previous = "null";
  for (std::size_t i = 1; i <= count; ++i) {
    const std::string body =
        R"({"action":"fs.write","agent":"bot","approver":null,"autonomy_tier":"act_auto","chain_index":)" +
        std::to_string(i) +
        R"(,"cost_usd":0.21,"metadata":{"action_class":"fs.write","autonomy.enforcement":"auto","builtin":"write_file","call_id":"call_)" +
        std::to_string(i) + R"("},"outcome":"success","previous_hash":)" + previous +
        R"(,"record_id":"01966f4c-3000-7000-8000-000000000001","schema":"opentrustgraph/v0","timestamp":"2026-11-15T02:00:00Z","trace_id":"trace_1"})";
    const std::string hash = "sha256:" + hex(sha256(body));
    records.push_back(vectors::stored(body, hash));
    previous = '"' + hash + '"';
  }
  return records;
}

ChainReport verify(const std::vector<std::string>& records, ChainVerifier::Rules rules = {}) {
  ChainVerifier verifier(std::move(rules));
  for (const std::string& record : records) verifier.take(record);
  return verifier.finish();
}

std::vector<std::string> vector_chain() {
  return {vectors::stored(vectors::kFirst, vectors::kFirstHash),
          vectors::stored(vectors::kSecond, vectors::kSecondHash)};
}

void replace(std::string& text, std::string_view what, std::string_view with) {
  text.replace(text.find(what), what.size(), with);
}

std::string linked(std::string body) {
  return vectors::stored(body, "sha256:" + hex(sha256(body)));
}

std::string_view first_error(const ChainReport& report) {
  return report.errors.empty() ? "" : std::string_view(report.errors.front());
}

// TR-1 TR-2 TR-4
TEST(ChainTest, TheVectorsOfThePageVerify) {
  const Reviewers people = vectors::people();
  const ChainReport report =
      verify(vector_chain(), {.ours = true, .reviewers = &people, .origin = vectors::kOrigin});
  EXPECT_TRUE(report.verified) << first_error(report);
  EXPECT_EQ(report.total, 2u);
  EXPECT_EQ(report.root_hash, vectors::kSecondHash);
  EXPECT_TRUE(report.warnings.empty());
}

// A ledger that pruned its first records once never verified again.
// TR-21, LE-60
TEST(ChainTest, AChainWhoseBeginningWasPrunedIsCheckedFromItsFirstRecord) {
  const std::vector<std::string> whole = chain_of(6);
  const std::vector<std::string> left(whole.begin() + 2, whole.end());
  const ChainReport report = verify(left, {.after_prune = true});
  EXPECT_TRUE(report.verified) << first_error(report);
  EXPECT_EQ(report.total, 4u);
  EXPECT_EQ(report.pruned, 2u);
  EXPECT_EQ(report.root_hash, verify(whole).root_hash);
  EXPECT_EQ(report.warnings,
            std::vector<std::string>{"records before record 3 were pruned and not checked"});
  EXPECT_FALSE(verify(left).verified);
  EXPECT_TRUE(verify(whole, {.after_prune = true}).verified);
  EXPECT_EQ(verify(whole, {.after_prune = true}).pruned, 0u);
  std::vector<std::string> gap = left;
  gap.erase(gap.begin() + 1);
  const ChainReport broken = verify(gap, {.after_prune = true});
  EXPECT_EQ(broken.broken_at_event_id, 4u);
  EXPECT_EQ(first_error(broken), "record 4: chain_index is 5, expected 4");
}

// TR-21
TEST(ChainTest, AReportHasTheseMembers) {
  EXPECT_EQ(
      canonical_json(to_json(verify(chain_of(0)))),
      R"({"broken_at_event_id":null,"errors":[],"root_hash":null,"topic":"trust_graph","total":0,"verified":true})");
}

// TR-21 TR-23
TEST(ChainTest, AnEditedRecordIsNamedWithItsIndexAndNothingElseIs) {
  std::vector<std::string> records = chain_of(5);
  replace(records[2], "write_file", "write_film");
  const ChainReport report = verify(records);
  EXPECT_FALSE(report.verified);
  EXPECT_EQ(report.broken_at_event_id, 3u);
  EXPECT_EQ(report.errors, std::vector<std::string>{"record 3: entry_hash mismatch"});
}

// TR-21 TR-23
TEST(ChainTest, ARecordThatWasHashedAgainBreaksTheLinkBehindIt) {
  std::vector<std::string> records = chain_of(3);
  std::vector<std::string> other = chain_of(1);
  replace(other[0], "0.21", "0.22");
  RecordText text;
  ASSERT_TRUE(text.read(other[0]));
  records[0] = vectors::stored(std::string(text.hashed()), text.entry_hash());
  const ChainReport report = verify(records);
  EXPECT_EQ(report.broken_at_event_id, 2u);
  EXPECT_EQ(first_error(report), "record 2: previous_hash mismatch");
}

// TR-21 TR-23
TEST(ChainTest, MissingReorderedAndRepeatedRecordsFailAtTheFirstBadIndex) {
  std::vector<std::string> missing = chain_of(5);
  missing.erase(missing.begin() + 1);
  EXPECT_EQ(verify(missing).broken_at_event_id, 2u);
  EXPECT_NE(first_error(verify(missing)).find("chain_index"), std::string_view::npos);
  std::vector<std::string> headless = chain_of(5);
  headless.erase(headless.begin());
  EXPECT_EQ(verify(headless).broken_at_event_id, 1u);
  std::vector<std::string> reordered = chain_of(5);
  std::swap(reordered[3], reordered[4]);
  EXPECT_EQ(verify(reordered).broken_at_event_id, 4u);
  std::vector<std::string> repeated = chain_of(5);
  repeated.insert(repeated.begin() + 2, repeated[2]);
  EXPECT_EQ(verify(repeated).broken_at_event_id, 4u);
}

// TR-21
TEST(ChainTest, AForgedPromotionIsUnauthorized) {
  const Reviewers people = vectors::people();
  const ChainVerifier::Rules rules{.ours = true, .reviewers = &people, .origin = vectors::kOrigin};
  const auto forged = [&](std::string_view what, std::string_view with) {
    std::vector<std::string> records = vector_chain();
    std::string body = vectors::kSecond;
    replace(body, what, with);
    records[1] = vectors::stored(body, "sha256:" + hex(sha256(body)));
    return std::string(first_error(verify(records, rules)));
  };
  const std::string wanted = "record 2: unauthorized control";
  EXPECT_TRUE(forged("ed25519:79Vk", "ed25519:80Vk").starts_with(wanted));
  EXPECT_TRUE(forged(R"("from_tier":"shadow")", R"("from_tier":"suggest")").starts_with(wanted));
  EXPECT_TRUE(forged(R"("agent":"deploy-bot")", R"("agent":"other-bot")").starts_with(wanted));
  EXPECT_TRUE(
      forged(R"("timestamp":"2026-11-15T02:01:02Z")", R"("timestamp":"2026-11-15T02:12:02Z")")
          .starts_with(wanted));
  EXPECT_TRUE(forged(R"("control":true,)", "").starts_with(wanted));
  EXPECT_TRUE(
      forged(R"("control_id":"01966f4c-3000-7000-8000-0000000000c1",)", "").starts_with(wanted));
  EXPECT_EQ(forged(R"("trace_id":"trace_2")", R"("trace_id":"trace_3")"), "");
}

// TR-21: a record that only its metadata marks as a control
TEST(ChainTest, ARecordThatIsMarkedAsControlNeedsItsSignatureWhateverItsAction) {
  for (const char* const mark : {R"("control":true)", R"("control":false)"}) {
    std::string body = vectors::kFirst;
    replace(body, R"("call_id":"call_1")", R"("call_id":"call_1",)" + std::string(mark));
    const ChainReport report = verify({linked(body)}, {.ours = true});
    EXPECT_TRUE(first_error(report).starts_with("record 1: unauthorized control")) << mark;
  }
}

// TR-16 TR-21
TEST(ChainTest, AControlIdIsGoodOnce) {
  const Reviewers people = vectors::people();
  std::vector<std::string> records = vector_chain();
  std::string body = vectors::kSecond;
  replace(body, R"("chain_index":2)", R"("chain_index":3)");
  replace(body, vectors::kFirstHash, vectors::kSecondHash);
  records.push_back(vectors::stored(body, "sha256:" + hex(sha256(body))));
  const ChainReport report =
      verify(records, {.ours = true, .reviewers = &people, .origin = vectors::kOrigin});
  EXPECT_EQ(report.broken_at_event_id, 3u);
  EXPECT_TRUE(first_error(report).starts_with("record 3: unauthorized control"));
}

// TR-21
TEST(ChainTest, WithoutKeysAWarningSaysWhatWasNotChecked) {
  const ChainReport report = verify(vector_chain(), {.ours = true});
  EXPECT_TRUE(report.verified) << first_error(report);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].find("user:ops-lead"), std::string::npos);
}

constexpr const char* kApproved =
    R"({"action":"deploy","agent":"bot","approver":"ada","autonomy_tier":"act_with_approval","chain_index":1,"cost_usd":0.5,"metadata":{"approval":{"quorum":1,"required":true,"signatures":[{"reviewer":"ada","signature":"ledger:7","signed_at":"2026-11-15T02:00:00Z"}]}},"outcome":"success","previous_hash":null,"record_id":"01966f4c-3000-7000-8000-000000000001","schema":"opentrustgraph/v0","timestamp":"2026-11-15T02:00:00Z","trace_id":"t"})";

// TR-7 TR-21
TEST(ChainTest, ASuccessUnderApprovalNamesApproverAndSignature) {
  EXPECT_TRUE(verify({linked(kApproved)}, {.ours = true}).verified);
  const auto broken = [](std::string_view what, std::string_view with, bool ours) {
    std::string body = kApproved;
    replace(body, what, with);
    return std::string(first_error(verify({linked(body)}, {.ours = ours})));
  };
  EXPECT_TRUE(broken(R"("ada")", "null", false).starts_with("record 1: approval required"));
  EXPECT_TRUE(broken(R"("ada")", "\"\"", false).starts_with("record 1: approval required"));
  EXPECT_TRUE(
      broken(R"([{"reviewer":"ada","signature":"ledger:7","signed_at":"2026-11-15T02:00:00Z"}])",
             "[]", false)
          .starts_with("record 1: approval required"));
  EXPECT_TRUE(
      broken(R"("required":true)", R"("required":false)", true).starts_with("record 1: approval"));
  EXPECT_EQ(broken(R"("required":true)", R"("required":false)", false), "");
  EXPECT_TRUE(
      broken(
          R"({"approval":{"quorum":1,"required":true,"signatures":[{"reviewer":"ada","signature":"ledger:7","signed_at":"2026-11-15T02:00:00Z"}]}})",
          "{}", true)
          .starts_with("record 1: approval required but `metadata.approval`"))
      << "metadata that says nothing of an approval";
  EXPECT_EQ(broken(R"([{"reviewer":"ada","signature":"ledger:7",)",
                   R"([null,{"signature":"ledger:7",)", true),
            "record 1: an approval signature lacks reviewer, signed_at or signature");
  EXPECT_EQ(broken(R"("signature":"ledger:7")", R"("signature":"")", true),
            "record 1: an approval signature lacks reviewer, signed_at or signature");
  EXPECT_EQ(broken(R"("quorum":1)", R"("quorum":2)", true),
            "record 1: approval needs 2 reviewers, and 1 signed");
  EXPECT_EQ(broken(R"("quorum":1,)", "", true),
            "record 1: approval required but its quorum is not a number above 0");
  EXPECT_EQ(broken(R"("quorum":1)", R"("quorum":2)", false), "") << "only our records keep TR-7";
  EXPECT_EQ(broken(R"("success")", R"("failure")", true), "");
  EXPECT_EQ(broken(R"("ada","autonomy_tier":"act_with_approval")",
                   R"(null,"autonomy_tier":"suggest")", false),
            "");
}

// TR-21: a report names the first hundred faults and counts the rest among its records.
TEST(ChainTest, AReportHoldsSoManyLinesAndNoMore) {
  std::vector<std::string> records;
  std::string unknown = kApproved;
  replace(unknown, "opentrustgraph/v0", "opentrustgraph/v9");
  for (int i = 0; i < 300; ++i) records.push_back(linked(unknown));
  const ChainReport report = verify(records);
  EXPECT_FALSE(report.verified);
  EXPECT_EQ(report.total, 300u);
  EXPECT_EQ(report.errors.size(), report.warnings.size()) << "both have the same limit";
  EXPECT_LT(report.errors.size(), 299u);
}

// TR-22
TEST(ChainTest, AnUnknownSchemaIsAWarningAndStillHashedAndLinked) {
  std::string body = kApproved;
  replace(body, "opentrustgraph/v0", "opentrustgraph/v0.1");
  replace(body, R"("ada")", "null");
  const ChainReport good = verify({linked(body)});
  EXPECT_TRUE(good.verified);
  EXPECT_EQ(good.warnings.size(), 1u);
  std::string edited = linked(body);
  replace(edited, "deploy", "destroy");
  EXPECT_EQ(first_error(verify({edited})), "record 1: entry_hash mismatch");
}

// TR-22
TEST(ChainTest, ARecordOfAnotherProducerNeedsNoSignature) {
  std::string body = vectors::kFirst;
  replace(body, "fs.write", "trust.promote");
  replace(body, R"("call_id":"call_1")",
          R"("call_id":"call_1","control":true,"from_tier":"suggest")");
  EXPECT_TRUE(verify({linked(body)}).verified);
  EXPECT_FALSE(verify({linked(body)}, {.ours = true}).verified);
}

std::string document(const std::vector<std::string>& records, ChainHead head) {
  std::string text = chain_begin(head);
  for (const std::string& record : records) {
    if (text.back() != '[') text += ',';
    text += record;
  }
  return text + std::string(kChainEnd);
}

ChainReport verify_text(const std::string& text) {
  std::istringstream in(text);
  return verify_chain_file(in, {});
}

// TR-20 TR-23
TEST(ChainFileTest, AnExportVerifiesAndWhatItSaysOfItselfMustHold) {
  const ChainHead head{.total = 2,
                       .root_hash = vectors::kSecondHash,
                       .verified = true,
                       .generated_at = "2026-11-15T02:05:00Z",
                       .producer_version = "1.0"};
  const std::string good = document(vector_chain(), head);
  EXPECT_EQ(good.substr(0, good.find(R"("records")")),
            R"({"schema":"opentrustgraph-chain/v0","chain":{"generated_at":"2026-11-15T02:05:00Z",)"
            R"("producer":{"name":"sallyport","version":"1.0"},"root_hash":")" +
                std::string(vectors::kSecondHash) +
                R"(","topic":"trust_graph","total":2,"verified":true},)");
  EXPECT_TRUE(verify_text(good).verified);
  for (std::size_t size = 0; size < good.find_last_of('}'); ++size) {
    EXPECT_FALSE(verify_text(good.substr(0, size)).verified) << size;
  }
  ChainHead longer = head;
  longer.total = 3;
  EXPECT_FALSE(verify_text(document(vector_chain(), longer)).verified);
  ChainHead other = head;
  other.root_hash = vectors::kFirstHash;
  EXPECT_FALSE(verify_text(document(vector_chain(), other)).verified);
  EXPECT_FALSE(verify_text(document({vector_chain()[0]}, head)).verified);
  EXPECT_EQ(verify_text(document({vector_chain()[0]}, head)).broken_at_event_id, 2u);
}

// TR-23: members of other producers are ignored, whatever they hold.
TEST(ChainFileTest, UnknownMembersOfADocumentMeanNothing) {
  const std::string good =
      document(vector_chain(), {.total = 2, .root_hash = vectors::kSecondHash});
  for (const char* const value :
       {"1", "true ", "null\n", "-1.5\t", "false\r", R"("a\"}b")", R"({"a":[1,"]"]})", "[]"}) {
    const std::string member = R"({"other":)" + std::string(value) + ",";
    EXPECT_TRUE(verify_text(member + good.substr(1)).verified) << value;
  }
  EXPECT_TRUE(verify_text(good.substr(0, good.rfind('}')) + R"(,"last":1})").verified);
  EXPECT_FALSE(verify_text(R"({"chain":{},)" + good.substr(1)).verified) << "`chain` twice";
  EXPECT_FALSE(verify_text(R"({"records":[],)" + good.substr(1)).verified) << "`records` twice";
  EXPECT_FALSE(verify_text("{7:1," + good.substr(1)).verified) << "a name that is none";
}

// TR-23
TEST(ChainFileTest, AnEmptyExportIsValid) {
  const ChainReport report = verify_text(document({}, {.generated_at = "2026-11-15T02:05:00Z"}));
  EXPECT_TRUE(report.verified) << first_error(report);
  EXPECT_EQ(report.total, 0u);
  EXPECT_EQ(report.root_hash, std::nullopt);
}

// TR-23 (partly)
TEST(ChainFileTest, WhatIsNoDocumentIsNotVerified) {
  const std::string good =
      document(vector_chain(), {.total = 2, .root_hash = vectors::kSecondHash});
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), good.substr(0, good.size() - 3),
        good + "x", R"({"schema":"opentrustgraph-chain/v1",)" + good.substr(36),
        std::string(R"({"schema":"opentrustgraph-chain/v0","records":[]})"),
        std::string(R"({"schema":"opentrustgraph-chain/v0","chain":[],"records":[]})"),
        std::string(R"({"records":[1)"),
        std::string("{\"records\":[") + std::string(2 << 20, '[')}) {
    const ChainReport report = verify_text(text);
    EXPECT_FALSE(report.verified) << text.substr(0, 80);
    EXPECT_FALSE(report.errors.empty());
  }
  for (const std::string text : {R"({"records":[)", R"({"records":["a)", R"({"records":[{"a":1)",
                                 R"({"records":[{"a":"b)"}) {
    const ChainReport report = verify_text(text);
    EXPECT_TRUE(first_error(report).contains("it ends too early")) << first_error(report);
  }
}

// TR-21
TEST(ChainFileTest, AHundredThousandRecordsTakeLessThanASecondOfWork) {
  constexpr std::size_t kCount = test::kIsSanitized ? 10'000 : 100'000;
  const std::vector<std::string> records = chain_of(kCount);
  const std::clock_t begin = std::clock();
  const ChainReport report = verify(records);
  const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_TRUE(report.verified);
  EXPECT_EQ(report.total, kCount);
  RecordProperty("records_per_second", static_cast<int>(kCount / took));
#ifdef NDEBUG
  EXPECT_LT(took, 1.0);
#endif
}

}  // namespace
}  // namespace sallyport::trust
