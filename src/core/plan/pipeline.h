// The second door: every result guard of the plan in order, folded into one answer (PI-1..PI-17).
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "core/call/assertion.h"
#include "core/plan/fail_open.h"
#include "core/plan/plan.h"

namespace sallyport::core {

// What a guard let pass and a person shall hear of.
struct Escalation {
  std::string guard;
  std::string message;
};

// Messages are for people and agents: short, and never empty (PI-87).
std::string escalation_text(const std::string& guard, std::string message);

// What may be shown, and why. The only source of bytes for an answer.
struct Release {
  struct GuardState {
    std::string guard;
    std::string state;  // ran, skipped, not_reached
    std::string why{};
    std::string verdict{};
    std::uint64_t duration_us = 0;
  };
  struct Evidence {
    std::string guard;
    bool verdict = true;  // false only when that guard blocked or failed
    std::string rule{};
    std::string details{};
  };
  struct Failure {
    std::string guard;
    std::string failure_class;  // exception, timeout, malformed
  };

  Verdict::Kind verdict = Verdict::Kind::Allow;
  std::string guard{};   // who blocked or failed
  std::string reason{};  // why
  std::vector<Escalation> escalations{};
  std::vector<std::string> escalation_ids{};  // of the items that were opened for them
  std::vector<Evidence> evidence{};
  std::vector<GuardState> guards{};
  std::optional<Failure> failure{};
  bool cancelled = false;  // not every guard has judged
  std::vector<Finding> findings{};
  Envelope original{};
  Envelope released{};    // the notice, when it was blocked
  bool advisory = false;  // the host that ran the tool shows its own result all the same (PI-33)
  std::optional<Assertion> asserted{};  // by whom; nothing: it ran here

  json::object to_json() const;  // `post_invocation` of a record
};

// Hands every failure to `fail_open`, which knows whether the plan lets it pass. `cancel` ends the
// wait for guards that wait; what they have not judged is withheld.
Async<Release> run_pipeline(const Plan& plan, Envelope original, ResultContext context,
                            const Clock& clock, FailOpen& fail_open, std::stop_token cancel = {});

// The short form: the same verdict and escalations without the evidence. It is for callers that
// pass a message on and write no record of it (PI-13).
struct ShortRelease {
  Verdict::Kind verdict = Verdict::Kind::Allow;
  std::string guard{};
  std::string reason{};
  std::vector<Escalation> escalations{};
  std::vector<Finding> findings{};
  Envelope released{};
};
Async<ShortRelease> run_pipeline_short(const Plan& plan, Envelope original, ResultContext context,
                                       const Clock& clock, FailOpen& fail_open);

}  // namespace sallyport::core
