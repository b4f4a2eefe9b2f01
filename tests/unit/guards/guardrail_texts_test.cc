#include "guards/guardrail_texts.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "guardrails/document/document.h"

namespace sallyport::guards {
namespace {

using core::TextStage;

std::shared_ptr<const GuardrailTexts> texts_of(std::string_view checks,
                                               std::string_view mode = "active") {
  const auto document = guardrails::read_document(R"({"mode":")" + std::string(mode) +
                                                  R"(","checks":)" + std::string(checks) + "}");
  EXPECT_TRUE(document) << (document ? "" : document.error().message);
  auto compiled = guardrails::Guardrails::compile(*document, 7);
  EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error().message);
  return std::make_shared<const GuardrailTexts>(*compiled);
}

constexpr std::string_view kChecks = R"([
  {"type":"regex","stage":"output","id":"block","patterns":["STOP"],"on_fail":"block"},
  {"type":"regex","stage":"output","id":"mask","patterns":["key-[0-9]+"],"on_fail":"redact","replacement":"[K]"},
  {"type":"regex","stage":"input","id":"note","patterns":["hello"],"on_fail":"log"},
  {"type":"regex","stage":"tool_use","id":"args","patterns":["rm -rf"],"on_fail":"block"},
  {"type":"regex","stage":"tool_use","id":"mask-args","patterns":["key-[0-9]+"],"on_fail":"redact","replacement":"[K]"}])";

TEST(GuardrailTextsTest, AStageIsEnforcedWhereACheckMayChangeOrWithhold) {
  const auto texts = texts_of(kChecks);
  EXPECT_TRUE(texts->enforces(TextStage::Output));
  EXPECT_FALSE(texts->enforces(TextStage::Input)) << "it only takes note";
  EXPECT_FALSE(texts->enforces(TextStage::ToolOutput));
  EXPECT_FALSE(texts_of(kChecks, "advisory")->enforces(TextStage::Output));
  EXPECT_EQ(texts->generation(), 7u);
}

TEST(GuardrailTextsTest, AWholeTextIsBlockedRedactedOrPassed) {
  const auto texts = texts_of(kChecks);
  const auto seen = [&](TextStage stage, std::string_view text) {
    const core::PassedText passed = texts->look_at(stage, text, std::nullopt);
    return (passed.block ? "blocked by " + passed.block->check : passed.text()) + " " +
           std::to_string(passed.findings.size()) + (passed.changed() ? " changed" : "");
  };
  EXPECT_EQ(seen(TextStage::Output, "fine"), "fine 0");
  EXPECT_EQ(seen(TextStage::Output, "a key-12 b"), "a [K] b 1 changed");
  EXPECT_EQ(seen(TextStage::Output, "STOP"), "blocked by block 1 changed");
  EXPECT_EQ(seen(TextStage::Input, "hello"), "hello 1");
  EXPECT_EQ(seen(TextStage::ToolOutput, "STOP key-1"), "STOP key-1 0");
}

TEST(GuardrailTextsTest, AStreamLetsOutWhatIsDecidedAndNothingBehindABlock) {
  const auto texts = texts_of(kChecks);
  const auto gate = texts->arm(TextStage::Output, std::nullopt);
  ASSERT_NE(gate, nullptr);
  std::string out;
  std::size_t findings = 0;
  std::optional<core::TextBlock> block;
  for (const std::string_view piece : {"a ke", "y-1", "2 b ST", "OP more"}) {
    core::PassedText passed = gate->push(piece);
    out += passed.text();
    findings += passed.findings.size();
    if (passed.block) block = passed.block;
  }
  core::PassedText last = gate->finish();
  out += last.text();
  if (last.block) block = last.block;
  EXPECT_EQ(out, "a [K] b ");
  EXPECT_EQ(findings + last.findings.size(), 2u);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->check, "block");
  EXPECT_FALSE(gate->coverage().empty());
  EXPECT_EQ(texts->arm(TextStage::ToolOutput, std::nullopt), nullptr);
  EXPECT_FALSE(texts->coverage(TextStage::Output, std::nullopt).empty());
}

TEST(GuardrailTextsTest, ArgumentsOfACallAreBlockedOrRedacted) {
  const auto texts = texts_of(kChecks);
  const core::CheckedCall fine = texts->look_at_call("sh", json::object{{"c", "ls"}}, std::nullopt);
  EXPECT_FALSE(fine.block || fine.rewritten || !fine.findings.empty());
  const core::CheckedCall blocked =
      texts->look_at_call("sh", json::object{{"c", "rm -rf /"}}, std::nullopt);
  ASSERT_TRUE(blocked.block);
  EXPECT_EQ(blocked.block->check, "args");
  EXPECT_FALSE(blocked.rewritten);
  const core::CheckedCall masked =
      texts->look_at_call("sh", json::object{{"c", "use key-12"}}, std::nullopt);
  ASSERT_TRUE(masked.rewritten);
  EXPECT_EQ(*masked.rewritten, json::value(json::object{{"c", "use [K]"}}));
}

TEST(GuardrailTextsTest, TextsInJsonAnswersAreReadAsTheyMean) {
  const auto texts = texts_of(kChecks);
  const auto for_json = texts->for_json_answers();
  ASSERT_TRUE(for_json);
  EXPECT_EQ(*texts->for_json_answers(), *for_json) << "made once";
  if (*for_json) {
    const core::PassedText passed =
        (*for_json)->look_at(TextStage::Output, R"({"a":"\u0053TOP"})", std::nullopt);
    EXPECT_TRUE(passed.block);
  }
}

TEST(GuardrailTextsTest, APieceSaysWhetherItWasReplaced) {
  const auto gate = texts_of(kChecks)->arm(TextStage::Output, std::nullopt);
  core::PassedText passed = gate->push("a key-12 b");
  core::PassedText last = gate->finish();
  std::string replaced;
  std::string kept;
  for (const core::PassedText* const part : {&passed, &last}) {
    for (const auto& piece : part->pieces) (piece.replaced ? replaced : kept) += piece.text;
  }
  EXPECT_EQ(replaced, "[K]");
  EXPECT_EQ(kept, "a  b");
}

TEST(GuardrailTextsTest, OnlyChecksOfTextsInAnswersAreReadAsJson) {
  const auto for_json = [](std::string_view checks) {
    return *texts_of(checks)->for_json_answers() != nullptr;
  };
  EXPECT_TRUE(for_json(R"([{"type":"regex","stage":"output","id":"a","patterns":["x"]}])"));
  EXPECT_TRUE(for_json(R"([{"type":"blocklist","stage":"output","id":"a","words":["x"]}])"));
  EXPECT_FALSE(for_json(R"([{"type":"regex","stage":"input","id":"a","patterns":["x"]}])"));
  EXPECT_FALSE(for_json(
      R"([{"type":"regex","stage":"output","id":"a","patterns":["x"],"views":["json"]}])"));
}

TEST(GuardrailTextsTest, AnExcerptIsKeptWhereThatIsWantedAndNothingWasTakenOut) {
  const auto document = guardrails::read_document(R"({"checks":)" + std::string(kChecks) + "}");
  ASSERT_TRUE(document);
  const auto compiled = guardrails::Guardrails::compile(*document, 7);
  ASSERT_TRUE(compiled);
  const auto excerpts = [&](Excerpts wanted, TextStage stage, std::string_view text) {
    const core::PassedText seen =
        GuardrailTexts(*compiled, wanted).look_at(stage, text, std::nullopt);
    EXPECT_EQ(seen.findings.size(), 1u);
    const auto& finding = seen.findings.front();
    const bool in_body = finding.body.contains("excerpt");
    EXPECT_NE(in_body, !finding.excerpt.empty()) << "it stands in one place";
    return in_body;
  };
  EXPECT_TRUE(excerpts(Excerpts::Kept, TextStage::Input, "hello"));
  EXPECT_FALSE(excerpts(Excerpts::Withheld, TextStage::Input, "hello"));
  EXPECT_TRUE(excerpts(Excerpts::Kept, TextStage::Output, "STOP"));
  EXPECT_FALSE(excerpts(Excerpts::Kept, TextStage::Output, "key-12"));
}

}  // namespace
}  // namespace sallyport::guards
