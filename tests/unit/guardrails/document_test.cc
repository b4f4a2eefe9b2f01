#include "guardrails/document/document.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"

namespace sallyport::guardrails {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Document read(std::string_view text) {
  auto document = read_document(text);
  if (document) return *std::move(document);
  ADD_FAILURE() << text << ": " << document.error().message;
  return {};
}

std::string code_of(std::string_view text) {
  const auto document = read_document(text);
  return document ? "ok" : document.error().code;
}

// GR-1
TEST(DocumentTest, NullAndNothingMeanNoChecks) {
  for (const char* const text : {"null", "{}", R"({"checks":[]})", " \n{ } "}) {
    const Document document = read(text);
    EXPECT_THAT(document.checks, IsEmpty()) << text;
    EXPECT_EQ(document.mode, Mode::Active);
    EXPECT_EQ(document.max_hold_bytes, 65536u);
  }
}

// GR-2
TEST(DocumentTest, ReadsTheTopLevelKeys) {
  const Document document = read(R"({"mode":"advisory","max_hold_bytes":64,"checks":[]})");
  EXPECT_EQ(document.mode, Mode::Advisory);
  EXPECT_EQ(document.max_hold_bytes, 64u);
  EXPECT_EQ(read(R"({"max_hold_bytes":1048576})").max_hold_bytes, 1048576u);
  EXPECT_EQ(read(R"({"mode":"active"})").mode, Mode::Active);
}

// GR-3 GR-7
TEST(DocumentTest, ACheckHasItsDefaults) {
  const Document document =
      read(R"({"checks":[{"type":"regex","stage":"output","patterns":["a"]}]})");
  const Check expected{.type = CheckType::Regex,
                       .stage = Stage::Output,
                       .label = "regex#0",
                       .on_fail = Action::Block,
                       .severity = Severity::Medium,
                       .entries = {"a"},
                       .decode_depth = 2};
  EXPECT_THAT(document.checks, ElementsAre(expected));
}

// GR-3 GR-7
TEST(DocumentTest, ReadsEveryKeyOfACheck) {
  const Document document = read(R"({"checks":[
      {"type":"regex","stage":"tool_use","id":"sql","on_fail":"redact","severity":"critical",
       "replacement":"","patterns":["a","b"],"unicode":false,"tools":["db_*"],
       "args":["/sql","/items/*/sql"],"except":["ab"],"views":["hex","strip"],"decode_depth":3},
      {"type":"blocklist","stage":"tool_output","on_fail":"log","severity":"low","words":["w"],
       "case_sensitive":true,"whole_word":true,"tools":["*"],"except":["www"]},
      {"type":"tool_pattern","stage":"tool_use","tools":["bash*","sh"],"except":["bash_help"],
       "severity":"high"}]})");
  const Check regex{.type = CheckType::Regex,
                    .stage = Stage::ToolUse,
                    .id = "sql",
                    .label = "sql",
                    .on_fail = Action::Redact,
                    .severity = Severity::Critical,
                    .replacement = "",
                    .entries = {"a", "b"},
                    .unicode = false,
                    .tools = {"db_*"},
                    .args = {"/sql", "/items/*/sql"},
                    .except = {"ab"},
                    .views = {View::Strip, View::Hex},
                    .decode_depth = 3};
  const Check blocklist{.type = CheckType::Blocklist,
                        .stage = Stage::ToolOutput,
                        .label = "blocklist#1",
                        .on_fail = Action::Log,
                        .severity = Severity::Low,
                        .entries = {"w"},
                        .case_sensitive = true,
                        .whole_word = true,
                        .tools = {"*"},
                        .except = {"www"}};
  const Check tools{.type = CheckType::ToolPattern,
                    .stage = Stage::ToolUse,
                    .label = "tool_pattern#2",
                    .severity = Severity::High,
                    .entries = {"bash*", "sh"},
                    .except = {"bash_help"}};
  EXPECT_THAT(document.checks, ElementsAre(regex, blocklist, tools));
}

// GR-2 GR-9
TEST(DocumentTest, AWholeNumberIsOneHoweverItIsWritten) {
  const Document plain = read(R"({"max_hold_bytes":100})");
  EXPECT_EQ(read(R"({"max_hold_bytes":1e2})"), plain);
  EXPECT_EQ(read(R"({"max_hold_bytes":100.0})"), plain);
}

// GR-9
TEST(DocumentTest, TheHashIsOfTheCanonicalFormAsGiven) {
  const auto sha = [](std::string_view text) { return hex(sha256(text)); };
  EXPECT_EQ(read("{}").config_hash,
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  EXPECT_EQ(read("null").config_hash, read("{}").config_hash);
  EXPECT_EQ(read(" { \"mode\" : \"active\", \"checks\" : [ ] } ").config_hash,
            sha(R"({"checks":[],"mode":"active"})"));
  EXPECT_NE(read(R"({"mode":"active"})").config_hash, read("{}").config_hash);
}

// GR-4 GR-6
TEST(DocumentTest, TooManyBytesAreRefusedBeforeTheyAreRead) {
  constexpr std::size_t kLimit = 8 * 1024 * 1024;
  std::string text = "{}" + std::string(kLimit - 2, ' ');
  EXPECT_EQ(code_of(text), "ok");
  EXPECT_EQ(code_of(text + " "), "too_large");
  EXPECT_EQ(code_of(std::string(kLimit, '[')), "syntax");
  EXPECT_EQ(code_of(std::string(kLimit + 1, '[')), "too_large");
}

// GR-4 GR-6
TEST(DocumentTest, NestingHasALimit) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_EQ(code_of(nested(32)), "shape");
  EXPECT_EQ(code_of(nested(33)), "syntax");
}

// GR-5 GR-6 GR-85 GR-86
TEST(DocumentTest, WhatIsNotStrictJsonIsASyntaxError) {
  for (const char* const text :
       {"", " ", "{", "nul", "{}x", "{} {}", R"({"mode":"active","mode":"active"})",
        R"({"checks":[{"type":"regex","type":"regex"}]})", "\xef\xbb\xbf{}", "{\"a\":\"\xff\"}",
        R"({"mode":"\ud800"})", R"({"\udc00":1})", "{'mode':'active'}", "{\"mode\":\"a\nb\"}",
        "{\"checks\":[],}", "// no\n{}", "{\"max_hold_bytes\":1e999}"}) {
    const auto document = read_document(text);
    ASSERT_FALSE(document) << text;
    EXPECT_EQ(document.error().code, "syntax") << text;
    EXPECT_EQ(document.error().path, std::nullopt) << text;
    EXPECT_EQ(document.error().message.find('\n'), std::string::npos) << text;
  }
  EXPECT_EQ(code_of(std::string_view("{}\0", 3)), "syntax");
}

// Every prefix of a document, and every document with one changed byte.
// GR-84 (partly)
TEST(DocumentTest, AnyBytesEndInADocumentOrInOneError) {
  const std::string good = R"({"mode":"active","checks":[{"type":"regex","stage":"tool_use",
      "id":"a","patterns":["a+"],"args":["/x"],"views":["hex"],"decode_depth":1}]})";
  const auto end_well = [](const std::string& text) {
    const auto document = read_document(text);
    if (document) return;
    EXPECT_FALSE(document.error().code.empty()) << text;
    EXPECT_FALSE(document.error().message.empty()) << text;
  };
  ASSERT_EQ(code_of(good), "ok");
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_EQ(code_of(good.substr(0, i)), "syntax");
    for (const char byte : {'\0', '"', '{', ']', ',', '\\', '9', '\xff', '\x80'}) {
      std::string changed = good;
      changed[i] = byte;
      end_well(changed);
    }
  }
}

// GR-85 (partly)
TEST(DocumentTest, ControlCharactersAreOrdinaryInEntries) {
  const Document document = read(
      R"({"checks":[{"type":"blocklist","stage":"output","words":["\u0000","\n","\ufeff"]}]})");
  EXPECT_EQ(document.checks[0].entries,
            (std::vector<std::string>{std::string(1, '\0'), "\n", "\xef\xbb\xbf"}));
}

// GR-5 GR-8
TEST(DocumentTest, AnErrorAnywhereLeavesNothingOfTheDocument) {
  const auto document = read_document(
      R"({"checks":[{"type":"regex","stage":"output","patterns":["a"]},{"type":"regex"}]})");
  EXPECT_FALSE(document);
}

// GR-8 (partly)
TEST(DocumentTest, ADocumentThatWasReadAlreadyIsHeldToTheSameRules) {
  const json::value section = json::parse(R"({"checks":[{"type":"regex","stage":"output"}]})");
  const auto document = read_document(section);
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().path, "/checks/0");
  EXPECT_EQ(read_document(json::value(nullptr))->config_hash, read("{}").config_hash);
}

// GR-6
TEST(DocumentTest, AnErrorHasAllMembersAndNullForThoseThatDoNotApply) {
  EXPECT_EQ(json::value(to_json(DocumentError{.code = "syntax", .message = "m"})),
            json::parse(R"({"code":"syntax","message":"m","check":null,"check_index":null,
                            "path":null,"detail":null})"));
  EXPECT_EQ(json::value(to_json(DocumentError{.code = "invalid_regex",
                                              .message = "m",
                                              .check = "c",
                                              .check_index = 3,
                                              .path = "/checks/3/patterns/0",
                                              .detail = "look_around"})),
            json::parse(R"({"code":"invalid_regex","message":"m","check":"c","check_index":3,
                            "path":"/checks/3/patterns/0","detail":"look_around"})"));
}

// GR-7
TEST(DocumentTest, NamesOfValuesAreThoseOfTheDocument) {
  EXPECT_EQ(to_string(Stage::ToolOutput), "tool_output");
  EXPECT_EQ(to_string(CheckType::ToolPattern), "tool_pattern");
  EXPECT_EQ(to_string(Action::Redact), "redact");
  EXPECT_EQ(to_string(Severity::Critical), "critical");
  EXPECT_EQ(to_string(Mode::Advisory), "advisory");
  EXPECT_EQ(to_string(View::Confusables), "confusables");
  EXPECT_EQ(stage_named("tool_use"), Stage::ToolUse);
  EXPECT_EQ(stage_named("Tool_use"), std::nullopt);
}

}  // namespace
}  // namespace sallyport::guardrails
