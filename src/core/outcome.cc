#include "core/outcome.h"

#include <boost/json.hpp>

namespace sallyport::core {

std::string_view to_string(EffectState state) {
  switch (state) {
    case EffectState::None:
      return "none";
    case EffectState::Done:
      return "done";
    case EffectState::Unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view to_string(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::Blocked:
      return "blocked";
    case Outcome::Kind::RequiresConfirmation:
      return "requires_confirmation";
    case Outcome::Kind::Cached:
      return "cached";
    case Outcome::Kind::Replayed:
      return "replayed";
    case Outcome::Kind::Invalidated:
      return "invalidated";
    case Outcome::Kind::Completed:
      return "completed";
    case Outcome::Kind::PersistenceFailed:
      return "persistence_failed";
  }
  return "persistence_failed";
}

Outcome Outcome::blocked(std::string reason) {
  return {.kind = Kind::Blocked, .text = std::move(reason)};
}

Outcome Outcome::completed(ToolResult result, EffectState effect) {
  return {.kind = Kind::Completed, .result = std::move(result), .effect = effect};
}

Outcome Outcome::persistence_failed(std::string error, std::optional<ToolResult> result,
                                    EffectState effect) {
  return {.kind = Kind::PersistenceFailed,
          .text = std::move(error),
          .result = std::move(result),
          .effect = effect};
}

json::object Outcome::to_json() const {
  json::object object{{"kind", to_string(kind)}};
  const json::value result_json = result ? json::value(sallyport::to_json(*result)) : json::value();
  switch (kind) {
    case Kind::Blocked:
    case Kind::Invalidated:
      object["reason"] = text;
      break;
    case Kind::RequiresConfirmation:
      object["description"] = text;
      object["listen_context"] = nullptr;
      break;
    case Kind::Cached:
    case Kind::Replayed:
    case Kind::Completed:
      object["result"] = result_json;
      break;
    case Kind::PersistenceFailed:
      object["result"] = result_json;
      object["error"] = text;
      break;
  }
  return object;
}

}  // namespace sallyport::core
