// What a tool prepared and a person is asked about, before anything is executed.
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

struct Prepared {
  std::string operation_id{};
  std::uint64_t revision = 0;  // execution is for this one only
  json::value snapshot{};
  std::optional<std::string> expires_at{};  // RFC 3339 in UTC, `Z` and microseconds

  bool operator==(const Prepared&) const = default;
};

json::object to_json(const Prepared& prepared);

// Unknown members are ignored; an `expires_at` with an offset is turned into UTC. `InvalidInput`
// names the member that is missing, of another type or no RFC 3339 time.
Result<Prepared> prepared_from_json(const json::value& value, std::string where = "prepared");

// What the upstream is given and the person sees, one and the same object (AU-63): an approval
// binds its digest.
json::value effective_input(const json::value& requested, const Prepared& prepared);

}  // namespace sallyport
