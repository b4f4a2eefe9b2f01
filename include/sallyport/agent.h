// An agent inside a C++ program. A model calls the engine's tools, and the engine governs and
// records every call and every request to the model.
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

// The model that an agent talks to.
struct AgentModel {
  enum class Provider {
    OpenAi,     // chat completions
    Anthropic,  // messages
    Script,     // answers from a file, without a network (docs/agent.md)
  };
  Provider provider = Provider::OpenAi;
  std::string name{};
  std::string base_url{};          // empty: the provider's public address
  std::filesystem::path script{};  // used by `Script` only
  std::string key{};               // never in a record, log or error; empty: no key is sent
  std::uint64_t max_output_tokens = 4096;
};

// A tool of the engine, as it is described to the model.
struct AgentTool {
  std::string name{};  // the name of the tool in the engine
  std::string description{};
  json::object schema{};  // JSON Schema of the input; an input that does not match is refused
};

// A folder in which the agent's built-in file tools may work.
struct AgentRoot {
  std::filesystem::path path{};
  bool write = false;
  std::vector<std::string> deny{};  // globs; they are matched against the path below the root
};

// The limits of one run. A run that reaches a limit is aborted.
struct AgentLimits {
  std::chrono::seconds deadline{3600};
  std::uint64_t model_requests = 100;
  std::uint64_t tool_calls = 200;
  std::uint64_t tokens = 1'000'000;
};

// Everything that `Agent::open` needs to know.
struct AgentOptions {
  std::string id{};  // the principal of all calls of the agent
  std::string system{};
  AgentModel model{};
  std::vector<AgentTool> tools{};
  std::vector<AgentRoot> roots{};  // empty: the agent has no file tools
  bool shell = false;              // the agent may run commands in the roots, in a sandbox
  std::vector<std::string> shell_variables{"PATH"};  // variables that commands receive
  bool recall = true;                                // search the memory before each round
  AgentLimits limits{};
  // Returns the value of an environment variable. The library itself reads no environment.
  std::function<std::optional<std::string>(const std::string& name)> variable{};
  std::function<void(std::string_view line)> log{};  // receives log lines for operators
};

enum class AgentStatus { Finished, Failed, Aborted, AwaitingApproval };
std::string_view to_string(AgentStatus status);

// The result of one run.
struct AgentRun {
  std::string session_id{};
  std::string run_id{};
  AgentStatus status = AgentStatus::Failed;
  std::string reason{};  // why the run did not finish; empty if it did
  std::string text{};    // the last message of the model
  std::uint64_t rounds = 0;
  std::uint64_t tool_calls = 0;
  Usage usage{};
};

// Callbacks and options of one run. The engine calls the callbacks on one of its own threads. Their
// arguments come from a model: treat them as untrusted input.
struct AgentWatch {
  std::function<void(std::string_view piece)> on_text{};
  std::function<void(const Call&)> on_call{};
  std::function<void(const Call&, const Answer&)> on_answer{};
  std::stop_token cancel{};
  bool park = false;  // end the run when a person is asked; `resume` continues it
};

// An agent and its sessions. The program owns it and must destroy it before the engine. Every
// method may be called from any thread. Sessions run concurrently; each session has at most one run
// at a time. A background command ends with the run that started it.
class Agent {
 public:
  // Opens the session store beside the ledger and closes the runs that dead processes left open.
  // `InvalidInput` names the option that is wrong.
  static Result<std::unique_ptr<Agent>> open(Engine& engine, AgentOptions options);
  Agent(const Agent&) = delete;
  ~Agent();

  // Sends `message` to the session and waits for the end of the run. Creates the session if it does
  // not exist. An error means that no run was started. `Conflict` with the cause
  // `lease_unavailable`: another run, in this or another process, has the session.
  Result<AgentRun> run(const std::string& session_id, const std::string& message,
                       AgentWatch watch = {});
  // Continues the run that a crash, a failure or a question to a person left open. `InvalidInput`
  // with the cause `nothing_to_resume`: the session has no such run.
  Result<AgentRun> resume(const std::string& session_id, AgentWatch watch = {});

 private:
  struct Body;
  explicit Agent(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace sallyport
