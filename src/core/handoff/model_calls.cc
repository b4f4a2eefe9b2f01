#include "core/handoff/model_calls.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::core::model_calls {

namespace {

// Ids of models are random. More calls under one id come from models that count their calls.
constexpr std::size_t kMostUnderOneId = 8;

std::string key_of(const std::string& agent_id, const std::string& tool_call_id) {
  return hex(sha256(canonical_json(json::array{agent_id, tool_call_id})));
}

std::optional<WallTime> time_in(const json::object& object) {
  return from_rfc3339(text_or_empty(object, "at"));
}

Result<json::array> listed(const std::optional<std::string>& stored) {
  if (!stored) return json::array();
  SALLYPORT_TRY(json::value value, parse_own_json(*stored));
  if (!value.is_array()) return fail(ErrorCode::Corrupt, "proposed calls cannot be read");
  return std::move(value.get_array());
}

class AddingModelCall final : public FactChange {
 public:
  AddingModelCall(std::string key, json::object entry, WallTime now)
      : key_(std::move(key)), entry_(std::move(entry)), now_(now) {}

  Result<std::vector<Fact>> facts(const Stored& stored) const override {
    SALLYPORT_TRY(const std::optional<std::string> before, stored(kSpace, key_));
    SALLYPORT_TRY(const json::array old, listed(before));
    json::array kept;
    for (const json::value& item : old) {
      const json::object* const object = item.if_object();
      const std::optional<WallTime> at = object ? time_in(*object) : std::nullopt;
      if (at && now_ - *at < kKnownFor) kept.push_back(item);
    }
    while (kept.size() >= kMostUnderOneId) kept.erase(kept.begin());
    kept.push_back(entry_);
    return std::vector<Fact>{{std::string(kSpace), key_, canonical_json(kept)}};
  }

 private:
  std::string key_;
  json::object entry_;
  WallTime now_;
};

std::string_view word_of(Deferred::State state) {
  switch (state) {
    case Deferred::State::Open:
      return "open";
    case Deferred::State::Seen:
      return "seen";
    case Deferred::State::Bypassed:
      break;
  }
  return "bypassed";
}

}  // namespace

std::string tool_mark(std::string_view tool) {
  std::string letters(tool);
  std::ranges::replace_if(
      letters,
      [](char c) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_';
        return !plain;
      },
      '_');
  return hex(sha256(letters));
}

bool is_same_tool(const Proposed& proposed, const Call& call) {
  return proposed.tool == tool_mark(call.tool) ||
         proposed.tool == tool_mark(call.server + "." + call.tool);
}

std::shared_ptr<const FactChange> add(const Call& call, const Proposed& proposed, Vault& vault,
                                      WallTime now) {
  json::object entry{{"at", rfc3339(now)}, {"tool", tool_mark(call.tool)}};
  if (proposed.call_id.empty()) {
    entry["deferred"] = proposed.deferred;
  } else {
    entry["call_id"] = proposed.call_id;
    // Clients name sessions, so the name may be anything.
    entry["session"] = vault.encrypt(proposed.session_id);
  }
  return std::make_shared<AddingModelCall>(key_of(call.agent_id, call.tool_call_id),
                                           std::move(entry), now);
}

Result<std::vector<Proposed>> find(RecordReader& records, const Vault& vault,
                                   const std::string& agent_id, const std::string& tool_call_id) {
  SALLYPORT_TRY(const std::optional<std::string> stored,
                records.fact(kSpace, key_of(agent_id, tool_call_id)));
  SALLYPORT_TRY(const json::array all, listed(stored));
  std::vector<Proposed> found;
  for (const json::value& item : all) {
    const json::object* const object = item.if_object();
    if (object == nullptr) return fail(ErrorCode::Corrupt, "a proposed call cannot be read");
    Proposed proposed{.call_id = text_or_empty(*object, "call_id"),
                      .deferred = text_or_empty(*object, "deferred"),
                      .tool = text_or_empty(*object, "tool")};
    if (!proposed.call_id.empty()) {
      SALLYPORT_TRY(proposed.session_id, vault.decrypt(text_or_empty(*object, "session")));
    }
    found.insert(found.begin(), std::move(proposed));
  }
  return found;
}

std::string deferred_key(const std::string& agent_id, const std::string& session_id,
                         const std::string& tool_call_id) {
  return hex(sha256(canonical_json(json::array{agent_id, session_id, tool_call_id})));
}

std::string asked_digest(const Call& call) {
  const json::value input = call.raw_input ? json::value(*call.raw_input) : call.input;
  return hex(sha256(canonical_json(input)));
}

Fact deferred_fact(const std::string& key, const Deferred& deferred) {
  return {std::string(kDeferred), key,
          canonical_json(json::object{{"at", rfc3339(deferred.at)},
                                      {"asked", deferred.asked},
                                      {"request_id", deferred.request_id},
                                      {"state", word_of(deferred.state)}})};
}

Result<std::optional<Deferred>> find_deferred(RecordReader& reader, const std::string& key) {
  SALLYPORT_TRY(const std::optional<std::string> stored, reader.fact(kDeferred, key));
  if (!stored) return std::nullopt;
  // Earlier releases wrote the id of the request, or one word.
  if (!stored->starts_with('{')) {
    const bool bypassed = *stored == word_of(Deferred::State::Bypassed);
    return Deferred{.state = bypassed ? Deferred::State::Bypassed : Deferred::State::Open,
                    .request_id = bypassed ? "" : *stored};
  }
  SALLYPORT_TRY(const json::value value, parse_own_json(*stored));
  const json::object* const object = value.if_object();
  if (object == nullptr) return fail(ErrorCode::Corrupt, "a deferred call cannot be read");
  const std::string state = text_or_empty(*object, "state");
  return Deferred{.state = state == "seen"       ? Deferred::State::Seen
                           : state == "bypassed" ? Deferred::State::Bypassed
                                                 : Deferred::State::Open,
                  .request_id = text_or_empty(*object, "request_id"),
                  .asked = text_or_empty(*object, "asked"),
                  .at = time_in(*object).value_or(WallTime{})};
}

}  // namespace sallyport::core::model_calls
