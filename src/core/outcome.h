// How a call ended, in the words of a tool-audit record.
#pragma once

#include <optional>
#include <string>

#include "core/pipeline.h"
#include "sallyport/envelope.h"

namespace sallyport::core {

enum class EffectState {
  None,     // the upstream was never called
  Done,     // it answered
  Unknown,  // it was called and no answer is known
};
std::string_view to_string(EffectState state);

struct Outcome {
  enum class Kind {
    Blocked,
    RequiresConfirmation,
    Cached,
    Replayed,
    Invalidated,
    Completed,
    PersistenceFailed,
  };

  Kind kind = Kind::Blocked;
  std::string text{};  // reason, description or error
  std::optional<ToolResult> result{};
  EffectState effect = EffectState::None;
  std::optional<Release> release{};  // what the second door did, where it was reached

  static Outcome blocked(std::string reason);
  static Outcome completed(ToolResult result, EffectState effect);
  static Outcome persistence_failed(std::string error, std::optional<ToolResult> result,
                                    EffectState effect);

  bool terminal() const { return kind != Kind::RequiresConfirmation; }
  json::object to_json() const;  // AU-21
};
std::string_view to_string(Outcome::Kind kind);

}  // namespace sallyport::core
