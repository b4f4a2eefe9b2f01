// The second door: runs every result guard of the plan in order and combines their verdicts
// (PI-1..PI-17).
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "core/handoff/assertion.h"
#include "core/plan/fail_open.h"
#include "core/plan/plan.h"
#include "sallyport/audit_record.h"

namespace sallyport::core {

// Something that a guard let pass and that a person should look at.
struct Escalation {
  std::string guard;
  std::string message;
};

// The message of an escalation, for people and agents: short, and never empty (PI-87).
std::string escalation_text(const std::string& guard, std::string message);

// The released result, and why. It is the only source of bytes for an answer.
struct Release {
  struct GuardState {
    enum class State { Ran, Skipped, NotReached };
    std::string guard;
    State state = State::Ran;
    std::string why{};
    std::optional<GuardVerdict> verdict{};  // no value: it was not asked
    std::uint64_t duration_us = 0;

    std::string_view state_word() const;
    std::string_view verdict_word() const;  // of the second door; empty: it was not asked
  };
  struct Evidence {
    std::string guard;
    bool verdict = true;  // false only if that guard blocked or failed
    std::string rule{};
    std::string details{};
  };
  struct Failure {
    std::string guard;
    std::string failure_class;  // exception, timeout, malformed
  };

  Verdict::Kind verdict = Verdict::Kind::Allow;
  std::string guard{};   // the guard that blocked or failed
  std::string reason{};  // why
  std::vector<Escalation> escalations{};
  std::vector<std::string> escalation_ids{};  // ids of the items that were opened for them
  std::vector<Evidence> evidence{};
  std::vector<GuardState> guards{};
  std::optional<Failure> failure{};
  bool cancelled = false;  // not every guard has judged
  std::vector<Finding> findings{};
  Envelope original{};                  // as the tool gave it; only if `keeps_original`
  Envelope released{};                  // after a block: the notice
  bool advisory = false;                // the host shows its own result anyway (PI-33)
  std::optional<Assertion> asserted{};  // who reports the result; no value: it ran here

  // True: the released result differs from the original, and a record commits to both.
  bool keeps_original() const;
  json::object to_json() const;  // `post_invocation` of a record
};

// Runs the guards. `fail_open` gets every failure and knows whether the plan lets it pass. `cancel`
// ends the wait for guards that wait; a result that they have not judged is withheld.
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
