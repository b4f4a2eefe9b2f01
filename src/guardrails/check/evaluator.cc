#include "guardrails/check/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/string.hpp>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/cut_text.h"
#include "base/wildcard.h"
#include "guardrails/check/request_texts.h"
#include "guardrails/check/text_redaction.h"
#include "guardrails/check/text_search.h"
#include "match/utf8.h"
#include "sallyport/json.h"

namespace sallyport::guardrails {

namespace {

constexpr std::size_t kExcerptBytes = 200;
// A replacement may create a new match, and so may its replacement. This limits the rounds.
constexpr int kMostRounds = 8;
// A longer value is not redacted again if it has also grown to more than twice its size.
constexpr std::size_t kMostAgain = 64 * 1024;
// The strings of a value that redaction would make longer than this are not redacted.
constexpr std::size_t kMostRedacted = std::size_t{64} << 20;

// The result of one pass over all texts.
struct Round {
  std::vector<Hit> hits{};
  std::vector<Coverage> coverage{};
  std::uint64_t invalid_utf8 = 0;
  // The redacted text; set only if the verdict of the hits is to redact.
  std::optional<std::string> text{};
  std::optional<std::string> error_text{};
  std::map<std::size_t, std::string> leaves{};
};

Verdict verdict_of(const std::vector<Hit>& hits) {
  Verdict verdict = Verdict::Allow;
  for (const Hit& hit : hits) {
    if (hit.action == Action::Block) return Verdict::Block;
    if (hit.action == Action::Redact) verdict = Verdict::Redact;
  }
  return verdict;
}

void block_redactions(std::vector<Hit>& hits) {
  for (Hit& hit : hits) {
    if (hit.action == Action::Redact) hit.action = Action::Block;
  }
}

std::uint64_t ill_formed_parts(std::string_view text) {
  if (is_utf8(text)) return 0;
  std::uint64_t count = 0;
  while (!text.empty()) {
    const match::Decoded next = match::decode_first(text);
    if (next.kind != match::Decoded::Kind::Character) ++count;
    text.remove_prefix(next.size);
  }
  return count;
}

class Looking {
 public:
  // `redacts`: the round also makes the redacted texts.
  Looking(const Compiled& compiled, const Request& request, bool redacts = true)
      : compiled_(compiled), document_(compiled.document), request_(request), redacts_(redacts) {}

  Round run() {
    round_.coverage = coverage_of(document_, request_.stage, request_.tool, request_.skip);
    look_at_name();
    if (compiled_.stage(request_.stage)) look_at_texts(*compiled_.stage(request_.stage));
    std::ranges::sort(round_.hits, {}, &Hit::check_index);
    if (request_.value == nullptr) round_.invalid_utf8 += ill_formed_parts(request_.text);
    if (request_.error_text) round_.invalid_utf8 += ill_formed_parts(*request_.error_text);
    return std::move(round_);
  }

 private:
  void look_at_name();
  void look_at_texts(const CheckSet& set);
  Hit hit_at(const CheckSet& set, std::uint32_t rule, const Sighting& seen,
             const RequestText& text);
  // The spans to redact in the strings of a value, by leaf, with the text of the leaf.
  using Leaves = std::map<std::size_t, std::pair<std::string_view, match::Regions>>;

  void redact(const CheckSet& set, const RequestTexts& texts,
              const std::map<std::size_t, std::set<Reading>>& readings);
  void redact_leaves(const CheckSet& set, const Leaves& leaves);

  const Compiled& compiled_;
  const Document& document_;
  const Request& request_;
  bool redacts_;
  Round round_;
};

void Looking::look_at_name() {
  if (!request_.tool) return;
  for (std::size_t i = 0; i < document_.checks.size(); ++i) {
    const Check& check = document_.checks[i];
    if (check.type != CheckType::ToolPattern || round_.coverage[i].skipped) continue;
    const auto fits_name = [&](const std::string& wildcard) {
      return fits_wildcard(wildcard, *request_.tool);
    };
    const auto entry = std::ranges::find_if(check.entries, fits_name);
    if (entry == check.entries.end() || std::ranges::any_of(check.except, fits_name)) continue;
    Hit hit = hit_of(document_, i);
    hit.entry = *entry;
    hit.matched = cut_utf8_bytes(*request_.tool, kExcerptBytes);
    round_.hits.push_back(std::move(hit));
  }
}

void Looking::look_at_texts(const CheckSet& set) {
  const RequestTexts texts(compiled_, set, request_, round_.coverage);
  TextSearch search(set);
  std::map<std::size_t, std::set<Reading>> redactable;
  for (std::size_t i = 0; i < texts.all().size(); ++i) {
    const RequestText& text = texts.all()[i];
    auto readings = search.look_at(text.text, i, *text.wanted);
    if (!readings.empty()) redactable.emplace(i, std::move(readings));
  }
  for (std::uint32_t rule = 0; rule < set.checks.size(); ++rule) {
    Coverage& coverage = round_.coverage[set.checks[rule]];
    coverage.decode_truncated = !coverage.skipped && search.truncated(rule);
    if (const auto& seen = search.best()[rule]) {
      round_.hits.push_back(hit_at(set, rule, *seen, texts.all()[seen->text]));
    }
  }
  if (redacts_ && verdict_of(round_.hits) == Verdict::Redact) redact(set, texts, redactable);
}

Hit Looking::hit_at(const CheckSet& set, std::uint32_t rule, const Sighting& seen,
                    const RequestText& text) {
  Hit hit = hit_of(document_, set.checks[rule]);
  Located located = locate(set, text.text, rule, seen);
  hit.entry = document_.checks[set.checks[rule]].entries[seen.entry];
  hit.matched = std::move(located.matched);
  hit.start = located.start;
  hit.end = located.end;
  hit.view = set.view_name(rule, seen.view);
  hit.path = text.path();
  const bool fixed = text.kind == RequestText::Kind::Fixed;
  if (fixed && hit.action == Action::Redact) hit.action = Action::Block;
  return hit;
}

// A string of a JSON value may be in several lists, for checks that are limited to arguments.
void Looking::redact(const CheckSet& set, const RequestTexts& texts,
                     const std::map<std::size_t, std::set<Reading>>& readings) {
  Leaves leaves;
  std::set<std::uint32_t> spanned;  // rules with something to redact
  if (request_.value == nullptr) round_.text = match::well_formed(request_.text);
  for (const auto& [place, where] : readings) {
    const RequestText& text = texts.all()[place];
    if (text.kind == RequestText::Kind::Fixed) continue;
    const match::Regions regions = redacted_regions(set, text.text, *text.wanted, where);
    for (const match::Region& region : regions.all()) {
      spanned.insert(region.rules.begin(), region.rules.end());
    }
    if (const auto leaf = text.leaf()) {
      auto& known = leaves.try_emplace(*leaf, text.text, match::Regions{}).first->second;
      known.second.add(regions);
      continue;
    }
    auto& out = text.kind == RequestText::Kind::Error ? round_.error_text : round_.text;
    out = redacted_text(document_, set, text.text, regions);
  }
  redact_leaves(set, leaves);
  // For a redact check the preferred span of each start counts, as in a stream. If exceptions cover
  // all of these, it does not hit, even if there are other spans (GR-45, GR-68).
  std::erase_if(round_.hits, [&](const Hit& hit) {
    const auto rule = std::ranges::find(set.checks, hit.check_index);
    const bool excepted = !document_.checks[hit.check_index].except.empty();
    return hit.action == Action::Redact && excepted && rule != set.checks.end() &&
           !spanned.contains(static_cast<std::uint32_t>(rule - set.checks.begin()));
  });
}

// If the redacted strings would be too long, what was found blocks.
void Looking::redact_leaves(const CheckSet& set, const Leaves& leaves) {
  std::size_t bytes = 0;
  for (const auto& [leaf, found] : leaves) {
    bytes += redacted_size(document_, set, found.first, found.second);
  }
  if (bytes > kMostRedacted) return block_redactions(round_.hits);
  for (const auto& [leaf, found] : leaves) {
    round_.leaves.emplace(leaf, redacted_text(document_, set, found.first, found.second));
  }
}

// Hits of a later round count only if they change the result.
void add_hits(std::vector<Hit>& hits, std::vector<Hit> later) {
  for (Hit& hit : later) {
    if (hit.action == Action::Log) continue;
    const auto known = std::ranges::find(hits, hit.check_index, &Hit::check_index);
    if (known == hits.end()) {
      hits.push_back(std::move(hit));
    } else if (hit.action == Action::Block) {
      *known = std::move(hit);
    }
  }
  std::ranges::sort(hits, {}, &Hit::check_index);
}

// Redacts the strings of a JSON value. Redacted arguments are decided again until nothing changes
// (GR-36). Results are redacted once, like texts (GR-35). A match outside strings always blocks.
class ValueRedaction {
 public:
  ValueRedaction(const Compiled& compiled, const Request& request)
      : compiled_(compiled),
        request_(request),
        once_(request.stage != Stage::ToolUse),
        value_(*request.value) {}

  Evaluation run();

 private:
  bool take(Round& round);
  bool has_grown() const;
  Round look_again(bool redacts) const;
  void look_outside_strings();

  const Compiled& compiled_;
  const Request& request_;
  bool once_;
  json::value value_;
  std::optional<std::string> error_text_;
  std::set<std::size_t> redacted_;  // leaves
  Evaluation all_;
};

Evaluation ValueRedaction::run() {
  Round round = Looking(compiled_, request_).run();
  all_.hits = round.hits;
  all_.coverage = std::move(round.coverage);
  all_.invalid_utf8 = round.invalid_utf8;
  bool last = false;
  for (int turn = 1; verdict_of(round.hits) == Verdict::Redact; ++turn) {
    if (last && !once_) {
      block_redactions(round.hits);
      add_hits(all_.hits, std::move(round.hits));
      break;
    }
    if (last || !take(round)) {
      look_outside_strings();
      break;
    }
    last = once_ || turn == kMostRounds || has_grown();
    round = look_again(!last);
    add_hits(all_.hits, round.hits);
  }
  decide(compiled_.document, all_);
  if (all_.verdict == Verdict::Redact) {
    all_.text = canonical_json(value_);
    all_.value = std::move(value_);
    all_.error_text = std::move(error_text_);
  }
  return std::move(all_);
}

// False: the value stays as it is.
bool ValueRedaction::take(Round& round) {
  for (const auto& [leaf, text] : round.leaves) redacted_.insert(leaf);
  if (round.error_text) error_text_ = std::move(round.error_text);
  json::value next = with_leaves(value_, round.leaves);
  if (next == value_) return false;
  value_ = std::move(next);
  return true;
}

bool ValueRedaction::has_grown() const {
  const std::size_t bytes = canonical_json(value_).size();
  return bytes > kMostAgain && bytes / 2 > canonical_json(*request_.value).size();
}

// For a value that is redacted once, only matches count that no redaction can reach.
Round ValueRedaction::look_again(bool redacts) const {
  Request again = request_;
  again.value = &value_;
  if (error_text_) again.error_text = *error_text_;
  Round round = Looking(compiled_, again, redacts).run();
  if (once_) {
    std::erase_if(round.hits, [](const Hit& hit) { return hit.on_fail != Action::Redact; });
  }
  return round;
}

// If a replacement matches, its hit hides a later match in a member name or a number. So the value
// is searched without the redacted strings.
void ValueRedaction::look_outside_strings() {
  std::map<std::size_t, std::string> empty;
  for (const std::size_t leaf : redacted_) empty.emplace(leaf, "");
  const json::value rest = with_leaves(value_, empty);
  Request again = request_;
  again.value = &rest;
  std::vector<Hit> hits = Looking(compiled_, again, false).run().hits;
  std::erase_if(hits, [](const Hit& hit) {
    return hit.on_fail != Action::Redact || hit.action != Action::Block;
  });
  add_hits(all_.hits, std::move(hits));
}

// In the canonical form, a number that a double cannot hold is another number, and the tool gets the
// received one. So the value is searched again with the text of such numbers. What only this search
// finds is in no string, so it cannot be redacted (GR-36).
void add_received_numbers(const Compiled& compiled, const Request& request, Evaluation& seen) {
  const std::size_t size = request.received.size();
  const Result<ParsedJson> received =
      parse_json(request.received, {.bytes = size, .numbers = Numbers::Exact, .values = size});
  if (!received) throw std::runtime_error("the received arguments cannot be read");
  Request again = request;
  again.value = &received->value;
  std::vector<Hit> hits = Looking(compiled, again, false).run().hits;
  std::erase_if(hits, [&](const Hit& hit) {
    return std::ranges::find(seen.hits, hit.check_index, &Hit::check_index) != seen.hits.end();
  });
  if (hits.empty()) return;
  block_redactions(hits);
  std::ranges::move(hits, std::back_inserter(seen.hits));
  std::ranges::sort(seen.hits, {}, &Hit::check_index);
  decide(compiled.document, seen);
}

Evaluation evaluate_text(const Compiled& compiled, const Request& request) {
  Round round = Looking(compiled, request).run();
  Evaluation all{.hits = std::move(round.hits)};
  all.coverage = std::move(round.coverage);
  all.invalid_utf8 = round.invalid_utf8;
  decide(compiled.document, all);
  if (all.verdict == Verdict::Redact) {
    all.text = std::move(round.text);
    all.error_text = std::move(round.error_text);
  }
  return all;
}

}  // namespace

void decide(const Document& document, Evaluation& evaluation) {
  evaluation.verdict = verdict_of(evaluation.hits);
  if (evaluation.verdict != Verdict::Block) return;
  const Hit& hit = *std::ranges::find(evaluation.hits, Action::Block, &Hit::action);
  Decision decision{.check_index = hit.check_index,
                    .check = hit.check,
                    .reason_code = hit.reason_code,
                    .replacement = block_replacement(document.checks[hit.check_index])};
  if (hit.stage == Stage::ToolUse) {
    decision.reason =
        fmt::format("guardrail check '{}' refused this call ({})", hit.check, hit.reason_code);
  }
  evaluation.decision = std::move(decision);
}

Evaluation evaluate(const Compiled& compiled, const Request& request) {
  // A result that is a string is a text like any other.
  if (request.value != nullptr && request.value->is_string() && request.stage != Stage::ToolUse) {
    Request plain = request;
    plain.text = request.value->get_string();
    plain.value = nullptr;
    Evaluation seen = evaluate_text(compiled, plain);
    if (seen.text) seen.value = json::value(*seen.text);
    return seen;
  }
  if (request.value == nullptr) return evaluate_text(compiled, request);
  Evaluation seen = ValueRedaction(compiled, request).run();
  if (!request.received.empty()) add_received_numbers(compiled, request, seen);
  return seen;
}

}  // namespace sallyport::guardrails
