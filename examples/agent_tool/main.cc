// An agent with a tool of the program's own. The model is a script, so that this runs without a
// network; with `Provider::Anthropic` or `Provider::OpenAi`, a name and a key the rest stays as it
// is.
#include <sallyport/agent.h>
#include <sallyport/engine.h>

#include <filesystem>
#include <fstream>
#include <iostream>

using namespace sallyport;

namespace {

constexpr const char* kScript = R"(
turns:
  - text: Let me count.
    calls: [{tool: add, input: {a: 2, b: 40}}, {tool: add, input: {a: two}}]
  - text: It is 42.
)";

std::filesystem::path write_script() {
  const auto file = std::filesystem::temp_directory_path() / "sallyport-example-agent-tool.yaml";
  std::ofstream(file) << kScript;
  return file;
}

}  // namespace

int main() {
  Tool add{.name = "add",
           .classification = {Tier::Observe, "none"},
           .run = [](const Invocation& invocation) -> Result<json::value> {
             const json::value& input = invocation.call().input;
             return input.at("a").to_number<int>() + input.at("b").to_number<int>();
           }};
  const auto engine = EngineBuilder("").autonomy(Autonomy::ActAuto).tool(std::move(add)).open();
  if (!engine) return 1;

  const json::object number{{"type", "integer"}};
  const auto agent =
      Agent::open(**engine, {.id = "agent:adder",
                             .model = {.provider = AgentModel::Provider::Script,
                                       .name = "demo",
                                       .script = write_script()},
                             .tools = {{.name = "add",
                                        .description = "adds two whole numbers",
                                        .schema = {{"type", "object"},
                                                   {"properties", {{"a", number}, {"b", number}}},
                                                   {"required", {"a", "b"}}}}}});
  if (!agent) {
    std::cerr << agent.error().message << '\n';
    return 1;
  }

  AgentWatch watch;
  watch.on_text = [](std::string_view piece) { std::cout << piece << '\n'; };
  watch.on_answer = [](const Call& call, const Answer& answer) {
    std::cout << "  " << call.tool << canonical_json(call.input) << " = "
              << (answer.result.success ? answer.result.output : "refused") << '\n';
  };
  const Result<AgentRun> run = (*agent)->run("s-1", "What is 2 + 40?", watch);
  if (!run) return 1;
  std::cout << to_string(run->status) << " after " << run->rounds << " rounds and "
            << run->tool_calls << " calls\n";
  // The ledger holds every model request, every tool call and every refusal.
  const Result<std::vector<json::object>> records = (*engine)->record_json();
  if (!records) return 1;
  for (const json::object& record : *records) {
    std::cout << canonical_json(record.at("tool_name")) << ' '
              << canonical_json(record.at("outcome").at("kind")) << '\n';
  }
  return 0;
}
