// Measures the time from an approver's yes to the effect, across two processes: the delay that a
// client still sees after the approval.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <thread>

#include "base/try.h"
#include "bench/bench.h"
#include "bench/bench_ledger.h"
#include "core/call/governor.h"
#include "core/handoff/interrupted_call.h"
#include "core/record/journal.h"

namespace sallyport::bench {

namespace {

namespace asio = boost::asio;
using Nanoseconds = std::int64_t;

Nanoseconds now() {
  // One clock for all processes of a machine.
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

// Reports the time when it ran.
class Telling final : public core::Upstream {
 public:
  explicit Telling(int pipe) : pipe_(pipe) {}
  Task<Envelope> invoke(Call, std::shared_ptr<core::Delivery>, std::stop_token) override {
    const Nanoseconds at = now();
    if (::write(pipe_, &at, sizeof at) != sizeof at) std::_Exit(3);
    co_return Envelope::of(json::value("done"));
  }

 private:
  int pipe_;
};

struct Opened {
  SystemClock clock;
  SystemEntropy entropy;
  core::NoRedactor redactor;
  std::unique_ptr<store::SqliteStore> store;
  std::unique_ptr<ledger::Ledger> ledger;

  explicit Opened(const std::filesystem::path& folder) {
    auto opened = store::SqliteStore::open({.file = folder / "ledger.db"});
    SALLYPORT_INVARIANT(opened.has_value());
    store = std::move(*opened);
    auto started = ledger::Ledger::open({*store, redactor, clock, entropy, core::close_interrupted},
                                        {.data_folder = folder});
    SALLYPORT_INVARIANT(started.has_value());
    ledger = std::move(*started);
  }
};

template <class T>
Result<T> run_here(Task<T> task) {
  Result<T> answer = fail(ErrorCode::Internal, "no answer");
  asio::io_context loop(1);
  asio::co_spawn(loop, std::move(task), [&](const std::exception_ptr& thrown, Result<T> result) {
    if (!thrown) answer = std::move(result);
  });
  loop.run();
  return answer;
}

// The process that makes the calls, one after another.
[[noreturn]] void hold_calls(const std::filesystem::path& folder, int pipe, int count) {
  Opened opened(folder);
  const auto plan = core::PlanBuilder().build();
  SALLYPORT_INVARIANT(plan.has_value());
  const core::FixedPlan plans(*plan);
  core::Governor governor({plans, *opened.ledger, opened.redactor, opened.clock, opened.entropy,
                           opened.ledger->digest()});
  const auto tool = std::make_shared<Telling>(pipe);
  for (int i = 0; i < count; ++i) {
    const Call call{.agent_id = "agent:bench", .session_id = "s", .tool = "write", .input = i};
    if (!run_here(governor.run(call, tool))) std::_Exit(4);
  }
  std::_Exit(0);
}

// Returns an empty string if the calling process sends no approval request within ten seconds.
std::string next_question(ledger::Ledger& ledger) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    const auto facts = ledger.facts(core::kApprovalSpace);
    for (const core::Fact& fact : facts ? *facts : std::vector<core::Fact>{}) {
      const auto state = core::ApprovalState::parse(fact.value.value_or(""));
      if (state && state->open()) return fact.key;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

// Sends one byte to another thread and back: the cost of any wake-up on this machine now.
double wake_up_seconds(int count) {
  int there[2];
  int back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return 0;
  std::thread other([&] {
    char c = 0;
    while (::read(there[0], &c, 1) == 1 && ::write(back[1], &c, 1) == 1) {
    }
  });
  const double seconds = seconds_of([&] {
    for (int i = 0; i < count; ++i) {
      char c = 'x';
      if (::write(there[1], &c, 1) != 1 || ::read(back[0], &c, 1) != 1) return;
    }
  });
  ::close(there[1]);
  other.join();
  for (const int end : {there[0], back[0], back[1]}) ::close(end);
  return seconds / count / 2;
}

std::string in_ms(double seconds) {
  return fmt::format("{:.2f} ms", seconds * 1e3);
}

}  // namespace

void measure_approve(Report& report, bool quick) {
  const int count = quick ? 5 : 100;
  BenchLedger place(Keep::OnDisk);
  const std::filesystem::path folder = place.folder() / "approve";
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  int ends[2];
  if (pipe(ends) != 0) return;
  const pid_t holder = fork();
  if (holder == 0) hold_calls(folder, ends[1], count);
  ::close(ends[1]);
  std::vector<double> waits;
  {
    Opened opened(folder);
    core::Approvals approvals(*opened.ledger, opened.clock, opened.redactor);
    for (int i = 0; i < count; ++i) {
      const std::string id = next_question(*opened.ledger);
      if (id.empty()) break;
      // A calling process that has just sent its request may not wait yet.
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + (i * 7) % 40));
      const Nanoseconds asked = now();
      if (!run_here(approvals.answer(id, Reply::approve("user:bench")))) break;
      pollfd told{.fd = ends[0], .events = POLLIN, .revents = 0};
      Nanoseconds ran = 0;
      if (poll(&told, 1, 10'000) != 1 || ::read(ends[0], &ran, sizeof ran) != sizeof ran) break;
      waits.push_back(static_cast<double>(ran - asked) / 1e9);
    }
  }
  ::close(ends[0]);
  ::kill(holder, SIGKILL);  // a process that still has an open call would wait for an answer
  waitpid(holder, nullptr, 0);
  SALLYPORT_INVARIANT(waits.size() == static_cast<std::size_t>(count));
  std::ranges::sort(waits);
  const double least = fdatasync_seconds(place.folder(), quick ? 5 : 50) + wake_up_seconds(1000);
  const double median = waits[waits.size() / 2];
  report.section("A yes in one process, the effect in another");
  report.row("one fdatasync and one wake-up", in_ms(least));
  report.row("from the yes to the effect, median", in_ms(median),
             fmt::format("{:.1f} times that; goal: 50 ms", median / least));
  report.row("from the yes to the effect, 95 of 100", in_ms(waits[waits.size() * 95 / 100]));
}

}  // namespace sallyport::bench
