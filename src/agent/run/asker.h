// The ids that join the events and records of one run.
#pragma once

#include <string>

#include "sallyport/subject.h"

namespace sallyport::agent {

struct Asker {
  std::string agent_id{};
  std::string session_id{};
  std::string run_id{};
  std::string trace_id{};

  Subject subject(std::string policy_hash) const {
    return {.policy_hash = std::move(policy_hash),
            .session_id = session_id,
            .agent_id = agent_id,
            .trace_id = trace_id,
            .run_id = run_id};
  }
};

}  // namespace sallyport::agent
