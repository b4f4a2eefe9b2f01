// The Governor is the only way to a tool.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/keyed_digest.h"
#include "base/race.h"
#include "core/approval/approvals.h"
#include "core/approval/attendant.h"
#include "core/approval/escalations.h"
#include "core/call/dispatch.h"
#include "core/call/idempotency.h"
#include "core/call/rehearsal.h"
#include "core/call/upstream.h"
#include "core/event/emitter.h"
#include "core/plan/approver.h"
#include "core/plan/plan.h"
#include "core/record/journal.h"
#include "core/record/sink.h"
#include "sallyport/answer.h"

namespace sallyport::core {

// The caller of a call: whether it waits, and what it wants to hear.
struct Caller {
  std::stop_token cancel{};
  bool holds = true;  // waits while a person is asked; otherwise `resume` continues the call
  // Asks like a caller that holds, and leaves. The question stays, an identical call joins it, and
  // the call continues by `resume` or ends with its question (AP-36).
  bool leaves = false;
  Delivery::Forward progress{};  // receives progress messages; each passes the second door
  // null: no front attends to the call while a person is asked
  std::shared_ptr<Attendant> attendant{};
};

// Runs calls through both doors and the ledger. One per process; owned by app. A call runs on the
// executor of the coroutine that awaits it: a strand, or a context with one thread. Different calls
// may run on different threads at once.
class Governor {
 public:
  struct Parts {
    const PlanSource& plans;
    Recorder& recorder;
    const Redactor& redactor;
    const Clock& clock;
    Entropy& entropy;
    KeyedDigest digest;
    HookRegistry hooks{};
    std::vector<std::shared_ptr<const Sink>> sinks{};
    std::shared_ptr<const Approver> approver{};  // null: people answer
    // receives lines for operators; empty: they are dropped
    FailOpenLog::Log log{};
    // prefix of the address of a question; empty: questions have no address
    std::string approvals_url{};
  };
  explicit Governor(Parts parts);

  // Called before the first call. The ledger closes what earlier runs left open, and this announces
  // it. An error means that no call may be accepted (EV-60).
  Task<void> start();

  // Closes what has expired, without an announcement, for a process that runs only briefly (EV-14).
  Task<void> tidy();

  // Runs one call. A refused, failed or withheld call is an answer that says so. An error means
  // that the call could not be recorded or is malformed: show nothing. `upstream` is shared,
  // because an abandoned call keeps it until it ends.
  Task<Answer> run(Call call, std::shared_ptr<Upstream> upstream, Caller caller = {});

  // A call and the upstream that runs it.
  struct Asked {
    Call call;
    std::shared_ptr<Upstream> upstream;  // shared: an abandoned call keeps it
  };
  // Runs the first call and, if it only observes, the following calls that only observe at the same
  // time. A call that may act runs alone. Calls are decided one after the other, so they start in
  // this order. The answers have the same order; if there are fewer answers than calls, call again
  // with the rest. After a call that waits for a person no further call is decided (AU-43).
  Task<std::vector<Answer>> run_together(std::vector<Asked> calls, Caller caller = {});

  // Returns what `run` would decide now, and why. It asks guards and tells hooks. It writes
  // nothing, asks no person and does not run the tool.
  Task<Rehearsal> rehearse(Call call, std::shared_ptr<Upstream> upstream,
                           Hearing hearing = Hearing::UntilRefused);

  // Replays a call of a dispatch: the current plan decides, the recorded answer and result count,
  // and the tool does not run (AP-24).
  Task<Answer> replay(Call call, std::shared_ptr<Upstream> upstream, ReplayCount& count);

  // A call that waited for a person.
  struct Resumption {
    Call call;  // the call that was asked about, with its call id
    std::string approval_id;
    std::optional<Prepared> prepared{};
    std::vector<Fact> closing{};  // committed with the terminal record
    // the tool has run: the yes of the host's own dialog may count (AP-33)
    bool observed = false;
  };
  // Continues a waiting call. `Conflict` with the cause `approval_pending`: there is no answer yet.
  // `Conflict` with the state of the approval as cause: the approval can no longer be used.
  Task<Answer> resume(Resumption waited, std::shared_ptr<Upstream> upstream, Caller caller = {});

  // Runs approved proposals and closes refused ones, each once, in whichever process comes first.
  // If `find_tool` returns null, the call is left to another process.
  using FindTool = std::function<std::shared_ptr<Upstream>(const Call& call)>;
  Task<std::vector<Answer>> run_answered(FindTool find_tool, std::stop_token cancel = {});

  // Delivers late records to the sinks: records that were written after their caller had left. It
  // runs by itself at the start and with every call; a host may call it when it learns of such
  // records (AU-88).
  Task<void> tell_unheard();

  Approvals& approvals() { return approvals_; }
  Escalations& escalations() { return escalations_; }
  Idempotency& idempotency() { return idempotency_; }
  Emitter& emitter() { return emitter_; }

 private:
  friend class Turns;     // classifies the tools of calls that are not decided yet
  friend class HandOffs;  // decides here, and passes results from elsewhere through the second door

  // The result of the upstream before the second door.
  struct Performed {
    Envelope envelope;
    EffectState effect = EffectState::Unknown;
    std::uint64_t duration_ms = 0;
    bool other_revision = false;  // the prepared operation differs from the confirmed one
    bool recalled = false;        // the result is the one that was released before
    json::array redactions{};     // of the record of that result
  };

  Task<void> reverse_lost_holds();
  Task<void> close_lost_calls();
  Task<void> close_lost_call(Fact fact, std::uint64_t sequence,
                             std::optional<Approvals::State> state);
  Result<Call> identify(Call call) const;
  // As above, for a call that is made. An error: the call is malformed, and there is no record of
  // it.
  Result<Call> accept(Call asked);
  Task<Answer> govern(Trail& trail, std::shared_ptr<Upstream> upstream, Caller caller);
  Task<Answer> conduct(Trail& trail, std::shared_ptr<Upstream> upstream, const Caller& caller);
  // Does everything before the effect. No value: the call may run, and its intent is recorded. An
  // answer: the call ends here, or waits.
  Task<std::optional<Answer>> admit(Trail& trail, std::shared_ptr<Upstream> upstream,
                                    const Caller& caller);

  // Ends a call that does not run. `recalled` is its earlier result; without it the call is
  // refused.
  Task<Answer> end_unrun(Trail& trail, std::optional<Performed> recalled, Upstream& upstream,
                         std::stop_token cancel);

  // The first door (first_door.cc).
  Async<void> authorize(Trail& trail, const std::shared_ptr<Upstream>& upstream,
                        const std::stop_token& cancel);
  Async<void> judge_call(Trail& trail, const Preview& preview,
                         const std::shared_ptr<Upstream>& upstream, const std::stop_token& cancel);
  bool recall_preparation(Trail& trail);
  std::optional<Fact> kept_preparation(const Trail& trail) const;
  std::optional<Prepared> kept_preparation(const std::string& row_key) const;
  void find_tier(Trail& trail) const;
  void propose(Trail& trail) const;
  void weigh_autonomy(Trail& trail) const;
  Async<void> tell_decision(Trail& trail);
  Async<void> report(Trail& trail, Event event);
  Task<void> tell(Trail& trail, const Event& event, std::optional<std::uint64_t> sequence = {});
  Question question_about(Trail& trail, std::string id) const;
  Result<std::string> fresh_approval_id(const Trail& trail);
  std::string url_of(const std::string& approval_id) const;
  struct Asking {
    Question question;
    Fact like_it;  // the fact that a question about such a call is open, as it was read
    bool held;     // true: the caller waits; false: any caller may resume it
    std::string holder;
    bool only_here;  // the preparation is lost with this process
  };
  struct AskingRows {
    std::vector<Draft> drafts;
    std::vector<Fact> expected;
    std::size_t behind = 0;  // number of drafts after the record
  };
  Task<bool> ask(Trail& trail, const Caller& caller);
  AskingRows rows_of(Trail& trail, const Asking& asking);
  void remember_proposal(Trail& trail) const;
  void void_consent(Trail& trail, AskingRows& rows);
  Result<bool> question_refused(Trail& trail, const Error& error);
  Task<bool> hear_answer(Trail& trail, Question question, const Caller& caller);
  Task<void> ask_approver(Question question, std::stop_token cancel);
  // Asks the approver of the policy. False: there is none, it may not answer this request, or it
  // has no opinion.
  Async<bool> answered_outside(const Trail& trail, Question question, std::stop_token cancel);
  void take_reply(Trail& trail, const Reply& reply, const std::string& call_digest);
  void check_consent(Trail& trail);

  // A question about an identical call (attached_call.cc).
  struct SameQuestion {
    std::string approval_id{};  // empty: no person is asked about this call
    Fact expected{};            // must be unchanged when another question is opened
  };
  static std::string asked_key(const Trail& trail);
  Result<SameQuestion> same_question(const Trail& trail);
  Task<bool> attach(Trail& trail, const Caller& caller, std::string approval_id);
  Task<Reply> held_reply(const Trail& trail, WallTime until, const Caller& caller,
                         Approvals::Role role);
  static void hold_fact(Trail& trail);
  Task<std::optional<Performed>> result_of_same(Trail& trail);
  Fact proposed_call(const Trail& trail) const;

  // The recorded result of a replayed call (replay.cc).
  struct Recorded {
    std::uint64_t sequence = 0;  // position of the terminal record
    json::object body{};
  };
  Result<std::optional<Recorded>> recorded_call(const Trail& trail, ReplayCount& count);
  Result<void> hear_recorded(Trail& trail, const std::optional<Recorded>& first);
  std::optional<Performed> recall_recorded(Trail& trail, const std::optional<Recorded>& first);

  static void refuse_spending(Trail& trail, const Error& error);
  static std::string describe(const Trail& trail);
  Answer waiting(const Trail& trail) const;
  static void drop_preparation(Trail& trail, Upstream& upstream);

  // Between the doors (execution.cc).
  Task<std::optional<Performed>> announce(Trail& trail);
  Result<std::optional<Performed>> look_for_earlier(Trail& trail);
  Result<Performed> recall(const Idempotency::Row& row);
  Task<void> write_intent(Trail& trail);
  std::vector<Fact> claim(const Trail& trail, Draft& intent) const;
  Result<void> intent_refused(Trail& trail, const Error& error);
  Async<Performed> perform(Trail& trail, std::shared_ptr<Upstream> upstream, const Caller& caller);
  static Performed fold(Raced<Result<Envelope>> raced, Delivery& delivery,
                        std::chrono::milliseconds limit);
  Async<void> note_late(std::shared_ptr<Delivery> delivery, SteadyTime begin,
                        Result<Envelope> given);

  // The second door.
  Async<Release> look_at(const Plan& plan, Envelope envelope, ResultContext context,
                         FailOpen& fail_open, std::stop_token cancel = {});
  Async<Ending> release(Trail& trail, Performed performed, const Upstream& upstream,
                        std::stop_token cancel);
  Async<void> pass_tool_text(Trail& trail, std::stop_token cancel);
  Answer answer_of(const Trail& trail, const Ending& ending) const;
  Task<Answer> finish(Trail& trail, Ending ending);
  void remember(Trail& trail, const Ending& ending) const;
  static void add_consent(Remembered& ended, const Consent& consent);
  std::vector<Event> closing_events(const Trail& trail, const Ending& ending,
                                    const ToolResult& result) const;
  // those of the host, then those of the policy
  std::vector<std::shared_ptr<const Sink>> sinks() const;
  Async<void> tell_sinks(Trail& trail, std::uint64_t sequence);
  Async<void> give_to_sinks(std::uint64_t sequence, const Subject& subject,
                            std::vector<Draft>& failed);
  Async<void> give_unheard(std::vector<Draft>& failed);
  Async<void> give(std::uint64_t sequence, Subject subject, std::vector<Draft>& failed);
  Async<void> note_failures(std::vector<Draft> failed);
  ResultContext context_of(const Trail& trail) const;
  std::string shown(std::string text) const;

  Parts parts_;
  Emitter emitter_;
  Escalations escalations_;
  Approvals approvals_;
  Idempotency idempotency_;
  Journal journal_;
  FailOpenLog fail_open_;
};

}  // namespace sallyport::core
