// A prepared operation: the tool says exactly what it would do, and a person confirms that before
// it runs.
//
//   Prepared prepared{.operation_id = "op-7", .revision = 2, .snapshot = {{"amount", 40}},
//                     .expires_at = "2026-11-15T12:00:00.000000Z"};
//   effective_input({{"to", "bob"}}, prepared);
//   // {"requested_input":{"to":"bob"},"prepared_snapshot":{"amount":40},"operation_id":"op-7",
//   //  "revision":2,"expires_at":"2026-11-15T12:00:00.000000Z"}
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

// A value. What `Tool::prepare` returns.
struct Prepared {
  std::string operation_id{};
  std::uint64_t revision = 0;  // only this revision may run
  json::value snapshot{};
  std::optional<std::string> expires_at{};  // RFC 3339 in UTC, `Z` and microseconds

  bool operator==(const Prepared&) const = default;
};

json::object to_json(const Prepared& prepared);

// Unknown members are ignored. An `expires_at` with an offset is converted to UTC. `InvalidInput`
// names the member that is missing, has a wrong type or is not an RFC 3339 time.
Result<Prepared> prepared_from_json(const json::value& value, std::string where = "prepared");

// Builds the one object that the person sees and the upstream receives. An approval binds its
// digest (AU-63).
json::value effective_input(const json::value& requested, const Prepared& prepared);

}  // namespace sallyport
