// One run of an agent: rounds of a model request and its tool calls, until the model makes no more
// calls or the run is ended (RT-1, RT-11, RT-12).
//
//   Run run(parts, cancel);
//   Result<RunReport> report = co_await run.go("Tidy the downloads folder");
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/model/model_round.h"
#include "agent/run/asker.h"
#include "agent/run/compaction.h"
#include "agent/run/history.h"
#include "agent/run/memory.h"
#include "agent/run/run_control.h"
#include "agent/run/session_lease.h"
#include "agent/tool/tools.h"
#include "core/turn/continuations.h"
#include "core/turn/turns.h"

namespace sallyport::agent {

// The result of a run (RT-2).
struct RunReport {
  std::string session_id{};
  std::string run_id{};
  sessions::RunStatus status = sessions::RunStatus::Failed;
  std::string reason{};  // empty: none
  std::string text{};    // the last text of the model
  std::uint64_t rounds = 0;
  std::uint64_t tool_calls = 0;
  Usage usage{};
  std::string policy_hash{};
  std::uint64_t first_sequence = 0;  // the run's entries lie between these two
  std::uint64_t last_sequence = 0;
  std::optional<Continuation> continuation{};
};
json::object to_json(const RunReport& report);

// Observes a run, on the executor of the run. Texts of a model are untrusted input.
class RunView {
 public:
  virtual ~RunView() = default;
  virtual void text(std::string_view) {}  // a piece of an answer, released by the checks
  virtual void text_ended() {}
  virtual void calling(const Call&) {}
  virtual void answered(const Call&, const Answer&) {}
  virtual void note(std::string_view) {}  // a message about the run itself, for a person
};

// All members must outlive the run.
struct RunParts {
  RuntimeParts& runtime;
  const Settings& settings;
  Model& model;
  Toolbox& tools;
  SessionLease& lease;
  RunView& view;
  std::shared_ptr<core::Attendant> attendant{};  // asks a person while the run waits
  bool interactive = false;                      // the front can ask its user
  bool parks = false;                            // the run ends when a person is asked (RT-87)
};

// Used once, on the executor of the runtime.
class Run {
 public:
  Run(RunParts parts, std::stop_token cancel);
  Run(const Run&) = delete;

  // Runs the session with a message, or continues it without one. An error means that no run began
  // and the message is not stored. The cause is `nothing_to_resume` if there is no message and
  // nothing is open (RT-88), and `awaiting_approval` if a person has not answered yet.
  Task<RunReport> go(std::optional<std::string> message);

 private:
  // How the run ends.
  struct End {
    sessions::RunStatus status = sessions::RunStatus::Finished;
    std::string reason{};
    std::optional<Continuation> continuation{};
  };
  using Ended = std::optional<End>;  // no value: continue

  // run.cc
  Task<void> begin();
  Async<Ended> pick_up(std::optional<std::string> message);
  Async<Ended> complete_history();
  Task<void> append_prompt(const std::string& message);
  Async<End> rounds();
  Async<Ended> round();
  Async<Ended> ask_model(std::string recalled);
  Async<End> end_without_answer(NoAnswer none);
  Async<Ended> compact_if_due();
  Async<void> emit_notices();
  Async<void> make_up_ingest();
  Async<RunReport> end(End end);
  Task<void> append(std::vector<sessions::NewItem> items, std::vector<std::string> noticed = {});
  Task<void> load();
  End aborted(const Abort& abort) const;
  static End failed(std::string why);
  Ended check();  // before every effect (EV-106)
  std::uint64_t ledger_size();

  // run_calls.cc
  // The id itself, or a short one made from it, which the Governor takes.
  static std::string short_id(std::string id);
  Async<Ended> run_calls(std::vector<ModelCall> calls, std::string refused = {});
  Async<Ended> run_in_slices(std::vector<Call> calls);
  Async<Ended> run_parking(std::vector<Call> calls);
  Async<Ended> end_turn(Result<core::Turns::Ended> ended);
  Async<Ended> commit_results(std::vector<sessions::NewItem> results);
  Task<void> make_ids_unique(std::vector<ModelCall>& calls);
  Result<bool> was_used(const std::string& id, const std::set<std::string>& in_transcript);
  std::string governed_id(const std::string& id);
  Call call_for(const ModelCall& model_call);
  void make_acceptable(Call& call, const ModelCall& model_call);
  std::shared_ptr<core::Upstream> upstream_for(const Call& call) const;
  const OfferedTool* offered_for(const Call& call) const;
  // The number of calls, from this one on, that may run at the same time.
  std::size_t adjacent(const std::vector<Call>& calls, std::size_t first) const;
  sessions::NewItem result_of(const Call& call, const ToolResult& result) const;

  // run_resume.cc
  // In the state of a parked turn: the calls over the budget, and why they do not run.
  static constexpr std::string_view kRefused = "refused";
  // What is known of a call without a result in the history. Neither: it may run.
  struct Known {
    std::optional<sessions::NewItem> result{};
    std::optional<json::object> asked{};  // the record of the question that it waits for
  };
  static End awaits(const std::string& approval_id, std::optional<Continuation> continuation = {});
  std::optional<Continuation> parked_turn() const;
  Task<bool> is_pending(std::string approval_id);
  Task<std::string> pending_of(const Continuation& parked);
  Task<void> refuse_while_parked();
  Ended count_parked(const Continuation::Payload& payload);
  Async<Ended> resume_parked(Continuation continuation);
  Async<Ended> wait_for_answer(std::string approval_id);
  Async<Ended> complete_open_calls();
  Task<Known> known_of(const ModelCall& model_call, Call& call);
  Async<std::optional<Ended>> resume_waiting(const Call& call, const json::object& asked);
  Async<Ended> run_again(Call call);
  Async<void> run_proposals();

  RunParts parts_;
  RuntimeParts& runtime_;
  Asker asker_;
  RunControl control_;
  Memory memory_;
  Compaction compaction_;
  core::Continuations continuations_;
  core::Turns turns_;
  std::vector<OfferedTool> offered_;
  std::vector<sessions::Item> items_;  // the transcript, as it is stored
  std::uint64_t revision_ = 0;
  std::optional<sessions::Run> before_;           // the run before this one
  std::string parked_;                            // the continuation of the last turn that waited
  std::optional<std::string> refused_prompt_;     // blocked, and not in the transcript
  std::map<std::string, std::string> refusals_;   // by tool call id: why the call does not run
  std::map<std::string, std::string> first_ids_;  // id in the transcript, by another id of the call
  std::optional<std::uint64_t> input_tokens_;     // of the last answer, as reported
  RunReport report_;
  bool stopping_ = false;  // asked to end with this round (RT-77)
};

}  // namespace sallyport::agent
