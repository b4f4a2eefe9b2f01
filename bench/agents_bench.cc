// Our own agents in one process: one alone, and a hundred at the same time.
#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "bench/bench.h"
#include "sallyport/agent.h"
#include "sallyport/engine.h"

namespace sallyport::bench {

namespace {

constexpr const char* kScript =
    "turns: [{calls: [{tool: look}]}, {calls: [{tool: look}]}, {calls: [{tool: look}]}, {text: "
    "done}]";

}  // namespace

void measure_agents(Report& report, bool quick) {
  const unsigned most = quick ? 10 : 100;
  report.section("agents in one process, four rounds and three calls each, scripted model");
  const auto script = std::filesystem::temp_directory_path() / "sallyport-bench-agents.yaml";
  std::ofstream(script) << kScript;
  const auto engine = EngineBuilder("")
                          .autonomy(Autonomy::ActAuto)
                          .tool({.name = "look",
                                 .classification = {Tier::Observe, "none"},
                                 .run = [](const Invocation&) -> Result<json::value> { return 1; }})
                          .open();
  if (!engine) return report.row("engine", "failed", engine.error().message);
  const auto agent = Agent::open(
      **engine,
      {.id = "agent:bench",
       .model = {.provider = AgentModel::Provider::Script, .name = "demo", .script = script},
       .tools = {{.name = "look", .schema = {{"type", "object"}}}}});
  if (!agent) return report.row("agent", "failed", agent.error().message);
  std::atomic<unsigned> finished = 0;
  const auto run = [&](const std::string& session) {
    const Result<AgentRun> ended = (*agent)->run(session, "go");
    if (ended && ended->status == AgentStatus::Finished) ++finished;
  };
  std::vector<double> alone;
  for (int i = 0; i < 5; ++i) {
    alone.push_back(seconds_of([&] { run(fmt::format("alone-{}", i)); }));
  }
  const double before = resident_mib();
  double peak = 0;
  finished = 0;
  const double together = seconds_of([&] {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < most; ++i) {
      threads.emplace_back([&, i] { run(fmt::format("s-{}", i)); });
    }
    peak = resident_mib();
  });
  const double one = median(alone);
  report.row("one run alone", fmt::format("{:.1f} ms", one * 1e3));
  report.row(fmt::format("{} at the same time, all of them", most),
             fmt::format("{:.0f} ms", together * 1e3),
             fmt::format("{:.2f} of so many one after the other; {} finished",
                         together / (one * most), finished.load()));
  report.row("memory for each that runs",
             fmt::format("{:.2f} MiB", std::max(0.0, peak - before) / most));
  std::filesystem::remove(script);
}

}  // namespace sallyport::bench
