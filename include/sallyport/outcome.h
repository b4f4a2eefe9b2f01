// The outcome of a call: how it ended, or why it waits. There are seven kinds (AU-21).
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

// Whether the call had an effect (AU-17).
enum class EffectState {
  None,     // the upstream was not called, or refused to start
  Done,     // the upstream answered
  Unknown,  // the upstream was called and no answer is known, for example after a timeout
};

std::string_view to_string(EffectState state);
std::optional<EffectState> effect_state_from(std::string_view word);

// A value. Build it with one of the static functions.
struct Outcome {
  enum class Kind {
    Blocked,               // refused; the tool did not run
    RequiresConfirmation,  // a person was asked; the call waits
    Cached,                // the same call was answered before
    Replayed,              // the results of an external call were submitted again
    Invalidated,           // the question to a person no longer applies
    Completed,             // the tool answered, with a result or an error
    PersistenceFailed,     // the ledger refused a write that the call needed
  };

  Kind kind = Kind::Blocked;
  std::string text{};  // the reason, description or error, depending on the kind
  // Set for `Cached`, `Replayed` and `Completed`; `PersistenceFailed` may have one.
  std::optional<ToolResult> result{};
  std::optional<Prepared> listen_context{};  // for `RequiresConfirmation` of a prepared tool

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

// The word for `kind` in JSON.
std::string_view to_string(Outcome::Kind kind);
std::optional<Outcome::Kind> outcome_kind_from(std::string_view word);

// Writes exactly the members of the outcome's kind. Other fields are not written.
json::object to_json(const Outcome& outcome);

// Unknown members are ignored. `InvalidInput` names the member that is missing or has a wrong type.
// For an unknown `kind` the message lists the seven kinds.
Result<Outcome> outcome_from_json(const json::value& value, std::string where = "outcome");

}  // namespace sallyport
