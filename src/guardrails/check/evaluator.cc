#include "guardrails/check/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/string.hpp>
#include <map>
#include <set>
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
// A replacement may make up a new match, and its replacement again; there is an end to it.
constexpr int kMostRounds = 8;

// What one look at all texts has shown.
struct Round {
  std::vector<Hit> hits{};
  std::vector<Coverage> coverage{};
  std::uint64_t invalid_utf8 = 0;
  // Redacted; only where the verdict of the hits is to redact.
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
  Looking(const Compiled& compiled, const Request& request)
      : compiled_(compiled), document_(compiled.document), request_(request) {}

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
  void look_at_texts(const CheckSet& plan);
  Hit hit_at(const CheckSet& plan, std::uint32_t rule, const Sighting& seen,
             const RequestText& text);
  void redact(const CheckSet& plan, const RequestTexts& texts,
              const std::map<std::size_t, std::set<Reading>>& readings);

  const Compiled& compiled_;
  const Document& document_;
  const Request& request_;
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

void Looking::look_at_texts(const CheckSet& plan) {
  const RequestTexts texts(compiled_, plan, request_, round_.coverage);
  TextSearch search(plan);
  std::map<std::size_t, std::set<Reading>> redactable;
  for (std::size_t i = 0; i < texts.all().size(); ++i) {
    const RequestText& text = texts.all()[i];
    auto readings = search.look_at(text.text, i, *text.wanted);
    if (!readings.empty()) redactable.emplace(i, std::move(readings));
  }
  for (std::uint32_t rule = 0; rule < plan.checks.size(); ++rule) {
    Coverage& coverage = round_.coverage[plan.checks[rule]];
    coverage.decode_truncated = !coverage.skipped && search.truncated(rule);
    if (const auto& seen = search.best()[rule]) {
      round_.hits.push_back(hit_at(plan, rule, *seen, texts.all()[seen->text]));
    }
  }
  if (verdict_of(round_.hits) == Verdict::Redact) redact(plan, texts, redactable);
}

Hit Looking::hit_at(const CheckSet& plan, std::uint32_t rule, const Sighting& seen,
                    const RequestText& text) {
  Hit hit = hit_of(document_, plan.checks[rule]);
  Located located = locate(plan, text.text, rule, seen);
  hit.entry = document_.checks[plan.checks[rule]].entries[seen.entry];
  hit.matched = std::move(located.matched);
  hit.start = located.start;
  hit.end = located.end;
  hit.view = plan.view_name(rule, seen.view);
  hit.path = text.path();
  const bool fixed = text.kind == RequestText::Kind::Fixed;
  if (fixed && hit.action == Action::Redact) hit.action = Action::Block;
  return hit;
}

// A string of a JSON value may be in several lists, for checks that are limited to arguments.
void Looking::redact(const CheckSet& plan, const RequestTexts& texts,
                     const std::map<std::size_t, std::set<Reading>>& readings) {
  std::map<std::size_t, std::pair<std::string_view, match::Regions>> leaves;
  std::set<std::uint32_t> spanned;  // rules with something to redact
  if (request_.value == nullptr) round_.text = match::well_formed(request_.text);
  for (const auto& [place, where] : readings) {
    const RequestText& text = texts.all()[place];
    if (text.kind == RequestText::Kind::Fixed) continue;
    const match::Regions regions = redacted_regions(plan, text.text, *text.wanted, where);
    for (const match::Region& region : regions.all()) {
      spanned.insert(region.rules.begin(), region.rules.end());
    }
    if (const auto leaf = text.leaf()) {
      auto& known = leaves.try_emplace(*leaf, text.text, match::Regions{}).first->second;
      known.second.add(regions);
      continue;
    }
    auto& out = text.kind == RequestText::Kind::Error ? round_.error_text : round_.text;
    out = redacted_text(document_, plan, text.text, regions);
  }
  for (const auto& [leaf, found] : leaves) {
    round_.leaves.emplace(leaf, redacted_text(document_, plan, found.first, found.second));
  }
  // Of a redact check the preferred span of each start counts, as in a stream. Where exceptions
  // cover all of these, it does not hit, whatever other spans there are (GR-45, GR-68).
  std::erase_if(round_.hits, [&](const Hit& hit) {
    const auto rule = std::ranges::find(plan.checks, hit.check_index);
    const bool excepted = !document_.checks[hit.check_index].except.empty();
    return hit.action == Action::Redact && excepted && rule != plan.checks.end() &&
           !spanned.contains(static_cast<std::uint32_t>(rule - plan.checks.begin()));
  });
}

// Hits of a later round count where they change what happens.
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

// What was redacted is decided again, until nothing is left to redact (GR-36).
Evaluation evaluate_value(const Compiled& compiled, const Request& request) {
  Request again = request;
  json::value current = *request.value;
  std::optional<std::string> error_text;
  Round round = Looking(compiled, request).run();
  Evaluation all{.hits = round.hits};
  all.coverage = std::move(round.coverage);
  all.invalid_utf8 = round.invalid_utf8;
  for (int turn = 1; verdict_of(round.hits) == Verdict::Redact; ++turn) {
    json::value next = with_leaves(current, round.leaves);
    if (round.error_text) error_text = std::move(round.error_text);
    const bool settled = next == current;
    current = std::move(next);
    if (settled) break;
    if (turn == kMostRounds) {
      for (Hit& hit : round.hits) {
        if (hit.action == Action::Redact) hit.action = Action::Block;
      }
      add_hits(all.hits, std::move(round.hits));
      break;
    }
    again.value = &current;
    if (error_text) again.error_text = *error_text;
    round = Looking(compiled, again).run();
    add_hits(all.hits, round.hits);
  }
  decide(compiled.document, all);
  if (all.verdict == Verdict::Redact) {
    all.text = canonical_json(current);
    all.value = std::move(current);
    all.error_text = std::move(error_text);
  }
  return all;
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
  return request.value == nullptr ? evaluate_text(compiled, request)
                                  : evaluate_value(compiled, request);
}

}  // namespace sallyport::guardrails
