#include <gtest/gtest.h>

#include <string>

#include "unit/guardrails/running.h"

namespace sallyport::guardrails {

namespace {

std::string regex(const std::string& pattern, const std::string& more = "") {
  return R"("type":"regex","stage":"output","patterns":[")" + pattern + "\"]" + more;
}

std::unique_ptr<TextGate> armed(const std::vector<std::string>& checks,
                                const std::string& more = "") {
  return guard(checks, more)->arm(Stage::Output, std::nullopt);
}

std::string span_of(const Hit& hit) {
  return hit.check + " " + *hit.entry + " " + std::to_string(*hit.start) + "-" +
         std::to_string(*hit.end) + " at " + std::to_string(*hit.at);
}

}  // namespace

// GR-46 GR-48 GR-49 GR-65 (partly)
TEST(StreamGate, BlocksWithoutHavingReleasedAByteOfTheMatch) {
  const auto gate = armed({regex("AKIA[A-Z0-9]{16}", R"(,"id":"aws")")});
  ASSERT_NE(gate, nullptr);
  EXPECT_EQ(gate->push("key is A")->text(), "key is ");
  EXPECT_EQ(gate->held(), 1u);
  EXPECT_EQ(gate->push("KIAIOSFO")->text(), "");
  EXPECT_EQ(gate->push("DNN7EXAM")->text(), "");
  const Passed last = *gate->push("PLE ok");
  ASSERT_TRUE(last.block.has_value());
  EXPECT_TRUE(last.pieces.empty());
  EXPECT_EQ(span_of(*last.block), "aws AKIA[A-Z0-9]{16} 7-27 at 27");
  EXPECT_EQ(last.block->reason_code, "guardrail.regex");
  EXPECT_EQ(last.block->matched, "AKIAIOSFODNN7EXAMPLE");
  EXPECT_EQ(last.block->view, "raw");
  EXPECT_EQ(last.block->action, Action::Block);
  EXPECT_EQ(last.block->replacement, "[This answer was withheld by a guardrail.]");
  EXPECT_EQ(last.text(), "[This answer was withheld by a guardrail.]");
  EXPECT_EQ(gate->bytes_in(), 30u);
  EXPECT_EQ(gate->held(), 0u);
  EXPECT_EQ(gate->push("more")->text(), "");
  EXPECT_EQ(gate->bytes_in(), 30u);
  EXPECT_EQ(gate->finish()->text(), "");
}

// GR-43 GR-34 GR-54 (partly)
TEST(StreamGate, IsArmedOnlyWhereACheckApplies) {
  const auto guardrails =
      guard({R"("type":"regex","stage":"tool_output","patterns":["x"],"tools":["a*"])",
             R"("type":"regex","stage":"tool_output","patterns":["y"],"tools":["b*"])",
             R"("type":"regex","stage":"tool_use","patterns":["z"])"});
  EXPECT_EQ(guardrails->arm(Stage::Output, std::nullopt), nullptr);
  EXPECT_EQ(guardrails->arm(Stage::ToolOutput, std::nullopt), nullptr);
  EXPECT_EQ(guardrails->arm(Stage::ToolOutput, "c"), nullptr);
  EXPECT_EQ(guardrails->arm(Stage::ToolUse, "a"), nullptr);
  EXPECT_TRUE(guardrails->armed(Stage::ToolOutput));
  EXPECT_FALSE(guardrails->armed(Stage::Input));
  const auto gate = guardrails->arm(Stage::ToolOutput, "a1");
  ASSERT_NE(gate, nullptr);
  EXPECT_EQ(gate->push("y")->text(), "y");  // the other check neither blocks nor holds
  EXPECT_EQ(gate->coverage()[0].skipped, std::nullopt);
  EXPECT_EQ(gate->coverage()[1].skipped, "tool");
  EXPECT_EQ(gate->coverage()[2].skipped, "stage");
  EXPECT_TRUE(gate->push("x")->block.has_value());
}

// GR-43 GR-77 (partly)
TEST(StreamGate, KeepsItsPlanAlive) {
  auto guardrails = guard({regex("abc", R"(,"views":["percent"])")});
  const auto gate = guardrails->arm(Stage::Output, std::nullopt);
  guardrails.reset();
  EXPECT_EQ(gate->push("ab")->text(), "");
  EXPECT_TRUE(gate->push("%63")->block.has_value());
}

// GR-47
TEST(StreamGate, WhatLooksAheadIsDecidedByTheNextCharacterOrTheEnd) {
  auto gate = armed({regex("ab$")});
  EXPECT_FALSE(gate->push("ab")->block);
  EXPECT_FALSE(gate->push("\n")->block);
  EXPECT_EQ(gate->push("x")->text(), "ab\nx");
  gate = armed({regex("ab$")});
  EXPECT_FALSE(gate->push("ab\n")->block);
  EXPECT_EQ(span_of(*gate->finish()->block), "regex#0 ab$ 0-2 at 3");
  gate = armed({R"("type":"blocklist","stage":"output","words":["ass"],"whole_word":true)"});
  EXPECT_EQ(gate->push("an ass")->text(), "an ");
  EXPECT_EQ(gate->push("et")->text(), "asset");
  EXPECT_EQ(gate->push(" ass")->text(), " ");
  EXPECT_EQ(span_of(*gate->push("!")->block), "blocklist#0 ass 9-12 at 13");
  gate = armed({regex("me@x", R"(,"except":["me@xy"])")});
  EXPECT_EQ(gate->push("me@x")->text(), "");
  EXPECT_EQ(gate->push("y")->text(), "me@xy");
  EXPECT_EQ(gate->push("me@x")->text(), "");
  EXPECT_TRUE(gate->push("z")->block.has_value());
}

// GR-48
TEST(StreamGate, OfSeveralBlocksTheFirstCheckEntryAndEndIsReported) {
  const auto two = R"("type":"regex","stage":"output","patterns":["bcd","c.","abc."])";
  EXPECT_EQ(span_of(*stream(*guard({two}), "xabcd").block), "regex#0 bcd 2-5 at 5");
  EXPECT_EQ(span_of(*stream(*guard({regex("cd"), two}), "xabcd").block), "regex#0 cd 3-5 at 5");
  EXPECT_EQ(span_of(*stream(*guard({regex("[a-d]+d")}), "xabcd").block),
            "regex#0 [a-d]+d 1-5 at 5");
}

// GR-49
TEST(StreamGate, LogsUpToABlockAreReportedAndLaterOnesAreNot) {
  const auto guardrails =
      guard({regex("b"), regex("a", R"(,"on_fail":"log")"), regex("b", R"(,"on_fail":"log")"),
             regex("c", R"(,"on_fail":"log")")});
  const SeenOfStream seen = stream(*guardrails, "xabc");
  ASSERT_EQ(seen.logs.size(), 2u);
  EXPECT_EQ(span_of(seen.logs[0]), "regex#1 a 1-2 at 2");
  EXPECT_EQ(span_of(seen.logs[1]), "regex#2 b 2-3 at 3");
  EXPECT_EQ(seen.logs[0].action, Action::Log);
  EXPECT_EQ(seen.logs[0].replacement, std::nullopt);
  EXPECT_EQ(span_of(*seen.block), "regex#0 b 2-3 at 3");
  EXPECT_EQ(seen.text, "xa[This answer was withheld by a guardrail.]");
}

// GR-50
TEST(StreamGate, LogsHoldNothingAndComeOncePerCheck) {
  const auto gate = armed({regex("ab+", R"(,"on_fail":"log")")});
  EXPECT_EQ(gate->push("xa")->text(), "xa");
  const Passed first = *gate->push("bb");
  EXPECT_EQ(first.text(), "bb");
  ASSERT_EQ(first.logs.size(), 1u);
  EXPECT_EQ(span_of(first.logs[0]), "regex#0 ab+ 1-3 at 3");
  EXPECT_EQ(first.logs[0].matched, "ab");
  EXPECT_TRUE(gate->push("abab")->logs.empty());
  EXPECT_TRUE(gate->finish()->logs.empty());
}

// GR-50 GR-58 (partly)
TEST(StreamGate, ALogMatchLongerThanTheHoldLimitHasNoStart) {
  for (const char* views : {"", R"(,"views":["strip"])"}) {
    const std::string check = regex("a[^z]*z", std::string(R"(,"on_fail":"log")") + views);
    for (const std::size_t length : {64u, 65u}) {
      const auto guardrails = guard({check}, R"("max_hold_bytes":64,)");
      const std::string text = "xx\u200b" + ("a" + std::string(length - 2, 'b')) + "z";
      const SeenOfStream seen = stream(*guardrails, text, every_byte(text));
      ASSERT_EQ(seen.logs.size(), 1u);
      EXPECT_EQ(seen.logs[0].start.has_value(), length == 64) << views;
      EXPECT_EQ(seen.logs[0].matched.has_value(), length == 64) << views;
      EXPECT_EQ(seen.logs[0].end, text.size());
      EXPECT_EQ(seen.text, text);
    }
  }
}

// GR-51
TEST(StreamGate, ARegionIsClosedWhenNothingOpenCanReachIt) {
  const auto gate = armed({regex("abc?", R"(,"on_fail":"redact")"),
                           regex("cde", R"(,"on_fail":"redact","replacement":"<cde>")")});
  EXPECT_EQ(gate->push("xab")->text(), "x");
  EXPECT_EQ(gate->push("c")->text(), "");
  const Passed closed = *gate->push("dx");
  EXPECT_EQ(closed.text(), "[redacted]dx");
  ASSERT_EQ(closed.pieces.size(), 2u);
  EXPECT_EQ(closed.pieces[0].start, 1u);
  EXPECT_EQ(closed.pieces[0].end, 4u);
  EXPECT_EQ(closed.pieces[0].checks, (std::vector<std::size_t>{0}));
  EXPECT_EQ(gate->push("abcd")->text(), "");
  const Passed merged = *gate->push("e");
  EXPECT_EQ(merged.text(), "[redacted]");
  EXPECT_EQ(merged.pieces[0].checks, (std::vector<std::size_t>{0, 1}));
}

// GR-52 GR-53 GR-21
TEST(StreamGate, FinishDecidesWhatIsOpenAndNothingFollows) {
  const auto gate = armed({regex("abc")});
  EXPECT_EQ(gate->push("")->text(), "");
  EXPECT_EQ(gate->push("x\xe2\x82")->text(), "x");
  EXPECT_EQ(gate->held(), 2u);
  EXPECT_EQ(gate->finish()->text(), "\uFFFD");
  EXPECT_EQ(gate->invalid_utf8(), 1u);
  EXPECT_EQ(gate->push("x").error().code, ErrorCode::Conflict);
  EXPECT_EQ(gate->finish().error().code, ErrorCode::Conflict);
  const auto empty = armed({regex("abc")});
  const Passed nothing = *empty->finish();
  EXPECT_EQ(nothing.text(), "");
  EXPECT_FALSE(nothing.block);
}

// GR-57
TEST(StreamGate, MoreHeldThanTheLimitBlocks) {
  const std::string text = "xy" + ("a" + std::string(63, 'b'));
  const auto guardrails =
      guard({regex("q"), regex("a[^z]*z", R"(,"on_fail":"redact","id":"long")")},
            R"("max_hold_bytes":64,)");
  EXPECT_FALSE(stream(*guardrails, text).block);
  const SeenOfStream seen = stream(*guardrails, text + "b and more");
  ASSERT_TRUE(seen.block.has_value());
  EXPECT_EQ(seen.block->reason_code, "guardrail.holdback_limit");
  EXPECT_EQ(span_of(*seen.block), "long a[^z]*z 2-67 at 67");
  EXPECT_EQ(seen.block->matched, std::nullopt);
  EXPECT_EQ(seen.block->view, std::nullopt);
  EXPECT_EQ(seen.block->action, Action::Block);
  EXPECT_EQ(seen.text, "xy[This answer was withheld by a guardrail.]");
  // An ordinary block at the same character goes first.
  EXPECT_EQ(stream(*guardrails, text + "q").block->reason_code, "guardrail.regex");
}

// GR-58 GR-81 (partly)
TEST(StreamGate, MemoryDoesNotGrowWithTheText) {
  const auto gate = armed({regex("ab[^z]{0,9}z"), regex("b.*c", R"(,"on_fail":"log")"),
                           regex("k+ey", R"(,"views":["strip","nfkc","percent","base64"])")},
                          R"("max_hold_bytes":256,)");
  std::size_t early = 0;
  for (int i = 0; i < 500; ++i) {
    ASSERT_FALSE(gate->push("ab some text %6b QUJDREVGR0hJSktMTU5P \xff ")->block);
    if (i == 100) early = gate->state_bytes();
  }
  EXPECT_LE(gate->state_bytes(), early);
}

// GR-75
TEST(StreamGate, MoreOpenThanCanBeFollowedBlocksAsAFailureOfTheEngine) {
  // For 4,200 characters every start has a different future.
  const auto guardrails =
      guard({regex("a.{1000}.{1000}.{1000}.{1000}.{200}z", R"(,"on_fail":"redact")")});
  const SeenOfStream seen = stream(*guardrails, std::string(4150, 'a'));
  ASSERT_TRUE(seen.block.has_value());
  EXPECT_EQ(seen.block->reason_code, "guardrail.engine_error");
  EXPECT_EQ(seen.block->action, Action::Block);
  EXPECT_EQ(seen.text, "[This answer was withheld by a guardrail.]");
}

}  // namespace sallyport::guardrails
