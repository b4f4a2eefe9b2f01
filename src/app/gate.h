// Puts together everything that decides and records, for a front with tool servers behind it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/watch/ledger_watch.h"
#include "app/watch/policy_watch.h"
#include "app/watch/waiting_notice.h"
#include "base/metrics.h"
#include "core/call/governor.h"
#include "core/plan/plan_shelf.h"
#include "core/record/metered_recorder.h"
#include "guards/redact/log_redactor.h"
#include "mcp/gateway.h"
#include "outside/witness_watch.h"
#include "terminal/error_lines.h"
#include "workspace/context.h"
#include "workspace/workspace.h"

namespace sallyport::app {

class Gate {
 public:
  struct Options {
    std::string role;    // in the ledger
    std::string front;   // of its MCP clients, in metrics
    std::string policy;  // a file, or a shipped one by its name
    LogForm log = LogForm::Text;
    std::string approvals_url{};  // address of approval requests, before the id; empty: none
    // Called between loading the policy and `recovery_prepared`: a front closes its own work.
    std::function<Result<void>(Gate& gate)> before_start{};
  };
  // Puts the policy in force and closes what a dead process left open. From here on, no child of
  // this process may answer for people (AP-29).
  static Result<std::unique_ptr<Gate>> open(const Context& context, Options options);
  Gate(const Gate&) = delete;
  ~Gate();

  boost::asio::io_context& loop() { return loop_; }
  // Runs the loop to its end. A database behind a network does not block it (SC-50).
  void run_loop();
  Workspace& workspace() { return *workspace_; }
  ledger::Ledger& ledger() { return workspace_->ledger(); }
  core::Recorder& recorder() { return recorder_; }  // the ledger, counted
  const core::PlanSource& plans() const { return plans_; }
  // Watches the policy's file and the state of the ledger, on the loop. Also offers checkpoints to
  // the witnesses of the configuration.
  void start_watching();
  void stop_watching();
  // Reads this policy again and puts it in force. An error is recorded, and the old policy stays.
  Task<void> turn_to_policy(const Context& context, std::string policy);
  // Loads the policy whose file was just replaced. An error is recorded and logged, and the old
  // policy stays.
  Async<void> look_at_policy() { return watch_.look_now(); }
  // The file of the policy in force; no value: it is a shipped one. Used on the loop.
  const std::optional<std::filesystem::path>& policy_file() const {
    return loader_.origin().changes;
  }
  // Compiles this text in the place of the policy, without putting it in force. Used on the loop.
  Result<std::shared_ptr<const core::Plan>> rehearse_policy(core::PolicyText text) const {
    return loader_.rehearse(std::move(text));
  }
  core::Governor& governor() { return governor_; }
  Metrics& metrics() { return metrics_; }
  telemetry::Tracer& tracer() { return tracer_; }  // off until a front exports its spans
  mcp::Gateway::Parts parts();
  // Removes secrets from the line, because it may quote servers and clients.
  void log(std::string_view line) { lines_.print(log_redactor_.line(line)); }
  // Removes secrets from an error that may quote a server.
  Error without_secrets(Error error) const;
  std::string about_policy() const;

 private:
  // How people at this machine are notified.
  struct Desk {
    std::string data_dir{};  // empty: commands find it by themselves
    std::optional<std::filesystem::path> notifier{};
  };
  Gate(std::unique_ptr<Workspace> workspace, Options options, const std::string& policy_before,
       effects::Machine machine, Desk desk);
  Result<void> open_witnesses();

  boost::asio::io_context loop_;
  ErrorLines lines_;
  std::unique_ptr<Workspace> workspace_;
  guards::LogRedactor log_redactor_;
  std::string policy_;
  Metrics metrics_;
  core::MeteredRecorder recorder_;  // all members below write through it
  telemetry::Tracer tracer_;
  mcp::GatewayMeter meter_;
  mcp::PinBook pins_;
  net::Quota held_;                           // memory of requests of all gateways
  std::shared_ptr<external::Host> external_;  // shared with abandoned questions
  core::PlanShelf plans_;
  policy::PolicyLoader loader_;
  PolicyWatch watch_;
  LedgerWatch ledger_watch_;
  core::Governor governor_;
  WaitingNotice notice_;
  std::unique_ptr<WitnessWatch> witnesses_;  // null: the configuration names none
};

}  // namespace sallyport::app
