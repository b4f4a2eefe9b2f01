// An escalation: a guard let a call or a result pass and asks a person to look at it.
//
//   const Result<std::vector<EscalationItem>> items = engine->escalations();
//   if (!items) return;
//   for (const EscalationItem& item : *items)
//     std::cout << item.tool << ": " << item.message << " (" << item.count << ")\n";
#pragma once

#include <cstdint>
#include <string>

namespace sallyport {

// A value. One open escalation.
struct EscalationItem {
  std::string id{};
  std::string call_id{};  // the first call that caused it
  std::string session_id{};
  std::string agent_id{};
  std::string server{};
  std::string tool{};
  std::string guard{};
  std::string message{};
  std::string opened_at{};  // RFC 3339 in UTC
  std::uint64_t count = 1;  // calls with the same escalation within a minute

  bool operator==(const EscalationItem&) const = default;
};

}  // namespace sallyport
