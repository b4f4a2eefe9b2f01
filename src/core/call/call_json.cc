#include "core/call/call_json.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/object_reader.h"

namespace sallyport::core {

json::object to_json(const Call& call) {
  json::object object{{"call_id", call.call_id},
                      {"tool_call_id", call.tool_call_id},
                      {"agent_id", call.agent_id},
                      {"session_id", call.session_id},
                      {"trace_id", call.trace_id},
                      {"server", call.server},
                      {"tool", call.tool},
                      {"input", call.input},
                      {"turn", call.turn},
                      {"provider", call.provenance.provider},
                      {"model", call.provenance.model},
                      {"agent_name", call.agent_name},
                      {"history_len", call.history_len}};
  if (call.raw_input) object["raw_input"] = *call.raw_input;
  if (!call.grants.empty()) {
    object["grants"] = json::array(call.grants.begin(), call.grants.end());
  }
  if (call.time_limit) object["time_limit_ms"] = call.time_limit->count();
  if (!call.trigger_id.empty()) object["trigger_id"] = call.trigger_id;
  if (!call.run_id.empty()) object["run_id"] = call.run_id;
  if (call.setting != CallSetting{}) {
    object["setting"] = json::object{{"front", call.setting.front},
                                     {"folder", call.setting.folder},
                                     {"workspace", json::value_from(call.setting.workspace)},
                                     {"interactive", call.setting.interactive}};
    json::object& setting = object["setting"].as_object();
    if (!call.setting.user.empty()) setting["user"] = call.setting.user;
    if (!call.setting.trigger.empty()) {
      setting["trigger"] = json::value_from(call.setting.trigger);
    }
  }
  return object;
}

Result<Call> call_from_json(const json::value& value) {
  ObjectReader in(value, "call");
  Call call{.call_id = in.text("call_id"),
            .tool_call_id = in.text("tool_call_id"),
            .agent_id = in.text("agent_id"),
            .session_id = in.text("session_id"),
            .trace_id = in.text("trace_id"),
            .server = in.text("server"),
            .tool = in.text("tool"),
            .input = in.any("input"),
            .raw_input = in.optional_text("raw_input"),
            .turn = in.number("turn"),
            .provenance = {.provider = in.text("provider"), .model = in.text("model")},
            .agent_name = in.text("agent_name"),
            .history_len = in.number("history_len")};
  if (const auto limit = in.optional_number("time_limit_ms")) {
    call.time_limit = std::chrono::milliseconds(*limit);
  }
  if (in.has("grants")) {
    for (const json::value& grant : in.array("grants")) {
      if (grant.is_string()) call.grants.emplace_back(grant.get_string());
    }
  }
  if (auto trigger_id = in.optional_text("trigger_id")) call.trigger_id = std::move(*trigger_id);
  if (auto run_id = in.optional_text("run_id")) call.run_id = std::move(*run_id);
  if (in.has("setting")) {
    const json::value kept = in.any("setting");
    ObjectReader setting(kept, "call.setting");
    call.setting = {.front = setting.text("front"),
                    .folder = setting.text("folder"),
                    .interactive = setting.boolean("interactive")};
    for (const json::value& folder : setting.array("workspace")) {
      if (folder.is_string()) call.setting.workspace.emplace_back(folder.get_string());
    }
    call.setting.user = setting.optional_text("user").value_or("");
    const json::value trigger = setting.has("trigger") ? setting.any("trigger") : json::value();
    if (const json::object* const members = trigger.if_object()) {
      for (const json::key_value_pair& member : *members) {
        call.setting.trigger[member.key()] = text_or_empty(*members, member.key());
      }
    }
    if (!setting.ok()) return std::unexpected(setting.error());
  }
  if (!in.ok()) return std::unexpected(in.error());
  return call;
}

}  // namespace sallyport::core
