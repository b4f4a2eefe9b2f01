#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "unit/guardrails/random_document.h"
#include "unit/guardrails/running.h"
#include "unit/guardrails/spellings.h"

namespace sallyport::guardrails {

namespace {

struct Case {
  std::string word;  // as it is written in a JSON document
  std::string views;
  std::vector<std::string> letters;
  std::string before;  // pushed first
  std::string tail;    // of which a continuation may need much more
  // Returns the start of the unit that the end of this text cuts, if there is one.
  std::function<std::size_t(const std::string&)> unfinished;
};

std::string check(const Case& tested, const std::string& action) {
  return R"("type":"blocklist","stage":"output","words":[")" + tested.word + R"("],"views":[)" +
         tested.views + R"(],"decode_depth":1,"on_fail":")" + action + "\"";
}

std::vector<std::string> continuations(const Case& tested, std::size_t most) {
  std::vector<std::string> all = {""};
  std::size_t from = 0;
  for (std::size_t length = 1; length <= most; ++length) {
    for (const std::size_t to = all.size(); from < to; ++from) {
      for (const std::string& letter : tested.letters) all.push_back(all[from] + letter);
    }
  }
  if (tested.tail.empty()) return all;
  for (std::size_t i = all.size(); i > 0; --i) all.push_back(all[i - 1] + tested.tail);
  return all;
}

// Returns the first byte that some continuation makes part of a match in any view: a check that
// redacts every match would redact from there.
std::size_t earliest_match(const Guardrails& redacting, const std::string& pushed,
                           const std::vector<std::string>& more) {
  std::size_t earliest = pushed.size();
  for (const std::string& after : more) {
    const SeenOfStream seen = stream(redacting, pushed + after);
    if (!seen.regions.empty()) earliest = std::min(earliest, std::size_t(seen.regions[0].first));
  }
  return earliest;
}

void expect_exact(const Case& tested, int texts, std::size_t most = 3) {
  const auto blocking = guard({check(tested, "block")});
  const auto redacting = guard({check(tested, "redact")});
  const auto more = continuations(tested, most);
  Random random(7);
  std::size_t held_for_a_match = 0;
  for (int round = 0; round < texts; ++round) {
    const auto gate = blocking->arm(Stage::Output, std::nullopt);
    std::string pushed = tested.before;
    if (!pushed.empty()) ASSERT_FALSE(gate->push(pushed)->block);
    for (int i = 0; i < 7; ++i) {
      const std::string letter = pick(random, tested.letters);
      pushed += letter;
      if (gate->push(letter)->block) break;
      const std::size_t match = earliest_match(*redacting, pushed, more);
      const std::size_t unfinished = tested.unfinished(pushed);
      const std::size_t least = pushed.size() - std::min(match, unfinished);
      SCOPED_TRACE(tested.views + " after " + testing::PrintToString(pushed));
      ASSERT_GE(gate->held(), least);
      // Text that only the rest of a unit can rule out is held until the unit is complete.
      if (unfinished < pushed.size()) continue;
      ASSERT_EQ(gate->held(), least);
      if (match < pushed.size()) ++held_for_a_match;
    }
  }
  EXPECT_GT(held_for_a_match, 0u);
}

std::size_t nothing_unfinished(const std::string& text) {
  return text.size();
}

}  // namespace

// GR-46 GR-42
TEST(ViewsHoldback, StrippedTextIsHeldExactly) {
  expect_exact({"ab\u00adc", R"("strip")", {"a", "b", "c", "\u200b"}, "", "", nothing_unfinished},
               20);
}

// GR-46 GR-42
TEST(ViewsHoldback, ConfusableTextIsHeldExactly) {
  expect_exact({"abc", R"("confusables")", {"a", "b", "с", "а"}, "", "", nothing_unfinished}, 20);
}

// GR-46 GR-42
TEST(ViewsHoldback, PercentEncodedTextIsHeldExactly) {
  const auto unfinished = [](const std::string& text) {
    const std::size_t percent = text.rfind('%');
    return percent != text.npos && text.size() - percent < 3 &&
                   text.find_first_not_of("612ab", percent + 1) == text.npos
               ? percent
               : text.size();
  };
  expect_exact({"ab", R"("percent")", {"a", "b", "%", "6", "1", "2"}, "", "b", unfinished}, 6);
}

// GR-46 GR-42
TEST(ViewsHoldback, JsonEscapedTextIsHeldExactly) {
  const auto unfinished = [](const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
      if (text[at] != '\\') {
        ++at;
      } else if (at + 1 == text.size()) {
        return at;
      } else {
        at += text[at + 1] == 'n' || text[at + 1] == '\\' ? 2 : 1;
      }
    }
    return text.size();
  };
  expect_exact({"\\na\\n", R"("json")", {"a", "\\", "n", "\n"}, "", "", unfinished}, 20);
}

// GR-46 GR-42
TEST(ViewsHoldback, ANormalisationSegmentIsHeldUntilItIsComplete) {
  const auto unfinished = [](const std::string& text) {
    const std::size_t base = text.find_last_of("ae1");
    if (base == text.npos) return std::size_t{0};
    return text[base] == '1' ? base + 1 : base;  // nothing composes with a digit
  };
  expect_exact({"é1a", R"("nfkc")", {"e", "a", "1", "\u0301"}, "", "a1", unfinished}, 20);
}

// GR-46 GR-42 GR-39
TEST(ViewsHoldback, ARunIsHeldExactlyWhetherItCountsYetOrNot) {
  const auto unfinished = [](const std::string& text) {
    const std::size_t outside = text.find_last_not_of("0123456789abcdef");
    const std::size_t run = text.size() - (outside == text.npos ? 0 : outside + 1);
    return text.size() - run % 2;
  };
  const std::string zeros(16, '0');
  for (const std::string& before : {std::string("x"), std::string(12, '3'), std::string(14, '3')}) {
    expect_exact({"qa", R"("hex")", {"7", "1", "6", " "}, before, zeros, unfinished}, 6);
  }
}

// GR-46 GR-50
TEST(ViewsHoldback, ALogCheckHoldsNoUnfinishedUnit) {
  const auto gate = guard({R"("type":"blocklist","stage":"output","words":["ab"],"on_fail":"log",
      "views":["strip","nfkc","percent","json","base64","hex"])"})
                        ->arm(Stage::Output, std::nullopt);
  for (const std::string text : {"a", "%", "6", "\\", "e", "1", "\u200d", "a"}) {
    EXPECT_EQ(gate->push(text)->text(), text);
  }
}

// GR-40 GR-46
TEST(ViewsHoldback, ARunThatIsTooLongBlocksWhereACheckEnforces) {
  const std::string start = "x " + hex_of(std::string(1 << 20, 'x'));
  for (const std::string action : {"block", "redact", "log"}) {
    const auto guardrails =
        guard({R"("type":"blocklist","stage":"output","words":["secret"],"views":["hex"],)"
               R"("decode_depth":1,"on_fail":")" +
               action + "\""});
    const auto gate = guardrails->arm(Stage::Output, std::nullopt);
    ASSERT_FALSE(gate->push(start)->block);
    ASSERT_FALSE(gate->push("7")->block);
    EXPECT_FALSE(gate->coverage()[0].decode_truncated);
    const Passed over = *gate->push("8 and");
    EXPECT_TRUE(gate->coverage()[0].decode_truncated);
    EXPECT_EQ(over.block.has_value(), action != "log");
    if (!over.block) continue;
    EXPECT_EQ(over.block->reason_code, "guardrail.decode_limit");
    EXPECT_EQ(over.block->at, start.size() + 2);
    EXPECT_EQ(over.block->view, "hex");
    EXPECT_EQ(over.block->matched, std::nullopt);
  }
}

}  // namespace sallyport::guardrails
