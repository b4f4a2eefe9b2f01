// How a call ended, or why it waits: one of seven, tagged by `kind` (AU-21).
//
//   Outcome outcome = Outcome::blocked("writes outside the workspace");
//   to_string(outcome.kind);   // "blocked"
//   to_json(outcome);          // {"kind":"blocked","reason":"writes outside the workspace"}
//   outcome.result;            // none: nothing ran
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/call.h"
#include "sallyport/json.h"
#include "sallyport/prepared.h"
#include "sallyport/result.h"

namespace sallyport {

// What is known about the world outside (AU-17).
enum class EffectState {
  None,     // the upstream was never called, or refused to begin
  Done,     // it answered
  Unknown,  // it was called and no answer is known, as after a timeout or a cancel
};

std::string_view to_string(EffectState state);
std::optional<EffectState> effect_state_from(std::string_view word);

struct Outcome {
  enum class Kind {
    Blocked,               // refused; the tool never ran
    RequiresConfirmation,  // a person was asked; the call waits
    Cached,                // the same call has an answer already
    Replayed,              // an external call's results were submitted again
    Invalidated,           // what a person was or would be asked about is gone
    Completed,             // the tool answered, well or badly
    PersistenceFailed,     // the ledger refused a write that the call depended on
  };

  Kind kind = Kind::Blocked;
  std::string text{};  // the reason, description or error, as the kind has it
  // Of `Cached`, `Replayed`, `Completed`, and of a `PersistenceFailed` that has one.
  std::optional<ToolResult> result{};
  std::optional<Prepared> listen_context{};  // of `RequiresConfirmation`, where the tool prepared

  static Outcome blocked(std::string reason);
  static Outcome requires_confirmation(std::string description,
                                       std::optional<Prepared> listen_context = {});
  static Outcome cached(ToolResult result);
  static Outcome replayed(ToolResult result);
  static Outcome invalidated(std::string reason);
  static Outcome completed(ToolResult result);
  static Outcome persistence_failed(std::string error, std::optional<ToolResult> result = {});

  bool operator==(const Outcome&) const = default;
};

// The word of `kind` in JSON.
std::string_view to_string(Outcome::Kind kind);
std::optional<Outcome::Kind> outcome_kind_from(std::string_view word);

// Exactly the members of the outcome's kind; whatever else is set is not written.
json::object to_json(const Outcome& outcome);

// Unknown members are ignored. `InvalidInput` names the member that is missing or of another type;
// an unknown `kind` is refused with the seven.
Result<Outcome> outcome_from_json(const json::value& value, std::string where = "outcome");

}  // namespace sallyport
