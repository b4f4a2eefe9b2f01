// `policy test`: does a policy do what its cases say?
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdio>

#include "app/guard_config.h"
#include "app/input.h"
#include "app/output.h"
#include "app/policy_commands.h"
#include "base/try.h"
#include "guardrails/case_runner.h"
#include "guardrails/gallery.h"
#include "policy/policy.h"
#include "policy/yaml_json.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestFile = 8u << 20;
constexpr std::string_view kGallery = "gallery:";

struct Subject {
  std::shared_ptr<const guardrails::Guardrails> guardrails;
  int exit_code = 0;
};

std::unexpected<Error> refused(const std::string& message, const std::string& where) {
  return fail(ErrorCode::Unavailable, message, where);
}

// A policy begins with `version`, a guardrail document has no such key.
Result<Subject> subject_of(const Context& context, const std::string& file) {
  const Result<policy::Policy> read = file.starts_with(kGallery)
                                          ? Result<policy::Policy>(fail(ErrorCode::NotFound, ""))
                                          : policy::load_policy(file);
  if (!read && read.error().message != "`version` is missing" &&
      read.error().code != ErrorCode::NotFound) {
    return refused(read.error().message, read.error().where);
  }
  if (!read) {
    SALLYPORT_TRY(GuardConfig config, load_guardrails(context, file));
    return Subject{std::move(config.guardrails), config.exit_code};
  }
  auto compiled =
      guardrails::Guardrails::compile(read->guardrails.value_or(guardrails::Document{}));
  if (!compiled) return refused(compiled.error().message, file);
  return Subject{std::move(*compiled)};
}

Result<std::string> cases_text(const PolicyTestOptions& options) {
  if (!options.cases && options.file.starts_with(kGallery)) {
    const auto* const preset = guardrails::preset(options.file.substr(kGallery.size()));
    if (preset != nullptr) return std::string(preset->cases);
  }
  if (!options.cases) {
    return fail(ErrorCode::InvalidInput, "name the file of cases with `--cases`");
  }
  return read_input(*options.cases, kLargestFile);
}

Result<std::vector<guardrails::Case>> cases_of(const PolicyTestOptions& options) {
  const std::string file = options.cases.value_or(options.file);
  SALLYPORT_TRY(const std::string text, cases_text(options));
  const Result<policy::YamlNode> root = policy::parse_yaml(text, file);
  if (!root) return refused(root.error().message, root.error().where);
  const Result<json::value> value = policy::to_json(*root, file);
  if (!value) return refused(value.error().message, value.error().where);
  Result<std::vector<guardrails::Case>> cases = guardrails::read_cases(*value);
  if (cases) return cases;
  const policy::YamlNode& node = policy::node_at(*root, cases.error().where);
  return refused(cases.error().message, place_of(node, file));
}

}  // namespace

Result<int> policy_test(const Context& context, const PolicyTestOptions& options) {
  SALLYPORT_TRY(const Subject subject, subject_of(context, options.file));
  if (!subject.guardrails) return subject.exit_code;
  SALLYPORT_TRY(const std::vector<guardrails::Case> cases, cases_of(options));
  std::size_t failed = 0;
  for (const guardrails::CaseResult& result : run_cases(*subject.guardrails, cases)) {
    const bool passed = result.problem.empty();
    failed += passed ? 0 : 1;
    if (context.json()) {
      say(json::serialize(
          json::object{{"name", result.name},
                       {"passed", passed},
                       {"problem", passed ? json::value() : json::value(result.problem)}}));
    } else {
      say(passed ? fmt::format("ok      {}", result.name)
                 : fmt::format("FAILED  {}: {}", result.name, result.problem));
    }
  }
  if (!context.json()) say(fmt::format("{} passed, {} failed", cases.size() - failed, failed));
  return failed == 0 ? 0 : 1;
}

}  // namespace sallyport::app
