// The calls of one turn of a model. A turn that needs a person pauses and is stored. It continues
// after the answer, in this process or in another (AU-69..AU-75).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/call/governor.h"
#include "core/turn/continuations.h"

namespace sallyport::core {

class Turns {
 public:
  // Finds the upstream that runs a call. Null: there is no such tool.
  using FindTool = std::function<std::shared_ptr<Upstream>(const Call&)>;

  Turns(Governor& governor, Continuations& continuations, FindTool find_tool)
      : governor_(governor), continuations_(continuations), find_tool_(std::move(find_tool)) {}

  struct Ended {
    std::vector<CallResult> results;     // in request order, as far as they exist
    std::optional<Continuation> paused;  // the turn that waits for a person
    std::string approval_id;             // of the question it waits for
  };

  // `frame` has session, turn, usage and state; the calls are added here.
  Task<Ended> run(Continuation::Payload frame, std::vector<Call> calls, Caller caller = {});

  // The decision comes from the answered approval, never from the caller that resumes. If
  // `approval_id` is given, the turn must wait for that approval.
  Task<Ended> resume(Continuation continuation, std::string session_id,
                     std::string approval_id = {}, Caller caller = {});

  // The decision of the answered approval (AU-70). `Conflict` with `approval_pending`: none yet.
  Result<ResumeDecision> decision(const std::string& approval_id);

 private:
  Task<Ended> go_on(Continuation::Payload frame, std::vector<Call> calls, std::size_t next,
                    Caller caller);
  Result<bool> waits(const Answer& answer);
  Task<Ended> pause(Continuation::Payload frame, std::vector<Call> calls, std::size_t index,
                    const Answer& asked);
  Task<Continuations::Found> take(const Continuation& continuation, const std::string& session_id,
                                  const std::string& approval_id);

  Governor& governor_;
  Continuations& continuations_;
  FindTool find_tool_;
};

}  // namespace sallyport::core
