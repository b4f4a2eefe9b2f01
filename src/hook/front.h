// Governs the events of a coding agent. The host runs the tools: a call is handed out with a
// durable intent before its tool runs, and a later event reports the result. A call without a
// result is closed when its hand-off expires. For one event.
#pragma once

#include <functional>
#include <string>

#include "base/keyed_digest.h"
#include "core/call/governor.h"
#include "core/handoff/hand_offs.h"
#include "hook/decision.h"
#include "hook/event.h"
#include "hook/numbered_ids.h"
#include "hook/origins.h"

namespace sallyport::hook {

// The process that reports an event, as far as it is visible. Names of processes are never reused.
struct Reporter {
  std::string process{};  // empty: it is not visible
  std::string parent{};
  std::string program{};
  json::object facts{};  // for records
};

class Front {
 public:
  struct Parts {
    core::Governor& governor;
    core::HandOffs& hand_offs;
    core::RecordLog& records;
    KeyedDigest digest;
    Origins& origins;
  };
  struct Settings {
    std::string agent{};                   // the principal
    std::string host{};                    // the server of the host's own tools; empty: the same
    std::string person{};                  // the user of the host
    bool host_prompts = false;             // the host can ask that person
    std::vector<std::string> workspace{};  // of the project; empty: as in the event
    json::value origin{};                  // of the event, for the record of its call
    Reporter reporter{};                   // the process that reports the event
    // Returns whether this process still runs. Empty: unknown.
    std::function<bool(const std::string& process)> runs{};
    // True if the user's yes in the host's dialog may approve this request (AP-33).
    std::function<bool(const json::object& request)> local_yes_counts{};
  };
  Front(Parts parts, Settings settings)
      : parts_(std::move(parts)),
        settings_(std::move(settings)),
        ids_(parts_.governor.idempotency(), parts_.digest) {}
  Front(const Front&) = delete;

  // An error: nothing is on record, and the tool should not run.
  Task<Decision> before(Event event);
  // An error: the result could not be checked or recorded.
  Task<Decision> after(Event event);
  // Denies what the policy refuses, so that the user is not asked. The call itself has its own
  // event, so this one allows nothing.
  Task<Decision> permission(Event event);
  // Takes results as `after` does. Skips those that had an event of their own.
  Task<Decision> batch(std::vector<Event> results);
  // Cancels the approval requests of the session and ends the calls that wait for them (AP-18).
  Task<Decision> end_session(Event event);

 private:
  struct OpenQuestion {
    std::string approval_id;
    std::string call_id;
    std::string act;  // from `act_digest`
    json::value holder{};
  };

  std::string server_of(const Event& event) const;
  Call call_of(const Event& event) const;
  Result<Call> named_call(const Event& event);   // with our id if its host gave none
  Result<void> check(const Event& event) const;  // before it is recorded
  Task<core::HandOffs::HandedOut> hand_out(const Event& event);
  Task<Decision> take_back(const Event& event, std::string id, Continuation handed_out);
  Task<Decision> wait_for_person(const Event& event, const Answer& answer);
  // The process that holds a call, and how the reporting process relates to it.
  json::object holder() const;
  core::Assertion assertion_beside(const json::value& holder) const;
  core::Assertion plain_assertion() const { return {.by = settings_.reporter.facts}; }
  // True if the dialog of the host may answer the question.
  bool local_yes_counts(const std::optional<core::ApprovalState>& state,
                        const json::object& request) const;
  Task<Decision> observe_approved(const Event& event, OpenQuestion asked);
  Task<Decision> observe(const Event& event);
  Task<Decision> replay_answer(const Event& event, const std::string& id);
  Task<void> note(std::string_view kind, const Event& event, json::object body,
                  std::vector<core::Fact> facts = {}, std::vector<core::Fact> expected = {});
  core::Fact repeat_fact(const Event& event, const std::string& id) const;
  Task<bool> repeats_open_call(const Event& event);
  Task<bool> runs_where_it_is(const Event& event, const Continuation& handed_out);
  Result<std::string> open_call_of(const Event& event);  // empty: none is open
  Task<void> refuse_afterwards(const Event& event, const Answer& answer);

  std::string asked_key(const Event& event) const;
  std::string act_digest(const Event& event) const;  // digest of tool and input
  Result<std::optional<OpenQuestion>> asked_about(const Event& event);

  Parts parts_;
  Settings settings_;
  NumberedIds ids_;
};

}  // namespace sallyport::hook
