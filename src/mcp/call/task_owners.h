// The owners of tasks. All agents reach a server over HTTP with the same credentials, so the server
// cannot tell them apart, and an agent must not see or end a task of another one. Tasks that were
// not started through this gateway have no known owner and are hidden from all agents.
#pragma once

#include <string>
#include <string_view>

#include "core/record/record_log.h"

namespace sallyport::mcp {

// True if this answer to a call starts a task of the server.
bool gives_task(std::string_view answer);

// Belongs to one agent at one server. A server without a name has no other agents, and no owner is
// looked up.
class TaskOwners {
 public:
  TaskOwners(core::RecordLog& records, std::string server, std::string agent)
      : records_(records), server_(std::move(server)), agent_(std::move(agent)) {}

  // Records the owner of the task that this answer to a call starts, if it starts one. Durable once
  // it returns. A task that has an owner keeps it.
  Task<void> note(std::string answer, Subject call);
  // True if the task belongs to another agent or to none. If that cannot be found out, it is true.
  bool is_foreign(const std::string& task) const;
  // The result of `tasks/list` without foreign tasks, and without those that have no id.
  std::string without_foreign(std::string_view result) const;

 private:
  std::string key_of(std::string_view task) const;

  core::RecordLog& records_;
  std::string server_;
  std::string agent_;
};

}  // namespace sallyport::mcp
