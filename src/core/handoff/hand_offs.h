// Calls that are decided here and run elsewhere: by the client of a model proxy, or by the host of
// a coding agent. The result comes back later, possibly to another process (AU-52..AU-60).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "core/call/governor.h"
#include "core/turn/continuations.h"

namespace sallyport::core {

// How results come back.
struct Report {
  bool advisory = false;  // the host shows its own result, whatever is released (PI-33)
  // who reports the result; no value: the holder of the continuation
  std::optional<Assertion> asserted{};
};

class HandOffs {
 public:
  HandOffs(Governor& governor, Continuations& continuations)
      : governor_(governor), stages_(governor.stages()), continuations_(continuations) {}

  struct HandedOut {
    HandOff hand_off;              // has no calls if all were answered here
    std::vector<Answer> answered;  // refused or answered before; not handed out
    // Calls of `answered` that were refused only because of their tool call id, by that id.
    enum class Clash {
      Out,    // the same call is handed out
      Taken,  // the id belongs to another call, or to a call with an unknown end
    };
    std::map<std::string, Clash> clashes{};
  };
  // Decides the calls and hands them out. `frame` has session, turn, usage and state; the calls are
  // added here. Each call passes the whole first door and has a durable intent before it is handed
  // out.
  Task<HandedOut> hand_out(Continuation::Payload frame, std::vector<Call> calls, Caller caller = {},
                           std::chrono::seconds within = std::chrono::hours(24));
  // Hands out a call that waited for a person, under the call id that it has. The errors are those
  // of `Governor::resume`.
  Task<HandedOut> hand_out_answered(Continuation::Payload frame, Governor::Resumption waited,
                                    Caller caller = {},
                                    std::chrono::seconds within = std::chrono::hours(24));

  // Takes one result for each call that was handed out, all in one transaction or none. The first
  // submission completes the calls; a later one is answered with what was recorded first.
  Task<std::vector<Answer>> submit(Submission submission, std::string session_id,
                                   Report report = {});

  // Takes the result of a handed-out call from a process that did not receive the call. The result
  // is judged and recorded next to the call; the call still waits for its own result.
  Task<Answer> note_asserted(CallResult reported, std::string session_id, Report report);

  // Takes a repeated result for a call that is recorded as run elsewhere, from a host that names
  // only its call. No value: there is no such call.
  Task<std::optional<Answer>> submit_again(CallResult again, std::string session_id, Report report);

  // Returns the hand-off of a call, for a host that names only its call. No value: no such call is
  // handed out.
  Result<std::optional<Continuation>> hand_off_of(const std::string& session_id,
                                                  const std::string& tool_call_id);

  // Finds a call that the model proxy has handed to its client, when a front behind it sees the
  // call again. No value: no such call of this agent with this input is handed out (MP-61).
  Result<std::optional<PendingCall>> proposed_call(const Call& call);
  // The state that marks such a hand-off.
  static json::object proposed_to(const std::string& agent_id);

  // Ends hand-offs whose deadline has passed. Writers of the ledger call it from time to time.
  Task<void> expire();

 private:
  struct Returned;

  // The results that came back, and how.
  struct Returning {
    const std::vector<CallResult>& results;
    const Report& report;
  };
  Task<std::vector<Answer>> complete(const Continuations::Found& found, Returning returning);
  Task<std::vector<Answer>> answer_again(const Kept& kept, Returning returning);
  // The position of the record of an answered call.
  Result<std::optional<std::uint64_t>> record_of(const Call& call);
  Result<std::optional<HandedOut::Clash>> clash_of(const Trail& trail);
  Task<Returned> receive(const Kept& kept, const Call& call, const ToolResult& result);
  Closer::Left left_of(const Returned& returned, const Call& call);
  Task<void> expire_call(Fact fact, CallRecord record);
  // A call that was handed out, and what its record has of rules and guards so far.
  struct Out {
    const Kept& kept;
    const Call& call;
    json::object record;
  };
  Async<Ending> pass_second_door(Out out, Envelope envelope, FailOpen& fail_open);
  // The rules about its result: those that its record names, and those of the current plan.
  std::shared_ptr<const ResultRules> result_rules(const Plan& plan, const Out& out) const;
  Async<bool> gives_other_outcome(Out out, const ToolResult& again, const Envelope& first,
                                  FailOpen& fail_open);
  // One hand-off while its calls are decided.
  struct Deciding;
  // True: the call is the only one, and its intent stored the hand-off.
  Task<bool> hand_out_one(Deciding& deciding, Trail& trail, const Caller& caller);
  Task<HandedOut> keep(Deciding& deciding);
  // A call of the model proxy is found by its id at other doors (MP-61).
  void add_proposed(Draft& draft, const Call& call, const Continuation::Payload& frame) const;
  // The entry that keeps a call that is handed out alone. It is committed with the intent.
  Draft keep_alone(Continuation::Payload frame, const Trail& trail, Kept& kept) const;
  void owe(std::vector<Returned> returned, const Error& error);
  // The trust record of a call that was handed out, after its record. No value: the plan keeps
  // none, or the tool only observes (AT-28).
  std::optional<Draft> memory_of(const CallRecord& record, const Call& call, const Ending& ending);

  Governor& governor_;
  Stages& stages_;  // of the governor
  Continuations& continuations_;
};

}  // namespace sallyport::core
