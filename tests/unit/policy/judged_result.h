// The effect of rules on a result, without a plan and a server.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "policy/result_rules.h"
#include "rules/message.h"

namespace sallyport::policy {

struct ResultJudged {
  Verdict::Kind verdict = Verdict::Kind::Allow;  // `Deny`: withheld; `Rewrite`: redacted
  std::string rule{};                            // that withheld it, else the first that changed it
  Envelope released{};
  std::vector<std::string> logged{};
  std::vector<std::string> escalated{};
};

// `facts` in the form of `seen_by`, `call` as the answer of `judge`.
inline ResultJudged judge_result(const ResultRuleList& list, const rules::Judged& call,
                                 const effects::CallFacts& facts, Envelope result) {
  const rules::Scene scene(facts);
  ResultJudged judged{.released = std::move(result)};
  for (const auto& rule : list) {
    const auto applies = std::ranges::find_if(
        call.decision.results,
        [&](const rules::RuleMatch& match) { return match.rule->id == rule->id(); });
    if (applies == call.decision.results.end()) continue;
    const Verdict verdict = rule->look_at(
        judged.released, rules::result_message(*applies->rule, *applies, call.effects, scene));
    switch (verdict.kind) {
      case Verdict::Kind::Deny:
        judged.verdict = Verdict::Kind::Deny;
        judged.rule = rule->id();
        judged.released = Envelope::error(std::string(verdict.value.as_string()));
        return judged;
      case Verdict::Kind::Rewrite:
        if (Result<Envelope> changed = Envelope::from_json(verdict.value)) {
          if (same(*changed, judged.released)) break;
          judged.released = std::move(*changed);
        }
        judged.verdict = Verdict::Kind::Rewrite;
        if (judged.rule.empty()) judged.rule = rule->id();
        break;
      case Verdict::Kind::Escalate:
        judged.escalated.push_back(rule->id());
        break;
      default:
        if (!verdict.rule.empty()) judged.logged.push_back(rule->id());
    }
  }
  return judged;
}

}  // namespace sallyport::policy
