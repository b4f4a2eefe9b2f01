// Decides the calls of cases: by the Governor that decides real calls, over a machine and a ledger
// that hold only what the case names (RU-75, RU-78, WB-18).
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "workbench/call_case.h"
#include "workbench/call_verdict.h"

namespace sallyport::app {

// The outcome of a call, in the words of `expect`.
struct CaseAnswer {
  CallVerdict verdict = CallVerdict::Runs;
  std::string reason{};  // why it does not run; empty: it does, or a person is asked
  std::optional<std::string> rule{};
  std::string decided_by{};  // `rule push`, `check aws`, `agent_tiers deploy-bot`, `tier`, ..
  std::string effect_class{};
  std::string tier{};
  std::string tier_source{};
  json::value input{};
  json::value asks{};  // members of the approval; null: there is no approval request
  std::vector<std::string> hits{};
  std::vector<std::string> logged{};
  std::optional<json::value> result{};  // that is released, or `withheld`; no value: none was given
  std::optional<std::string> result_rule{};
  // Everything that was evaluated, for coverage: two equal traces are the same decision.
  json::object trace{};
};

json::object to_json(const CaseAnswer& answer);

// One policy and the cases put to it. One thread.
class CaseTrial {
 public:
  // An error: the policy needs something that a case cannot provide.
  static Result<std::unique_ptr<CaseTrial>> build(policy::Policy policy);
  virtual ~CaseTrial() = default;

  virtual Result<CaseAnswer> answer(const CallCase& test_case) = 0;
  virtual const policy::Policy& policy() const = 0;
};

}  // namespace sallyport::app
