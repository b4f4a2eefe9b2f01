#include "grants/constraint.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "grant_samples.h"

namespace sallyport::grants {
namespace {

using namespace test;

bool matches(std::string_view type, json::value value, json::value input,
             std::string_view effect_class = "none", bool filters_rows = false) {
  const Call call{.tool = "t", .input = std::move(input)};
  return Condition::of({std::string(type), std::move(value)})
      .matches({call, effect_class, filters_rows});
}
std::string fault(std::string_view type, json::value value) {
  return Condition::of({std::string(type), std::move(value)}).fault();
}

// CG-37 CG-38
TEST(ConstraintTest, UnknownTypesAndWrongFormsMatchNothingAndSayWhy) {
  EXPECT_EQ(fault("moon_phase", "full"), "unknown constraint");
  EXPECT_FALSE(matches("moon_phase", "full", json::object{}));
  const std::pair<const char*, json::value> wrong[] = {
      {"path_prefix", 7},
      {"domain_exact", "a b"},
      {"domain_exact", "a.org:8443"},
      {"domain_exact", "[::1]:80"},
      {"domain_glob", "example.org"},
      {"regex_match", 7},
      {"arg_regex", "x"},
      {"arg_regex", {{"at", "x"}, {"pattern", "x"}}},
      {"arg_regex", {{"at", "/x"}, {"pattern", "x"}, {"more", 1}}},
      {"arg_equals", {{"at", "/x"}}},
      {"custom", {"a"}},
      {"custom", {"a", 7}},
      {"max_length", -1},
      {"max_length", 1.5},
      {"max_args_size", "7"},
      {"audience_allowlist", "x"},
      {"audience_allowlist", {1}},
      {"memory_store_allowlist", {{"a", 1}}},
      {"memory_write_deny_patterns", "x"},
      {"side_effect_class", "fs.write"},
      {"autonomy_ceiling", "god"},
      {"max_rows_returned", "7"},
      {"column_denylist", 7},
      {"table_allowlist", {7}}};
  for (const auto& [type, value] : wrong) {
    EXPECT_NE(fault(type, value), "") << type << json::serialize(value);
    EXPECT_FALSE(matches(type, value, {{"x", "x"}, {"path", "/x"}, {"to", "x"}}, "none", true));
  }
}

// The text of an input that a constraint reads.
TEST(ConstraintTest, AConstraintLooksAtTheTextsThatItSelects) {
  const json::value input{{"path", "a"},           {"cwd", "b"}, {"to", {"c"}}, {"store", "d"},
                          {"deep", {{"to", "e"}}}, {"n", 1}};
  const auto looked = [&](const char* type, json::value value) {
    std::string names;
    for (const char* const at : {"/path", "/cwd", "/to/0", "/store", "/deep/to", "/n"}) {
      boost::system::error_code ignored;
      const json::value* const text = input.find_pointer(at, ignored);
      if (looks_at({type, value}, input, *text)) names += std::string(at) + " ";
    }
    return names;
  };
  const std::string all = "/path /cwd /to/0 /store /deep/to /n ";
  EXPECT_EQ(looked("regex_match", "x"), all);
  EXPECT_EQ(looked("arg_regex", {{"at", "/path"}, {"pattern", "x"}}), "/path ");
  EXPECT_EQ(looked("arg_regex", {{"at", {"/to", "/n"}}, {"pattern", "x"}}), "/to/0 /n ");
  EXPECT_EQ(looked("arg_regex", {{"at", 7}, {"pattern", "x"}}), all) << "no selector";
  EXPECT_EQ(looked("path_prefix", {{"at", "/path"}, {"prefix", "/"}}), "/path /cwd ");
  EXPECT_EQ(looked("path_prefix", "/"), all);
  EXPECT_EQ(looked("audience_allowlist", {"x"}), "/to/0 /deep/to ");
  EXPECT_EQ(looked("memory_store_allowlist", {"x"}), "/store ");
  EXPECT_EQ(looked("custom", {"path", "x"}), "/path ");
  EXPECT_EQ(looked("custom", {"none", "x"}), "");
  EXPECT_EQ(looked("side_effect_class", {"none"}), "");
}

// CG-46
TEST(ConstraintTest, PatternsThatDoNotCompileMatchNothing) {
  for (const char* const pattern : {"(", "a(?=b)", "(a)\\1", "a*", "x)|(y"}) {
    EXPECT_FALSE(matches("regex_match", pattern, {{"x", "aab"}})) << pattern;
    EXPECT_FALSE(matches("arg_regex", {{"at", "/x"}, {"pattern", pattern}}, {{"x", "aab"}}));
    EXPECT_FALSE(matches("memory_write_deny_patterns", {pattern}, {{"x", "aab"}}));
  }
}

// CG-34
TEST(ConstraintTest, RegexMatchWantsOneStringAnywhere) {
  EXPECT_TRUE(matches("regex_match", "b+c", {{"x", {{{"y", "abbcd"}}}}}));
  EXPECT_FALSE(matches("regex_match", "b+c", {{"bbc", "x"}, {"n", 7}}));
  EXPECT_TRUE(matches("regex_match", "^a$", {{"x", "no"}, {"y", "a"}}));
}

// CG-40
TEST(ConstraintTest, ArgRegexWantsEverySelectedLeafInFull) {
  const json::value two{{"at", "/x/*"}, {"pattern", "a|ab"}};
  EXPECT_TRUE(matches("arg_regex", two, {{"x", {"a", "ab"}}}));
  EXPECT_FALSE(matches("arg_regex", two, {{"x", {"a", "abc"}}}));
  EXPECT_FALSE(matches("arg_regex", two, {{"x", {"a", 7}}}));
  EXPECT_FALSE(matches("arg_regex", two, {{"y", "a"}}));
  EXPECT_FALSE(matches("arg_regex", {{"at", "/x"}, {"pattern", "a"}}, {{"x", "a\n"}}));
  EXPECT_FALSE(matches("arg_regex", {{"at", "/x"}, {"pattern", "a"}}, {{"x", "b\na"}}));
}

// CG-40
TEST(ConstraintTest, ArgEqualsComparesCanonicalBytes) {
  EXPECT_TRUE(matches("arg_equals", {{"at", "/x"}, {"value", 1}}, {{"x", 1.0}}));
  EXPECT_TRUE(matches("arg_equals", {{"at", "/x"}, {"value", {{"a", 1}, {"b", 2}}}},
                      {{"x", {{"b", 2}, {"a", 1}}}}));
  EXPECT_FALSE(matches("arg_equals", {{"at", "/x"}, {"value", 1}}, {{"x", "1"}}));
  EXPECT_FALSE(matches("arg_equals", {{"at", "/x/*"}, {"value", 1}}, {{"x", {1, 2}}}));
  EXPECT_FALSE(matches("arg_equals", {{"at", "/y"}, {"value", nullptr}}, {{"x", 1}}));
  const Call inexact{.input = {{"x", 9007199254740992.0}},
                     .raw_input = R"({"x":9007199254740993})"};
  EXPECT_FALSE(Condition::of({"arg_equals", {{"at", "/x"}, {"value", 9007199254740992}}})
                   .matches({inexact, ""}));
}

// CG-34
TEST(ConstraintTest, CustomLooksAtATopLevelMember) {
  EXPECT_TRUE(matches("custom", {"env", "prod"}, {{"env", "prod"}}));
  EXPECT_FALSE(matches("custom", {"env", "prod"}, {{"env", "dev"}}));
  EXPECT_FALSE(matches("custom", {"env", "prod"}, {{"x", {{"env", "prod"}}}}));
  EXPECT_FALSE(matches("custom", {"env", "prod"}, {"env", "prod"}));
}

// CG-34
TEST(ConstraintTest, SizesAreBytes) {
  EXPECT_TRUE(matches("max_length", 4,
                      {{"x",
                        "\xc3\xbc"
                        "ab"},
                       {"y", {"abcd"}},
                       {"n", 123456}}));
  EXPECT_FALSE(matches("max_length", 3,
                       {{"x",
                         "\xc3\xbc"
                         "ab"}}));
  EXPECT_TRUE(matches("max_length", 0, json::object{}));
  EXPECT_TRUE(matches("max_args_size", 7, {{"x", 1}}));
  EXPECT_FALSE(matches("max_args_size", 6, {{"x", 1}}));
}

// CG-34
TEST(ConstraintTest, AudiencesAndStoresMustBeListed) {
  for (const char* const key :
       {"recipient", "recipients", "audience", "to", "cc", "bcc", "channel", "channels"}) {
    EXPECT_TRUE(matches("audience_allowlist", {"a", "b"}, json::object{{key, "a"}})) << key;
    EXPECT_TRUE(matches("audience_allowlist", {"a", "b"}, json::object{{key, {"a", "b"}}})) << key;
    EXPECT_FALSE(matches("audience_allowlist", {"a", "b"}, json::object{{key, "c"}})) << key;
    EXPECT_FALSE(matches("audience_allowlist", {"a"}, json::object{{key, {"a", 7}}})) << key;
    EXPECT_FALSE(matches("audience_allowlist", {"a"}, {{"to", "a"}, {"x", {{key, "c"}}}})) << key;
  }
  EXPECT_FALSE(matches("audience_allowlist", {"a"}, {{"text", "a"}}));
  EXPECT_FALSE(matches("audience_allowlist", {"a"}, {{"to", "a"}, {"cc", nullptr}}));
  for (const char* const key : {"store", "memory_store", "collection", "namespace"}) {
    EXPECT_TRUE(matches("memory_store_allowlist", {"a"}, json::object{{key, "a"}})) << key;
    EXPECT_FALSE(matches("memory_store_allowlist", {"a"}, json::object{{key, "b"}})) << key;
  }
  EXPECT_FALSE(matches("memory_store_allowlist", {"a"}, {{"to", "a"}}));
}

// CG-34
TEST(ConstraintTest, DenyPatternsMatchNoString) {
  EXPECT_TRUE(matches("memory_write_deny_patterns", {"secret", "k[0-9]"}, {{"x", "fine"}}));
  EXPECT_FALSE(matches("memory_write_deny_patterns", {"secret", "k[0-9]"}, {{"x", {"ok", "k7"}}}));
  EXPECT_TRUE(matches("memory_write_deny_patterns", json::array(), {{"x", "k7"}}));
}

// CG-34
TEST(ConstraintTest, ClassesTiersAndRows) {
  EXPECT_TRUE(matches("side_effect_class", {"fs.write", "none"}, json::object{}, "fs.write"));
  EXPECT_FALSE(matches("side_effect_class", {"none"}, json::object{}, "fs.write"));
  EXPECT_TRUE(matches("autonomy_ceiling", "shadow", json::object{}));
  EXPECT_EQ(Condition::of({"autonomy_ceiling", "suggest"}).ceiling(), Autonomy::Suggest);
  for (const auto& [type, value] : std::initializer_list<std::pair<const char*, json::value>>{
           {"max_rows_returned", 5}, {"column_denylist", {"ssn"}}, {"table_allowlist", {"t"}}}) {
    EXPECT_FALSE(matches(type, value, json::object{}, "none", false)) << type;
    EXPECT_TRUE(matches(type, value, json::object{}, "none", true)) << type;
  }
}

// CG-45
TEST(ConstraintTest, DomainsWantAHostAndEveryOneOfThem) {
  EXPECT_TRUE(matches("domain_exact", "API.example.org.", {{"url", "https://api.example.org/x"}}));
  EXPECT_FALSE(matches("domain_exact", "api.example.org", {{"x", "y"}}));
  EXPECT_FALSE(matches("domain_exact", "a.org", {{"u", "https://a.org"}, {"v", "https://b.org"}}));
  EXPECT_FALSE(matches("domain_exact", "a.org", {{"u", "https://a.org@evil.org"}}));
  EXPECT_TRUE(matches("domain_glob", "*.example.org", {{"host", "a.b.example.org"}}));
  EXPECT_FALSE(matches("domain_glob", "*.example.org", {{"host", "example.org"}}));
  EXPECT_FALSE(matches("domain_glob", "*.example.org", {{"host", "evilexample.org"}}));
  EXPECT_TRUE(matches("domain_exact", "127.0.0.1", {{"host", "127.0.0.1"}}));
  EXPECT_FALSE(matches("domain_exact", "127.0.0.1", {{"host", "2130706433"}}));
}

// CG-8 CG-34
TEST(FittingTest, ServerToolAndInvokeMustFit) {
  const auto fits = [](json::object one, std::string server, std::string tool) {
    const Examination token = examine(text_of(token_with({std::move(one)})), trusting_a());
    const Call call{.server = std::move(server), .tool = std::move(tool), .input = json::object{}};
    return !fitting(*token.token, {call, "none"}).order.empty();
  };
  EXPECT_TRUE(fits(grant("fs", "read"), "fs", "read"));
  EXPECT_TRUE(fits(grant("*", "*"), "", "read"));
  EXPECT_FALSE(fits(grant("fs", "read"), "fs", "reads"));
  EXPECT_FALSE(fits(grant("f*", "read"), "fs", "read"));
  EXPECT_FALSE(fits(grant("fs", "re*"), "fs", "read"));
  EXPECT_FALSE(fits(grant("fs", "read"), "", "read"));
  EXPECT_FALSE(fits(with(grant(), "operations", json::array{"delegate", "read_result"}), "", "x"));
}

// CG-35
TEST(FittingTest, TheMostSpecificGrantComesFirst) {
  const json::array constraint{json::object{{"type", "max_length"}, {"value", 9}}};
  const json::array grants{grant("*", "*"), with(grant("*", "*"), "constraints", constraint),
                           grant("*", "t"), grant("s", "*"),
                           grant("s", "t"), with(grant("s", "t"), "constraints", constraint),
                           grant("s", "t")};
  const Examination token = examine(text_of(token_with(grants)), trusting_a());
  const Call call{.server = "s", .tool = "t", .input = json::object{}};
  EXPECT_EQ(fitting(*token.token, {call, "none"}).order,
            (std::vector<std::size_t>{5, 4, 6, 3, 2, 1, 0}));
}

// CG-38 CG-69
TEST(FittingTest, GrantsThatArePassedOverAreNamedWithTheirFirstMisfit) {
  const json::array grants{limited_to("moon_phase", 1),
                           limited_to("max_length", 0),
                           with(grant(), "max_invocations", 0),
                           with(grant(), "rate", json::object{{"max", 0}, {"per_seconds", 1}}),
                           grant("s", "t"),
                           grant()};
  const Examination token = examine(text_of(token_with(grants)), trusting_a());
  const Call call{.server = "x", .tool = "t", .input = {{"a", "b"}}};
  const Fitting fits = fitting(*token.token, {call, "none"});
  EXPECT_EQ(fits.order, std::vector<std::size_t>{5});
  std::vector<std::string> why;
  for (const PassedOver& each : fits.passed_over) why.push_back(each.why);
  EXPECT_EQ(why, (std::vector<std::string>{"moon_phase: unknown constraint", "max_length",
                                           "max_invocations is 0", "rate.max is 0", "server"}));
}

}  // namespace
}  // namespace sallyport::grants
