#include "app/gate.h"

#include <fmt/format.h>

#include "app/gateway_plan.h"
#include "app/governed_process.h"
#include "app/run_on.h"
#include "base/try.h"
#include "core/stored_record.h"

namespace sallyport::app {

Gate::Gate(std::unique_ptr<Workspace> workspace, std::string policy,
           const std::string& policy_before)
    : workspace_(std::move(workspace)),
      policy_(std::move(policy)),
      pins_(ledger()),
      plans_(ledger(), policy_before),
      loader_(policy::PolicyOrigin::named(policy_),
              {workspace_->clock(), workspace_->entropy(), ledger().fingerprint_key(), &ledger(),
               &workspace_->patterns()},
              what_the_gateway_brings(pins_)),
      watch_(loader_, plans_, who_runs_this(), [this](std::string_view line) { log(line); }),
      governor_({plans_, ledger(), workspace_->redactor(), workspace_->clock(),
                 workspace_->entropy(), ledger().digest()}) {}

Result<std::unique_ptr<Gate>> Gate::open(const Context& context, Options options) {
  SALLYPORT_TRY(Workspace::Place place, context.place());
  SALLYPORT_TRY(
      std::unique_ptr<Workspace> workspace,
      Workspace::open_writing(std::move(place), {.role = std::move(options.role),
                                                 .close_interrupted = core::close_interrupted}));
  SALLYPORT_TRY(const auto before, workspace->ledger().fact("policy", "hash"));
  std::unique_ptr<Gate> gate(
      new Gate(std::move(workspace), std::move(options.policy), before.value_or("")));
  SALLYPORT_CHECK_OK(run_on(gate->loop_, gate->watch_.load()));
  SALLYPORT_CHECK_OK(run_on(gate->loop_, gate->governor_.start()));
  SALLYPORT_CHECK_OK(govern_this_process(gate->ledger(), who_runs_this()));
  return gate;
}

Gate::~Gate() {
  // What could not be taken back names a process that does not run any more.
  (void)govern_no_more(ledger());
}

mcp::Gateway::Parts Gate::parts() {
  return {governor_,
          plans_,
          ledger(),
          workspace_->redactor(),
          workspace_->clock(),
          workspace_->entropy(),
          pins_};
}

std::string Gate::about_policy() const {
  if (policy_ != "starter") return fmt::format("the policy {} is in force", policy_);
  return "the starter policy is in force: calls run by themselves, secrets are taken out of "
         "results, changed tools are held back";
}

}  // namespace sallyport::app
