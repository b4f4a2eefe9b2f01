#include "hook/numbered_ids.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"

namespace sallyport::hook {

namespace {

constexpr std::uint64_t kOpenAtOnce = 16;

}  // namespace

std::string NumberedIds::id(const Event& event, std::uint64_t number) const {
  const json::value& identity = event.identity.is_null() ? event.input : event.identity;
  const std::string digest =
      digest_(canonical_json(json::array{event.server, event.tool, identity}));
  return fmt::format("{}-{}", digest.substr(digest.rfind(':') + 1, 24), number);
}

Result<std::optional<core::Idempotency::Row>> NumberedIds::row(const Event& event,
                                                               const std::string& id) {
  if (id.empty()) return std::nullopt;
  return rows_.row(rows_.key({.tool_call_id = id, .session_id = event.session_id}));
}

// The numbers of identical calls have no gaps, so the last one is found in few steps.
Result<std::uint64_t> NumberedIds::last_number(const Event& event) {
  std::uint64_t there = 0;
  std::uint64_t beyond = 1;
  while (true) {
    SALLYPORT_TRY(const auto found, row(event, id(event, beyond)));
    if (!found) break;
    there = beyond;
    beyond *= 2;
  }
  while (beyond - there > 1) {
    const std::uint64_t middle = there + (beyond - there) / 2;
    SALLYPORT_TRY(const auto found, row(event, id(event, middle)));
    (found ? there : beyond) = middle;
  }
  return there;
}

Result<std::string> NumberedIds::fresh(const Event& event) {
  SALLYPORT_TRY(const std::uint64_t last, last_number(event));
  return id(event, last + 1);
}

Result<std::vector<std::string>> NumberedIds::open(const Event& event) {
  std::vector<std::string> open;
  SALLYPORT_TRY(const std::uint64_t last, last_number(event));
  for (std::uint64_t number = last; number > 0 && number + kOpenAtOnce > last; --number) {
    std::string call_id = id(event, number);
    SALLYPORT_TRY(const auto found, row(event, call_id));
    if (found && found->status == core::Idempotency::Status::InFlight) {
      open.push_back(std::move(call_id));
    }
  }
  return open;
}

}  // namespace sallyport::hook
