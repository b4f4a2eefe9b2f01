// The subject of a record or an event: the ids that join events, records and calls.
//
//   if (subject.session_id == "s-1") count(subject.call_id);
#pragma once

#include <string>

namespace sallyport {

// A value. An empty member does not apply.
struct Subject {
  std::string policy_hash{};
  std::string call_id{};
  std::string session_id{};
  std::string agent_id{};
  std::string server{};
  std::string tool_name{};
  std::string trace_id{};
  std::string run_id{};  // the run, if Sallyport's agent runtime is involved

  bool operator==(const Subject&) const = default;
};

}  // namespace sallyport
