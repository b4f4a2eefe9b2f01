// Pinned tool definitions as commands and the HTTP API show them.
#pragma once

#include <string>
#include <vector>

#include "mcp/server/pins.h"
#include "sallyport/json.h"

namespace sallyport::app {

json::object to_json(const mcp::Pin& pin);

// A definition that has changed, and what it was before.
struct PinChange {
  json::value before{};
  json::value after{};
};
// `NotFound`: one of them was erased.
Result<PinChange> change_of(core::RecordReader& records, const mcp::Pin& pin);

// A member of a definition that differs; a null pointer: it is not there.
struct PinMember {
  std::string name{};
  const json::value* before = nullptr;
  const json::value* after = nullptr;
};
// By name. The pointers live as long as `change`.
std::vector<PinMember> differing(const PinChange& change);

}  // namespace sallyport::app
