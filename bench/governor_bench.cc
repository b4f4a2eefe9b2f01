#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <numeric>

#include "base/try.h"
#include "bench/bench.h"
#include "bench/bench_ledger.h"
#include "core/call/governor.h"
#include "policy/policy.h"

namespace sallyport::bench {

namespace {

class AllowingGuard final : public core::Guard {
 public:
  explicit AllowingGuard(int n) { traits_.name = fmt::format("guard-{}", n); }
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const core::GuardContext&) const override {
    co_return call.tool.empty() ? Verdict::deny("no tool") : Verdict::allow();
  }

 private:
  core::GuardTraits traits_;
};

class AllowingResultGuard final : public core::ResultGuard {
 public:
  explicit AllowingResultGuard(int n) { traits_.name = fmt::format("result-guard-{}", n); }
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Envelope&, const ResultContext&) const override {
    co_return Verdict::allow();
  }

 private:
  core::GuardTraits traits_;
};

class EchoUpstream final : public core::Upstream {
 public:
  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery>, std::stop_token) override {
    co_return Envelope::of(std::move(call.input));
  }
};

// Accepts every draft and discards it, so that only the Governor's own work is measured. Like every
// store it answers in a later turn of the loop.
class ForgettingRecorder final : public core::Recorder {
 public:
  using core::Recorder::append;
  Task<std::vector<core::Position>> append(std::vector<core::Draft> drafts, core::Urgency,
                                           std::vector<core::Fact>) override {
    co_await boost::asio::post(co_await boost::asio::this_coro::executor,
                               boost::asio::use_awaitable);
    co_return std::vector<core::Position>(drafts.size());
  }
  void owe(std::vector<core::Draft>) override {}
  Result<void> ready() const override { return {}; }
  Result<std::optional<std::string>> fact(std::string_view, std::string_view) override {
    return std::nullopt;
  }
  Result<std::vector<core::Fact>> facts(std::string_view) override {
    return std::vector<core::Fact>{};
  }
  Result<json::object> entry(std::uint64_t) override { return json::object{}; }
  const std::string& instance_id() const override { return instance_; }
  bool alive(const std::string&) const override { return true; }
  std::string encrypt(std::string_view text) override { return std::string(text); }
  Result<std::string> decrypt(std::string_view sealed) const override {
    return std::string(sealed);
  }

 private:
  std::string instance_ = "bench";
};

class ListeningHook final : public core::EventHook {
 public:
  explicit ListeningHook(int n) : name_(fmt::format("hook-{}", n)) {}
  const std::string& name() const override { return name_; }
  Task<core::HookRows> on_event(const Event&, const Subject&) const override {
    co_return core::HookRows{};
  }

 private:
  std::string name_;
};

struct Load {
  int guards = 8;
  int result_guards = 3;
  int hooks = 0;
  const char* tool = "read_file";
  core::IntentDurability durability = core::IntentDurability::Effect;
  const char* policy = nullptr;  // the lines that it adds to `version: 1`
};

void add_policy(core::PlanBuilder& plan, const std::string& text, const Clock& clock,
                Entropy& entropy) {
  const auto policy = policy::read_policy("version: 1\n" + text, "bench");
  SALLYPORT_INVARIANT(policy.has_value());
  SALLYPORT_INVARIANT(policy::add_to_plan(plan, *policy, *policy::compile_guardrails(*policy, 1),
                                          {clock, entropy, "key"}));
}

// If `each` is given, the seconds of every call are appended to it.
double call_seconds(core::Recorder& recorder, const Load& load, std::size_t count,
                    std::size_t callers, std::vector<double>* each = nullptr) {
  core::PlanBuilder builder;
  builder.autonomy(Autonomy::ActAuto)
      .durability(load.durability)
      .tool("", "read_file", {Tier::Observe, "none"})
      .tool("", "write_file", {Tier::Confirm, "fs.write"});
  for (int i = 0; i < load.guards; ++i) builder.guard(std::make_shared<AllowingGuard>(i));
  for (int i = 0; i < load.result_guards; ++i)
    builder.result_guard(std::make_shared<AllowingResultGuard>(i));
  SystemClock clock;
  SystemEntropy entropy;
  if (load.policy != nullptr) add_policy(builder, load.policy, clock, entropy);
  const core::FixedPlan plans(*builder.build());
  const core::NoRedactor redactor;
  core::HookRegistry hooks;
  for (int i = 0; i < load.hooks; ++i) {
    SALLYPORT_INVARIANT(hooks.with_hook(std::make_shared<ListeningHook>(i)));
  }
  core::Governor governor(
      {plans, recorder, redactor, clock, entropy, KeyedDigest("bench"), std::move(hooks)});
  const auto upstream = std::make_shared<EchoUpstream>();
  boost::asio::io_context loop;
  // It outlives its coroutines, because the loop ends first.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const auto work = [&](std::size_t calls) -> Async<void> {
    for (std::size_t i = 0; i < calls; ++i) {
      Call call{.agent_id = "agent:a",
                .session_id = "s",
                .tool = load.tool,
                .input = {{"path", "/srv/data/report.txt"}, {"offset", i}}};
      const auto begin = std::chrono::steady_clock::now();
      const auto answer = co_await governor.run(std::move(call), upstream);
      if (!answer) fmt::print(stderr, "{}\n", answer.error().message);
      SALLYPORT_INVARIANT(answer && answer->result.success);
      if (each == nullptr) continue;
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      each->push_back(took.count());
    }
  };
  for (std::size_t i = 0; i < callers; ++i) {
    boost::asio::co_spawn(loop, work(count / callers),
                          [](std::exception_ptr thrown) { SALLYPORT_INVARIANT(!thrown); });
  }
  return seconds_of([&] { loop.run(); }) / static_cast<double>(count);
}

// GR-1. The variants run in turns and the best time of each counts, because slow periods are longer
// than a turn. Processor time is measured, so other programs do not affect it.
void measure_empty_guardrails(Report& report, core::Recorder& recorder, std::size_t count) {
  const std::pair<const char*, const char*> documents[] = {
      {"a policy without guardrails", ""},
      {"guardrails: {}", "guardrails: {}"},
      {"guardrails: {checks: []}", "guardrails: {checks: []}"},
      {"one check of tool_use and one of tool_output",
       "guardrails: {checks: [{type: blocklist, stage: tool_use, words: [nightingale]}, {type: "
       "blocklist, stage: tool_output, words: [nightingale]}]}"}};
  std::array<double, std::size(documents)> best;
  best.fill(1e9);
  const std::size_t calls = count / 5;
  for (int turn = 0; turn < 9; ++turn) {
    for (std::size_t i = 0; i < std::size(documents); ++i) {
      const Load load{.guards = 0, .result_guards = 0, .policy = documents[i].second};
      const double used =
          processor_seconds_of([&] { (void)call_seconds(recorder, load, calls, 1); });
      best[i] = std::min(best[i], used / static_cast<double>(calls));
    }
  }
  for (std::size_t i = 0; i < std::size(documents); ++i) {
    report.row(documents[i].first, fmt::format("{:.2f} us", best[i] * 1e6),
               fmt::format("{:.3f} of the call without", best[i] / best[0]));
  }
}

}  // namespace

void measure_governor(Report& report, bool quick) {
  report.section("Governor, one call from front to answer");
  const std::size_t count = quick ? 2000 : 50000;
  ForgettingRecorder nowhere;
  const double bare = call_seconds(nowhere, {.guards = 0, .result_guards = 0}, count, 1);
  const double full = call_seconds(nowhere, {}, count, 1);
  report.row("no guards, nothing stored", fmt::format("{:.1f} us", bare * 1e6));
  report.row("8 guards and 3 result guards, nothing stored", fmt::format("{:.1f} us", full * 1e6),
             fmt::format("{:.2f} of the bare call", full / bare));
  const double heard = call_seconds(nowhere, {.hooks = 3}, count, 1);
  report.row("and 3 event hooks", fmt::format("{:.1f} us", heard * 1e6),
             fmt::format("{:.2f} of the bare call", heard / bare));
  measure_empty_guardrails(report, nowhere, count);
  BenchLedger memory(Keep::InMemory);
  report.row("the same with an in-memory ledger, 1 caller",
             fmt::format("{:.1f} us", call_seconds(memory.ledger(), {}, count / 10, 1) * 1e6));
  report.row("the same with an in-memory ledger, 256 callers",
             fmt::format("{:.1f} us", call_seconds(memory.ledger(), {}, count, 256) * 1e6));
}

double effect_seconds(core::Recorder& recorder, std::size_t count) {
  return call_seconds(recorder, {.guards = 0, .result_guards = 0, .tool = "write_file"}, count, 1);
}

void run_calls(std::size_t count, const std::string& where, const std::string& tool,
               std::size_t callers) {
  ForgettingRecorder nowhere;
  std::unique_ptr<BenchLedger> stored;
  if (where == "disk" || where == "memory") {
    stored = std::make_unique<BenchLedger>(where == "disk" ? Keep::OnDisk : Keep::InMemory);
  }
  core::Recorder& recorder = stored ? static_cast<core::Recorder&>(stored->ledger()) : nowhere;
  Load load{.tool = tool.c_str()};
  if (where == "bare") load.guards = load.result_guards = 0;
  if (where == "hooks") load.hooks = 3;
  std::vector<double> each;
  const double used =
      processor_seconds_of([&] { (void)call_seconds(recorder, load, count, callers, &each); });
  std::ranges::sort(each);
  const auto at = [&](std::size_t percent) { return each[each.size() * percent / 100] * 1e6; };
  fmt::print(
      "{} {} {}: us a call: processor {:.2f}; least {:.0f}, a tenth {:.0f}, half {:.0f}, nine "
      "tenths {:.0f}\n",
      where, tool, callers, used / static_cast<double>(each.size()) * 1e6, at(0), at(10), at(50),
      at(90));
}

namespace {

struct Spent {
  std::string rate;
  std::string beside;
};

// Measured beside bare syncs before and after, because disk speed changes by the second.
Spent durable_calls(BenchLedger& disk, const Load& load, std::size_t calls, std::size_t callers,
                    int syncs) {
  std::vector<double> bare = fdatasync_times(disk.folder(), syncs);
  std::vector<double> each;
  const double call = call_seconds(disk.ledger(), load, calls, callers, &each);
  for (const double one : fdatasync_times(disk.folder(), syncs)) bare.push_back(one);
  const double sync = std::accumulate(bare.begin(), bare.end(), 0.0) / bare.size();
  Spent spent{fmt::format("{:.0f}/s", 1 / call),
              fmt::format("{:.2f} bare fdatasyncs a call ({:.0f} us)", call / sync, sync * 1e6)};
  // A lone call also gets the median, because a few long syncs dominate a mean.
  if (callers == 1) {
    spent.beside +=
        fmt::format(", medians {:.2f} ({:.0f} / {:.0f} us)", median(each) / median(bare),
                    median(each) * 1e6, median(bare) * 1e6);
  }
  return spent;
}

}  // namespace

// Each call writes six entries: two events and the intent with a third event before it runs, one
// event and the record after it.
void measure_calls(Report& report, bool quick) {
  using enum core::IntentDurability;
  report.section("Durable calls through the Governor (8 guards, 3 result guards, on disk)");
  const std::pair<const char*, Load> loads[] = {
      {"read-only, effect", {.tool = "read_file", .durability = Effect}},
      {"side-effecting, effect", {.tool = "write_file", .durability = Effect}},
      {"read-only, strict", {.tool = "read_file", .durability = Strict}},
      {"side-effecting, relaxed", {.tool = "write_file", .durability = Relaxed}}};
  BenchLedger disk(Keep::OnDisk);
  for (const std::size_t callers : {1, 16, 256}) {
    const std::size_t calls = quick ? callers * 10 : callers == 1 ? 1000 : 12800;
    for (const auto& [name, load] : loads) {
      const Spent spent = durable_calls(disk, load, calls, callers, quick ? 20 : 300);
      report.row(fmt::format("{}, {} caller{}", name, callers, callers == 1 ? "" : "s"), spent.rate,
                 spent.beside);
    }
  }
}

}  // namespace sallyport::bench
