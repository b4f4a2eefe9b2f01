#include "core/record/stored_record.h"

#include <boost/json.hpp>

#include "base/json_members.h"

namespace sallyport::core {

namespace {

json::value member(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  return value ? *value : json::value();
}

json::value text_member(const json::object& object, std::string_view name) {
  json::value value = member(object, name);
  return value.is_null() ? json::value("") : value;
}

// Marks absent content in its place. That a call ran is known without its result.
void mark_absent(json::object& outcome) {
  for (json::key_value_pair& part : outcome) {
    const json::object* const sealed = part.value().if_object();
    if (sealed == nullptr || !sealed->contains("$sealed")) continue;
    const std::string label = "[" + text_or_empty(*sealed, "state") + "]";
    if (part.key() == "result") {
      part.value() = json::object{{"success", true}, {"output", label}};
    } else if (part.key() == "listen_context") {
      part.value() = nullptr;
    } else {
      part.value() = label;
    }
  }
}

}  // namespace

json::object audit_json(const json::object& entry) {
  json::object record = entry.at("body").as_object();
  for (const char* const name :
       {"call_id", "session_id", "trace_id", "agent_id", "server", "policy_hash", "tool_name"}) {
    record[name] = text_member(entry, name);
  }
  record["recorded_at"] = entry.at("recorded_at");
  record["sequence"] = entry.at("sequence");
  json::value redactions = member(entry, "redactions");
  record["redactions"] = redactions.is_null() ? json::array() : std::move(redactions);
  return record;
}

json::object event_json(const json::object& entry) {
  const json::object& payload = entry.at("body").as_object();
  const bool of_instance = payload.contains("runtime_instance_id");
  return {{"sequence", entry.at("sequence")},
          {"scope", member(payload, of_instance ? "runtime_instance_id" : "agent_id")},
          {"event_type", member(payload, "kind")},
          {"session_id", member(entry, "session_id")},
          {"run_id", member(entry, "run_id")},
          {"call_id", member(entry, "call_id")},
          {"trace_id", member(entry, "trace_id")},
          {"instance_id", entry.at("instance_id")},
          {"policy_hash", member(entry, "policy_hash")},
          {"recorded_at", entry.at("recorded_at")},
          {"payload", payload}};
}

json::object failure_json(const json::object& entry) {
  json::object failure = entry.at("body").as_object();
  failure["recorded_at"] = entry.at("recorded_at");
  return failure;
}

Result<AuditRecord> audit_record_of(const json::object& entry) {
  json::object record = audit_json(entry);
  if (json::value* const outcome = record.if_contains("outcome"); outcome && outcome->is_object()) {
    mark_absent(outcome->get_object());
  }
  return audit_record_from_json(record);
}

}  // namespace sallyport::core
