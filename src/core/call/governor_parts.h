// The parts of a Governor. The stages of a call share them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/keyed_digest.h"
#include "core/event/hook_registry.h"
#include "core/plan/approver.h"
#include "core/plan/fail_open.h"
#include "core/plan/plan.h"
#include "core/record/recorder.h"
#include "core/record/redactor.h"
#include "core/record/sink.h"

namespace sallyport::core {

// All references outlive the Governor.
struct GovernorParts {
  const PlanSource& plans;
  Recorder& recorder;
  const Redactor& redactor;
  const Clock& clock;
  Entropy& entropy;
  KeyedDigest digest;
  HookRegistry hooks{};
  std::vector<std::shared_ptr<const Sink>> sinks{};
  std::shared_ptr<const Approver> approver{};  // none: people answer
  FailOpenLog::Log log{};                      // for the operator; none: messages are dropped
  std::string approvals_url{};                 // prefix of an approval id; empty: no address
};

}  // namespace sallyport::core
