// The turns of a scripted model.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sallyport/model_error.h"
#include "sallyport/result.h"
#include "sallyport/usage.h"

namespace sallyport::agent {

struct ScriptCall {
  std::string id{};  // empty: made from the turn and the place
  std::string tool{};
  std::string arguments{};
};

// A fault that replaces an answer or breaks it.
struct ScriptFault {
  ProviderError error{};
  std::uint64_t times = UINT64_MAX;  // the number of attempts that fail with it
};

struct ScriptTurn {
  std::string text{};
  std::vector<ScriptCall> calls{};
  std::optional<Usage> usage{};
  std::string stop{};    // empty: `tool_use` or `end_turn`
  std::string expect{};  // a text that the messages since the last answer must contain
  std::optional<ScriptFault> error{};     // before it opens
  std::optional<ProviderError> breaks{};  // after its content, in place of the end
  std::chrono::milliseconds delay{0};     // before it opens
  std::uint64_t chunk = 0;                // bytes of a piece; 0: whole
  std::chrono::milliseconds pause{0};     // before each piece but the first
};

struct Script {
  std::vector<ScriptTurn> turns{};
  ScriptTurn summary{};  // answers requests for a summary
};

// Parses YAML or JSON. `InvalidInput` names file, line and column of the fault (RT-94).
Result<Script> parse_script(const std::string& text, const std::string& file);

}  // namespace sallyport::agent
