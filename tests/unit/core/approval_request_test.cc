// The bytes to which an approval is bound, and the bytes that a person signs.
#include "core/approval/approval_request.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>

#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::Governed;

Question example() {
  return {.approval_id = "apr_01966f4c-5000-7000-8000-000000000001",
          .agent_id = "agent:deploy-bot",
          .server = "fs",
          .tool = "write_file",
          .input = {{"path", "/srv/app/a.txt"}, {"text", "hi"}},
          .policy_hash = "sha256:" + std::string(64, '1'),
          .tool_definition = "sha256:" + std::string(64, '2'),
          .nonce = "00112233445566778899aabbccddeeff"};
}

constexpr std::string_view kBinding =
    "sha256:5a14079d74ca0b0ce578b981e78078af312b9bd6802427882de4bde624a8e2fd";

// AP-5
TEST(ApprovalRequestTest, TheBindingOfThePublishedExampleIsTheSame) {
  EXPECT_EQ(binding_of(example()), kBinding);
  Question other = example();
  other.input.as_object()["text"] = "hi ";
  EXPECT_EQ(binding_of(other),
            "sha256:20a76ab08164db3c9185ed1f954ce7a8684e7671a11b1fe2d32199f684a3c051");
}

// AP-5 AP-6
TEST(ApprovalRequestTest, EachMemberOfTheBindingCounts) {
  std::set<std::string> bindings{binding_of(example())};
  const auto with = [&](auto change) {
    Question question = example();
    change(question);
    EXPECT_TRUE(bindings.insert(binding_of(question)).second);
  };
  with([](Question& question) { question.nonce[0] = '1'; });
  with([](Question& question) { question.policy_hash.back() = '2'; });
  with([](Question& question) { question.agent_id = "agent:other"; });
  with([](Question& question) { question.server = "fs2"; });
  with([](Question& question) { question.tool = "write_files"; });
  with([](Question& question) { question.tool_definition.back() = '3'; });
  EXPECT_TRUE(bindings.insert(binding_of(example(), "{\"n\":9007199254740993}")).second);
}

// AP-16
TEST(ApprovalRequestTest, WhatIsSignedIsThePublishedLine) {
  const ResponseStatement statement{.request_id = example().approval_id,
                                    .reviewer = "user:ops-lead",
                                    .binding = std::string(kBinding),
                                    .responded_at = "2026-11-15T02:02:00Z",
                                    .approved = true};
  EXPECT_EQ(statement.text(),
            R"({"approved":true,"binding":")" + std::string(kBinding) +
                R"(","request_id":"apr_01966f4c-5000-7000-8000-000000000001",)"
                R"("responded_at":"2026-11-15T02:02:00Z","reviewer":"user:ops-lead",)"
                R"("schema":"sallyport.approval_response.v1"})");
}

// AP-1
TEST(ApprovalRequestTest, ARequestHasAllMembersAndIsReadBackFromItsEntry) {
  Governed governed;
  governed.plan.autonomy(Autonomy::ActWithApproval);
  const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(asked);
  const Result<json::object> entry = request_entry(governed.recorder, asked->approval_id);
  ASSERT_TRUE(entry);
  const json::object request = request_of(*entry);
  std::set<std::string> names;
  for (const auto& member : request) names.insert(std::string(member.key()));
  EXPECT_EQ(names,
            (std::set<std::string>{"schema",        "request_id",      "kind",
                                   "agent_id",      "principal",       "session_id",
                                   "trace_id",      "call_id",         "server",
                                   "tool_name",     "action",          "capabilities_requested",
                                   "args",          "binding",         "nonce",
                                   "policy_hash",   "tool_definition", "approvers_required",
                                   "reviewers",     "requested_at",    "deadline",
                                   "evidence_refs", "undo_metadata",   "proposal"}));
  EXPECT_EQ(request.at("schema").as_string(), "sallyport.approval_request.v1");
  EXPECT_EQ(request.at("request_id"), json::value(asked->approval_id));
  EXPECT_EQ(request.at("kind").as_string(), "approval");
  EXPECT_EQ(request.at("principal").as_string(), "agent:a");
  EXPECT_EQ(request.at("args"), json::value(json::array{Governed::read_file().input}));
  EXPECT_EQ(request.at("approvers_required"), json::value(1));
  EXPECT_FALSE(request.at("proposal").as_bool());
  EXPECT_EQ(request.at("nonce").as_string().size(), 32u);
}

// AP-23 (partly)
TEST(ApprovalRequestTest, AnIdIsFreshAndNonceAndBindingAreOfOneQuestionOnly) {
  Governed governed;
  governed.plan.autonomy(Autonomy::ActWithApproval);
  std::set<std::string> seen;
  for (int i = 0; i < 2; ++i) {
    const Result<Answer> asked = governed.call(Governed::read_file(), Caller{.holds = false});
    ASSERT_TRUE(asked);
    EXPECT_TRUE(asked->approval_id.starts_with("apr_"));
    EXPECT_EQ(asked->approval_id.size(), 4u + 36u);
    const json::object request = request_of(*request_entry(governed.recorder, asked->approval_id));
    EXPECT_TRUE(seen.insert(asked->approval_id).second);
    EXPECT_TRUE(seen.insert(std::string(request.at("nonce").as_string())).second);
    EXPECT_TRUE(seen.insert(std::string(request.at("binding").as_string())).second);
  }
}

}  // namespace
}  // namespace sallyport::core
