// Calls that are decided here and executed elsewhere: by the client of a model proxy, by the host
// of a coding agent (AU-52..AU-60). The result comes back later, perhaps to another process.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "core/call/continuations.h"
#include "core/call/governor.h"

namespace sallyport::core {

// How results come back.
struct Report {
  bool advisory = false;  // the host that ran the calls has no place for what we release (PI-33)
  // who reports the result; no value: the holder of the continuation
  std::optional<Assertion> asserted{};
};

class HandOffs {
 public:
  HandOffs(Governor& governor, Continuations& continuations)
      : governor_(governor), continuations_(continuations) {}

  struct Given {
    HandOff hand_off;              // without calls when all were answered here
    std::vector<Answer> answered;  // refused, or answered before: never handed out
    // Calls among them, by their tool call id: refused for nothing but that id.
    enum class Clash {
      Out,    // the very same call is in its host's hands
      Taken,  // the id belongs to another call, or to a call with an unknown end
    };
    std::map<std::string, Clash> clashes{};
  };
  // `frame` has session, turn, usage and state; the calls are put in here. Each of them passes the
  // whole first door and has a durable intent before it is handed out.
  Task<Given> hand_out(Continuation::Payload frame, std::vector<Call> calls, Caller caller = {},
                       std::chrono::seconds within = std::chrono::hours(24));

  // One result for each call handed out, all of them in one transaction or none. The first
  // submission completes the calls; a later one is answered with what was recorded first.
  Task<std::vector<Answer>> submit(Submission submission, std::string session_id,
                                   Report report = {});

  // A result of a call that is handed out, from another process than the one that was handed it:
  // looked at and recorded beside the call, which goes on waiting for its own.
  Task<Answer> note_asserted(CallResult said, std::string session_id, Report report);

  // A result that comes once more for a call that is on record as run elsewhere, from a host that
  // names its call and nothing else. Nothing: there is no such call.
  Task<std::optional<Answer>> submit_again(CallResult again, std::string session_id, Report report);

  // The hand-off that a call belongs to, for a host that names its call and nothing else. Nothing:
  // no such call is out.
  Result<std::optional<Continuation>> hand_off_of(const std::string& session_id,
                                                  const std::string& tool_call_id);

  // A call that the model proxy has handed to its client, seen again by a door behind it (MP-61).
  // Nothing: no such call of this agent with this input is out.
  Result<std::optional<PendingCall>> proposed_call(const Call& call);
  // The state of a hand-off by which it is known.
  static json::object proposed_to(const std::string& agent_id);

  // Ends hand-offs whose deadline has passed. Writers of the ledger call it from time to time.
  Task<void> expire();

 private:
  struct Returned;

  // What came back, and how.
  struct Returning {
    const std::vector<CallResult>& results;
    const Report& report;
  };
  Task<std::vector<Answer>> complete(const Continuations::Found& found, Returning returning);
  Task<std::vector<Answer>> replay(const Kept& kept, Returning returning);
  // Where the record of a call that was answered stands.
  Result<std::optional<std::uint64_t>> record_of(const Call& call);
  Result<std::optional<Given::Clash>> clash_of(const Trail& trail);
  Task<Returned> receive(const Kept& kept, const Call& call, const ToolResult& result);
  void add_record(Returned& returned, const Call& call, std::vector<Draft>& drafts);
  Task<std::vector<Answer>> tell(std::vector<Returned> all, const std::vector<Position>& written);
  Task<void> expire_call(Fact fact, Draft record);
  // A call that was out, and the body of its record so far.
  struct Out {
    const Kept& kept;
    const Call& call;
    const json::object& record;
  };
  Async<Ending> pass_second_door(Out out, Envelope envelope, FailOpen& fail_open);
  // The rules of the plan that judge its result: those that its record names, and those of now.
  std::shared_ptr<const ResultRules> result_rules(const Plan& plan, const Out& out) const;
  Async<bool> says_other(Out out, const ToolResult& again, const Envelope& first,
                         FailOpen& fail_open);
  // The entry that keeps a call which was handed out alone, for the commit of its intent.
  Draft keep_alone(Continuation::Payload frame, const Trail& trail, Kept& kept) const;
  void owe(std::vector<Returned> returned, const Error& error);
  // What the trust graph keeps of a call that was out, behind its record (AT-28). Nothing: the plan
  // keeps none, or the tool only looks.
  std::optional<Draft> memory_of(const Draft& record, const Call& call, const Ending& ending);

  Governor& governor_;
  Continuations& continuations_;
};

}  // namespace sallyport::core
