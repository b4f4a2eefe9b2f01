// An agent inside a C++ program: a model that calls the engine's tools, every call and every
// request to the model governed and recorded by that engine.
//
//   auto agent = Agent::open(*engine, {.id = "agent:adder",
//                                      .model = {.provider = AgentModel::Provider::Script,
//                                                .name = "demo", .script = talk},
//                                      .tools = {{.name = "add", .description = "adds a and b",
//                                                 .schema = {{"type", "object"}}}}});
//   Result<AgentRun> run = (*agent)->run("s-1", "What is 2 + 2?");
//   run->text;   // "It is 4."
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/answer.h"
#include "sallyport/call.h"
#include "sallyport/continuation.h"
#include "sallyport/json.h"
#include "sallyport/result.h"
#include "sallyport/usage.h"

namespace sallyport {

class Engine;

struct AgentModel {
  enum class Provider {
    OpenAi,     // chat completions
    Anthropic,  // messages
    Script,     // answers from a file, without a network (docs/agent.md)
  };
  Provider provider = Provider::OpenAi;
  std::string name{};
  std::string base_url{};          // empty: the provider's own
  std::filesystem::path script{};  // of `Script`
  std::string key{};               // in no record, log or error; empty: none is sent
  std::uint64_t max_output_tokens = 4096;
};

// A tool of the engine, as the model is told of it.
struct AgentTool {
  std::string name{};  // under which the engine has it
  std::string description{};
  json::object schema{};  // JSON Schema of its input; what does not fit is refused
};

// A folder that the agent's own file tools work in.
struct AgentRoot {
  std::filesystem::path path{};
  bool write = false;
  std::vector<std::string> deny{};  // globs, compared with the path below the root
};

struct AgentLimits {
  std::chrono::seconds deadline{3600};
  std::uint64_t model_requests = 100;
  std::uint64_t tool_calls = 200;
  std::uint64_t tokens = 1'000'000;
};

struct AgentOptions {
  std::string id{};  // the principal of all its calls
  std::string system{};
  AgentModel model{};
  std::vector<AgentTool> tools{};
  std::vector<AgentRoot> roots{};  // none: no file tools
  bool shell = false;              // commands, in the roots and a sandbox
  std::vector<std::string> shell_variables{"PATH"};
  bool recall = true;  // looks into its memory before each round
  AgentLimits limits{};
  // A variable of the environment; the library reads none by itself.
  std::function<std::optional<std::string>(const std::string& name)> variable{};
  std::function<void(std::string_view line)> log{};  // for the people who run this
};

enum class AgentStatus { Finished, Failed, Aborted, AwaitingApproval };
std::string_view to_string(AgentStatus status);

// What came of one run.
struct AgentRun {
  std::string session_id{};
  std::string run_id{};
  AgentStatus status = AgentStatus::Failed;
  std::string reason{};  // empty where it finished
  std::string text{};    // the model's last words
  std::uint64_t rounds = 0;
  std::uint64_t tool_calls = 0;
  Usage usage{};
};

// Called on a thread of the engine; what they are given may hold anything a model can say.
struct AgentWatch {
  std::function<void(std::string_view piece)> on_text{};
  std::function<void(const Call&)> on_call{};
  std::function<void(const Call&, const Answer&)> on_answer{};
  std::stop_token cancel{};
  bool park = false;  // end where a person is asked; `resume` goes on
};

// From any thread; sessions run side by side, one run at a time in each. Background commands end
// with the run that started them. The engine outlives it.
class Agent {
 public:
  // Opens the store of sessions beside the ledger, and closes what dead processes left there.
  // `InvalidInput` names what is wrong.
  static Result<std::unique_ptr<Agent>> open(Engine& engine, AgentOptions options);
  Agent(const Agent&) = delete;
  ~Agent();

  // Begins the session, or goes on with it. An error: nothing was begun. `Conflict` with the cause
  // `lease_unavailable`: another run, here or in another process, works on this session.
  Result<AgentRun> run(const std::string& session_id, const std::string& message,
                       AgentWatch watch = {});
  // Goes on with what a run left open: after a crash, a failure, or the answer to a question.
  // `InvalidInput` with the cause `nothing_to_resume`.
  Result<AgentRun> resume(const std::string& session_id, AgentWatch watch = {});

 private:
  struct Body;
  explicit Agent(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace sallyport
