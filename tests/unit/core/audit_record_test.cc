#include "sallyport/audit_record.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "unit/core/shape_checks.h"

namespace sallyport {
namespace {

const auto read = [](const json::value& value) { return audit_record_from_json(value); };

constexpr std::string_view kDigest =
    "hmac-sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

constexpr std::string_view kTenFields =
    R"({"tool_call_id":"toolu_01","tool_name":"transfer","display_name":"Transfer money",)"
    R"("tier":"Confirm","requested_input":{"to":"bob"},"effective_input":{"to":"bob","max":5},)"
    R"("turn":3,"provenance":{"provider":"anthropic","model":"m-1"},)"
    R"("outcome":{"kind":"blocked","reason":"no"},"recorded_at":"2026-11-15T12:00:00.000001Z")";

std::string ten_fields() {
  return std::string(kTenFields) + "}";
}

std::string whole() {
  return std::string(kTenFields) +
         fmt::format(
             R"(,"call_id":"0199","session_id":"s-1","trace_id":"t-1","agent_id":"agent:a",)"
             R"("server":"bank","sequence":41,"terminal":true,"policy_hash":"sha256:00",)"
             R"("request_digest":"{0}","call_digest":"{0}","effect_class":"payment",)"
             R"("recovery_class":"side_effecting","effect_state":"none","autonomy":"act_auto",)"
             R"("autonomy_source":"plan","approval_id":"ap-1","matched_grant_index":0,)"
             R"("guards":[{{"guard":"limits","stage":"tool_use","pass":2,"verdict":"deny",)"
             R"("rule":"over","why":"over 5","evidence":{{"max":5}},"duration_us":12}}],)"
             R"("post_invocation":{{"hooks":[]}},)"
             R"("redactions":[{{"path":"/requested_input/to","category":"email","digest":"{0}"}}]}})",
             kDigest);
}

const Leniency kLeniency{
    .open = {"/requested_input", "/effective_input", "/post_invocation", "/guards/0/evidence"},
    .optional = {"/approval_id", "/matched_grant_index", "/post_invocation", "/guards/0/rule",
                 "/guards/0/why", "/guards/0/evidence"}};

// AU-1 AU-12 AU-83 (partly)
TEST(AuditRecordTest, IsReadAndWrittenAgainByteForByte) {
  expect_round_trip(whole(), read);
  json::value sparse = parsed(whole());
  for (const char* const name : {"approval_id", "matched_grant_index", "post_invocation"}) {
    sparse.at(name) = nullptr;
  }
  for (const char* const name : {"rule", "why", "evidence"}) {
    sparse.at("guards").at(0).at(name) = nullptr;
  }
  expect_round_trip(canonical_json(sparse), read);
  sparse.at("guards") = json::array();
  sparse.at("redactions") = json::array();
  expect_round_trip(canonical_json(sparse), read);
}

// AU-1
TEST(AuditRecordTest, AllThirtyFieldsAreWrittenInTheOrderOfTheShape) {
  const Result<AuditRecord> record = read(parsed(whole()));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(to_json(*record).size(), 30u);
  EXPECT_EQ(json::serialize(to_json(*record)), whole());
}

// AU-1 AU-12
TEST(AuditRecordTest, EveryMemberArrives) {
  const Result<AuditRecord> record = read(parsed(whole()));
  ASSERT_TRUE(record) << record.error().message;
  const std::string digest(kDigest);
  const AuditRecord wanted{.tool_call_id = "toolu_01",
                           .tool_name = "transfer",
                           .display_name = "Transfer money",
                           .tier = Tier::Confirm,
                           .requested_input = {{"to", "bob"}},
                           .effective_input = {{"to", "bob"}, {"max", 5}},
                           .turn = 3,
                           .provenance = {"anthropic", "m-1"},
                           .outcome = Outcome::blocked("no"),
                           .recorded_at = "2026-11-15T12:00:00.000001Z",
                           .call_id = "0199",
                           .session_id = "s-1",
                           .trace_id = "t-1",
                           .agent_id = "agent:a",
                           .server = "bank",
                           .sequence = 41,
                           .terminal = true,
                           .policy_hash = "sha256:00",
                           .request_digest = digest,
                           .call_digest = digest,
                           .effect_class = "payment",
                           .recovery_class = RecoveryClass::SideEffecting,
                           .effect_state = EffectState::None,
                           .autonomy = Autonomy::ActAuto,
                           .autonomy_source = "plan",
                           .approval_id = "ap-1",
                           .matched_grant_index = 0,
                           .guards = {{.guard = "limits",
                                       .stage = "tool_use",
                                       .pass = 2,
                                       .verdict = GuardVerdict::Deny,
                                       .rule = "over",
                                       .why = "over 5",
                                       .evidence = {{"max", 5}},
                                       .duration_us = 12}},
                           .post_invocation = {{"hooks", json::array()}},
                           .redactions = {{"/requested_input/to", "email", digest}}};
  EXPECT_EQ(*record, wanted);
}

// AU-2
TEST(AuditRecordTest, TenFieldsAloneReadAndOurAdditionsAreEmpty) {
  expect_round_trip(ten_fields(), read);
  const Result<AuditRecord> record = read(parsed(ten_fields()));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_FALSE(record->has_additions());
  EXPECT_EQ(record->call_id, "");
  EXPECT_EQ(record->approval_id, std::nullopt);
  EXPECT_TRUE(record->guards.empty());
  EXPECT_TRUE(record->redactions.empty());
  EXPECT_FALSE(record->terminal);
  EXPECT_TRUE(read(parsed(whole()))->has_additions());
}

// AU-2
TEST(AuditRecordTest, TheFirstTenOfOurFieldsAreTheTenFieldShape) {
  const json::value ours = parsed(whole());
  json::object first;
  for (const auto& member : parsed(ten_fields()).as_object()) {
    first[member.key()] = ours.at(member.key());
  }
  EXPECT_EQ(canonical_json(first), canonical_json(parsed(ten_fields())));
}

// AU-94 (partly)
TEST(AuditRecordTest, AMemberThatIsMissingOrOfAnotherTypeIsNamed) {
  expect_each_member_is_checked(whole(), "", kLeniency, read);
  expect_each_member_is_checked(ten_fields(), "",
                                {.open = {"/requested_input", "/effective_input"}}, read);
}

// AU-94 (partly)
TEST(AuditRecordTest, OneAdditionAsksForTheOthers) {
  json::value value = parsed(ten_fields());
  value.as_object()["terminal"] = true;
  expect_refused(value, "call_id", read);
  value.as_object()["call_id"] = "";
  expect_refused(value, "call_id", read);
  value.as_object()["call_id"] = "0199";
  expect_refused(value, "session_id", read);
}

// AU-94 (partly)
TEST(AuditRecordTest, AResultWithoutSuccessOrOutputIsRefused) {
  json::value value = parsed(whole());
  value.at("outcome") = parsed(R"({"kind":"completed","result":{"output":"x"}})");
  expect_refused(value, "outcome.result.success", read);
  value.at("outcome") = parsed(R"({"kind":"completed","result":{"success":true}})");
  expect_refused(value, "outcome.result.output", read);
}

// AU-1 AU-12 AU-93 (partly)
TEST(AuditRecordTest, AnUnknownWordIsRefusedWithTheAcceptedOnes) {
  const std::string text = whole();
  expect_words(text, "/tier", "tier", {"Observe", "Confirm"}, read);
  expect_words(text, "/recovery_class", "recovery_class",
               {"replay_safe", "side_effecting", "resumable"}, read);
  expect_words(text, "/effect_state", "effect_state", {"none", "done", "unknown"}, read);
  expect_words(text, "/autonomy", "autonomy",
               {"shadow", "suggest", "act_with_approval", "act_auto"}, read);
  expect_words(text, "/guards/0/stage", "guards[0].stage",
               {"grant", "tool_use", "pre_hook", "authorizer", "autonomy", "external"}, read);
  expect_words(text, "/guards/0/verdict", "guards[0].verdict",
               {"allow", "deny", "rewrite", "ask", "escalate", "error", "skipped"}, read);
  json::value value = parsed(text);
  value.at_pointer("/outcome/kind") = "lost";
  expect_refused(value, "outcome.kind", read);
}

// AU-93 (partly)
TEST(AuditRecordTest, UnknownMembersAreIgnored) {
  for (const std::string& text : {whole(), ten_fields()}) {
    json::value value = parsed(text);
    value.as_object()["schema"] = 9;
    value.at("provenance").as_object()["region"] = "eu";
    const Result<AuditRecord> record = read(value);
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_EQ(*record, *read(parsed(text)));
  }
}

// AU-1
TEST(AuditRecordTest, TimesAreWrittenInUtcOrRefused) {
  json::value value = parsed(ten_fields());
  value.at("recorded_at") = "2026-11-15T13:00:00+01:00";
  const Result<AuditRecord> record = read(value);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->recorded_at, "2026-11-15T12:00:00.000000Z");
  value.at("recorded_at") = "yesterday";
  expect_refused(value, "recorded_at", read);
}

// AU-83 (partly)
TEST(AuditRecordTest, ARedactionHasAPointerAndAKeyedDigest) {
  const std::string digest(kDigest);
  json::value value = parsed(whole());
  for (const std::string& wrong :
       {std::string(), std::string("hmac-sha256:"), digest.substr(0, digest.size() - 1),
        digest + "0", digest.substr(0, digest.size() - 1) + "F", "sha256:" + digest.substr(12)}) {
    value.at_pointer("/redactions/0/digest") = wrong;
    expect_refused(value, "redactions[0].digest", read);
  }
  value.at_pointer("/redactions/0/digest") = digest;
  value.at_pointer("/redactions/0/path") = "requested_input";
  expect_refused(value, "redactions[0].path", read);
  value.at_pointer("/redactions/0/path") = "";
  EXPECT_TRUE(read(value));
}

}  // namespace
}  // namespace sallyport
