#include "proxy/owned_state.h"

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"

namespace sallyport::proxy {

namespace {

constexpr std::string_view kSpace = "model_state";

std::string key_of(const std::string& kind, const std::string& id) {
  return hex(sha256(canonical_json(json::array{kind, id})));
}

}  // namespace

std::optional<OwnedState::Owner> OwnedState::find(const std::string& kind,
                                                  const std::string& id) const {
  const auto stored = reader_.fact(kSpace, key_of(kind, id));
  if (!stored || !*stored) return std::nullopt;
  const auto value = parse_own_json(**stored);
  const json::object* const object = value ? value->if_object() : nullptr;
  if (object == nullptr) return std::nullopt;
  return Owner{text_or_empty(*object, "agent_id"), text_or_empty(*object, "upstream"),
               text_or_empty(*object, "request_id")};
}

core::Fact OwnedState::fact(const std::string& kind, const std::string& id, const Owner& owner) {
  return {std::string(kSpace), key_of(kind, id),
          canonical_json(json::object{{"agent_id", owner.agent_id},
                                      {"upstream", owner.upstream},
                                      {"request_id", owner.request_id}})};
}

}  // namespace sallyport::proxy
