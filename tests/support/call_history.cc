#include "support/call_history.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

#include "core/turn/turns.h"
#include "support/call_history_story.h"

namespace sallyport::test {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr seconds kHandOffTime{60};
constexpr milliseconds kShortLimit{5};

struct Item {
  std::string name;
  Way way = Way::Held;
  std::vector<Call> calls;
};
using Batch = std::vector<Item>;

Call make_call(const Dice& dice, const std::string& name) {
  constexpr std::array kIds{"a", "a", "b", "c", ""};
  constexpr std::array kTools{"look", "fetch", "write", "write", "pay", "ship", "nothing"};
  Call call{.agent_id = "agent:a"};
  call.session_id = dice.once_in(4, {name, "session"}) ? "s-2" : "s-1";
  call.tool_call_id = kIds[dice.pick(kIds.size(), {name, "id"})];
  // Usually the same tool under the same id, so that calls are really repeated.
  const bool other = call.tool_call_id.empty() || dice.once_in(5, {name, "other tool"});
  call.tool = other ? kTools[dice.pick(kTools.size(), {name, "tool"})]
                    : kTools[dice.pick(kTools.size() - 1, {"tool of", call.tool_call_id})];
  call.input = json::object{{"n", dice.once_in(5, {name, "input"}) ? 2 : 1}};
  if (dice.once_in(6, {name, "limit"})) call.time_limit = kShortLimit;
  return call;
}

std::vector<Batch> make_script(const Dice& dice) {
  std::vector<Batch> script;
  const std::uint64_t wanted = 3 + dice.pick(6, {"calls"});
  for (std::uint64_t calls = 0, n = 0; calls < wanted; ++n) {
    const std::string name = fmt::format("item-{}", n);
    const std::uint64_t way = dice.pick(10, {name, "way"});
    Item item{.name = name};
    if (way >= 6) item.way = way < 8 ? Way::Turn : Way::HandedOff;
    const bool two = item.way != Way::Held && dice.once_in(3, {name, "two"});
    for (int i = 0; i < (two ? 2 : 1); ++i, ++calls) {
      item.calls.push_back(make_call(dice, fmt::format("{}-{}", name, i)));
      item.calls.back().session_id = item.calls.front().session_id;
    }
    if (script.empty() || script.back().size() == 3 || !dice.once_in(2, {name, "beside"})) {
      script.emplace_back();
    }
    script.back().push_back(std::move(item));
  }
  return script;
}

// The state that one process owns.
struct Process {
  Process(History& history, asio::io_context& loop, const std::string& instance)
      : ledger(history.disk, loop, instance),
        governor({history.plans, ledger, redactor, history.clock, history.entropy, KeyedDigest("k"),
                  make_hooks(history.around()), make_sinks(history.around()),
                  make_approver(history.around())}),
        continuations(ledger, ledger, KeyedDigest("k"), history.clock, history.entropy),
        hand_offs(governor, continuations),
        turns(governor, continuations, [this](const Call& call) { return tools.at(call.tool); }) {
    for (const ToolKind& kind : tool_kinds()) {
      tools[kind.name] = make_tool(kind, history.around(), ledger, history.relaxed);
    }
  }

  ModelLedger ledger;
  core::NoRedactor redactor;
  core::Governor governor;
  core::Continuations continuations;
  core::HandOffs hand_offs;
  // Shared, because an abandoned call keeps its tool.
  std::map<std::string, std::shared_ptr<core::Upstream>> tools;
  core::Turns turns;
};

// One or two processes from their start to their end, or to a power failure.
class Life {
 public:
  Life(History& history, unsigned number) : history_(history), number_(number) {
    const unsigned count = history.two_processes ? 2 : 1;
    for (unsigned i = 0; i < count; ++i) {
      processes_.push_back(
          std::make_unique<Process>(history, loop_, fmt::format("life-{}-{}", number, i)));
      Process& process = *processes_.back();
      process.ledger.on_written = [this, &process](const core::Draft& draft) {
        // An approver also sees a call that attached to an approval request of an earlier process.
        if (draft.outcome == "requires_confirmation" || is_join(draft)) {
          start(answer_question(process, draft.subject,
                                std::string(draft.body.at("approval_id").as_string())));
        }
      };
    }
  }

  bool survives() {
    start(lead());
    loop_.run();
    for (const auto& process : processes_) history_.disk.alive.erase(process->ledger.instance_id());
    if (history_.disk.died) return false;
    for (auto& [trace, call] : history_.presented) {
      if (of_this_life(call) && call.told) call.survived = true;
    }
    return started_;
  }

 private:
  bool of_this_life(const Presented& call) const {
    return call.instance.starts_with(fmt::format("life-{}-", number_));
  }

  void start(Async<void> work) {
    ++running_;
    asio::co_spawn(loop_, std::move(work), [this](const std::exception_ptr& thrown) {
      if (thrown) history_.complain("an exception came out of the Governor");
      --running_;
      idle_.cancel();
    });
  }

  Async<void> let_others_run(unsigned turns) {
    for (unsigned i = 0; i < turns; ++i) co_await asio::post(loop_, asio::use_awaitable);
  }

  // Waits until only `lead` itself runs.
  Async<void> all_others() {
    while (running_ > 1) {
      idle_.expires_at(asio::steady_timer::time_point::max());
      boost::system::error_code ignored;
      co_await idle_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
  }

  Async<void> lead() {
    for (const auto& process : processes_) {
      const std::size_t runs = history_.witness.runs.size();
      if (!co_await process->ledger.recover()) co_return;
      if (!co_await process->governor.start()) co_return;
      (void)co_await process->hand_offs.expire();
      if (history_.witness.runs.size() != runs) history_.complain("recovery executed something");
    }
    started_ = true;
    for (Batch& batch : make_script(history_.dice)) {
      for (Item& item : batch) present(std::move(item));
      co_await all_others();
      const bool probes = history_.dice.once_in(2, {"probe", std::to_string(history_.disk.writes)});
      if (probes) co_await write_what_is_owed(1);
    }
    if (history_.disk.fault.kind == Fault::Kind::None) co_await close_up();
    co_await write_what_is_owed(100);
  }

  Async<void> write_what_is_owed(unsigned tries) {
    for (const auto& process : processes_) {
      for (unsigned i = 0; i < tries && !process->ledger.ready(); ++i) {
        (void)co_await process->ledger.probe();
      }
    }
  }

  void present(Item item) {
    const std::size_t index = history_.dice.pick(processes_.size(), {item.name, "process"});
    Process& process = *processes_[index];
    for (std::size_t i = 0; i < item.calls.size(); ++i) {
      Call& call = item.calls[i];
      call.trace_id = fmt::format("t-{}-{}-{}", number_, item.name, i);
      history_.presented[call.trace_id] = {.session = call.session_id,
                                           .id = call.tool_call_id,
                                           .tool = call.tool,
                                           .input = canonical_json(call.input),
                                           .way = item.way,
                                           .instance = process.ledger.instance_id()};
    }
    std::stop_source caller;
    for (const Call& call : item.calls) history_.witness.callers[call.trace_id] = caller;
    if (history_.dice.once_in(12, {"cancelled before", item.name})) caller.request_stop();
    switch (item.way) {
      case Way::Held:
        return start(hold(process, std::move(item)));
      case Way::Turn:
        return start(take_turn(process, std::move(item)));
      case Way::HandedOff:
        return start(hand_out(process, std::move(item)));
    }
  }

  core::Caller caller_of(const Item& item) {
    return {.cancel = history_.witness.callers[item.calls[0].trace_id].get_token()};
  }

  void told(const Item& item) {
    for (const Call& call : item.calls) history_.presented[call.trace_id].told = true;
  }

  Async<void> hold(Process& process, Item item) {
    const Call& call = item.calls[0];
    const Result<Answer> answer =
        co_await process.governor.run(call, process.tools.at(call.tool), caller_of(item));
    told(item);
    if (!answer) co_return;
    check_answer(history_, *answer);
    if (answer->outcome.kind == Outcome::Kind::RequiresConfirmation) {
      if (history_.dice.once_in(3, {item.name, "twice"})) {
        start(go_on(process, item, *answer));
      }
      co_await go_on(process, std::move(item), *answer);
    }
  }

  // A call whose caller got an answer at once continues when an approver has decided.
  Async<void> go_on(Process& process, Item item, Answer asked) {
    Call call = item.calls[0];
    if (call.tool_call_id.empty()) call.tool_call_id = asked.call_id;
    call.call_id = asked.call_id;
    history_.presented[call.trace_id].waits = true;
    for (unsigned tries = 0; tries < 60; ++tries) {
      co_await let_others_run(3);
      const Result<Answer> answer =
          co_await process.governor.resume({.call = call,
                                            .approval_id = asked.approval_id,
                                            .prepared = asked.outcome.listen_context},
                                           process.tools.at(call.tool), caller_of(item));
      if (!answer && answer.error().cause == "already_resumed") co_return;
      // There is no decision yet, or the disk refused the write: the call still waits.
      if (!answer) continue;
      check_answer(history_, *answer);
      if (answer->outcome.kind == Outcome::Kind::RequiresConfirmation) {
        asked = *answer;
        continue;
      }
      history_.presented[call.trace_id].waits = false;
      co_return;
    }
  }

  static Continuation::Payload frame_of(const Item& item) {
    return {.session_id = item.calls[0].session_id, .turn = 1};
  }

  Async<void> take_turn(Process& process, Item item) {
    Result<core::Turns::Ended> ended =
        co_await process.turns.run(frame_of(item), item.calls, caller_of(item));
    told(item);
    if (ended) co_await follow(process, std::move(*ended), item.calls[0].session_id);
  }

  // Continues as often as the turn pauses. `close_up` ends the calls that still wait.
  Async<void> follow(Process& process, core::Turns::Ended ended, std::string session) {
    for (unsigned tries = 0; ended.paused && tries < 60; ++tries) {
      const Continuation continuation = *ended.paused;
      history_.paused[continuation.id] = {continuation, session, ended.approval_id};
      co_await let_others_run(3);
      Result<core::Turns::Ended> next =
          co_await process.turns.resume(continuation, session, ended.approval_id);
      if (!next && next.error().cause == "approval_pending") continue;
      history_.paused.erase(continuation.id);
      if (!next) co_return;
      ended = std::move(*next);
    }
  }

  Async<void> hand_out(Process& process, Item item) {
    Result<core::HandOffs::HandedOut> given = co_await process.hand_offs.hand_out(
        frame_of(item), item.calls, caller_of(item), kHandOffTime);
    told(item);
    if (!given) co_return;
    for (const Answer& answer : given->answered) check_answer(history_, answer);
    if (given->hand_off.tool_calls.empty()) co_return;
    check_handed_out(*given);
    const History::Handed handed{given->hand_off, item.calls[0].session_id};
    history_.handed.push_back(handed);
    const std::uint64_t choice = history_.dice.pick(6, {item.name, "submission"});
    if (choice == 0) co_return;
    if (choice == 1) co_await submit_without_results(process, handed);
    if (choice == 2) {
      start(submit(process, handed, "at the same time"));
    }
    co_await submit(process, handed, "first");
    if (choice >= 3) co_await submit(process, handed, choice == 3 ? "first" : "second");
  }

  // A client that has received a call may run it, so its intent must be on disk by now.
  void check_handed_out(const core::HandOffs::HandedOut& given) {
    for (const PendingCall& call : given.hand_off.tool_calls) {
      const bool found = std::ranges::any_of(history_.disk.entries, [&](const auto& entry) {
        return entry.draft.kind == core::Kind::Intent &&
               text_at(entry.draft, "/tool_call_id") == call.id;
      });
      if (!found) history_.complain("handed out without an intent: " + call.id);
    }
  }

  static Submission submission_of(const History::Handed& handed, const std::string& text) {
    Submission submission{.continuation = handed.hand_off.continuation};
    for (const PendingCall& call : handed.hand_off.tool_calls) {
      submission.results.push_back({call.id, {.success = true, .output = text}});
    }
    return submission;
  }

  Async<void> submit_without_results(Process& process, History::Handed handed) {
    const std::size_t entries = history_.disk.entries.size();
    Submission submission{.continuation = handed.hand_off.continuation};
    const auto answered = co_await process.hand_offs.submit(submission, handed.session);
    if (answered) history_.complain("a submission without results was taken");
    if (!answered && answered.error().cause == "missing_result" && processes_.size() == 1 &&
        running_ == 2 && history_.disk.entries.size() != entries) {
      history_.complain("a submission without results was recorded");
    }
  }

  Async<void> submit(Process& process, History::Handed handed, std::string text) {
    for (unsigned tries = 0; tries < 4; ++tries) {
      const auto answers =
          co_await process.hand_offs.submit(submission_of(handed, text), handed.session);
      if (answers) {
        for (const Answer& answer : *answers) check_answer(history_, answer);
        co_return;
      }
      if (answers.error().code != ErrorCode::Unavailable) co_return;
      co_await let_others_run(2);
    }
  }

  // An approver who sees the request. He answers it, or makes the caller give up.
  Async<void> answer_question(Process& process, Subject subject, std::string approval_id) {
    co_await let_others_run(40);
    const Dice& dice = history_.dice;
    const auto cancel = [&] { history_.witness.callers[subject.trace_id].request_stop(); };
    const auto state = process.governor.approvals().state(approval_id);
    if (!state || !*state || !(*state)->open()) co_return;
    const std::uint64_t choice = dice.pick(9, {"person", approval_id});
    if (choice == 0) co_return cancel();
    if (choice == 1) history_.plans.change(make_plan(history_.around(), "changed"));
    if (choice == 2) history_.clock.advance(kShortLimit * 2);
    if (choice == 3) start(reply(process, approval_id, Reply::deny("person:b", "no")));
    Reply answer = Reply::approve("person:a");
    if (choice == 4) answer = Reply::deny("person:a");
    co_await reply(process, approval_id, std::move(answer));
    const auto after = process.governor.approvals().state(approval_id);
    // The answer came too late: the waiting caller checks now, and not at its own deadline.
    if (after && *after && (*after)->open()) cancel();
  }

  Async<void> reply(Process& process, std::string approval_id, Reply answer) {
    for (unsigned tries = 0; tries < 60; ++tries) {
      const Result<void> said = co_await process.governor.approvals().answer(approval_id, answer);
      if (said || said.error().code != ErrorCode::Unavailable) co_return;
      co_await let_others_run(1);
    }
  }

  // The end of a history: every waiting call that can still be answered gets its answer.
  Async<void> close_up() {
    co_await write_what_is_owed(100);
    Process& process = *processes_.front();
    for (const auto& [id, pause] : std::exchange(history_.paused, {})) {
      co_await reply(process, pause.approval_id, Reply::approve("person:c"));
      auto ended = co_await process.turns.resume(pause.continuation, pause.session);
      if (ended) co_await follow(process, std::move(*ended), pause.session);
      co_await all_others();
    }
    for (const History::Handed& handed : history_.handed) {
      if (history_.dice.once_in(2, {"at last", handed.hand_off.continuation.id})) {
        co_await submit(process, handed, "at last");
      }
    }
    history_.clock.advance(kHandOffTime * 2);
    if (!co_await process.hand_offs.expire()) history_.complain("hand-offs cannot expire");
  }

  History& history_;
  unsigned number_;
  asio::io_context loop_{1};
  asio::steady_timer idle_{loop_};
  std::size_t running_ = 0;
  bool started_ = false;
  // Destroyed before the loop, so that work left on the loop is dropped without running.
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace

History::History(std::uint64_t seed)
    : dice(seed), entropy(seed), plans(make_plan(around(), "first")) {
  relaxed = plans.current()->durability() == core::IntentDurability::Relaxed;
  two_processes = dice.once_in(3, {"two processes"});
}

namespace {

// The next start, which may come at any time.
void close_what_is_left(History& history) {
  asio::io_context loop;
  ModelLedger ledger(history.disk, loop, "last");
  asio::co_spawn(loop, ledger.recover(), [](const std::exception_ptr&, const Result<void>&) {});
  loop.run();
}

}  // namespace

void play(History& history, Fault fault) {
  history.disk.fault = fault;
  for (unsigned life = 1; life < 20; ++life) {
    const bool last = history.disk.fault.kind == Fault::Kind::None;
    const bool survived = Life(history, life).survives();
    if (history.disk.died) {
      ++history.deaths;
      history.disk.died = false;
      history.disk.fault = {};
      if (history.deaths == 1 && history.dice.once_in(3, {"dies again"})) {
        history.disk.fault = {Fault::Kind::DiesAfter,
                              history.disk.writes + 1 + history.dice.pick(20, {"second death"})};
      }
      continue;
    }
    if (survived && last) return close_what_is_left(history);
    if (survived) history.disk.fault = {};
  }
  history.complain("no process came to its end");
}

}  // namespace sallyport::test
