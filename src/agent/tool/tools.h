// The tools of our own agent and their execution (RT-26). Each tool is an Upstream, and only the
// Governor calls it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/model.h"
#include "agent/run/settings.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "core/call/upstream.h"
#include "core/event/host_events.h"
#include "core/plan/plan.h"
#include "core/record/redactor.h"
#include "sessions/session_store.h"

namespace sallyport::agent {

// The profile of `src/effects/profiles` and the server name of every call of our own tools.
inline constexpr std::string_view kToolProfile = "sallyport-agent";

// The parts of the runtime that tools use. All of them must outlive the toolbox.
struct ToolParts {
  boost::asio::any_io_executor executor;
  boost::asio::thread_pool& pool;  // for blocking work
  core::HostEvents& events;
  sessions::SessionStore& store;
  const Clock& clock;
  Entropy& entropy;
  const core::Redactor& redactor;  // for stored texts
  std::string instance_id;
  // The data folder of Sallyport. No tool reads or writes below it. Empty: there is none.
  std::filesystem::path data_folder;
  std::function<sessions::Lease()> lease;  // the current lease of the session
  // The environment at the start of the process, without the key of the model (RT-16, RT-41).
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::function<void(std::string_view line)> log;
};

// The subject of the events of a call.
Subject subject_of(const Call& call);

// `InvalidInput` names the member that does not fit the schema of the tool: unknown, missing or of
// a wrong type (RT-22). Checks `type`, `properties`, `required`, `additionalProperties`, `items`,
// `enum`, `minimum` and `maxLength`, and ignores other keywords.
Result<void> check_input(const OfferedTool& tool, const json::value& input);

// Adds the tier and the effect class of each of our own tools to a plan (RT-26). The policy takes
// precedence.
void add_agent_tools(core::PlanBuilder& plan);

// All tools of one session. Use it on the executor of `parts`.
class Toolbox {
 public:
  // `InvalidInput` names the key: a root that is missing, is not a directory or lies inside another
  // one with a different `write` (RT-89); or a required sandbox that is not available.
  static Result<std::unique_ptr<Toolbox>> open(const Settings& settings, ToolParts parts);
  virtual ~Toolbox() = default;

  // Absolute paths without symbolic links. Relative paths start at the first one, the folder of
  // every call. All of them are the workspace (`CallSetting`).
  virtual std::vector<std::string> roots() const = 0;

  virtual std::vector<OfferedTool> offered() const = 0;
  // Server and tool of a call, as policies and records name them.
  struct Target {
    std::string server{};
    std::string tool{};
    bool operator==(const Target&) const = default;
  };
  virtual Target target(std::string_view name) const {
    return {std::string(kToolProfile), std::string(name)};
  }
  // Null: there is no such tool.
  virtual std::shared_ptr<core::Upstream> find(std::string_view name) const = 0;
  // True: the tool only observes and may run again after a crash.
  virtual bool replay_safe(std::string_view name) const = 0;

  // Ends all background tasks as `interrupted` and records each end (RT-52). Takes at most 5 s.
  virtual Async<void> stop() = 0;
};

}  // namespace sallyport::agent
