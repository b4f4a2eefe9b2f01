#include "guardrails/document/case_runner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sallyport::guardrails {
namespace {

using testing::HasSubstr;

Result<std::vector<Case>> cases_of(std::string_view text) {
  return read_cases(parse_json(text)->value);
}

// Returns the problem of the one case, run against a document that redacts `secret` in answers and
// blocks it in calls.
std::string problem_of(std::string_view one) {
  const auto guardrails = Guardrails::compile(*read_document(R"({"checks":[
      {"type":"blocklist","stage":"output","id":"out","on_fail":"redact","words":["secret"]},
      {"type":"blocklist","stage":"tool_use","id":"use","on_fail":"redact","words":["secret"]},
      {"type":"tool_pattern","stage":"tool_use","id":"name","tools":["bash"]}]})"));
  if (!guardrails) return "does not compile";
  const auto cases = cases_of(fmt::format(R"({{"cases":[{}]}})", one));
  if (!cases) return cases.error().where + " " + cases.error().message;
  return run_cases(**guardrails, *cases).front().problem;
}

// GR-69 (partly)
TEST(CaseRunnerTest, ACaseThatIsAsExpectedHasNoProblem) {
  EXPECT_EQ(problem_of(R"({"name":"a","stage":"output","text":"a secret",
                           "expect":{"verdict":"redact","hits":["out"],"text":"a [redacted]"}})"),
            "");
  EXPECT_EQ(problem_of(R"({"name":"a","stage":"output","texts":["a","b"],
                           "expect":{"verdict":"allow","hits":[]}})"),
            "");
  EXPECT_EQ(
      problem_of(R"({"name":"a","stage":"tool_use","tool":"sh","arguments":{"b":1,"a":"secret"},
                           "expect":{"verdict":"redact","arguments":{"a":"[redacted]","b":1}}})"),
      "");
  EXPECT_EQ(problem_of(R"({"name":"a","stage":"tool_use","tool":"bash","arguments":{},
                           "expect":{"verdict":"block","hits":["name"]}})"),
            "");
}

// GR-69 (partly)
TEST(CaseRunnerTest, EveryDifferenceIsAProblem) {
  EXPECT_THAT(problem_of(R"({"name":"a","stage":"output","text":"a secret",
                             "expect":{"verdict":"allow"}})"),
              HasSubstr("verdict `redact`, not `allow`"));
  EXPECT_THAT(problem_of(R"({"name":"a","stage":"output","text":"a secret",
                             "expect":{"verdict":"redact","hits":["use"]}})"),
              HasSubstr("hits"));
  EXPECT_THAT(problem_of(R"({"name":"a","stage":"output","text":"a secret",
                             "expect":{"verdict":"redact","text":"a"}})"),
              HasSubstr("text `a [redacted]`, not `a`"));
  EXPECT_THAT(problem_of(R"({"name":"a","stage":"tool_use","arguments":{"a":"secret"},
                             "expect":{"verdict":"redact","arguments":{}}})"),
              HasSubstr("arguments"));
  EXPECT_THAT(problem_of(R"({"name":"a","stage":"output","texts":["plain","a secret"],
                             "expect":{"verdict":"allow"}})"),
              HasSubstr("`a secret`"));
}

struct Wrong {
  const char* one;
  const char* where;
};

// GR-69 (partly)
TEST(CaseRunnerTest, NothingOfACaseIsIgnored) {
  constexpr Wrong kTable[] = {
      {R"(1)", "/cases/0"},
      {R"({"stage":"output","text":"x","expect":{"verdict":"allow"}})", "/cases/0"},
      {R"({"name":"a","text":"x","expect":{"verdict":"allow"}})", "/cases/0"},
      {R"({"name":"a","stage":"output","text":"x"})", "/cases/0"},
      {R"({"name":"a","stage":"output","expect":{"verdict":"allow"}})", "/cases/0"},
      {R"({"name":"a","stage":"output","text":"x","texts":["x"],"expect":{"verdict":"allow"}})",
       "/cases/0"},
      {R"({"name":"a","stage":"tool_use","text":"x","expect":{"verdict":"allow"}})", "/cases/0"},
      {R"({"name":"a","stage":"output","arguments":{},"expect":{"verdict":"allow"}})",
       "/cases/0/arguments"},
      {R"({"name":"a","stage":"Output","text":"x","expect":{"verdict":"allow"}})",
       "/cases/0/stage"},
      {R"({"name":"a","stage":"output","text":1,"expect":{"verdict":"allow"}})", "/cases/0/text"},
      {R"({"name":"a","stage":"output","texts":[],"expect":{"verdict":"allow"}})",
       "/cases/0/texts"},
      {R"({"name":"a","stage":"output","text":"x","expect":{}})", "/cases/0/expect"},
      {R"({"name":"a","stage":"output","text":"x","expect":{"verdict":"deny"}})",
       "/cases/0/expect/verdict"},
      {R"({"name":"a","stage":"output","text":"x","expect":{"verdict":"allow","hit":[]}})",
       "/cases/0/expect/hit"},
      {R"({"name":"a","stage":"output","text":"x","expect":{"verdict":"allow","hits":[1]}})",
       "/cases/0/expect/hits/0"},
      {R"({"name":"a","stage":"output","text":"x","skip":[],"expect":{"verdict":"allow"}})",
       "/cases/0/skip"},
  };
  for (const auto& [one, where] : kTable) {
    const auto cases = cases_of(fmt::format(R"({{"cases":[{}]}})", one));
    ASSERT_FALSE(cases) << one;
    EXPECT_EQ(cases.error().code, ErrorCode::InvalidInput);
    EXPECT_EQ(cases.error().where, where) << one;
  }
  EXPECT_FALSE(cases_of("[]"));
  EXPECT_FALSE(cases_of(R"({"case":[]})"));
  EXPECT_FALSE(cases_of(R"({"cases":[],"more":1})"));
  EXPECT_TRUE(cases_of(R"({"cases":[]})"));
}

}  // namespace
}  // namespace sallyport::guardrails
