// `policy lint`: what can never matter, with a proof.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "cli/command.h"
#include "config/yaml_json.h"
#include "guardrails/document/gallery.h"
#include "policy/shipped.h"
#include "terminal/input.h"
#include "terminal/output.h"
#include "workbench/case_files.h"
#include "workbench/policy_findings.h"

namespace sallyport::app {

namespace {

struct PolicyLintOptions {
  std::string file;               // a policy, a shipped one by its name, or guardrails
  std::string fail_on = "error";  // or `warning`
};

constexpr std::size_t kLargestLinted = 8u << 20;
constexpr std::string_view kPresetPrefix = "gallery:";

Result<std::string> linted_text(const std::string& named) {
  if (const policy::ShippedPolicy* const shipped = policy::shipped_policy(named)) {
    return std::string(shipped->text);
  }
  if (named.starts_with(kPresetPrefix)) {
    const auto* const preset = guardrails::preset(named.substr(kPresetPrefix.size()));
    if (preset != nullptr) return std::string(preset->document);
  }
  return read_input(named, kLargestLinted + 1);
}

Result<std::vector<PolicyFinding>> lint(const std::string& text, const std::string& file,
                                        const std::string& home) {
  const SystemClock clock;
  SALLYPORT_TRY(const config::YamlNode root, config::parse_yaml(text, file));
  const bool is_policy = std::ranges::any_of(
      root.members, [](const config::YamlMember& member) { return member.key.text == "version"; });
  if (!is_policy) {
    SALLYPORT_TRY(const json::value value, config::to_json(root, file));
    const auto document = guardrails::read_document(value);
    if (!document) {
      return fail(ErrorCode::InvalidInput, document.error().message,
                  place_of(config::node_at(root, document.error().path.value_or("")), file));
    }
    const policy::PolicyTree tree{.root = root, .file = file, .own = {}};
    return findings_in({.guardrails = &*document, .tree = tree, .now = clock.wall(), .home = home});
  }
  SALLYPORT_TRY(const policy::Policy read, policy::read_policy(text, file));
  SALLYPORT_TRY(const policy::PolicyTree tree, policy::policy_tree(text, file));
  return findings_in({.policy = &read,
                      .guardrails = read.guardrails ? &*read.guardrails : nullptr,
                      .tree = tree,
                      .now = clock.wall(),
                      .home = home});
}

Result<int> policy_lint(const Context& context, const PolicyLintOptions& options) {
  SALLYPORT_TRY(const std::string text, linted_text(options.file));
  const Result<std::vector<PolicyFinding>> found =
      lint(text, options.file, context.environment.home.value_or(""));
  if (!found) {
    return fail(ErrorCode::Unavailable, found.error().message, found.error().where);
  }
  bool failed = false;
  for (const PolicyFinding& finding : *found) {
    failed = failed || finding.is_error || options.fail_on == "warning";
    if (context.json()) {
      print_line(json::serialize(to_json(finding)));
    } else {
      print_line(fmt::format("{}: {}: {}: {}", finding.place,
                             finding.is_error ? "error" : "warning", finding.code, finding.text));
    }
  }
  if (!context.json()) {
    print_line(fmt::format("{} finding{}", found->size(), found->size() == 1 ? "" : "s"));
  }
  return failed ? 1 : 0;
}

const Command kPolicyLint(
    "policy lint", "find parts of a policy that never take effect, with a proof", policy_lint,
    [](Syntax& syntax, PolicyLintOptions& options) {
      syntax
          .text("file", options.file,
                "policy file, name of a shipped policy, guardrail document or gallery:NAME", "FILE")
          .required();
      syntax.text("--fail-on", options.fail_on, "lowest severity that makes it exit with 1 [error]")
          .choices({"error", "warning"});
    });

}  // namespace

}  // namespace sallyport::app
