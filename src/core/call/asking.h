// Asks a person if a decision needs one. The question is recorded before it is asked, and the
// answer decides about the call.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/async.h"
#include "core/approval/approvals.h"
#include "core/call/caller.h"
#include "core/call/governor_parts.h"
#include "core/call/sink_feed.h"
#include "core/call/trail.h"
#include "core/record/journal.h"
#include "core/record/plain_text.h"
#include "sallyport/answer.h"

namespace sallyport::core {

// The question to a person about the call.
std::string describe(const Decision& decision);
// The common key of identical calls of a session, so that they share one question (AP-36).
std::string asked_key(const Trail& trail);

// Owned by `Stages`. `asking.cc` opens questions and takes answers, `asking_attach.cc` lets an
// identical call share a question, `asking_wait.cc` waits.
class Asking {
 public:
  struct Parts {
    const GovernorParts& governor;
    Approvals& approvals;
    Journal& journal;
    SinkFeed& sinks;
  };
  explicit Asking(Parts parts)
      : parts_(parts.governor),
        approvals_(parts.approvals),
        journal_(parts.journal),
        sinks_(parts.sinks) {}

  // Writes the question and waits for the answer. True: the trail has a consent or a refusal.
  // False: the caller does not wait, and `waiting` is its answer.
  Task<bool> ask(Trail& trail, const Caller& caller);
  Answer waiting(const Trail& trail) const;
  // Sets consent or refusal from the reply. `call_digest`: the digest that the reply binds.
  void take_reply(Trail& trail, const Reply& reply, const std::string& call_digest);
  Question question_about(const Decision& decision, std::string id) const;

 private:
  struct NewQuestion {
    Question question;
    Fact like_it;  // the fact that a question about this call is open
    bool held;     // the caller waits, or a later caller continues the call
    std::string holder;
    bool only_here;  // the preparation is lost with this process
  };
  struct Rows {
    Batch batch;
    Batch::Handle record;
    std::vector<Fact> expected;
  };
  struct SameQuestion {
    std::string approval_id{};  // empty: no question about such a call is open
    Fact expected{};            // must be unchanged when another question is opened
  };
  Result<std::string> fresh_approval_id(const Trail& trail);
  std::string url_of(const std::string& approval_id) const;
  Task<void> open(Trail& trail, const NewQuestion& asking);
  Task<bool> ask_people(Trail& trail, const NewQuestion& asking, const Caller& caller);
  Rows rows_of(Trail& trail, const NewQuestion& asking);
  void add_proposal(const Trail& trail, Batch& batch) const;
  Fact proposed_call(const Trail& trail) const;
  void void_consent(const Trail& trail, Rows& rows) const;
  Result<bool> question_refused(Trail& trail, const Error& error);
  Task<bool> wait_for_answer(Trail& trail, Question question, const Caller& caller);
  Task<void> ask_program_approver(Question question, std::stop_token cancel);
  // Asks the external approver of the policy. False: there is none, it may not answer this
  // question, or it has no opinion.
  Async<bool> ask_policy_approver(const Trail& trail, Question question, std::stop_token cancel);
  void check_consent(Trail& trail);
  Result<SameQuestion> same_question(const Trail& trail);
  Task<bool> attach(Trail& trail, const Caller& caller, std::string approval_id);
  Task<Reply> held_reply(const Trail& trail, WallTime until, const Caller& caller,
                         Approvals::Role role);
  std::string shown(std::string text) const { return plain_text(parts_.redactor, std::move(text)); }

  const GovernorParts& parts_;
  Approvals& approvals_;
  Journal& journal_;
  SinkFeed& sinks_;
};

}  // namespace sallyport::core
