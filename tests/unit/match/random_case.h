// Random rules, texts and cuttings, and the observable results of a stream.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "match/stream.h"
#include "unit/match/naive_pattern.h"

namespace sallyport::match {

// The observable results of a stream, except their times.
struct Seen {
  std::string text;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> regions;
  std::vector<Hit> logs;
  std::optional<Hit> block;
  std::uint64_t released = 0;

  void add(const Output& output) {
    text += output.text();
    for (const Piece& piece : output.pieces) {
      if (!piece.rules.empty()) regions.emplace_back(piece.start, piece.end);
    }
    logs.insert(logs.end(), output.logs.begin(), output.logs.end());
    if (output.block) block = output.block;
  }
  bool operator==(const Seen&) const = default;
};

inline void PrintTo(const Hit& hit, std::ostream* out) {
  *out << "hit(why " << int(hit.why) << " rule " << hit.rule << " entry " << hit.entry << " ["
       << (hit.start ? std::to_string(*hit.start) : "none") << "," << hit.end << ") at " << hit.at
       << ")";
}

inline void PrintTo(const Seen& seen, std::ostream* out) {
  *out << testing::PrintToString(seen.text) << " regions " << testing::PrintToString(seen.regions)
       << " logs " << testing::PrintToString(seen.logs) << " block ";
  if (seen.block) PrintTo(*seen.block, out);
  *out << " released " << seen.released;
}

struct Case {
  std::vector<Rule> rules;
  std::vector<std::vector<Naive>> entries;
  std::vector<std::vector<Naive>> exceptions;
  std::shared_ptr<const PatternSet> set;

  std::string describe(const std::string& text) const {
    std::string all = "text " + testing::PrintToString(text);
    for (const Rule& rule : rules) {
      all += rule.effect == Effect::Block    ? "\nblock"
             : rule.effect == Effect::Redact ? "\nredact"
                                             : "\nlog";
      for (const Expression& entry : rule.entries) all += "  " + testing::PrintToString(entry.text);
      for (const Expression& entry : rule.exceptions)
        all += "  except " + testing::PrintToString(entry.text);
    }
    return all;
  }
};

struct CaseOptions {
  std::vector<Effect> effects;
  bool assertions = true;
  bool exceptions = false;
};

inline Case random_case(Random& random, const CaseOptions& options) {
  Case made;
  const std::size_t rules = 1 + below(random, 3);
  for (std::size_t i = 0; i < rules; ++i) {
    Rule rule{.effect = options.effects[below(random, options.effects.size())]};
    made.entries.emplace_back();
    made.exceptions.emplace_back();
    for (std::size_t k = 1 + below(random, 2); k > 0; --k) {
      made.entries[i].push_back(random_pattern(random, options.assertions));
      rule.entries.push_back({.text = made.entries[i].back().pattern(), .unicode = false});
    }
    if (options.exceptions && below(random, 2) == 0) {
      made.exceptions[i].push_back(random_pattern(random, options.assertions));
      rule.exceptions.push_back({.text = made.exceptions[i].back().pattern(), .unicode = false});
    }
    made.rules.push_back(rule);
  }
  // With hardly any room, automata are discarded and rebuilt all the time.
  auto set = PatternSet::compile(made.rules, below(random, 3) == 0 ? 600 : 1 << 20);
  if (set) made.set = *set;
  if (!set) ADD_FAILURE() << set.error().message;
  return made;
}

inline Seen run(const Case& tested, const std::string& text, const std::vector<std::size_t>& cuts,
                std::uint64_t most_held = 65536) {
  Stream stream(tested.set, {.most_held = most_held, .replacements = {"<0>", "<1>", "<2>"}});
  Seen seen;
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    seen.add(*stream.push(text.substr(from, cut - from)));
    from = cut;
  }
  seen.add(*stream.push(text.substr(from)));
  seen.add(*stream.finish());
  seen.released = stream.released();
  return seen;
}

inline std::vector<std::size_t> every_byte(const std::string& text) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < text.size(); ++i) cuts.push_back(i);
  return cuts;
}

inline std::vector<std::size_t> random_cuts(Random& random, const std::string& text) {
  std::vector<std::size_t> cuts;
  for (std::size_t at = 0; at < text.size();) {
    at += below(random, 4);
    if (at < text.size()) cuts.push_back(at);
  }
  return cuts;
}

inline std::vector<std::string> continuations(std::size_t most) {
  std::vector<std::string> all = {""};
  std::size_t from = 0;
  for (std::size_t length = 1; length <= most; ++length) {
    const std::size_t to = all.size();
    for (; from < to; ++from) {
      for (const char letter : kLetters) all.push_back(all[from] + letter);
    }
  }
  return all;
}

// Spans of one entry in one text.
inline std::vector<std::pair<std::size_t, std::size_t>> spans_of(const Naive& tree,
                                                                 const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> spans;
  for (std::size_t start = 0; start < text.size(); ++start) {
    for (const std::size_t end : ends_of(tree, text, start)) spans.emplace_back(start, end);
  }
  return spans;
}

// Returns spans of an entry that no exception of its rule covers.
inline std::vector<std::pair<std::size_t, std::size_t>> counting_spans(const Case& tested,
                                                                       std::size_t rule,
                                                                       const Naive& tree,
                                                                       const std::string& text) {
  auto spans = spans_of(tree, text);
  for (const Naive& exception : tested.exceptions[rule]) {
    for (const auto& [start, end] : spans_of(exception, text)) {
      std::erase_if(spans,
                    [&](const auto& span) { return start <= span.first && end >= span.second; });
    }
  }
  return spans;
}

}  // namespace sallyport::match
