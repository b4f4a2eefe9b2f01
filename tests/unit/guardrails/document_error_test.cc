// Checks which error of a document is reported, and its position.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "guardrails/document/document.h"

namespace sallyport::guardrails {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

DocumentError error_of(std::string_view text) {
  const auto document = read_document(text);
  if (!document) return document.error();
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

// Returns `code path`, in short form for tables.
std::string refusal(std::string_view text) {
  const auto document = read_document(text);
  if (document) return "ok";
  return document.error().code + " " + document.error().path.value_or("-");
}

// Returns a document with these members and one good check after them.
std::string regex_with(std::string_view members) {
  return fmt::format(R"({{"checks":[{{"type":"regex","stage":"output","patterns":["a"]{}{}}}]}})",
                     members.empty() ? "" : ",", members);
}

std::string list_of(std::size_t count, std::string_view entry) {
  std::string list = "[";
  for (std::size_t i = 0; i < count; ++i) list += fmt::format("{}\"{}\"", i == 0 ? "" : ",", entry);
  return list + "]";
}

std::string checks_of(std::size_t count) {
  std::string list = "[";
  for (std::size_t i = 0; i < count; ++i) {
    list += i == 0 ? "" : ",";
    list += R"({"type":"regex","stage":"output","patterns":["a"]})";
  }
  return R"({"checks":)" + list + "]}";
}

// GR-5 GR-6
TEST(DocumentErrorTest, WrongTypesAndUnknownValuesAreErrorsOfShape) {
  EXPECT_EQ(refusal("[]"), "shape ");
  EXPECT_EQ(refusal("1"), "shape ");
  EXPECT_EQ(refusal(R"({"mode":"Active"})"), "shape /mode");
  EXPECT_EQ(refusal(R"({"mode":null})"), "shape /mode");
  EXPECT_EQ(refusal(R"({"checks":null})"), "shape /checks");
  EXPECT_EQ(refusal(R"({"checks":{}})"), "shape /checks");
  EXPECT_EQ(refusal(R"({"checks":[1]})"), "shape /checks/0");
  EXPECT_EQ(refusal(R"({"max_hold_bytes":"64"})"), "shape /max_hold_bytes");
  EXPECT_EQ(refusal(R"({"max_hold_bytes":64.5})"), "shape /max_hold_bytes");
  EXPECT_EQ(refusal(R"({"checks":[{"type":"Regex"}]})"), "shape /checks/0/type");
  EXPECT_EQ(refusal(R"({"checks":[{"stage":"OUTPUT"}]})"), "shape /checks/0/stage");
  for (const char* const member :
       {R"("id":1)", R"("on_fail":"deny")", R"("severity":"High")", R"("replacement":null)",
        R"("unicode":"yes")", R"("words":"x")", R"("case_sensitive":1)", R"("whole_word":null)",
        R"("tools":{})", R"("args":"/a")", R"("except":null)", R"("views":"strip")",
        R"("decode_depth":"2")", R"("decode_depth":1.5)", R"("on_fail":1)"}) {
    const std::string key = json::parse(fmt::format("{{{}}}", member)).get_object().begin()->key();
    EXPECT_EQ(refusal(regex_with(member)), "shape /checks/0/" + key) << member;
  }
  EXPECT_EQ(refusal(regex_with(R"("except":["a",1])")), "shape /checks/0/except/1");
  EXPECT_EQ(refusal(regex_with(R"("views":["strip","Hex"])")), "shape /checks/0/views/1");
  EXPECT_EQ(refusal(regex_with(R"("views":["strip","hex","strip"])")), "shape /checks/0/views/2");
}

// GR-3 GR-6
TEST(DocumentErrorTest, AMissingKeyPointsAtItsObject) {
  EXPECT_EQ(refusal(R"({"checks":[{}]})"), "shape /checks/0");
  EXPECT_EQ(refusal(R"({"checks":[{"type":"regex","patterns":["a"]}]})"), "shape /checks/0");
  EXPECT_EQ(refusal(R"({"checks":[{"stage":"output","patterns":["a"]}]})"), "shape /checks/0");
  for (const char* const type : {"regex", "blocklist", "tool_pattern"}) {
    EXPECT_EQ(refusal(fmt::format(R"({{"checks":[{{"type":"{}","stage":"tool_use"}}]}})", type)),
              "shape /checks/0");
  }
  EXPECT_EQ(refusal(R"({"checks":[{"type":"regex","stage":"output","words":["a"]}]})"),
            "shape /checks/0");
}

// GR-5 GR-6
TEST(DocumentErrorTest, UnknownKeysAreErrorsWhereverTheyStand) {
  EXPECT_EQ(refusal(R"({"Mode":"active"})"), "unknown_key /Mode");
  EXPECT_EQ(refusal(R"({"type":"regex"})"), "unknown_key /type");
  EXPECT_EQ(refusal(regex_with(R"("on_fial":"log")")), "unknown_key /checks/0/on_fial");
  EXPECT_EQ(refusal(regex_with(R"("checks":[])")), "unknown_key /checks/0/checks");
  EXPECT_EQ(refusal(R"({"a/b~c":1})"), "unknown_key /a~1b~0c");
  EXPECT_THAT(error_of(R"({"mode":"active","extra":1})").message, HasSubstr("known are mode"));
  const DocumentError policy = error_of(R"({"version":1,"guardrails":{"checks":[]}})");
  EXPECT_EQ(policy.path, "/version");
  EXPECT_THAT(policy.message, HasSubstr("this is a policy; use --policy"));
  EXPECT_EQ(refusal(R"({"checks":[{"type":"regex","stage":"output","pattern":["a"]}]})"),
            "unknown_key /checks/0/pattern");
}

// GR-2 GR-3 GR-6
TEST(DocumentErrorTest, NumbersOutOfRangeAreErrors) {
  for (const char* const number : {"63", "1048577", "0", "-64", "1e300", "99999999999999999999"}) {
    EXPECT_EQ(refusal(fmt::format(R"({{"max_hold_bytes":{}}})", number)),
              "out_of_range /max_hold_bytes");
  }
  for (const char* const number : {"0", "4", "-1"}) {
    EXPECT_EQ(refusal(regex_with(fmt::format(R"("views":["hex"],"decode_depth":{})", number))),
              "out_of_range /checks/0/decode_depth");
  }
}

// GR-6
TEST(DocumentErrorTest, ErrorsOfShapeComeInDocumentOrder) {
  EXPECT_EQ(refusal(R"({"checks":[{"bogus":1}],"mode":"x"})"), "unknown_key /checks/0/bogus");
  EXPECT_EQ(refusal(R"({"mode":"x","checks":[{"bogus":1}]})"), "shape /mode");
  EXPECT_EQ(refusal(R"({"max_hold_bytes":1,"mode":"x"})"), "out_of_range /max_hold_bytes");
  EXPECT_EQ(refusal(R"({"checks":[{"id":1,"bogus":1}]})"), "shape /checks/0/id");
  EXPECT_EQ(refusal(R"({"checks":[{"bogus":1,"id":1}]})"), "unknown_key /checks/0/bogus");
  EXPECT_EQ(refusal(R"({"checks":[{"type":"regex"},{"bogus":1}]})"), "shape /checks/0");
}

// GR-6
TEST(DocumentErrorTest, ErrorsBeforeLabelsAreKnownNameThePlaceOnly) {
  const DocumentError shape = error_of(regex_with(R"("id":"mine","severity":"x")"));
  EXPECT_EQ(shape.check, std::nullopt);
  EXPECT_EQ(shape.check_index, 0u);
  EXPECT_EQ(shape.detail, std::nullopt);
  EXPECT_THAT(shape.message, StartsWith("check #0"));
  const DocumentError top = error_of(R"({"mode":"x"})");
  EXPECT_EQ(top.check_index, std::nullopt);
}

// GR-4 GR-6
TEST(DocumentErrorTest, ADocumentHasAtMost64Checks) {
  EXPECT_EQ(refusal(checks_of(64)), "ok");
  const DocumentError error = error_of(checks_of(65));
  EXPECT_EQ(error.code, "too_many_checks");
  EXPECT_EQ(error.path, "/checks");
  EXPECT_EQ(error.check_index, std::nullopt);
  EXPECT_THAT(error.message, HasSubstr("65"));
  EXPECT_THAT(error.message, HasSubstr("64"));
}

// GR-3 GR-4 GR-6
TEST(DocumentErrorTest, AnIdIsCountedInCharactersAndHasNoControls) {
  std::string cyrillic;
  for (int i = 0; i < 64; ++i) cyrillic += "ж";
  EXPECT_EQ(refusal(regex_with(fmt::format(R"("id":"{}")", cyrillic))), "ok");
  for (const std::string& id :
       {std::string(), cyrillic + "x", std::string("a\\u0000"), std::string("\\n"),
        std::string("\\u007f"), std::string("\\u0085")}) {
    const DocumentError error = error_of(regex_with(fmt::format(R"("id":"{}")", id)));
    EXPECT_EQ(error.code, "bad_id") << id;
    EXPECT_EQ(error.path, "/checks/0/id");
    EXPECT_EQ(error.check, std::nullopt);
    EXPECT_EQ(error.check_index, 0u);
    EXPECT_THAT(error.message, StartsWith("check #0"));
    EXPECT_THAT(error.message, Not(HasSubstr("\n")));
  }
}

// GR-6 GR-7
TEST(DocumentErrorTest, AnIdMustDifferFromEveryOtherLabel) {
  const char* const form =
      R"({{"checks":[{{"type":"regex","stage":"output","patterns":["a"]{}}},
                     {{"type":"blocklist","stage":"output","words":["a"]{}}}]}})";
  const auto pair = [&](std::string_view first, std::string_view second) {
    return fmt::format(fmt::runtime(form), first, second);
  };
  EXPECT_EQ(refusal(pair(R"(,"id":"x")", R"(,"id":"y")")), "ok");
  EXPECT_EQ(refusal(pair(R"(,"id":"x")", R"(,"id":"X")")), "ok");
  EXPECT_EQ(refusal(pair(R"(,"id":"x")", R"(,"id":"x")")), "duplicate_id /checks/1/id");
  EXPECT_EQ(refusal(pair("", R"(,"id":"regex#0")")), "duplicate_id /checks/1/id");
  EXPECT_EQ(refusal(pair(R"(,"id":"blocklist#1")", "")), "duplicate_id /checks/0/id");
  EXPECT_EQ(refusal(pair(R"(,"id":"regex#0")", "")), "ok");
  EXPECT_EQ(refusal(pair(R"(,"id":"regex#1")", "")), "ok");
  const DocumentError error = error_of(pair(R"(,"id":"x")", R"(,"id":"x")"));
  EXPECT_EQ(error.check, "x");
  EXPECT_EQ(error.check_index, 1u);
  EXPECT_THAT(error.message, StartsWith("check 'x'"));
}

// GR-4 GR-6
TEST(DocumentErrorTest, AReplacementIsCountedInBytes) {
  std::string thousand;
  for (int i = 0; i < 1000; ++i) thousand += "ж";
  EXPECT_EQ(refusal(regex_with(fmt::format(R"("replacement":"{}")", thousand))), "ok");
  const DocumentError error = error_of(regex_with(fmt::format(R"("replacement":"{}x")", thousand)));
  EXPECT_EQ(error.code, "replacement_too_long");
  EXPECT_EQ(error.path, "/checks/0/replacement");
  EXPECT_EQ(error.check, "regex#0");
  EXPECT_THAT(error.message, StartsWith("check 'regex#0'"));
}

struct Misplaced {
  const char* check;
  const char* key;
};

// GR-3 GR-6
TEST(DocumentErrorTest, WhatExistsButNotHereIsNamed) {
  constexpr Misplaced kTable[] = {
      {R"("type":"tool_pattern","stage":"output","tools":["a"])", "stage"},
      {R"("type":"tool_pattern","stage":"tool_output","tools":["a"])", "stage"},
      {R"("type":"tool_pattern","stage":"tool_use","tools":["a"],"on_fail":"redact")", "on_fail"},
      {R"("type":"tool_pattern","stage":"tool_use","tools":["a"],"patterns":["x"])", "patterns"},
      {R"("type":"tool_pattern","stage":"tool_use","tools":["a"],"args":["/x"])", "args"},
      {R"("type":"tool_pattern","stage":"tool_use","tools":["a"],"views":["hex"])", "views"},
      {R"("type":"regex","stage":"tool_use","patterns":["a"],"words":["x"])", "words"},
      {R"("type":"regex","stage":"tool_use","patterns":["a"],"whole_word":false)", "whole_word"},
      {R"("type":"regex","stage":"input","patterns":["a"],"case_sensitive":true)",
       "case_sensitive"},
      {R"("type":"blocklist","stage":"input","words":["a"],"unicode":true)", "unicode"},
      {R"("type":"blocklist","stage":"input","words":["a"],"tools":["x"])", "tools"},
      {R"("type":"regex","stage":"output","patterns":["a"],"tools":["x"])", "tools"},
      {R"("type":"regex","stage":"tool_output","patterns":["a"],"args":["/x"])", "args"},
      {R"("type":"regex","stage":"output","patterns":["a"],"decode_depth":2)", "decode_depth"},
  };
  for (const auto& [check, key] : kTable) {
    const DocumentError error = error_of(fmt::format(R"({{"checks":[{{{}}}]}})", check));
    EXPECT_EQ(error.code, "not_allowed_here") << check;
    EXPECT_EQ(error.path, fmt::format("/checks/0/{}", key)) << check;
    EXPECT_THAT(error.message, StartsWith("check '"));
  }
}

// GR-3
TEST(DocumentErrorTest, ReplacementSeverityAndExceptionsBelongToEveryType) {
  for (const char* const own :
       {R"("type":"regex","patterns":["a"])", R"("type":"blocklist","words":["a"])",
        R"("type":"tool_pattern","tools":["a"])"}) {
    EXPECT_EQ(refusal(fmt::format(R"({{"checks":[{{{},"stage":"tool_use","severity":"low",
                                     "replacement":"r","except":["b"],"on_fail":"log"}}]}})",
                                  own)),
              "ok");
  }
}

// GR-4 GR-5 GR-6
TEST(DocumentErrorTest, ListsOfACheckAreNeitherEmptyNorLong) {
  const auto tools_of = [](const std::string& key, const std::string& list) {
    return fmt::format(R"({{"checks":[{{"type":"regex","stage":"tool_use","patterns":["a"],
                           "{}":{}}}]}})",
                       key, list);
  };
  for (const std::string key : {"tools", "args", "except"}) {
    const std::string path = " /checks/0/" + key;
    EXPECT_EQ(refusal(tools_of(key, "[]")), "empty_list" + path);
    EXPECT_EQ(refusal(tools_of(key, list_of(64, "/a"))), "ok");
    EXPECT_EQ(refusal(tools_of(key, list_of(65, "/a"))), "too_many_entries" + path);
    EXPECT_EQ(refusal(tools_of(key, R"(["/a",""])")), "empty_entry" + path + "/1");
    EXPECT_EQ(refusal(tools_of(key, list_of(1, "/" + std::string(511, 'a')))), "ok");
    EXPECT_EQ(refusal(tools_of(key, list_of(2, "/" + std::string(512, 'a')))),
              "entry_too_long" + path + "/0");
  }
  EXPECT_EQ(refusal(tools_of("views", "[]")), "empty_list /checks/0/views");
  EXPECT_EQ(refusal(R"({"checks":[{"type":"regex","stage":"output","patterns":[]}]})"),
            "empty_list /checks/0/patterns");
  EXPECT_EQ(refusal(R"({"checks":[{"type":"blocklist","stage":"output","words":["a",""]}]})"),
            "empty_entry /checks/0/words/1");
  EXPECT_EQ(refusal(R"({"checks":[{"type":"tool_pattern","stage":"tool_use","tools":[""]}]})"),
            "empty_entry /checks/0/tools/0");
}

// GR-4
TEST(DocumentErrorTest, EntriesAreCountedInBytes) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += "ж";
  const char* const form =
      R"({{"checks":[{{"type":"blocklist","stage":"output","words":["{}"]}}]}})";
  EXPECT_EQ(refusal(fmt::format(fmt::runtime(form), bytes)), "ok");
  EXPECT_EQ(refusal(fmt::format(fmt::runtime(form), bytes + "x")),
            "entry_too_long /checks/0/words/0");
}

// GR-6 GR-33
TEST(DocumentErrorTest, ArgumentPathsArePointers) {
  const char* const form = R"({{"checks":[{{"type":"regex","stage":"tool_use","patterns":["a"],
                               "args":["/a","{}"]}}]}})";
  for (const char* const path : {"a", "*", "/a~", "/a~2b"}) {
    EXPECT_EQ(refusal(fmt::format(fmt::runtime(form), path)), "bad_path /checks/0/args/1") << path;
  }
  EXPECT_EQ(refusal(fmt::format(fmt::runtime(form), "/")), "ok");
}

// Each step's fault is added before those of later steps, all in one check.
// GR-6
TEST(DocumentErrorTest, EarlierStepsWin) {
  const std::string long_text(2001, 'r');
  std::string check = R"("type":"regex","stage":"tool_use","patterns":["("],"args":["a"])";
  const auto code = [&] { return error_of(fmt::format(R"({{"checks":[{{{}}}]}})", check)).code; };
  EXPECT_EQ(code(), "bad_path");
  check += R"(,"except":[""])";
  EXPECT_EQ(code(), "empty_entry");
  check += R"(,"whole_word":true)";
  EXPECT_EQ(code(), "not_allowed_here");
  check += fmt::format(R"(,"replacement":"{}")", long_text);
  EXPECT_EQ(code(), "replacement_too_long");
  check += R"(,"id":"")";
  EXPECT_EQ(code(), "bad_id");
  const std::string many = checks_of(64);
  const std::string over =
      fmt::format(R"({{"checks":[{{{}}},{})", check, many.substr(many.find('[') + 1));
  EXPECT_EQ(error_of(over).code, "too_many_checks");
  check += R"(,"bogus":1)";
  EXPECT_EQ(code(), "unknown_key");
  check += R"(,"bogus":1)";
  EXPECT_EQ(code(), "syntax");
}

// GR-6
TEST(DocumentErrorTest, ListsOfACheckAreLookedAtOwnListFirst) {
  EXPECT_EQ(refusal(R"({"checks":[{"type":"regex","stage":"tool_use","except":[],"args":[],
                        "tools":[],"patterns":[""]}]})"),
            "empty_entry /checks/0/patterns/0");
  EXPECT_EQ(refusal(R"({"checks":[{"type":"regex","stage":"tool_use","views":[],"except":[],
                        "args":[],"tools":[""],"patterns":["a"]}]})"),
            "empty_entry /checks/0/tools/0");
  EXPECT_EQ(refusal(R"({"checks":[{"type":"regex","stage":"tool_use","views":[],"except":[""],
                        "args":["x"],"patterns":["a"]}]})"),
            "empty_entry /checks/0/except/0");
}

// GR-6
TEST(DocumentErrorTest, FromStepFiveOnChecksComeOneAfterTheOther) {
  const char* const form = R"({{"checks":[{{"type":"regex","stage":"tool_use",{}}},
                                          {{"type":"regex","stage":"output","patterns":["a"],
                                            "id":""}}]}})";
  const auto with = [&](std::string_view first) { return fmt::format(fmt::runtime(form), first); };
  EXPECT_EQ(refusal(with(R"("patterns":["a"])")), "bad_id /checks/1/id");
  EXPECT_EQ(refusal(with(R"("patterns":[])")), "empty_list /checks/0/patterns");
  const DocumentError error = error_of(with(R"x("patterns":["a","(?=a)"])x"));
  EXPECT_EQ(error.code, "invalid_regex");
  EXPECT_EQ(error.path, "/checks/0/patterns/1");
  EXPECT_EQ(error.detail, "look_around");
  EXPECT_THAT(error.message, StartsWith("check 'regex#0'"));
  EXPECT_THAT(error.message, HasSubstr("(?=a)"));
}

// GR-6
TEST(DocumentErrorTest, MessagesStayOneLineWhateverTheInput) {
  for (const char* const text :
       {R"({"a\nb\u2028c\u0085d":1})", R"({"mode":"x\ny"})", R"({"a\n":1,"a\n":2})"}) {
    const std::string message = error_of(text).message;
    for (const char* const line_end : {"\n", "\u2028", "\u0085"}) {
      EXPECT_THAT(message, Not(HasSubstr(line_end))) << text;
    }
  }
}

}  // namespace
}  // namespace sallyport::guardrails
