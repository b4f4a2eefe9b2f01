// `sallyport agent`: our own agent, and its sessions.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/context.h"

namespace sallyport::app {

// Which agent, and behind which policy.
struct AgentOptions {
  std::optional<std::filesystem::path> agent;  // its configuration
  std::optional<std::string> model;
  std::optional<std::string> base_url;
  std::optional<std::string> policy;
  bool park = false;  // end where a person is asked (RT-87)
};

// 0: the run finished; 1: it ended in another way (RT-3).
struct AgentRunOptions {
  AgentOptions agent;
  std::string task;
  std::optional<std::string> session;
};
Result<int> agent_run(const Context& context, const AgentRunOptions& options);

struct AgentResumeOptions {
  AgentOptions agent;
  std::string session;
  std::optional<std::string> message;
};
Result<int> agent_resume(const Context& context, const AgentResumeOptions& options);

// Until the input ends.
struct AgentChatOptions {
  AgentOptions agent;
  std::optional<std::string> session;
};
Result<int> agent_chat(const Context& context, const AgentChatOptions& options);

struct AgentListOptions {
  std::optional<std::string> count;
};
Result<int> agent_list(const Context& context, const AgentListOptions& options);

struct AgentShowOptions {
  std::string session;
  bool transcript = false;
};
Result<int> agent_show(const Context& context, const AgentShowOptions& options);

// Ask the process that works on a session. `Conflict`: there is none.
struct AgentAskOptions {
  std::string session;
};
Result<int> agent_cancel(const Context& context, const AgentAskOptions& options);
Result<int> agent_stop(const Context& context, const AgentAskOptions& options);

}  // namespace sallyport::app
