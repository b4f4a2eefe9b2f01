// Mixed traffic through a real Governor on a real ledger, for tests that kill it at any moment.
//
//   call_traffic DIR --effects FILE --round R --seed S   runs until killed, or `--count` calls
//   call_traffic DIR --recover                           starts, closes open calls, ends
//   call_traffic DIR --dump                              prints every entry, one JSON object a
//                                                        line
//
// Each answer is printed after it was received. A tool with a side effect appends `call_id
// tool_call_id` to FILE, synced, before it answers. The id of a call determines the whole call, so
// that processes and rounds repeat each other's calls.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "base/entropy.h"
#include "base/try.h"
#include "core/call/governor.h"
#include "core/handoff/interrupted_call.h"
#include "core/record/journal.h"
#include "guards/redact/storage_redactor.h"
#include "ledger/ledger.h"
#include "ledger/read/stored_entry.h"
#include "ledger/secret/private_file.h"
#include "store/sqlite/sqlite_store.h"

namespace sallyport {
namespace {

namespace asio = boost::asio;

struct Arguments {
  std::filesystem::path folder;
  std::filesystem::path effects;
  std::string mode = "run";
  std::map<std::string, std::uint64_t> numbers{
      {"threads", 4}, {"count", 0}, {"round", 0}, {"seed", 1}};
};

// Each line is one call of write(2), so that printed lines survive a kill of the process.
void say(const json::object& object) {
  const std::string line = canonical_json(object) + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::_Exit(3);
}

int complain(const Error& error) {
  say({{"ok", false}, {"cause", error.cause}, {"message", error.message}});
  return 2;
}

// The number in an id such as `call-17`; it determines the whole call.
std::uint64_t number_of(const std::string& tool_call_id) {
  return std::strtoull(tool_call_id.c_str() + tool_call_id.find('-') + 1, nullptr, 10);
}

class EffectJournal {
 public:
  explicit EffectJournal(const std::filesystem::path& file)
      : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}

  void add(const Call& call) const {
    const std::string line = call.call_id + " " + call.tool_call_id + "\n";
    if (::write(file_, line.data(), line.size()) < 0 || ::fsync(file_) != 0) std::_Exit(3);
  }

 private:
  int file_;
};

class Tool final : public core::Upstream {
 public:
  explicit Tool(const EffectJournal& effects) : effects_(effects) {}

  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery>, std::stop_token) override {
    if (call.tool != "read") effects_.add(call);
    const std::uint64_t number = number_of(call.tool_call_id);
    if (number % 37 == 5) co_await wait_long();
    if (call.tool == "fail") co_return Envelope::error("no such thing");
    if (number % 41 == 6) co_return fail(ErrorCode::Unavailable, "nobody there");
    if (number % 43 == 7) throw std::runtime_error("thrown by a tool");
    co_return Envelope::of(json::value("did " + call.tool_call_id + " for " + call.call_id));
  }

 private:
  static Async<void> wait_long() {
    asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::minutes(1));
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }

  const EffectJournal& effects_;
};

// Without digits, which the redactor may take for personal data.
std::string in_letters(std::string text) {
  for (char& letter : text) {
    if (letter >= '0' && letter <= '9') letter = static_cast<char>('g' + (letter - '0'));
  }
  return text;
}

class SomeDenied final : public core::Guard {
 public:
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const core::GuardContext&) const override {
    Verdict verdict;
    if (number_of(call.tool_call_id) % 11 == 3) verdict = Verdict::deny("not this number");
    verdict.evidence = json::object{{"of", in_letters(call.call_id)}};
    co_return verdict;
  }

 private:
  core::GuardTraits traits_{.name = "numbers"};
};

class SomeMasked final : public core::ResultGuard {
 public:
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Envelope& result, const ResultContext& context) const override {
    const std::uint64_t number = number_of(context.call->tool_call_id);
    if (number % 17 == 4) co_return Verdict::deny("withheld");
    if (number % 7 != 2 || result.kind != Envelope::Kind::Value) co_return Verdict::allow();
    co_return Verdict::rewrite(
        Envelope::of(json::value("masked for " + context.call->call_id)).to_json());
  }

 private:
  core::GuardTraits traits_{.name = "masks"};
};

class SomeApproved final : public core::Approver {
 public:
  Task<Reply> answer(Question question) const override {
    const bool no = number_of(question.tool_call_id) % 9 == 8;
    co_return no ? Reply::deny("program:approver", "no") : Reply::approve("program:approver");
  }
};

Result<std::shared_ptr<const core::Plan>> make_plan() {
  return core::PlanBuilder()
      .tool("", "read", {Tier::Observe, "none", ""})
      .tool("", "fetch", {Tier::Observe, "network", ""})
      .tool("", "write", {Tier::Confirm, "write", ""})
      .tool("", "fail", {Tier::Observe, "network", ""})
      .guard(std::make_shared<SomeDenied>())
      .result_guard(std::make_shared<SomeMasked>())
      .autonomy(Autonomy::ActWithApproval)
      .time_limit(std::chrono::milliseconds(30))
      .build();
}

Call make_call(std::uint64_t number, bool other_input) {
  constexpr std::array kTools{"read", "write", "fetch", "read", "fail", "fetch"};
  return {.tool_call_id = fmt::format("call-{}", number),
          .agent_id = "agent:traffic",
          .session_id = fmt::format("session-{}", number % 3),
          .tool = kTools[number % kTools.size()],
          .input = {{"n", number + (other_input ? 1 : 0)}, {"password", "hunter2-hunter2"}}};
}

Async<void> make_calls(core::Governor& governor, const Arguments& arguments,
                       std::shared_ptr<core::Upstream> tool, std::uint64_t thread) {
  constexpr std::uint64_t kNew = 60;  // ids that come up in one round for the first time
  std::mt19937_64 chance(arguments.numbers.at("seed") * 100 + thread);
  const std::uint64_t round = arguments.numbers.at("round");
  const std::uint64_t count = arguments.numbers.at("count");
  for (std::uint64_t n = 0; count == 0 || n < count; ++n) {
    const bool again = round > 0 && chance() % 5 == 0;
    const std::uint64_t number = again ? chance() % (round * kNew) : round * kNew + chance() % kNew;
    Call call = make_call(number, chance() % 12 == 0);
    const std::string id = call.tool_call_id;
    const Result<Answer> answer = co_await governor.run(std::move(call), tool);
    if (!answer) {
      say({{"error", answer.error().message}, {"tool_call_id", id}});
      continue;
    }
    say({{"call_id", answer->call_id},
         {"tool_call_id", id},
         {"kind", to_string(answer->outcome.kind)},
         {"success", answer->result.success},
         {"output", answer->result.output},
         {"sequence", answer->sequence}});
  }
}

Task<void> start_governor(core::Governor& governor) {
  co_return co_await governor.start();
}

int run_threads(core::Governor& governor, const Arguments& arguments) {
  const EffectJournal effects(arguments.effects);
  const auto tool = std::make_shared<Tool>(effects);
  std::atomic<int> failed = 0;
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 0; i < arguments.numbers.at("threads"); ++i) {
    threads.emplace_back([&, i] {
      asio::io_context loop(1);
      asio::co_spawn(loop, make_calls(governor, arguments, tool, i),
                     [&](const std::exception_ptr& thrown) {
                       if (thrown) failed = 4;
                     });
      loop.run();
    });
  }
  threads.clear();
  return failed;
}

int work(const Arguments& arguments) {
  const SystemClock clock;
  SystemEntropy entropy;
  const auto detectors = guards::Detectors::build();
  if (!detectors) return complain(detectors.error());
  const guards::StorageRedactor redactor(*detectors);
  if (auto made = ledger::make_private_folder(arguments.folder); !made) {
    return complain(made.error());
  }
  auto store = store::SqliteStore::open({.file = arguments.folder / "ledger.db"});
  if (!store) return complain(store.error());
  auto ledger = ledger::Ledger::open({**store, redactor, clock, entropy, core::close_interrupted},
                                     {.data_folder = arguments.folder, .in_place = true});
  if (!ledger) return complain(ledger.error());
  const auto plan = make_plan();
  if (!plan) return complain(plan.error());
  const core::FixedPlan plans(*plan);
  core::Governor governor({.plans = plans,
                           .recorder = **ledger,
                           .redactor = redactor,
                           .clock = clock,
                           .entropy = entropy,
                           .digest = (*ledger)->digest(),
                           .approver = std::make_shared<SomeApproved>()});
  asio::io_context loop(1);
  Result<void> started = fail(ErrorCode::Internal, "it never began");
  asio::co_spawn(loop, start_governor(governor),
                 [&](const std::exception_ptr&, Result<void> result) { started = result; });
  loop.run();
  if (!started) return complain(started.error());
  return arguments.mode == "recover" ? 0 : run_threads(governor, arguments);
}

int dump(const Arguments& arguments) {
  auto store = store::SqliteStore::open(
      {.file = arguments.folder / "ledger.db", .mode = store::SqliteStore::Mode::ReadOnly});
  if (!store) return complain(store.error());
  const Result<void> dumped = (*store)->read([](ledger::ReadView& view) {
    return view.scan(0, INT64_MAX, [](const ledger::StoredEntry& stored) -> Result<bool> {
      SALLYPORT_TRY(const json::object entry, ledger::opened_entry(stored));
      std::cout << json::serialize(entry) << '\n';
      return true;
    });
  });
  return dumped ? 0 : complain(dumped.error());
}

int run(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = values[i];
    const auto number = arguments.numbers.find(word.starts_with("--") ? word.substr(2) : "");
    if (number != arguments.numbers.end() && i + 1 < count) {
      number->second = std::strtoull(values[++i], nullptr, 10);
    } else if (word == "--effects" && i + 1 < count) {
      arguments.effects = values[++i];
    } else if (word == "--recover" || word == "--dump") {
      arguments.mode = word.substr(2);
    } else {
      arguments.folder = word;
    }
  }
  if (arguments.folder.empty() || (arguments.mode == "run" && arguments.effects.empty())) {
    std::cerr << "usage: call_traffic DIR [--recover|--dump] [--effects FILE] [--round R] "
                 "[--seed S] [--threads K] [--count N]\n";
    return 64;
  }
  return arguments.mode == "dump" ? dump(arguments) : work(arguments);
}

}  // namespace
}  // namespace sallyport

int main(int count, char** values) {
  return sallyport::run(count, values);
}
