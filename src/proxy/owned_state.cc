#include "proxy/owned_state.h"

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"

namespace sallyport::proxy {

namespace {

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
  Owner owner{text_or_empty(*object, "agent_id"), text_or_empty(*object, "upstream"),
              text_or_empty(*object, "request_id")};
  if (const json::value* const calls = object->if_contains("unanswered");
      calls && calls->is_array()) {
    for (const json::value& call : calls->get_array()) {
      if (const json::object* const one = call.if_object()) {
        owner.unanswered.push_back(
            {text_or_empty(*one, "type"), text_or_empty(*one, "id"), text_or_empty(*one, "text")});
      }
    }
  }
  owner.at = from_rfc3339(text_or_empty(*object, "at")).value_or(WallTime{});
  return owner;
}

core::Fact OwnedState::gone(const std::string& kind, const std::string& id) {
  return {std::string(kSpace), key_of(kind, id), std::nullopt};
}

core::Fact OwnedState::fact(const std::string& kind, const std::string& id, const Owner& owner) {
  json::object value{{"agent_id", owner.agent_id},
                     {"upstream", owner.upstream},
                     {"request_id", owner.request_id},
                     {"at", rfc3339(owner.at)}};
  json::array calls;
  for (const llm::UnansweredCall& call : owner.unanswered) {
    calls.push_back(json::object{{"type", call.type}, {"id", call.id}, {"text", call.text}});
  }
  if (!calls.empty()) value["unanswered"] = std::move(calls);
  return {std::string(kSpace), key_of(kind, id), canonical_json(value)};
}

}  // namespace sallyport::proxy
