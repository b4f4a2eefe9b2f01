// Whose a task of a server is. All agents come to a server over HTTP with the same credentials, so
// it cannot tell them apart: what one of them started, another must not see or end. What nobody
// started through this gate may be anybody's, so it is nobody's here.
#pragma once

#include <string>
#include <string_view>

#include "core/record/recorder.h"

namespace sallyport::mcp {

// For one agent at one server; one without a name has no other agents, and nobody is asked.
class TaskOwners {
 public:
  TaskOwners(core::Recorder& recorder, std::string server, std::string agent)
      : recorder_(recorder), server_(std::move(server)), agent_(std::move(agent)) {}

  // Durable once it returns: the task that this answer to a call gives, if it gives one. One that
  // somebody has stays his.
  Task<void> note(std::string answer, Subject call);
  // Somebody else's, or nobody's. Where that cannot be found out, it is.
  bool is_foreign(const std::string& task) const;
  // The result of `tasks/list` without those.
  std::string without_foreign(std::string_view result) const;

 private:
  std::string key_of(std::string_view task) const;

  core::Recorder& recorder_;
  std::string server_;
  std::string agent_;
};

}  // namespace sallyport::mcp
