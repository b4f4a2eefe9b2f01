// Writes a signed change of an agent's tier into the ledger (TR-15, TR-16), from the command line
// or over HTTP.
#pragma once

#include <optional>
#include <string>

#include "core/record/draft.h"
#include "trust/control.h"

namespace sallyport::app {

struct SignedChange {
  trust::ControlStatement statement{};
  std::string signature{};
};

// The members of TR-16, and `signature` where the text is signed. `InvalidInput` names the member.
Result<SignedChange> signed_change_from(const json::value& value, bool is_signed);
json::object to_json(const SignedChange& change);

// Facts by control id: each change is accepted once.
inline constexpr std::string_view kControlIds = "control_id";

// The present state that a change depends on.
struct ChangeScene {
  std::optional<std::string> stored{};  // the fact of the agent's standing
  const trust::Reviewers& people;
  Autonomy declared = Autonomy::ActWithApproval;
  WallTime now{};
};

// The tier that the agent has before the change.
Result<Autonomy> tier_before(const trust::ControlStatement& statement, const ChangeScene& scene);

// The entry of the change, with the facts that it changes. `Unauthenticated`: the signature does
// not count. `Conflict`: the agent has another tier by now.
Result<core::Draft> change_draft(const SignedChange& change, const ChangeScene& scene,
                                 std::string record_id, std::string trace_id);

}  // namespace sallyport::app
