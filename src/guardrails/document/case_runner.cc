#include "guardrails/document/case_runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "guardrails/document/one_line.h"

namespace sallyport::guardrails {

namespace {

std::vector<std::string> labels_of(const std::vector<Hit>& hits) {
  std::vector<std::string> labels;
  for (const Hit& hit : hits) labels.push_back(hit.check);
  return labels;
}

std::string difference(const Case& wanted, const Evaluation& seen) {
  if (seen.verdict != wanted.verdict) {
    return fmt::format("verdict `{}`, not `{}`; hits: {}", to_string(seen.verdict),
                       to_string(wanted.verdict), fmt::join(labels_of(seen.hits), ", "));
  }
  if (wanted.hits && labels_of(seen.hits) != *wanted.hits) {
    return fmt::format("hits {}, not {}", labels_of(seen.hits), *wanted.hits);
  }
  if (wanted.text && seen.text != wanted.text) {
    return fmt::format("text `{}`, not `{}`", in_one_line(seen.text.value_or("")),
                       in_one_line(*wanted.text));
  }
  if (wanted.new_arguments && seen.value != wanted.new_arguments) {
    return fmt::format("arguments `{}`, not `{}`",
                       in_one_line(seen.value ? canonical_json(*seen.value) : ""),
                       in_one_line(canonical_json(*wanted.new_arguments)));
  }
  return {};
}

std::string problem_of(const Guardrails& guardrails, const Case& wanted) {
  Request request{.stage = wanted.stage};
  if (wanted.tool) request.tool = *wanted.tool;
  if (wanted.arguments) {
    request.value = &*wanted.arguments;
    return difference(wanted, guardrails.evaluate(request));
  }
  for (const std::string& text : wanted.texts) {
    request.text = text;
    const std::string problem = difference(wanted, guardrails.evaluate(request));
    if (!problem.empty()) return fmt::format("`{}`: {}", in_one_line(text), problem);
  }
  return {};
}

}  // namespace

std::vector<CaseResult> run_cases(const Guardrails& guardrails, std::span<const Case> cases) {
  std::vector<CaseResult> results;
  for (const Case& item : cases) results.push_back({item.name, problem_of(guardrails, item)});
  return results;
}

}  // namespace sallyport::guardrails
