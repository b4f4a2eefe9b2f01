// Queries for records and events. An entry matches if it matches every field that is set (AU-90,
// EV-81).
//
//   RecordQuery query{.session_id = "s-1", .outcome = "blocked"};
//   query.limit = 20;
//   Result<std::vector<AuditRecord>> page = engine->records(query);
//   if (page && !page->empty()) query.after = page->back().sequence;   // for the next one
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sallyport {

// A value. Times are RFC 3339 in UTC; `since` is inclusive, `until` exclusive. `after` is a
// sequence number: pass the last one of a page to get the next page.
struct RecordQuery {
  std::string call_id{};
  std::string tool_call_id{};
  std::string session_id{};
  std::string agent_id{};
  std::string server{};
  std::string tool{};
  std::string outcome{};
  std::string approval_id{};
  std::optional<bool> terminal{};
  std::string since{};
  std::string until{};
  std::optional<std::uint64_t> after{};
  std::size_t limit = 1000;
};

// A value. Times and `after` are as in `RecordQuery`.
struct EventQuery {
  std::string scope{};
  std::string event_type{};
  std::string session_id{};
  std::string run_id{};
  std::string call_id{};
  std::string since{};
  std::string until{};
  std::optional<std::uint64_t> after{};
  std::size_t limit = 1000;
};

}  // namespace sallyport
