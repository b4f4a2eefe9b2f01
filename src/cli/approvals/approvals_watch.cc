// `approvals watch`: shows waiting questions as they come, on a screen with keys or as lines.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <csignal>
#include <map>

#include "base/json_members.h"
#include "base/try.h"
#include "base/visible_text.h"
#include "cli/approvals/watch_view.h"
#include "cli/common_options.h"
#include "cli/terminal/raw_terminal.h"
#include "core/approval/approval_request.h"
#include "core/plan/rule_text.h"
#include "ledger/read/store_reader.h"
#include "people/agent_ancestry.h"
#include "people/answer_limits.h"
#include "people/answering.h"
#include "people/approval_items.h"
#include "people/bound_inputs.h"
#include "terminal/output.h"
#include "workspace/ledger_bell.h"

namespace sallyport::app {

namespace {

struct ApprovalsWatchOptions {
  std::optional<std::string> kind;
  LoginOptions login;
};

constexpr std::chrono::milliseconds kLookAgain{500};

std::atomic<bool> stopped{false};  // a signal handler can reach nothing else

void stop_on_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { stopped = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
}

class Queue {
 public:
  Queue(const Context& context, const ApprovalsWatchOptions& options)
      : context_(context), kind_(options.kind) {}

  WallTime now() const { return clock_.wall(); }
  Result<std::vector<ApprovalItem>> pending() {
    SALLYPORT_CHECK_OK(open());
    SALLYPORT_TRY(std::vector<ApprovalItem> items,
                  approval_items(*records_, {.kind = kind_, .state = "pending"}, now()));
    for (ApprovalItem& item : items) {
      if (person_.empty()) break;
      // An input that this person may not see, or with a wrong binding, stays hidden and marked.
      (void)reveal(*records_, decrypt_with(*workspace_), person_, item);
    }
    return items;
  }
  // From now on shows redacted parts of the requests that this person may answer.
  void reveal_to(std::string person) { person_ = std::move(person); }
  Result<ApprovalItem> item(const std::string& id) {
    SALLYPORT_CHECK_OK(open());
    return approval_item(*records_, id, now());
  }
  // Call it before this process opens the ledger once more: closing one of two connections releases
  // the locks of both, and later writes of others would stay invisible.
  void close() {
    records_.reset();
    workspace_.reset();
  }

 private:
  Result<void> open() {
    if (records_) return {};
    SALLYPORT_TRY(workspace_, context_.open_reading());
    records_.emplace(workspace_->store());
    return {};
  }

  const Context& context_;
  std::optional<std::string> kind_;
  std::string person_;  // who has logged in; empty: no one
  SystemClock clock_;
  std::unique_ptr<Workspace> workspace_;
  std::optional<ledger::StoreReader> records_;
};

// ---- lines

class Lines {
 public:
  Lines(const Context& context, Queue& queue) : context_(context), queue_(queue) {}

  // Prints what is new since the last look.
  Result<void> look() {
    SALLYPORT_TRY(const std::vector<ApprovalItem> items, queue_.pending());
    std::map<std::string, std::size_t> now;
    for (const ApprovalItem& item : items) {
      const std::size_t yes = item.state.counted().size();
      now[item.id] = yes;
      const auto before = seen_.find(item.id);
      if (before == seen_.end()) {
        print("asked", item);
      } else if (before->second != yes) {
        print("answered", item);
      }
    }
    for (const auto& [id, yes] : seen_) {
      if (now.contains(id)) continue;
      SALLYPORT_TRY(const ApprovalItem item, queue_.item(id));
      print(to_string(item.status), item);
    }
    seen_ = std::move(now);
    return finish_output();
  }

 private:
  void print(std::string_view event, const ApprovalItem& item) const {
    const auto text = [&](std::string_view name) {
      return visible(text_in(item.request, name).value_or(""));
    };
    if (!context_.json()) {
      print_line(fmt::format("{} {:<9} {}  {} by {}, class {}, {} of {} said yes, binding {}",
                             rfc3339(queue_.now()).substr(0, 19) + "Z", event, item.id,
                             with_lookalikes(text("tool_name")), text("agent_id"), text("action"),
                             item.state.counted().size(), item.state.required,
                             text("binding").substr(7, 8)));
      if (event != "asked") return;
      for (const core::RuleLine& one : core::rule_lines(item.rules)) {
        print_line(fmt::format("    {:<8} {}", one.name, one.text));
      }
      return;
    }
    print_line(visible_json(canonical_json(json::object{{"event", event},
                                                        {"state", to_string(item.status)},
                                                        {"approvals", item.state.counted().size()},
                                                        {"request", item.request},
                                                        {"rules", item.rules}})));
  }

  const Context& context_;
  Queue& queue_;
  std::map<std::string, std::size_t> seen_;  // how many said yes, by id
};

Result<int> watch_lines(const Context& context, Queue& queue, LedgerBell& bell) {
  Lines lines(context, queue);
  while (!stopped) {
    // If the output is no longer read, the command ends without an error.
    if (!lines.look()) break;
    bell.wait(-1, kLookAgain);
  }
  return 0;
}

// ---- the screen

class WatchScreen {
 public:
  WatchScreen(const Context& context, const ApprovalsWatchOptions& options, Queue& queue,
              RawTerminal terminal)
      : context_(context), options_(options), queue_(queue), terminal_(std::move(terminal)) {}

  Result<int> run(LedgerBell& bell) {
    while (!stopped && !done_) {
      SALLYPORT_TRY(std::vector<ApprovalItem> items, queue_.pending());
      view_.take(std::move(items));
      if (!view_.chosen() || view_.chosen()->id != asked_) asked_.clear();
      terminal_.draw(view_.lines(terminal_.size(), context_.terminal, queue_.now()));
      if (!bell.wait(STDIN_FILENO, kLookAgain)) continue;
      const std::optional<std::string> key = terminal_.key();
      if (!key) break;
      take_key(*key);
    }
    return 0;
  }

 private:
  void take_key(const std::string& key) {
    if (!asked_.empty()) return take_confirmation(key);
    view_.set_message("");
    if (key == "q" || key == "\x04") done_ = true;
    if (key == "j" || key == "down") view_.move(1);
    if (key == "k" || key == "up") view_.move(-1);
    if (key == " " || key == "next") view_.turn_page(1);
    if (key == "b" || key == "back") view_.turn_page(-1);
    if (key == "f") view_.toggle_full();
    if (key == "a" || key == "d") begin_answer(key == "a");
    if (key == "r") (void)logged_in();
  }

  // The passphrase is asked once, when it is first needed.
  bool logged_in() {
    if (person_) return true;
    terminal_.leave();
    Result<Login> login = log_in(context_, options_.login, "approvals watch");
    terminal_.enter();
    if (!login) {
      view_.set_message(visible(login.error().message));
      return false;
    }
    queue_.reveal_to(login->name);
    person_.emplace(context_, std::move(*login));
    return true;
  }

  void begin_answer(bool yes) {
    const ApprovalItem* const item = view_.chosen();
    if (item == nullptr) return;
    if (yes && core::kind_of(item->request) == QuestionKind::Question) {
      return view_.set_message(
          fmt::format("answer it with `sallyport approvals answer {} --text TEXT`", item->id));
    }
    if (!logged_in()) return;
    queue_.close();
    const std::string binding = text_or_empty(item->request, "binding");
    asked_ = item->id;
    binding_ = binding;
    yes_ = yes;
    typed_.clear();
    // This person sees what is hidden, so only haste counts (AP-43).
    wanted_ = yes ? word_of_yes(person_->recent_approvals(), {}, binding) : "y";
    ask_on();
  }

  void ask_on() {
    const std::string_view verb = yes_ ? "approve" : "deny";
    view_.ask(wanted_ == "y" ? fmt::format("{} {}? y or n", verb, binding_.substr(7, 8))
                             : fmt::format("many approvals in a short time: type {} to {}: {}",
                                           wanted_, verb, typed_));
  }

  void take_confirmation(const std::string& key) {
    const bool goes_on = key.size() == 1 && wanted_[typed_.size()] == key[0];
    if (goes_on) typed_ += key;
    if (goes_on && typed_ != wanted_) return ask_on();
    if (goes_on) {
      give_answer();
    } else {
      view_.set_message("not answered");
    }
    asked_.clear();
    view_.ask("");
  }

  void give_answer() {
    queue_.close();
    const Reply::Kind kind = yes_ ? Reply::Kind::Approved : Reply::Kind::Denied;
    const Result<Answering::Recorded> given =
        person_->answer(asked_, {.kind = kind, .binding = binding_});
    if (!given) return view_.set_message(visible(given.error().message));
    view_.set_message(given->state.open()
                          ? fmt::format("{}: your yes is on record, {} of {}", asked_,
                                        given->state.counted().size(), given->state.required)
                          : fmt::format("{} {} by {}", asked_, to_string(given->state.status),
                                        visible(given->reply.by)));
  }

  const Context& context_;
  const ApprovalsWatchOptions& options_;
  Queue& queue_;
  RawTerminal terminal_;
  WatchView view_;
  std::optional<Answering> person_;
  std::string asked_;    // the question that the person is about to answer; empty: none
  std::string binding_;  // its binding, as shown
  std::string wanted_;
  std::string typed_;
  bool yes_ = false;
  bool done_ = false;
};

// The queue opens the ledger again, so this connection is closed (see `Queue::close`).
Result<void> await_ledger(const Context& context) {
  SALLYPORT_TRY([[maybe_unused]] const std::unique_ptr<Workspace> first,
                context.await_reading([] { return stopped.load(); }));
  return {};
}

Result<int> approvals_watch(const Context& context, const ApprovalsWatchOptions& options) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "approvals watch"));
  SALLYPORT_TRY(const std::filesystem::path folder, context.data_dir());
  stop_on_signals();
  const Result<void> there = await_ledger(context);
  if (stopped) return 0;
  SALLYPORT_CHECK_OK(there);
  Queue queue(context, options);
  SALLYPORT_CHECK_OK(queue.pending());
  LedgerBell bell(folder);
  if (context.json()) return watch_lines(context, queue, bell);
  Result<RawTerminal> terminal = RawTerminal::open();
  if (!terminal) return watch_lines(context, queue, bell);
  return WatchScreen(context, options, queue, std::move(*terminal)).run(bell);
}

const Command kApprovalsWatch("approvals watch",
                              "watch approval requests as they arrive, and answer them",
                              approvals_watch, [](Syntax& syntax, ApprovalsWatchOptions& options) {
                                syntax.text("--kind", options.kind, "only of this kind")
                                    .choices({"approval", "dual_control"});
                                login_options(syntax, options.login);
                              });

}  // namespace

}  // namespace sallyport::app
