#include "guardrails/check/guardrails.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <exception>
#include <utility>

#include "guardrails/check/compiled.h"
#include "guardrails/check/compiler.h"
#include "guardrails/check/evaluator.h"
#include "guardrails/stream/stream_gate.h"

namespace sallyport::guardrails {

namespace {

json::array names(const std::vector<EntryName>& entries) {
  json::array all;
  for (const EntryName& name : entries) {
    all.push_back(json::object{{"check", name.check}, {"entry", name.entry}});
  }
  return all;
}

// The engine failed. The text does not pass, independent of what it had found.
Evaluation engine_failure(const Document& document, const Request& request) {
  Evaluation failed;
  failed.coverage = coverage_of(document, request.stage, request.tool, request.skip);
  auto hit = hit_of_failure(document, failed.coverage);
  if (!hit) return failed;  // no check was to look
  failed.hits.push_back(std::move(*hit));
  decide(document, failed);
  return failed;
}

}  // namespace

json::object to_json(const Report& report) {
  return {{"patterns", report.patterns},
          {"unbounded", names(report.unbounded)},
          {"ascii_classes", names(report.ascii_classes)}};
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::Allow:
      return "allow";
    case Verdict::Redact:
      return "redact";
    default:
      return "block";
  }
}

Guardrails::Guardrails(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

Guardrails::~Guardrails() = default;

std::expected<std::shared_ptr<const Guardrails>, DocumentError> Guardrails::compile(
    Document document, std::uint64_t generation, const PatternStore* store) {
  auto compiled = guardrails::compile(std::move(document), generation, store);
  if (!compiled) return std::unexpected(std::move(compiled).error());
  return std::shared_ptr<const Guardrails>(new Guardrails(std::move(*compiled)));
}

const Document& Guardrails::document() const {
  return compiled_->document;
}
const Report& Guardrails::report() const {
  return compiled_->report;
}
std::uint64_t Guardrails::generation() const {
  return compiled_->generation;
}

bool Guardrails::armed(Stage stage) const {
  return std::ranges::any_of(document().checks,
                             [&](const Check& check) { return check.stage == stage; });
}

Evaluation Guardrails::evaluate(const Request& request) const {
  try {
    return guardrails::evaluate(*compiled_, request);
  } catch (const std::exception&) {
    return engine_failure(document(), request);
  }
}

std::unique_ptr<TextGate> Guardrails::arm(Stage stage, std::optional<std::string_view> tool) const {
  if (stage == Stage::ToolUse) return nullptr;
  std::vector<Coverage> coverage = coverage_of_stream(stage, tool);
  const bool applies =
      std::ranges::any_of(coverage, [](const Coverage& check) { return !check.skipped; });
  if (!applies) return nullptr;
  return std::make_unique<StreamGate>(compiled_, stage, std::move(coverage));
}

std::vector<Coverage> Guardrails::coverage_of_stream(Stage stage,
                                                     std::optional<std::string_view> tool) const {
  return coverage_of(document(), stage, tool, {});
}

}  // namespace sallyport::guardrails
