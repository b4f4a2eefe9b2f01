// Takes the events of a coding agent through the Governor. Its host executes: a call is handed out
// with a durable intent before the tool runs, and the event behind it brings the result back.
// What never comes back is closed when its hand-off expires. For one event.
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

// The process that an event comes from, as far as it can be seen. Names of processes are never used
// twice.
struct Speaker {
  std::string process{};  // empty: it cannot be seen
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
    std::string person{};                  // who sits before the host
    bool host_asks = false;                // the host can ask that person
    std::vector<std::string> workspace{};  // of the project; empty: what the event says
    json::value origin{};                  // of the event, for the record of its call
    Speaker speaker{};                     // whose word the event is
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
  // What the policy refuses is not worth a question to the user. The call itself has its own event,
  // so this one allows nothing.
  Task<Decision> permission(Event event);
  // Results that came without an event of their own, each to its call; those that had one are
  // known.
  Task<Decision> batch(std::vector<Event> results);
  // What was asked for the session is taken back, and the calls that waited for it end (AP-18).
  Task<Decision> end_session(Event event);

 private:
  struct OpenQuestion {
    std::string approval_id;
    std::string call_id;
    std::string what;  // as `what_of` names it
    json::value holder{};
  };

  std::string server_of(const Event& event) const;
  Call call_of(const Event& event) const;
  Result<Call> named_call(const Event& event);   // with an id of ours where its host gave none
  Result<void> check(const Event& event) const;  // before anything is written about it
  Task<core::HandOffs::Given> hand_out(const Event& event);
  Task<Decision> take_back(const Event& event, std::string id, Continuation handed_out);
  Task<Decision> wait_for_person(const Event& event, const Answer& answer);
  // Who was handed a call, and what the one who speaks now is beside him.
  json::object holder() const;
  core::Assertion assertion_beside(const json::value& holder) const;
  core::Assertion unasked() const { return {.by = settings_.speaker.facts}; }
  Task<Decision> observe_approved(const Event& event, OpenQuestion asked);
  Task<Decision> observe(const Event& event);
  Task<Decision> say_again(const Event& event, const std::string& id);
  Task<void> note(std::string_view kind, const Event& event, json::object body,
                  std::vector<core::Fact> facts = {}, std::vector<core::Fact> expected = {});
  core::Fact said_again(const Event& event, const std::string& id) const;
  Task<bool> repeats_open_call(const Event& event);
  Task<void> refuse_afterwards(const Event& event, const Answer& answer);

  std::string asked_key(const Event& event) const;
  std::string what_of(const Event& event) const;  // digest of tool and input, as the host said them
  Result<std::optional<OpenQuestion>> asked_about(const Event& event);

  Parts parts_;
  Settings settings_;
  NumberedIds ids_;
};

}  // namespace sallyport::hook
