// Two agents of different tiers on one engine: the reader needs no approval, the clerk needs one
// before each effect. The approver here is a function; `sallyport approvals` and the console answer
// the same approval requests.
#include <sallyport/agent.h>
#include <sallyport/engine.h>

#include <filesystem>
#include <fstream>
#include <iostream>

using namespace sallyport;

namespace {

constexpr const char* kPolicy = R"(
version: 1
autonomy:
  tier: act_with_approval
  agent_tiers: {"agent:reader": act_auto}
)";

constexpr const char* kScript = R"(
turns:
  - calls: [{tool: pay, input: {amount: 40}}, {tool: pay, input: {amount: 4000}}]
  - text: That was all.
)";

Result<json::value> pay(const Invocation& invocation) {
  return json::value("paid " + canonical_json(invocation.call().input.at("amount")));
}

Result<Reply> ask_person(const Question& question) {
  const bool small = question.input.at("amount").to_number<int>() < 1000;
  std::cout << "  user:ada is asked, and says " << (small ? "yes" : "no") << '\n';
  return small ? Reply::approve("user:ada") : Reply::deny("user:ada", "too much");
}

void run_as(Engine& engine, const std::string& id, const std::filesystem::path& script) {
  std::cout << id << '\n';
  const auto agent = Agent::open(
      engine,
      {.id = id,
       .model = {.provider = AgentModel::Provider::Script, .name = "demo", .script = script},
       .tools = {{.name = "pay", .description = "pays", .schema = {{"type", "object"}}}}});
  if (!agent) return;
  AgentWatch watch;
  watch.on_answer = [](const Call&, const Answer& answer) {
    std::cout << "  " << answer.result.output << '\n';
  };
  const Result<AgentRun> run = (*agent)->run("session-of-" + id, "pay the bills", watch);
  if (run) std::cout << "  " << to_string(run->status) << ": " << run->text << '\n';
}

}  // namespace

int main() {
  const auto script = std::filesystem::temp_directory_path() / "sallyport-example-two-agents.yaml";
  std::ofstream(script) << kScript;
  const auto engine =
      EngineBuilder("")
          .policy(kPolicy)
          .tool({.name = "pay", .classification = {Tier::Confirm, "payment"}, .run = pay})
          .approver(ask_person)
          .open();
  if (!engine) {
    std::cerr << engine.error().message << '\n';
    return 1;
  }
  run_as(**engine, "agent:reader", script);
  run_as(**engine, "agent:clerk", script);
  return 0;
}
