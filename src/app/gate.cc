#include "app/gate.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "agent/tool/tools.h"
#include "app/gateway_plan.h"
#include "base/loop_crew.h"
#include "base/run_on.h"
#include "base/try.h"
#include "core/record/plain_text.h"
#include "core/record/stored_record.h"
#include "outside/witness_file.h"
#include "people/agent_ancestry.h"
#include "policy/reviewer_file.h"

namespace sallyport::app {

namespace {

policy::PolicyLoader::Extend gate_plan_extension(std::filesystem::path reviewers,
                                                 const mcp::PinBook& pins) {
  return [reviewers = std::move(reviewers),
          gateway = gateway_plan_extension(pins)](core::PlanBuilder& plan) {
    gateway(plan);
    agent::add_agent_tools(plan);
    plan.reviewers(std::make_shared<const policy::DataFolderReviewers>(reviewers));
  };
}

}  // namespace

Gate::Gate(std::unique_ptr<Workspace> workspace, Options options, const std::string& policy_before,
           effects::Machine machine, Desk desk)
    // One thread runs it, except where threads take turns at it.
    : loop_(workspace->store().is_remote() ? 2 : 1),
      lines_(options.log),
      workspace_(std::move(workspace)),
      log_redactor_(workspace_->redactor(), workspace_->detectors()),
      policy_(std::move(options.policy)),
      recorder_(ledger(), metrics_, workspace_->clock(), std::move(options.front)),
      tracer_(workspace_->entropy(), metrics_),
      meter_(metrics_, tracer_),
      pins_(recorder_),
      external_(std::make_shared<external::Host>(
          workspace_->redactor(),
          external::Host::Settings{.variable = variable_of_this_process,
                                   .data_folder = machine.data,
                                   .log = [this](std::string_view line) { log(line); }})),
      plans_(recorder_, policy_before),
      loader_(policy::PolicyOrigin::named(policy_),
              {workspace_->clock(), workspace_->entropy(), ledger().fingerprint_key(), &ledger(),
               &workspace_->patterns(), std::move(machine), nullptr, external_},
              gate_plan_extension(workspace_->place().reviewers_file(), pins_)),
      watch_(loader_, plans_, running_user(), [this](std::string_view line) { log(line); }),
      ledger_watch_(ledger(), [this](std::string_view line) { log(line); }),
      governor_({.plans = plans_,
                 .recorder = recorder_,
                 .redactor = workspace_->redactor(),
                 .clock = workspace_->clock(),
                 .entropy = workspace_->entropy(),
                 .digest = ledger().digest(),
                 .log = [this](std::string_view line) { log(line); },
                 .approvals_url = std::move(options.approvals_url)}),
      notice_({.loop = loop_,
               .records = recorder_,
               .clock = workspace_->clock(),
               .log = [this](std::string_view line) { log(line); },
               .data_dir = std::move(desk.data_dir),
               .notifier = std::move(desk.notifier)}) {}

Error Gate::without_secrets(Error error) const {
  error.message = core::plain_text(workspace_->redactor(), std::move(error.message));
  return error;
}

Result<std::unique_ptr<Gate>> Gate::open(const Context& context, Options options) {
  SALLYPORT_TRY(Workspace::Place place, context.place());
  SALLYPORT_TRY(
      std::unique_ptr<Workspace> workspace,
      Workspace::open_writing(
          std::move(place), {.role = options.role, .in_place = true, .closes_interrupted = true}));
  SALLYPORT_TRY(const auto before, workspace->ledger().fact("policy", "hash"));
  effects::Machine machine =
      machine_of(context.environment, workspace->place().data_dir, options.policy);
  const std::string data_dir = workspace->place().data_dir.string();
  const auto before_start = std::move(options.before_start);
  const bool named = context.globals.data_dir || context.environment.data_dir;
  std::unique_ptr<Gate> gate(new Gate(std::move(workspace), std::move(options), before.value_or(""),
                                      std::move(machine),
                                      Desk{.data_dir = named ? data_dir : std::string(),
                                           .notifier = desktop_notifier(context.environment)}));
  SALLYPORT_CHECK_OK(gate->open_witnesses());
  SALLYPORT_CHECK_OK(run_on(gate->loop_, gate->watch_.load()));
  // Before the first event: programs that the policy runs for events are children of an agent, too.
  SALLYPORT_CHECK_OK(register_process(gate->ledger(), running_user()));
  if (before_start) SALLYPORT_CHECK_OK(before_start(*gate));
  SALLYPORT_CHECK_OK(run_on(gate->loop_, gate->governor_.start()));
  return gate;
}

Result<void> Gate::open_witnesses() {
  const auto& file = workspace_->place().config.ledger.witnesses;
  if (!file) return {};
  Result<ledger::WitnessPolicy> policy = load_witness_policy(*file);
  if (!policy) {
    Error error = std::move(policy).error();
    error.message += "; correct the file or `ledger.witnesses`";
    return std::unexpected(std::move(error));
  }
  SALLYPORT_TRY(witnesses_,
                WitnessWatch::open({.ledger = ledger(),
                                    .clock = workspace_->clock(),
                                    .metrics = metrics_,
                                    .log = [this](std::string_view line) { log(line); }},
                                   std::move(*policy)));
  return {};
}

Gate::~Gate() {
  witnesses_.reset();
  external_->stop_logging();
  // A mark that cannot be removed names a process that has ended.
  (void)unregister_process(ledger());
}

void Gate::run_loop() {
  loop_.restart();
  if (workspace_->store().is_remote()) {
    LoopCrew(loop_).run();
  } else {
    loop_.run();
  }
}

void Gate::start_watching() {
  boost::asio::co_spawn(loop_, watch_.run(), boost::asio::detached);
  boost::asio::co_spawn(loop_, ledger_watch_.run(), boost::asio::detached);
  if (witnesses_) witnesses_->start();
}

void Gate::stop_watching() {
  watch_.stop();
  ledger_watch_.stop();
  if (witnesses_) witnesses_->stop();
  notice_.stop();
}

Task<void> Gate::turn_to_policy(const Context& context, std::string policy) {
  policy::PolicyLoader::Source next{
      policy::PolicyOrigin::named(policy),
      machine_of(context.environment, workspace_->place().data_dir, policy)};
  SALLYPORT_CO_CHECK_OK(co_await watch_.switch_to(std::move(next)));
  policy_ = std::move(policy);
  co_return Result<void>{};
}

mcp::Gateway::Parts Gate::parts() {
  return {governor_,
          plans_,
          recorder_,
          workspace_->redactor(),
          workspace_->clock(),
          workspace_->entropy(),
          pins_,
          &meter_,
          held_,
          [this](const core::WaitingCall& call) { notice_.show(call); }};
}

std::string Gate::about_policy() const {
  if (policy_ != "starter") return fmt::format("the policy {} is in force", policy_);
  return "the starter policy is in force: calls run without approval, secrets are removed "
         "from results, changed tools are held back";
}

}  // namespace sallyport::app
