#include <gtest/gtest.h>

#include <boost/json/value.hpp>
#include <string>
#include <utility>

#include "sallyport/json.h"
#include "unit/guardrails/running.h"

namespace sallyport::guardrails {

namespace {

Evaluation call(const std::shared_ptr<const Guardrails>& guardrails, std::string_view arguments,
                std::optional<std::string_view> tool = "db", Stage stage = Stage::ToolUse) {
  const auto parsed = parse_json(arguments);
  if (!parsed) ADD_FAILURE() << parsed.error().message;
  const json::value value = parsed ? parsed->value : json::value();
  return guardrails->evaluate({.stage = stage, .value = &value, .tool = tool});
}

std::string regex(const std::string& pattern, const std::string& more = "") {
  return R"("type":"regex","stage":"tool_use","patterns":[")" + pattern + "\"]" + more;
}

std::string path_of(const Evaluation& seen) {
  if (seen.hits.empty()) return "none";
  return seen.hits[0].path.value_or("whole");
}

}  // namespace

// GR-32 GR-13
TEST(ToolTexts, LeavesAreSeenDecodedAndTheWholeLast) {
  const auto guardrails = guard({regex("drop\\\\s+table")});
  const Evaluation seen =
      call(guardrails, "{\"z\":\"drop\\u0020table\",\"a\":{\"sql\":[\"x\",\"drop\\n table\"]}}");
  EXPECT_EQ(path_of(seen), "/a/sql/1");
  EXPECT_EQ(seen.hits[0].start, 0u);
  EXPECT_EQ(seen.hits[0].end, 11u);
  EXPECT_EQ(path_of(call(guardrails, R"({"drop table":1})")), "whole");
  EXPECT_EQ(path_of(call(guard({regex("n.:42")}), R"({"n":42})")), "whole");
  EXPECT_EQ(path_of(call(guardrails, R"({"a":"drop","b":"table"})")), "none");
  EXPECT_EQ(path_of(call(guardrails, R"("drop table")")), "");
}

// In the canonical form, a number that a double cannot hold is another number. A check of the
// number that the tool receives was passed by.
// GR-32 GR-36
TEST(ToolTexts, NumbersAreSeenAsTheToolReceivesThem) {
  const auto hits = [](const std::string& check, std::string_view arguments) {
    const json::value value = parse_json(arguments)->value;
    return guard({check})->evaluate(
        {.stage = Stage::ToolUse, .value = &value, .received = arguments, .tool = "db"});
  };
  const std::string_view arguments = R"({"to":[12345678901234567890123],"b":"x 9007199254740993"})";
  const Evaluation seen = hits(regex("^12345678901234567890123$"), arguments);
  EXPECT_EQ(seen.verdict, Verdict::Block);
  EXPECT_EQ(path_of(seen), "/to/0");
  ASSERT_TRUE(seen.decision);
  EXPECT_EQ(path_of(hits(regex("9{3}", R"(,"args":["/to"])"), arguments)), "none");
  EXPECT_EQ(path_of(hits(regex("0123", R"(,"args":["/to"])"), arguments)), "/to/0");
  const Evaluation both = hits(regex("9007199254740993", R"(,"on_fail":"redact")"), arguments);
  EXPECT_EQ(both.verdict, Verdict::Redact);
  EXPECT_EQ(both.hits.size(), 1u);
  EXPECT_EQ(hits(regex("90123", R"(,"on_fail":"redact")"), arguments).verdict, Verdict::Block)
      << "no redaction reaches a number";
  EXPECT_EQ(hits(regex("90123", R"(,"on_fail":"log")"), arguments).verdict, Verdict::Allow);
  const json::value value = json::object{{"a", 1}};
  const auto broken =
      guard({regex("x")})
          ->evaluate(
              {.stage = Stage::ToolUse, .value = &value, .received = R"({"a":1)", .tool = "db"});
  EXPECT_EQ(broken.verdict, Verdict::Block) << "what cannot be searched does not pass";
}

// GR-33 GR-62
TEST(ToolTexts, ArgsLimitACheckToPartsOfTheArguments) {
  const auto guardrails = guard({regex("x|4|true", R"(,"args":["/query","/items/*/sql"])")});
  EXPECT_EQ(path_of(call(guardrails, R"({"query":"x","other":"x"})")), "/query");
  EXPECT_EQ(path_of(call(guardrails, R"({"query":{"deep":["y","x"]}})")), "/query/deep/1");
  EXPECT_EQ(path_of(call(guardrails, R"({"items":[{"sql":"y"},{"sql":42}]})")), "/items/1/sql");
  EXPECT_EQ(path_of(call(guardrails, R"({"query":true})")), "/query");
  const Evaluation skipped = call(guardrails, R"({"other":"x"})");
  EXPECT_EQ(path_of(skipped), "none");
  EXPECT_EQ(skipped.coverage[0].skipped, "args");
  EXPECT_EQ(path_of(call(guardrails, R"({"query":"y","x":"x"})")), "none");  // never the whole
}

// GR-29 GR-30 GR-18
TEST(ToolTexts, AToolPatternLooksAtTheNameOnly) {
  const auto guardrails = guard({R"("type":"tool_pattern","stage":"tool_use",
      "tools":["sh","bash*"],"except":["bash_safe"])"});
  const Evaluation seen = call(guardrails, "{}", "bashkit");
  ASSERT_EQ(seen.hits.size(), 1u);
  EXPECT_EQ(seen.hits[0].entry, "bash*");
  EXPECT_EQ(seen.hits[0].matched, "bashkit");
  EXPECT_EQ(seen.hits[0].reason_code, "guardrail.tool_pattern");
  EXPECT_EQ(seen.hits[0].start, std::nullopt);
  EXPECT_EQ(seen.hits[0].view, std::nullopt);
  EXPECT_EQ(seen.hits[0].path, std::nullopt);
  EXPECT_EQ(seen.decision->reason,
            "guardrail check 'tool_pattern#0' refused this call (guardrail.tool_pattern)");
  EXPECT_EQ(seen.decision->replacement, "[This tool call was refused by a guardrail.]");
  EXPECT_TRUE(call(guardrails, R"({"a":"sh"})", "bash_safe").hits.empty());
  EXPECT_TRUE(call(guardrails, "{}", "xsh").hits.empty());
  EXPECT_EQ(call(guardrails, "{}", std::nullopt).coverage[0].skipped, "no_tool");
}

// GR-34
TEST(ToolTexts, ToolsLimitACheckToSomeTools) {
  const auto guardrails = guard({regex("x", R"(,"tools":["sql_*","db"])")});
  EXPECT_EQ(path_of(call(guardrails, R"(["x"])", "db")), "/0");
  EXPECT_EQ(path_of(call(guardrails, R"(["x"])", "sql_run")), "/0");
  EXPECT_EQ(call(guardrails, R"(["x"])", "db2").coverage[0].skipped, "tool");
  EXPECT_EQ(call(guardrails, R"(["x"])", std::nullopt).coverage[0].skipped, "no_tool");
}

// GR-36 GR-61 (partly)
TEST(ToolTexts, RedactionRewritesStringLeaves) {
  const auto guardrails = guard({regex("s3cret", R"(,"on_fail":"redact")")});
  const Evaluation seen =
      call(guardrails, R"({"z":["a s3cret", 1],"b":{"c":"s3crets3cret"},"a":"x"})");
  EXPECT_EQ(seen.verdict, Verdict::Redact);
  EXPECT_EQ(*seen.text, R"({"a":"x","b":{"c":"[redacted][redacted]"},"z":["a [redacted]",1]})");
  EXPECT_EQ(canonical_json(*seen.value), *seen.text);
  EXPECT_EQ(path_of(seen), "/b/c");
}

// GR-36
TEST(ToolTexts, AMatchInNoStringLeafBlocks) {
  const auto guardrails =
      guard({regex("s3cret", R"(,"on_fail":"redact","id":"s","replacement":"-")")});
  Evaluation seen = call(guardrails, R"({"s3cret":1})");
  EXPECT_EQ(seen.verdict, Verdict::Block);
  EXPECT_EQ(seen.hits[0].action, Action::Block);
  EXPECT_EQ(seen.hits[0].on_fail, Action::Redact);
  EXPECT_EQ(seen.decision->reason, "guardrail check 's' refused this call (guardrail.regex)");
  EXPECT_EQ(seen.text, std::nullopt);
  // The string is redacted first; the rest of the key is then found.
  seen = call(guardrails, R"({"s3cret":"s3cret"})");
  EXPECT_EQ(seen.verdict, Verdict::Block);
  ASSERT_EQ(seen.hits.size(), 1u);
  EXPECT_EQ(seen.hits[0].path, std::nullopt);
  EXPECT_EQ(
      call(guard({regex("4.", R"(,"on_fail":"redact","args":["/n"])")}), R"({"n":42})").verdict,
      Verdict::Block);
}

// GR-36
TEST(ToolTexts, RedactedArgumentsAreDecidedAgain) {
  const auto guardrails = guard({regex("mask", R"(,"id":"no masks")"),
                                 regex("s3cret", R"(,"on_fail":"redact","replacement":"mask")")});
  const Evaluation seen = call(guardrails, R"({"a":"s3cret"})");
  EXPECT_EQ(seen.verdict, Verdict::Block);
  EXPECT_EQ(seen.decision->check, "no masks");
  // The rest after a redaction may match again.
  const auto nested = guard({regex("ab", R"(,"on_fail":"redact","replacement":"")")});
  EXPECT_EQ(*call(nested, R"({"x":"aabb"})").text, R"({"x":""})");
  // A replacement that matches itself, and one that grows.
  const auto same = guard({regex("pw=\\\\S+", R"(,"on_fail":"redact","replacement":"pw=***")")});
  EXPECT_EQ(*call(same, R"({"x":"pw=abc"})").text, R"({"x":"pw=***"})");
  const auto grows = guard({regex("a", R"(,"on_fail":"redact","replacement":"aa")")});
  EXPECT_EQ(call(grows, R"({"x":"a"})").verdict, Verdict::Block);
}

// Arguments whose replacements matched again were redacted eight times, at ten times the size each
// time, until the memory was used up.
// GR-36 GR-84
TEST(ToolTexts, AReplacementThatGrowsInEachRoundBlocksSoon) {
  const auto letters = guard({regex("[a-z]", R"(,"on_fail":"redact","id":"r")")});
  for (const std::size_t size : {std::size_t{4}, std::size_t{2'000}}) {
    const Evaluation seen = call(letters, R"({"1":")" + std::string(size, 'h') + R"("})");
    EXPECT_EQ(seen.verdict, Verdict::Block);
    EXPECT_EQ(seen.decision->check, "r");
    EXPECT_EQ(seen.text, std::nullopt);
  }
}

// GR-84
TEST(ToolTexts, StringsThatRedactionMakesTooLongAreNotPassedOn) {
  const std::string check =
      R"("type":"regex","patterns":["h"],"on_fail":"redact","replacement":")" +
      std::string(2'000, '-') + R"(","stage":)";
  const std::string value = R"({"1":")" + std::string(35'000, 'h') + R"("})";
  EXPECT_EQ(call(guard({check + R"("tool_use")"}), value).verdict, Verdict::Block);
  const Evaluation seen = call(guard({check + R"("tool_output")"}), value, "db", Stage::ToolOutput);
  EXPECT_EQ(seen.verdict, Verdict::Block);
  EXPECT_EQ(seen.value, std::nullopt);
}

// A result was withheld if its replacement matched again, but the same text as a string was not.
// GR-35 GR-36
TEST(ToolTexts, AResultIsRedactedOnce) {
  const auto letters = guard({R"("type":"regex","stage":"tool_output","patterns":["[a-z]"],)"
                              R"("on_fail":"redact","replacement":"xy")"});
  EXPECT_EQ(*call(letters, R"({"1":"a-b"})", "db", Stage::ToolOutput).text, R"({"1":"xy-xy"})");
  EXPECT_EQ(*call(letters, R"("a-b")", "db", Stage::ToolOutput).text, "xy-xy");
  // Another check does not read the replacement either.
  const auto two = guard({R"("type":"regex","stage":"tool_output","patterns":["mask"])",
                          R"("type":"regex","stage":"tool_output","patterns":["s3cret"],)"
                          R"("on_fail":"redact","replacement":"mask")"});
  EXPECT_EQ(*call(two, R"(["s3cret"])", "db", Stage::ToolOutput).text, R"(["mask"])");
}

// GR-36
TEST(ToolTexts, AReplacementThatMatchesDoesNotHideAMatchInAName) {
  for (const auto& [stage, name] :
       {std::pair(Stage::ToolUse, "tool_use"), std::pair(Stage::ToolOutput, "tool_output")}) {
    const auto same = guard({std::string(R"("type":"regex","stage":")") + name +
                             R"(","patterns":["pw=\\w*"],"on_fail":"redact","replacement":"pw=")"});
    EXPECT_EQ(*call(same, R"({"x":"pw=abc"})", "db", stage).text, R"({"x":"pw="})") << name;
    EXPECT_EQ(call(same, R"({"pw=k":"pw=abc"})", "db", stage).verdict, Verdict::Block) << name;
  }
}

// GR-32 GR-36
TEST(ToolTexts, AResultThatIsNoStringIsTreatedLikeArguments) {
  const std::string check = R"("type":"regex","stage":"tool_output","patterns":["s3cret"],)"
                            R"("on_fail":"redact")";
  const auto guardrails = guard({check});
  Evaluation seen = call(guardrails, R"({"rows":["s3cret"]})", "db", Stage::ToolOutput);
  EXPECT_EQ(*seen.text, R"({"rows":["[redacted]"]})");
  EXPECT_EQ(path_of(seen), "/rows/0");
  // A string is a text.
  seen = call(guardrails, R"("my s3cret")", "db", Stage::ToolOutput);
  EXPECT_EQ(*seen.text, "my [redacted]");
  EXPECT_EQ(*seen.value, json::value("my [redacted]"));
  EXPECT_EQ(seen.hits[0].path, std::nullopt);
  const json::value empty = json::object();
  seen = guardrails->evaluate(
      {.stage = Stage::ToolOutput, .value = &empty, .error_text = "no s3cret for you"});
  EXPECT_EQ(seen.verdict, Verdict::Redact);
  EXPECT_EQ(*seen.error_text, "no [redacted] for you");
  seen = guardrails->evaluate(
      {.stage = Stage::ToolOutput, .text = "fine", .error_text = "no s3cret for you"});
  EXPECT_EQ(*seen.text, "fine");
  EXPECT_EQ(*seen.error_text, "no [redacted] for you");
}

// GR-37 GR-42 (partly)
TEST(ToolTexts, ViewsOfALeafAreRedactedInTheLeaf) {
  const auto guardrails =
      guard({regex("s3cret", R"(,"on_fail":"redact","views":["strip","percent"])")});
  EXPECT_EQ(*call(guardrails, R"({"a":"x s%33cret s3\u200bcret y"})").text,
            R"({"a":"x [redacted] [redacted] y"})");
}

}  // namespace sallyport::guardrails
