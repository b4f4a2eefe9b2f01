// One governed call that waits for an approver, for tests of answers from another process.
//
//   held_call DIR --effects FILE [--policy FILE] [--suggest] [--text TEXT] [--within SECONDS]
//             [--twice] [--calls N] [--propose N] [--follow] [--answer NAME --seed N]
//             [--ask TEXT] [--trigger ID [--replay]]
//
// Prints `{"waiting":...}` before it makes the call, and the answer as one JSON line. The tool
// appends its input to FILE. `--suggest` proposes the call and then waits for the answer to the
// proposal. `--twice` makes the same call twice at once, `--calls` N different ones, each with its
// number in the input. `--propose` proposes N calls, reports that, and runs approved calls until
// nothing waits; `--follow` does only the latter. `--answer` is an approver: he says yes to all
// waiting requests, in random order, and no to every fourth number. `--ask` asks people TEXT
// instead of making a call. `--trigger` names the event that caused all this; `--replay` makes its
// dispatch again.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/entropy.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/approval/questions.h"
#include "core/call/governor.h"
#include "core/handoff/interrupted_call.h"
#include "core/record/journal.h"
#include "guards/redact/storage_redactor.h"
#include "ledger/ledger.h"
#include "ledger/secret/private_file.h"
#include "policy/policy.h"
#include "store/sqlite/sqlite_store.h"

namespace sallyport {
namespace {

namespace asio = boost::asio;

struct Arguments {
  std::filesystem::path folder;
  std::filesystem::path effects;
  std::filesystem::path policy;
  std::string text = "hi";
  std::chrono::seconds within{60};
  bool suggest = false;
  bool twice = false;
  int calls = 0;
  int propose = 0;
  bool follow = false;
  std::string answer;
  unsigned seed = 0;
  std::string ask;
  std::string trigger;
  bool replay = false;
};

void say(const json::object& object) {
  const std::string line = canonical_json(object) + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::_Exit(3);
}

class Writer final : public core::Upstream {
 public:
  explicit Writer(const std::filesystem::path& file)
      : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
  ~Writer() override { ::close(file_); }

  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery>, std::stop_token) override {
    const std::string line = canonical_json(call.input) + "\n";
    if (::write(file_, line.data(), line.size()) < 0) std::_Exit(3);
    co_return Envelope::of(json::value("written"));
  }
  std::string definition() const override { return "sha256:" + std::string(64, '2'); }

 private:
  int file_;
};

Call the_call(const Arguments& arguments, int number) {
  return {.tool_call_id = fmt::format("toolu_{}_{}", getpid(), number),
          .agent_id = "agent:deploy-bot",
          .session_id = "s-1",
          .server = "fs",
          .tool = "write_file",
          .input = {{"path", "/srv/app/a.txt"}, {"text", arguments.text}},
          .trigger_id = arguments.trigger};
}

void tell(const Result<Answer>& answer) {
  if (!answer) return say({{"error", answer.error().message}, {"cause", answer.error().cause}});
  say({{"outcome", to_string(answer->outcome.kind)},
       {"text", answer->outcome.text},
       {"success", answer->result.success},
       {"output", answer->result.output},
       {"call_id", answer->call_id},
       {"approval_id", answer->approval_id}});
}

void tell_words(const Result<HumanAnswer>& answer) {
  if (!answer) return say({{"error", answer.error().message}, {"cause", answer.error().cause}});
  constexpr const char* kWords[] = {"answered", "refused", "expired", "cancelled", "waiting"};
  say({{"answer", kWords[static_cast<int>(answer->kind)]},
       {"request_id", answer->request_id},
       {"text", answer->text},
       {"by", answer->by}});
}

HumanQuestion the_question(const Arguments& arguments) {
  return {.agent_id = "agent:deploy-bot",
          .session_id = "s-1",
          .text = arguments.ask,
          .trigger_id = arguments.trigger};
}

Async<void> ask_people(core::Questions& questions, Arguments arguments) {
  Result<std::string> id = co_await questions.ask(the_question(arguments));
  if (!id) co_return tell_words(std::unexpected(id.error()));
  tell_words(co_await questions.wait(std::move(*id), {}));
}

Async<void> replay_all(core::Governor& governor, core::Questions& questions,
                       std::shared_ptr<core::Upstream> tool, Arguments arguments) {
  core::ReplayCount count(arguments.trigger);
  if (!arguments.ask.empty())
    co_return tell_words(questions.recall(the_question(arguments), count));
  tell(co_await governor.replay(the_call(arguments, 0), std::move(tool), count));
}

Async<void> make_call(core::Governor& governor, std::shared_ptr<core::Upstream> tool, Call call) {
  tell(co_await governor.run(std::move(call), std::move(tool)));
}

Call numbered_call(const Arguments& arguments, int number) {
  Call call = the_call(arguments, number);
  call.input.as_object()["number"] = number;
  return call;
}

// Runs so many calls at once.
void make_calls(const boost::asio::any_io_executor& executor, core::Governor& governor,
                std::shared_ptr<core::Upstream> tool, const Arguments& arguments) {
  for (int number = 0; number < arguments.calls; ++number) {
    asio::co_spawn(executor,
                   make_call(governor, tool, numbered_call(arguments, arguments.propose + number)),
                   [](const std::exception_ptr& thrown) {
                     if (thrown) std::_Exit(4);
                   });
  }
}

Async<void> pause(std::chrono::milliseconds time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

// Requests without an answer, and requests whose approval has not been used.
std::vector<std::string> questions(core::RecordReader& records, bool only_open) {
  std::vector<std::string> ids;
  const auto all = records.facts(core::kApprovalSpace);
  if (!all) return ids;
  for (const core::Fact& fact : *all) {
    const auto state = core::ApprovalState::parse(fact.value.value_or(""));
    if (!state) continue;
    if (state->open() || (!only_open && state->status == core::ApprovalStatus::Approved))
      ids.push_back(fact.key);
  }
  return ids;
}

Async<void> propose_and_follow(core::Governor& governor, core::RecordReader& records,
                               std::shared_ptr<core::Upstream> tool, Arguments arguments) {
  core::Caller leaves{.holds = false};
  for (int number = 0; number < arguments.propose; ++number) {
    const auto asked = co_await governor.run(numbered_call(arguments, number), tool, leaves);
    if (!asked) co_return tell(std::unexpected(asked.error()));
  }
  make_calls(co_await asio::this_coro::executor, governor, tool, arguments);
  while (arguments.propose > 0 &&
         std::ssize(questions(records, true)) < arguments.propose + arguments.calls) {
    co_await pause(std::chrono::milliseconds(20));
  }
  say({{"proposed", arguments.propose}});
  do {
    const auto answers = co_await governor.run_answered([&](const Call&) { return tool; });
    if (!answers) tell(std::unexpected(answers.error()));
    co_await pause(std::chrono::milliseconds(20));
  } while (!questions(records, false).empty());
  say({{"done", true}});
}

bool says_yes(core::RecordReader& records, const std::string& id) {
  const auto entry = core::request_entry(records, id);
  if (!entry) return false;
  const json::object request = core::request_of(*entry);
  return request.at("args").at(0).at("number").to_number<int>() % 4 != 0;
}

Async<void> answer_all(core::Governor& governor, core::RecordReader& records, Arguments arguments) {
  std::mt19937 random(arguments.seed);
  std::set<std::string> said_before;
  for (std::vector<std::string> open = questions(records, true); !open.empty();
       open = questions(records, true)) {
    std::ranges::shuffle(open, random);
    for (const std::string& id : open) {
      if (said_before.contains(id)) continue;
      Reply reply = says_yes(records, id) ? Reply::approve(arguments.answer)
                                          : Reply::deny(arguments.answer, "no");
      reply.door = "test";
      const auto said = co_await governor.approvals().answer(id, std::move(reply));
      if (said || said.error().code == ErrorCode::Conflict) said_before.insert(id);
    }
    co_await pause(std::chrono::milliseconds(20));
  }
  say({{"done", true}});
}

Async<void> follow_proposal(core::Governor& governor, std::shared_ptr<core::Upstream> tool,
                            Arguments arguments) {
  co_await make_call(governor, tool, the_call(arguments, 0));
  const auto until = std::chrono::steady_clock::now() + arguments.within;
  while (std::chrono::steady_clock::now() < until) {
    const auto answers = co_await governor.run_answered([&](const Call&) { return tool; });
    if (!answers) co_return tell(std::unexpected(answers.error()));
    for (const Answer& answer : *answers) tell(answer);
    if (!answers->empty()) co_return;
    asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(50));
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

Async<void> work(core::Governor& governor, core::Questions& people, core::RecordReader& records,
                 std::shared_ptr<core::Upstream> tool, Arguments arguments) {
  const Result<void> started = co_await governor.start();
  if (!started) co_return tell(std::unexpected(started.error()));
  say({{"waiting", static_cast<std::int64_t>(getpid())}});
  if (arguments.replay) co_return co_await replay_all(governor, people, tool, arguments);
  if (!arguments.ask.empty()) co_return co_await ask_people(people, arguments);
  if (arguments.suggest) co_return co_await follow_proposal(governor, tool, arguments);
  const auto executor = co_await asio::this_coro::executor;
  if (!arguments.answer.empty()) co_return co_await answer_all(governor, records, arguments);
  if (arguments.propose > 0 || arguments.follow) {
    co_return co_await propose_and_follow(governor, records, tool, arguments);
  }
  if (arguments.calls > 0) co_return make_calls(executor, governor, tool, arguments);
  if (arguments.twice) {
    asio::co_spawn(executor, make_call(governor, tool, the_call(arguments, 1)),
                   [](const std::exception_ptr& thrown) {
                     if (thrown) std::_Exit(4);
                   });
  }
  co_await make_call(governor, tool, the_call(arguments, 0));
}

Result<std::shared_ptr<const core::Plan>> make_plan(const Arguments& arguments, const Clock& clock,
                                                    Entropy& entropy) {
  core::PlanBuilder plan;
  plan.tool("", "write_file", {Tier::Confirm, "fs.write", ""})
      .autonomy(arguments.suggest ? Autonomy::Suggest : Autonomy::ActWithApproval)
      .approval_time(arguments.within);
  if (!arguments.policy.empty()) {
    SALLYPORT_TRY(const policy::Policy policy, policy::load_policy(arguments.policy));
    SALLYPORT_CHECK_OK(policy::add_to_plan(plan, policy, nullptr, {clock, entropy, "k"}));
    // As in an engine: the program's tiers apply if the policy defines none.
    if (!policy.autonomy) plan.autonomy_rules(nullptr);
  }
  return plan.build();
}

Result<void> run(const Arguments& arguments) {
  const SystemClock clock;
  SystemEntropy entropy;
  SALLYPORT_TRY(const auto detectors, guards::Detectors::build());
  const guards::StorageRedactor redactor(detectors);
  SALLYPORT_CHECK_OK(ledger::make_private_folder(arguments.folder));
  SALLYPORT_TRY(const auto store,
                store::SqliteStore::open({.file = arguments.folder / "ledger.db"}));
  SALLYPORT_TRY(const auto ledger,
                ledger::Ledger::open({*store, redactor, clock, entropy, core::close_interrupted},
                                     {.data_folder = arguments.folder}));
  SALLYPORT_TRY(const auto plan, make_plan(arguments, clock, entropy));
  const core::FixedPlan plans(plan);
  core::Governor governor({.plans = plans,
                           .recorder = *ledger,
                           .redactor = redactor,
                           .clock = clock,
                           .entropy = entropy,
                           .digest = ledger->digest()});
  core::Questions people({plans, *ledger, clock, entropy, governor.approvals()});
  asio::io_context loop(1);
  asio::co_spawn(
      loop, work(governor, people, *ledger, std::make_shared<Writer>(arguments.effects), arguments),
      [](const std::exception_ptr& thrown) {
        if (thrown) std::_Exit(4);
      });
  loop.run();
  return {};
}

std::optional<Arguments> read_arguments(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    if (word == "--suggest") {
      arguments.suggest = true;
    } else if (word == "--twice") {
      arguments.twice = true;
    } else if (word == "--replay") {
      arguments.replay = true;
    } else if (word == "--follow") {
      arguments.follow = true;
    } else if (!word.starts_with("--")) {
      arguments.folder = word;
    } else if (++i < words.size()) {
      if (word == "--effects") arguments.effects = next;
      if (word == "--policy") arguments.policy = next;
      if (word == "--text") arguments.text = next;
      if (word == "--calls") arguments.calls = std::stoi(next);
      if (word == "--propose") arguments.propose = std::stoi(next);
      if (word == "--ask") arguments.ask = next;
      if (word == "--trigger") arguments.trigger = next;
      if (word == "--answer") arguments.answer = next;
      if (word == "--seed") arguments.seed = static_cast<unsigned>(std::stoul(next));
      if (word == "--within") arguments.within = std::chrono::seconds(std::stoi(next));
    }
  }
  if (arguments.folder.empty() || arguments.effects.empty()) return std::nullopt;
  return arguments;
}

}  // namespace
}  // namespace sallyport

int main(int argc, char** argv) {
  const auto arguments = sallyport::read_arguments({argv + 1, argv + argc});
  if (!arguments) return 64;
  const sallyport::Result<void> ran = sallyport::run(*arguments);
  if (ran) return 0;
  sallyport::say({{"error", ran.error().message}});
  return 2;
}
