#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "match/stream.h"
#include "support/effort.h"
#include "unit/match/naive_pattern.h"
#include "unit/match/random_case.h"

namespace sallyport::match {

namespace {

using Certain =
    std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;  // rule entry end start

// Returns matches that exist for every continuation, by trying them all; once the text has ended,
// matches of the text alone.
std::vector<Certain> certain_matches(const Case& tested, Effect effect, const std::string& text,
                                     const std::vector<std::string>& more) {
  std::vector<Certain> certain;
  for (std::size_t rule = 0; rule < tested.rules.size(); ++rule) {
    if (tested.rules[rule].effect != effect) continue;
    for (std::size_t entry = 0; entry < tested.entries[rule].size(); ++entry) {
      std::map<std::pair<std::size_t, std::size_t>, std::size_t> times;
      for (const std::string& after : more) {
        for (const auto& span :
             counting_spans(tested, rule, tested.entries[rule][entry], text + after)) {
          if (span.second <= text.size()) ++times[span];
        }
      }
      for (const auto& [span, count] : times) {
        if (count == more.size()) certain.emplace_back(rule, entry, span.second, span.first);
      }
    }
  }
  std::sort(certain.begin(), certain.end());
  return certain;
}

std::size_t earliest_possible(const Case& tested, const std::string& text,
                              const std::vector<std::string>& more) {
  std::size_t earliest = text.size();
  for (std::size_t rule = 0; rule < tested.rules.size(); ++rule) {
    if (tested.rules[rule].effect != Effect::Block) continue;
    for (const Naive& entry : tested.entries[rule]) {
      for (const std::string& after : more) {
        for (const auto& [start, end] : counting_spans(tested, rule, entry, text + after)) {
          earliest = std::min(earliest, start);
        }
      }
    }
  }
  return earliest;
}

Hit hit_of(const Certain& match, const std::string& text) {
  const auto& [rule, entry, end, start] = match;
  Hit hit;
  hit.rule = static_cast<std::uint32_t>(rule);
  hit.entry = static_cast<std::uint32_t>(entry);
  hit.start = start;
  hit.end = end;
  hit.at = text.size();
  hit.matched = text.substr(start, end - start);
  return hit;
}

// The specification of block and log rules, taken from its words.
void check_against_definition(const Case& tested, const std::string& text) {
  static const std::vector<std::string> near = continuations(2);  // as far as `$` reads
  static const std::vector<std::string> far = continuations(3);
  SCOPED_TRACE(tested.describe(text));
  Stream stream(tested.set);
  std::vector<bool> logged(tested.rules.size());
  for (std::size_t length = 1; length <= text.size() + 1; ++length) {
    const bool ends = length > text.size();
    const std::string pushed = text.substr(0, length);
    const Output output = *(ends ? stream.finish() : stream.push(text.substr(length - 1, 1)));
    const std::vector<std::string> nothing = {""};
    const auto& more = ends ? nothing : near;
    std::vector<Hit> logs;
    for (const Certain& match : certain_matches(tested, Effect::Log, pushed, more)) {
      const std::size_t rule = std::get<0>(match);
      if (!logged[rule]) logs.push_back(hit_of(match, pushed));
      logged[rule] = true;
    }
    ASSERT_EQ(output.logs, logs) << "after " << length;
    const auto blocks = certain_matches(tested, Effect::Block, pushed, more);
    const std::size_t earliest = earliest_possible(tested, pushed, ends ? nothing : far);
    ASSERT_EQ(stream.released(), earliest) << "after " << length;
    if (!blocks.empty()) {
      ASSERT_EQ(output.block, hit_of(blocks.front(), pushed)) << "after " << length;
      return;
    }
    ASSERT_FALSE(output.block.has_value()) << "after " << length;
  }
}

// Returns the redacted form of a whole text; PCRE2 selects the preferred spans.
Seen redacted(const Case& tested, const std::string& text) {
  std::vector<std::size_t> owner(text.size() + 1, std::numeric_limits<std::size_t>::max());
  std::vector<bool> joined(text.size() +
                           1);  // the byte belongs to the same region as the one before
  Seen seen;
  for (std::size_t rule = 0; rule < tested.rules.size(); ++rule) {
    for (const Naive& entry : tested.entries[rule]) {
      const Pcre2 judge(entry.pattern());
      for (std::size_t start = 0; start < text.size(); ++start) {
        const auto end = judge.end_from(text, start);
        for (std::size_t i = start; end && i < *end; ++i) {
          owner[i] = std::min(owner[i], rule);
          if (i > start) joined[i] = true;
        }
      }
    }
  }
  for (std::size_t i = 0; i < text.size();) {
    if (owner[i] > tested.rules.size()) {
      seen.text += text[i++];
      continue;
    }
    const std::size_t start = i;
    std::size_t first = owner[i++];
    for (; i < text.size() && joined[i]; ++i) first = std::min(first, owner[i]);
    seen.text += "<" + std::to_string(first) + ">";
    seen.regions.emplace_back(start, i);
  }
  seen.released = text.size();
  return seen;
}

}  // namespace

// GR-45 GR-46 GR-47 GR-48 GR-49 GR-50 (partly)
TEST(StreamProperty, BlockAndLogRulesFollowTheDefinitionAtEveryCharacter) {
  Random random(1);
  for (int round = 0; round < test::rounds(1000); ++round) {
    const Case tested = random_case(random, {.effects = {Effect::Block, Effect::Log}});
    check_against_definition(tested, random_text(random, 7));
    if (HasFatalFailure()) return;
  }
}

// GR-35 GR-51
TEST(StreamProperty, RedactedOutputEqualsTheWholeTextRedactedWithPcre2) {
  Random random(2);
  for (int round = 0; round < test::rounds(4000); ++round) {
    const Case tested = random_case(random, {.effects = {Effect::Redact}});
    const std::string text = random_text(random, 16);
    ASSERT_EQ(run(tested, text, every_byte(text)), redacted(tested, text)) << tested.describe(text);
  }
}

// GR-44 GR-57
TEST(StreamProperty, EveryCuttingGivesTheSame) {
  Random random(3);
  for (int round = 0; round < test::rounds(4000); ++round) {
    const Case tested = random_case(
        random, {.effects = {Effect::Block, Effect::Redact, Effect::Log}, .exceptions = true});
    const std::string text = random_text(random, 24);
    const std::uint64_t most_held = round % 3 == 0 ? 1 + below(random, 6) : 65536;
    const Seen reference = run(tested, text, every_byte(text), most_held);
    for (int cutting = 0; cutting < 3; ++cutting) {
      ASSERT_EQ(run(tested, text, random_cuts(random, text), most_held), reference)
          << tested.describe(text);
    }
    ASSERT_EQ(run(tested, text, {}, most_held), reference) << tested.describe(text);
  }
}

// GR-12 GR-13 GR-30
TEST(StreamProperty, WholeTextsAreSearchedAsDefined) {
  Random random(4);
  for (int round = 0; round < test::rounds(4000); ++round) {
    const Case tested = random_case(
        random, {.effects = {Effect::Block, Effect::Redact, Effect::Log}, .exceptions = true});
    const std::string text = random_text(random, 14);
    std::vector<Match> expected;
    for (std::uint32_t rule = 0; rule < tested.rules.size(); ++rule) {
      for (std::uint32_t entry = 0; entry < tested.entries[rule].size(); ++entry) {
        const Naive& tree = tested.entries[rule][entry];
        const auto spans = counting_spans(tested, rule, tree, text);
        if (spans.empty()) continue;
        const std::size_t start = spans.front().first;
        const auto end = Pcre2(tree.pattern()).end_from(text, start);
        ASSERT_TRUE(end) << tested.describe(text);
        expected.push_back({rule, entry, start, *end});
        break;
      }
    }
    ASSERT_EQ(tested.set->find(text), expected) << tested.describe(text);
  }
}

// GR-30 GR-68 (partly)
TEST(StreamProperty, WithExceptionsAStreamHitsWhatTheWholeTextHasAndLeaksNothingOfIt) {
  Random random(5);
  for (int round = 0; round < test::rounds(3000); ++round) {
    const Case tested =
        random_case(random, {.effects = {Effect::Block, Effect::Log}, .exceptions = true});
    const std::string text = random_text(random, 14);
    const Seen seen = run(tested, text, random_cuts(random, text));
    bool blocks = false;
    std::size_t earliest = text.size();
    std::vector<bool> logs(tested.rules.size());
    for (std::size_t rule = 0; rule < tested.rules.size(); ++rule) {
      for (const Naive& entry : tested.entries[rule]) {
        for (const auto& [start, end] : counting_spans(tested, rule, entry, text)) {
          const bool block = tested.rules[rule].effect == Effect::Block;
          blocks = blocks || block;
          logs[rule] = !block;
          if (block) earliest = std::min(earliest, start);
        }
      }
    }
    ASSERT_EQ(seen.block.has_value(), blocks) << tested.describe(text);
    ASSERT_LE(seen.released, earliest) << tested.describe(text);
    if (blocks) continue;
    ASSERT_EQ(seen.text, text);
    std::vector<bool> logged(tested.rules.size());
    for (const Hit& hit : seen.logs) logged[hit.rule] = true;
    ASSERT_EQ(logged, logs) << tested.describe(text);
  }
}

namespace {

// Returns the offset up to which text may be sent, by trying every continuation of each start in
// this text.
std::size_t may_leave(const Case& tested, const std::string& pushed) {
  static const std::vector<std::string> far = continuations(3);
  std::size_t leaves = pushed.size();
  std::vector<std::pair<std::size_t, std::size_t>> certain;
  const auto look = [&](const Naive& entry) {
    const Pcre2 judge(entry.pattern());
    for (std::size_t start = 0; start < pushed.size(); ++start) {
      std::set<std::optional<std::size_t>> ends;
      for (const std::string& after : far) ends.insert(judge.end_from(pushed + after, start));
      if (ends.size() > 1) leaves = std::min(leaves, start);
      if (ends.size() == 1 && *ends.begin()) certain.emplace_back(start, **ends.begin());
    }
  };
  for (const std::vector<Naive>& entries : tested.entries) {
    for (const Naive& entry : entries) look(entry);
  }
  // A region that reaches over the first open start is not closed.
  for (std::size_t i = 0; i <= certain.size(); ++i) {
    for (const auto& [start, end] : certain) {
      if (end > leaves) leaves = std::min(leaves, start);
    }
  }
  return leaves;
}

}  // namespace

// Without assertions, whose answer may come one character before the automaton asks for it.
// GR-45 GR-46 GR-51
TEST(StreamProperty, RedactRulesHoldExactlyWhatAContinuationCouldChange) {
  Random random(6);
  for (int round = 0; round < test::rounds(400); ++round) {
    const Case tested = random_case(random, {.effects = {Effect::Redact}, .assertions = false});
    const std::string text = random_text(random, 6);
    Stream stream(tested.set);
    for (std::size_t length = 1; length <= text.size(); ++length) {
      ASSERT_TRUE(stream.push(text.substr(length - 1, 1)));
      ASSERT_EQ(stream.released(), may_leave(tested, text.substr(0, length)))
          << "after " << length << " " << tested.describe(text);
    }
  }
}

}  // namespace sallyport::match
