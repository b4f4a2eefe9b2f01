// Pinned tool definitions as commands and the HTTP API show them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mcp/server/pins.h"
#include "sallyport/json.h"

namespace sallyport::app {

json::object to_json(const mcp::Pin& pin);

// A definition that has changed, and what it was before. No value: it was pruned or erased.
struct PinChange {
  std::optional<json::value> before{};
  std::optional<json::value> after{};
};
Result<PinChange> change_of(core::RecordReader& records, const mcp::Pin& pin);

// A member of a definition that differs; a null pointer: it is not there.
struct PinMember {
  std::string name{};
  const json::value* before = nullptr;
  const json::value* after = nullptr;
};
// By name. The pointers live as long as `change`. Without the definition before, every member of the
// new one differs; without the new one, none does.
std::vector<PinMember> differing(const PinChange& change);

}  // namespace sallyport::app
