// Rules that judge results (RU-62, RU-63). Each one is a result guard.
//
//   rules:
//     - {id: no-env, result: {any: true}, when: {path: "**/.env"}, then: withhold, message: Ask.}
//     - {id: cust, result: {text: 'C-[0-9]{6}'}, then: redact, replacement: "[customer]"}
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/plan/guard.h"
#include "guardrails/check/pattern_store.h"
#include "guards/guardrail_guards.h"
#include "guards/redact/output_sanitizer.h"
#include "rules/rule_set.h"

namespace sallyport::policy {

// Immutable: all methods may be called from several threads at once.
class ResultRule final : public core::ResultGuard {
 public:
  // `rule.result` must be set. `InvalidInput`: a pattern cannot be used; `where` is a JSON Pointer
  // below `result`. `clock` must outlive the rule.
  static Result<std::shared_ptr<const ResultRule>> build(
      const rules::Rule& rule, const Clock& clock,
      const guardrails::PatternStore* patterns = nullptr);

  const core::GuardTraits& traits() const override { return traits_; }
  // Checks the result if the first door found that the rule applies, or if the rule names no calls.
  // A rule that names calls withholds a result that has no call (PI-21).
  Task<Verdict> judge(const Envelope& result, const ResultContext& context) const override;

  const std::string& id() const { return id_; }
  // The verdict on the result of a call that the rule applies to. `message` is for the agent. If it
  // is empty, the message of the rule is used, or one made from the test.
  Verdict look_at(const Envelope& result, const std::string& message) const;

 private:
  class Look;

  ResultRule(const rules::Rule& rule);

  std::string id_;
  rules::Then then_;
  rules::ResultTest test_;
  std::string message_;  // of the rule, if it has no variables
  bool names_calls_;
  core::GuardTraits traits_;
  std::shared_ptr<const guards::ToolOutputGuardrails> texts_;
  std::shared_ptr<const guards::OutputSanitizer> detectors_;
};

using ResultRuleList = std::vector<std::shared_ptr<const ResultRule>>;

// All result rules of a set, in the order of the file.
Result<ResultRuleList> result_rules(const rules::RuleSet& set, const Clock& clock,
                                    const guardrails::PatternStore* patterns = nullptr);

}  // namespace sallyport::policy
