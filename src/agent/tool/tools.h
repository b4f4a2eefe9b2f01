// The tools of our own agent: what they are, and what executes them (RT-26). Each tool is an
// Upstream; only the Governor calls it.
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

// What tools use of the runtime. All of it outlives the toolbox.
struct ToolParts {
  boost::asio::any_io_executor executor;
  boost::asio::thread_pool& pool;  // for what blocks
  core::HostEvents& events;
  sessions::SessionStore& store;
  const Clock& clock;
  Entropy& entropy;
  const core::Redactor& redactor;  // of what is stored
  std::string instance_id;
  // Of Sallyport: no tool reads or writes below it, whatever the roots say. Empty: there is none.
  std::filesystem::path data_folder;
  std::function<sessions::Lease()> lease;  // of the session that is worked on, as it is now
  // The environment at the start of the process, without the key of the model (RT-16, RT-41).
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::function<void(std::string_view line)> log;
};

// Whom the events of a call concern.
Subject subject_of(const Call& call);

// `InvalidInput` names the member that does not fit the schema of the tool: unknown, missing, or of
// a wrong type (RT-22). Knows `type`, `properties`, `required`, `additionalProperties`, `items`,
// `enum`, `minimum`, `maxLength`, and ignores other keywords.
Result<void> check_input(const OfferedTool& tool, const json::value& input);

// Says what our own tools are, for a plan: tier and effect class of each (RT-26). What the policy
// says of a tool counts before it.
void bring_tools(core::PlanBuilder& plan);

// All tools of one session. On the executor of `parts`.
class Toolbox {
 public:
  // `InvalidInput` names the key: a root that is missing, that is no directory, or that lies inside
  // another with a different `write` (RT-89); a sandbox that is required and not to be had.
  static Result<std::unique_ptr<Toolbox>> open(const Settings& settings, ToolParts parts);
  virtual ~Toolbox() = default;

  // Absolute, without symbolic links. Relative paths begin at the first one: it is the folder of
  // every call, and all of them are its workspace (`CallSetting`).
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
  // True: the tool only observes, and may run again after a crash (`replay_safe`).
  virtual bool replay_safe(std::string_view name) const = 0;

  // Ends all background tasks as `interrupted`, each on record (RT-52). At most 5 s.
  virtual Async<void> stop() = 0;
};

}  // namespace sallyport::agent
