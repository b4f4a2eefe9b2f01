#include "guards/form_guard.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"

namespace sallyport::guards {
namespace {

std::string judged(std::string_view input, std::string tool = "elicitation/create") {
  const FormGuard guard;
  const Call call{.tool = std::move(tool), .input = json::parse(input)};
  const Verdict verdict = *test::run_now(guard.judge(call, {}));
  return verdict.kind == Verdict::Kind::Allow ? "" : verdict.reason;
}

TEST(FormGuardTest, AFormMustNotSpeakForTheGateOrAskForASecret) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {R"({"message":"Which folder?"})", ""},
      {R"({"message":"Sallyport needs your answer"})", "speak for Sallyport"},
      {R"({"message":"s-a-l-l-y-p-o-r-t asks"})", "speak for Sallyport"},
      {R"({"message":"x","requestedSchema":{"properties":{"pass_phrase":{}}}})",
       "speak for Sallyport"},
      {R"({"message":"x","list":["your Passwd"]})", "must not ask for a secret"},
      {R"({"message":"x","requestedSchema":{"properties":{"api_key":{"type":"string"}}}})",
       "must not ask for a secret"},
      {R"({"message":"your credit card"})", "must not ask for a secret"},
      {R"("free text with a seed phrase")", "must not ask for a secret"},
      {R"({"message":"sally_port asks"})", "speak for Sallyport"},
      {R"({"message":"Paste your GitHub token"})", "must not ask for a secret"},
      {R"({"message":"auth token"})", "must not ask for a secret"},
      {R"({"message":"OTP?"})", "must not ask for a secret"},
      {R"({"message":"login credentials"})", "must not ask for a secret"},
      {R"({"message":"Enter your PIN"})", "must not ask for a secret"},
      {R"({"message":"x","requestedSchema":{"properties":{"secret":{}}}})",
       "must not ask for a secret"},
      {R"({"message":"x","requestedSchema":{"properties":{"db_pwd":{}}}})",
       "must not ask for a secret"},
      {R"({"message":"x","requestedSchema":{"properties":{"githubToken":{}}}})",
       "must not ask for a secret"},
      {R"({"message":"x","requestedSchema":{"properties":{"card_pin":{}}}})",
       "must not ask for a secret"},
      {R"({"message":"Shall I pin this page, secretly, for 200 tokens?"})", ""},
      {R"({"mode":"url","url":"https://login.example","message":"enter your password there"})", ""},
      {R"({"mode":"url","url":"http://login.example","message":"x"})", ""},
      {R"({"mode":"url","url":"javascript:alert","message":"x"})", "must be at `http://`"},
      {R"({"mode":"url","message":"x"})", "must be at `http://`"},
      {R"({"mode":"url","url":"https://x.example","message":"Sallyport asks"})",
       "speak for Sallyport"},
      {R"({"mode":"form","url":"javascript:x","message":"fine"})", ""},
  };
  for (const auto& [input, why] : kCases) {
    const std::string reason = judged(input);
    EXPECT_EQ(reason.empty(), why.empty()) << input << " " << reason;
    EXPECT_NE(reason.find(why), std::string::npos) << input << " " << reason;
  }
  EXPECT_EQ(judged(R"({"message":"your password"})", "sampling/createMessage"), "");
}

}  // namespace
}  // namespace sallyport::guards
