#include "guardrails/check/compiled.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/wildcard.h"
#include "match/expression.h"

namespace sallyport::guardrails {

namespace {

bool fits_any(const std::vector<std::string>& wildcards, std::string_view name) {
  return std::ranges::any_of(
      wildcards, [&](const std::string& wildcard) { return fits_wildcard(wildcard, name); });
}

std::optional<std::string> reason_to_skip(const Check& check, Stage stage, bool skipped_by_caller,
                                          std::optional<std::string_view> tool) {
  if (check.stage != stage) return "stage";
  if (skipped_by_caller) return "caller";
  if (check.type == CheckType::ToolPattern) {
    if (!tool) return "no_tool";
    return std::nullopt;
  }
  if (check.tools.empty()) return std::nullopt;
  if (!tool) return "no_tool";
  if (!fits_any(check.tools, *tool)) return "tool";
  return std::nullopt;
}

std::vector<std::shared_ptr<const match::Parsed>> parse_all(const Check& check,
                                                            const std::vector<std::string>& list,
                                                            bool exceptions) {
  std::vector<std::shared_ptr<const match::Parsed>> all;
  for (const std::string& text : list) {
    auto parsed = match::parse(expression_of(check, text, exceptions));
    if (!parsed) throw std::runtime_error(parsed.error().message);
    all.push_back(std::make_shared<const match::Parsed>(std::move(*parsed)));
  }
  return all;
}

// A cached set has no parsed expressions.
void read_missing(const Document& document, const std::vector<std::uint32_t>& checks,
                  std::vector<ParsedCheck>& parsed) {
  parsed.resize(document.checks.size());
  for (const std::uint32_t index : checks) {
    if (!parsed[index].entries.empty()) continue;
    const Check& check = document.checks[index];
    parsed[index] = {parse_all(check, check.entries, false), parse_all(check, check.except, true)};
  }
}

}  // namespace

void Compiled::keep(std::vector<ParsedCheck> parsed) {
  narrowed_.with([&](Narrowed& narrowed) { narrowed.parsed = std::move(parsed); });
}

std::vector<std::uint32_t> checks_of_texts(const Document& document, Stage stage) {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < document.checks.size(); ++i) {
    const Check& check = document.checks[i];
    if (check.stage == stage && check.type != CheckType::ToolPattern) chosen.push_back(i);
  }
  return chosen;
}

std::shared_ptr<const CheckSet> Compiled::check_set_for(
    Stage stage, const std::vector<std::uint32_t>& checks) const {
  const std::shared_ptr<const CheckSet>& whole = this->stage(stage);
  if (whole && whole->checks == checks) return whole;
  return narrowed_.with([&](Narrowed& narrowed) {
    const auto known = narrowed.plans.find(checks);
    if (known != narrowed.plans.end()) return known->second;
    read_missing(document, checks, narrowed.parsed);
    auto made = CheckSet::make(document, narrowed.parsed, checks);
    if (!made) throw std::runtime_error(made.error().message);
    if (narrowed.plans.size() >= kMostNarrowed) narrowed.plans.clear();
    narrowed.plans.emplace(checks, *made);
    return std::move(*made);
  });
}

std::vector<Coverage> coverage_of(const Document& document, Stage stage,
                                  std::optional<std::string_view> tool,
                                  const std::function<bool(std::size_t)>& skip) {
  std::vector<Coverage> all;
  for (std::size_t i = 0; i < document.checks.size(); ++i) {
    const Check& check = document.checks[i];
    const bool skipped = check.stage == stage && skip && skip(i);
    all.push_back({i, check.label, reason_to_skip(check, stage, skipped, tool)});
  }
  return all;
}

Hit hit_of(const Document& document, std::size_t index) {
  const Check& check = document.checks[index];
  return {.check_index = index,
          .check = check.label,
          .check_id = check.id,
          .stage = check.stage,
          .rule_type = check.type,
          .action = effective_action(document, check),
          .on_fail = check.on_fail,
          .severity = check.severity,
          .reason_code = std::string(reason_code_of(check.type)),
          .replacement = check.replacement};
}

std::optional<Hit> hit_of_failure(const Document& document, const std::vector<Coverage>& coverage) {
  for (const Coverage& check : coverage) {
    if (check.skipped) continue;
    Hit hit = hit_of(document, check.check_index);
    hit.action = Action::Block;
    hit.reason_code = "guardrail.engine_error";
    return hit;
  }
  return std::nullopt;
}

std::string block_replacement(const Check& check) {
  if (check.replacement) return *check.replacement;
  return std::string(default_replacement(check.stage, Action::Block));
}

}  // namespace sallyport::guardrails
