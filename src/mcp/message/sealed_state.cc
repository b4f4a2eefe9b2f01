#include "mcp/message/sealed_state.h"

#include <boost/json.hpp>

#include "base/json_members.h"

namespace sallyport::mcp {

namespace {

constexpr std::string_view kStatePrefix = "sallyport.";
// Other things are encrypted under the same key.
constexpr std::string_view kSchema = "sallyport.request_state.v1";
constexpr std::size_t kLongestState = 1u << 20;

std::unexpected<Error> refused() {
  return fail(ErrorCode::InvalidInput, "`requestState` is not one that was given here, or is over");
}

}  // namespace

bool is_sealed(std::string_view text) {
  return text.starts_with(kStatePrefix);
}

std::string seal(core::Vault& vault, const SealedState& state) {
  return std::string(kStatePrefix) +
         vault.encrypt(canonical_json(json::object{{"schema", kSchema},
                                                   {"id", state.id},
                                                   {"principal", state.principal},
                                                   {"session", state.session},
                                                   {"approval_id", state.approval_id},
                                                   {"binding", state.binding},
                                                   {"request", state.request},
                                                   {"expires", state.expires},
                                                   {"carried", state.carried}}));
}

Result<SealedState> unseal(const core::Vault& vault, std::string_view text, WallTime now) {
  if (!is_sealed(text) || text.size() > kLongestState) return refused();
  const Result<std::string> opened = vault.decrypt(text.substr(kStatePrefix.size()));
  if (!opened) return refused();
  const Result<json::value> value = parse_own_json(*opened);
  const json::object* const object = value ? value->if_object() : nullptr;
  if (object == nullptr || text_in(*object, "schema") != kSchema) return refused();
  SealedState state{.id = text_or_empty(*object, "id"),
                    .principal = text_or_empty(*object, "principal"),
                    .session = text_or_empty(*object, "session"),
                    .approval_id = text_or_empty(*object, "approval_id"),
                    .binding = text_or_empty(*object, "binding"),
                    .request = text_or_empty(*object, "request"),
                    .expires = text_or_empty(*object, "expires"),
                    .carried = text_or_empty(*object, "carried")};
  const auto end = from_rfc3339(state.expires);
  if (!end || now >= *end) return refused();
  return state;
}

Task<void> use_once(core::RecordLog& records, SealedState state) {
  const core::Fact unused{"request_state", state.id, std::nullopt};
  std::vector<core::Draft> drafts;
  drafts.push_back({.kind = core::Kind::Approval,
                    .subject = Subject{.session_id = state.session, .agent_id = state.principal},
                    .body = {{"record", "request_state_used"},
                             {"request_id", state.approval_id},
                             {"state_id", state.id}},
                    .facts = {{unused.space, unused.key, "used"}}});
  const auto written =
      co_await records.append(std::move(drafts), core::Urgency::Announces, {unused});
  if (written) co_return Result<void>{};
  if (written.error().code != ErrorCode::Conflict) co_return std::unexpected(written.error());
  co_return fail(ErrorCode::Conflict, "`requestState` was used before");
}

}  // namespace sallyport::mcp
