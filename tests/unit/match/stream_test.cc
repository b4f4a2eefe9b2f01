#include "match/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sallyport::match {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::shared_ptr<const PatternSet> compiled(std::vector<Rule> rules) {
  auto set = PatternSet::compile(rules);
  if (!set) ADD_FAILURE() << set.error().message;
  return set ? *set : nullptr;
}

Rule rule(Effect effect, std::vector<std::string> patterns) {
  Rule made{.effect = effect};
  for (std::string& pattern : patterns) made.entries.push_back({.text = std::move(pattern)});
  return made;
}

// The output for each delta and at the end.
std::vector<std::string> outs(Stream& stream, const std::vector<std::string>& deltas) {
  std::vector<std::string> texts;
  for (const std::string& delta : deltas) texts.push_back(stream.push(delta)->text());
  texts.push_back(stream.finish()->text());
  return texts;
}

}  // namespace

// GR-46 GR-48 GR-49 GR-65 (partly)
TEST(Stream, BlocksWithoutLettingAByteOfTheMatchOut) {
  Stream stream(compiled({rule(Effect::Block, {"AKIA[0-9A-Z]{16}"})}));
  const std::string text = "key is AKIAIOSFODNN7EXAMPLE ok";
  std::string out;
  std::optional<Hit> block;
  for (std::size_t at = 0; at < text.size(); at += 8) {
    const Output output = *stream.push(text.substr(at, 8));
    out += output.text();
    if (output.block) block = output.block;
  }
  EXPECT_EQ(out, "key is ");
  ASSERT_TRUE(block);
  EXPECT_EQ(block->start, 7u);
  EXPECT_EQ(block->end, 27u);
  EXPECT_EQ(block->at, 27u);
  EXPECT_EQ(block->matched, "AKIAIOSFODNN7EXAMPLE");
  EXPECT_EQ(stream.released(), 7u);
  EXPECT_EQ(stream.bytes_in(), 30u);
  EXPECT_EQ(stream.push("more")->text(), "");
  const Output end = *stream.finish();
  EXPECT_EQ(end.text(), "");
  EXPECT_FALSE(end.block);
}

// GR-46 GR-49
TEST(Stream, WhatIsToBeReplacedDoesNotLeaveWhenItReachesIntoABlock) {
  const auto out_before_block = [](std::vector<Rule> rules, const std::string& text) {
    const auto set = compiled(std::move(rules));
    Stream whole(set);
    const Output at_once = *whole.push(text);
    EXPECT_TRUE(at_once.block);
    Stream slow(set);
    std::string out;
    for (const char c : text) out += slow.push(std::string(1, c))->text();
    EXPECT_EQ(at_once.text(), out);
    EXPECT_EQ(whole.released(), slow.released());
    return out;
  };
  // The span to replace ends before the block or with it, and is one of several that overlap.
  EXPECT_EQ(
      out_before_block({rule(Effect::Redact, {"abc"}), rule(Effect::Block, {"cd"})}, "zabcdx"),
      "z");
  EXPECT_EQ(
      out_before_block({rule(Effect::Redact, {"abcd"}), rule(Effect::Block, {"cd"})}, "zabcdx"),
      "z");
  EXPECT_EQ(out_before_block({rule(Effect::Block, {"ef"}), rule(Effect::Redact, {"abc", "cde"})},
                             "zabcdefx"),
            "z");
  // A span that ends where the block begins, or that was never a match, behaves as before.
  EXPECT_EQ(
      out_before_block({rule(Effect::Redact, {"abc"}), rule(Effect::Block, {"de"})}, "zabcde"),
      "z[redacted]");
  EXPECT_EQ(
      out_before_block({rule(Effect::Redact, {"abcX"}), rule(Effect::Block, {"cd"})}, "zabcd"),
      "zab");
}

// GR-47
TEST(Stream, EndsAndWordEdgesWaitForTheNextCharacter) {
  Stream dollar(compiled({rule(Effect::Redact, {"foo$"})}));
  EXPECT_THAT(outs(dollar, {"a foo", "\n", "foo", "l\n", "foo", "\n"}),
              ElementsAre("a ", "", "foo\n", "fool\n", "", "", "[redacted]\n"));
  Stream edge(compiled({rule(Effect::Redact, {"\\bcat\\b"})}));
  EXPECT_THAT(outs(edge, {"cat", "s cat", ".", " cat"}),
              ElementsAre("", "cats ", "[redacted].", " ", "[redacted]"));
  Stream whole(compiled(
      {{.effect = Effect::Block,
        .entries = {{.kind = Expression::Kind::Word, .text = "ass", .whole_word = true}}}}));
  EXPECT_THAT(outs(whole, {"class ass", "ume"}), ElementsAre("class ", "assume", ""));
}

// Each path to the match waits for the next character, but one of them matches for any character.
// GR-45 GR-48
TEST(Stream, AMatchThatNothingCanUndoBlocksAtOnce) {
  Stream stream(compiled({rule(Effect::Block, {"foo(?:\\b|\\B)", "bar(?:$|\\b)"})}));
  EXPECT_FALSE(stream.push("x bar")->block);
  EXPECT_FALSE(stream.push("n fo")->block);
  const Output output = *stream.push("o");
  ASSERT_TRUE(output.block);
  EXPECT_EQ(output.block->start, 7u);
  EXPECT_EQ(output.block->at, 10u);
}

// GR-21 GR-44 GR-52
TEST(Stream, CharactersMayBeCutAnywhereAndIllFormedPartsBecomeOneReplacementEach) {
  const auto set = compiled({rule(Effect::Redact, {"\xE2\x82\xAC+", "x\\x{fffd}y"})});
  Stream cut(set);
  EXPECT_THAT(outs(cut, {"1 \xE2", "\x82", "\xAC\xE2\x82", "\xAC.", "\xF0\x9F"}),
              ElementsAre("1 ", "", "", "[redacted].", "", "\xEF\xBF\xBD"));
  EXPECT_EQ(cut.invalid_utf8(), 1u);
  // Unicode's example of maximal ill-formed parts: 61 F1 80 80 E1 80 C2 62 80 63 80 BF 64.
  Stream parts(set);
  const std::string text =
      "a\xF1\x80\x80\xE1\x80\xC2"
      "b\x80"
      "c\x80\xBF"
      "d";
  std::string out;
  for (const char byte : text) out += parts.push(std::string(1, byte))->text();
  out += parts.finish()->text();
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(out, "a" + mark + mark + mark + "b" + mark + "c" + mark + mark + "d");
  EXPECT_EQ(parts.invalid_utf8(), 6u);
  EXPECT_EQ(parts.released(), text.size());
  // Offsets count the received bytes.
  Stream matched(set);
  const Output output = *matched.push("x\xFFy!");
  ASSERT_EQ(output.pieces.size(), 2u);
  EXPECT_EQ(output.pieces[0].end, 3u);
}

// GR-85 (partly)
TEST(Stream, ControlCharactersAreOrdinary) {
  Stream stream(compiled({rule(Effect::Redact, {"\\x{0}b"})}));
  EXPECT_THAT(outs(stream, {std::string("a\0", 2), "b", "\x1B"}),
              ElementsAre("a", "[redacted]", "\x1B", ""));
}

// GR-35 GR-51
TEST(Stream, OverlappingSpansAreOneRegionAndTouchingOnesAreTwo) {
  Stream stream(compiled({rule(Effect::Redact, {"cde"}), rule(Effect::Redact, {"abc", "xy"})}),
                {.replacements = {"<first>", "<second>"}});
  const Output output = *stream.push("abcde xyxy abc.");
  EXPECT_EQ(output.text(), "<first> <second><second> <second>.");
  EXPECT_THAT(output.pieces[0].rules, ElementsAre(0, 1));
  EXPECT_EQ(output.pieces[0].end, 5u);
  std::uint64_t covered = 0;
  for (const Piece& piece : output.pieces) {
    EXPECT_EQ(piece.start, covered);
    covered = piece.end;
  }
  EXPECT_EQ(covered, 15u);
}

// GR-50
TEST(Stream, LogRulesHoldNothingAndReportOnce) {
  Stream stream(compiled({rule(Effect::Log, {"z", "secret"})}), {.most_held = 64});
  EXPECT_EQ(stream.push("a secr")->text(), "a secr");
  EXPECT_EQ(stream.held(), 0u);
  const Output output = *stream.push("et secret z");
  EXPECT_EQ(output.text(), "et secret z");
  ASSERT_EQ(output.logs.size(), 1u);
  EXPECT_EQ(output.logs[0].entry, 1u);
  EXPECT_EQ(output.logs[0].start, 2u);
  EXPECT_EQ(output.logs[0].at, 8u);
  EXPECT_EQ(output.logs[0].matched, "secret");
  EXPECT_THAT(stream.push("secret")->logs, IsEmpty());
  Stream longer(compiled({rule(Effect::Log, {"<[^>]*>"})}), {.most_held = 64});
  const Output hit = *longer.push("<" + std::string(100, 'x') + ">");
  ASSERT_EQ(hit.logs.size(), 1u);
  EXPECT_EQ(hit.logs[0].start, std::nullopt);
  EXPECT_EQ(hit.logs[0].matched, "");
}

// GR-19 (partly)
TEST(Stream, AnExcerptIsCutAtACharacter) {
  Stream stream(compiled({rule(Effect::Block, {"x\xE2\x82\xAC+x"})}));
  std::string text = "x";
  for (int i = 0; i < 100; ++i) text += "\xE2\x82\xAC";
  const Output output = *stream.push(text + "x");
  ASSERT_TRUE(output.block);
  EXPECT_EQ(output.block->matched, text.substr(0, 199));
  EXPECT_EQ(output.block->end, 302u);
}

// GR-30 GR-45
TEST(Stream, AnExceptionIsWaitedForAndCoversWhatLiesInside) {
  Rule except = rule(Effect::Block, {"foo"});
  except.exceptions = {{.text = "foobar"}, {.text = "a foo"}};
  const auto set = compiled({except});
  Stream stream(set);
  EXPECT_EQ(stream.push("x foo")->text(), "x ");
  EXPECT_EQ(stream.push("ba")->text(), "");
  EXPECT_EQ(stream.push("r a foo")->text(), "foobar a foo");
  EXPECT_EQ(stream.push(".")->text(), ".");
  EXPECT_EQ(stream.push("foob")->text(), "");
  const Output output = *stream.push("x");
  ASSERT_TRUE(output.block);
  EXPECT_EQ(output.block->start, 15u);
  EXPECT_EQ(output.block->at, 20u);
  Stream ended(set);
  EXPECT_FALSE(ended.push("foo")->block);
  EXPECT_TRUE(ended.finish()->block);
}

// GR-57 GR-58 (partly)
TEST(Stream, MoreHeldThanAllowedBlocksAtOneAndTheSameCharacter) {
  const auto set = compiled({rule(Effect::Redact, {"zz"}), rule(Effect::Block, {"ab", "<.*>"})});
  for (const std::size_t delta : {1u, 7u, 200u}) {
    Stream stream(set, {.most_held = 64});
    std::string out;
    std::optional<Hit> block;
    const std::string text = "ok <" + std::string(100, 'x') + ">";
    for (std::size_t at = 0; at < text.size(); at += delta) {
      const Output output = *stream.push(text.substr(at, delta));
      out += output.text();
      if (output.block) block = output.block;
    }
    EXPECT_EQ(out, "ok ");
    ASSERT_TRUE(block);
    EXPECT_EQ(block->why, Hit::Why::HoldLimit);
    EXPECT_EQ(block->rule, 1u);
    EXPECT_EQ(block->entry, 1u);
    EXPECT_EQ(block->start, 3u);
    EXPECT_EQ(block->end, 68u);
    EXPECT_EQ(block->at, 68u);
    EXPECT_EQ(block->matched, "");
  }
  Stream fits(set, {.most_held = 64});
  EXPECT_FALSE(fits.push("<" + std::string(63, 'x'))->block);
  EXPECT_EQ(fits.finish()->text().size(), 64u);
}

// GR-52 GR-53
TEST(Stream, EmptyDeltasChangeNothingAndAFinishedStreamTakesNoMore) {
  Stream stream(compiled({rule(Effect::Block, {"ab"})}));
  EXPECT_THAT(stream.push("")->pieces, IsEmpty());
  EXPECT_EQ(stream.push("xa")->text(), "x");
  EXPECT_THAT(stream.push("")->pieces, IsEmpty());
  EXPECT_EQ(stream.finish()->text(), "a");
  ASSERT_FALSE(stream.push("b"));
  EXPECT_EQ(stream.push("b").error().code, ErrorCode::Conflict);
  EXPECT_EQ(stream.finish().error().code, ErrorCode::Conflict);
  Stream untouched(compiled({}));
  EXPECT_EQ(untouched.push("all of it")->text(), "all of it");
}

}  // namespace sallyport::match
