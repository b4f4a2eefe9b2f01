#include <fmt/format.h>

#include <boost/json.hpp>
#include <chrono>

#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "ledger/entry/entry_meaning.h"
#include "ledger/read/export.h"
#include "ledger/read/stored_entry.h"

namespace sallyport::ledger {

namespace {

// A class of OCSF and what happened in its words.
struct OcsfClass {
  int uid;
  int category;
  int activity;
};

constexpr int kOther = 99;

OcsfClass class_of(const EntryView& entry, std::string_view control) {
  constexpr int kApplication = 6;
  if (!entry.tool_name.empty()) return {6003, kApplication, kOther};
  if (control == "started") return {6002, kApplication, 3};
  if (control == "stopped") return {6002, kApplication, 4};
  if (entry.kind == "control") return {6002, kApplication, kOther};
  return {0, 0, kOther};
}

// Informational, low, medium, high, critical.
int severity_id(int severity) {
  if (severity <= 3) return 1;
  if (severity <= 5) return 3;
  return severity <= 7 ? 4 : 5;
}

int status_id(const EntryView& entry) {
  if (entry.outcome == "completed" || entry.outcome == "cached" || entry.outcome == "replayed") {
    return 1;
  }
  if (entry.outcome.empty()) return 0;
  return entry.outcome == "requires_confirmation" ? kOther : 2;
}

json::object product(std::string_view version) {
  return {{"name", "sallyport"}, {"vendor_name", "Sallyport"}, {"version", version}};
}

void put(json::object& out, std::string_view name, const std::string& value) {
  if (!value.empty()) out[name] = value;
}

}  // namespace

Result<std::string> ocsf_line(const StoredEntry& stored, std::string_view version) {
  SALLYPORT_CHECK_OK(check_leaf(stored));
  SALLYPORT_TRY(const EntryView entry, view_entry(*stored.bytes));
  SALLYPORT_TRY(const json::value value, parse_own_json(*stored.bytes));
  const json::object* const body = object_in(value.get_object(), "body");
  const std::optional<WallTime> time = from_rfc3339(entry.recorded_at);
  if (body == nullptr || !time) {
    return ledger_unavailable("corrupt", fmt::format("entry {} is not an entry", stored.sequence));
  }
  const EntryMeaning meaning = meaning_of(entry, *body);
  const OcsfClass kind = class_of(entry, text_in(*body, "control").value_or(""));
  const auto since_epoch = std::chrono::floor<std::chrono::milliseconds>(time->time_since_epoch());
  json::object event{
      {"class_uid", kind.uid},
      {"category_uid", kind.category},
      {"activity_id", kind.activity},
      {"type_uid", kind.uid * 100 + kind.activity},
      {"time", since_epoch.count()},
      {"severity_id", severity_id(meaning.severity)},
      {"status_id", status_id(entry)},
      {"metadata", json::object{{"version", "1.1.0"},
                                {"uid", entry.id},
                                {"sequence", entry.sequence},
                                {"event_code", meaning.signature},
                                {"product", product(version)}}},
      {"unmapped", json::object{{"leaf_hash", hex(stored.leaf)}, {"kind", entry.kind}}}};
  put(event, "status", entry.outcome);
  json::object& unmapped = event.at("unmapped").get_object();
  put(unmapped, "call_id", entry.call_id);
  put(unmapped, "session_id", entry.session_id);
  put(unmapped, "policy_hash", entry.policy_hash);
  put(unmapped, "trace_id", entry.trace_id);
  if (kind.uid == 6003) {
    json::object api{{"operation", entry.tool_name}};
    if (!entry.server.empty()) api["service"] = json::object{{"name", entry.server}};
    event["api"] = std::move(api);
    event["actor"] = json::object{{"user", json::object{{"name", entry.agent_id}}}};
    event["src_endpoint"] = json::object{{"name", entry.instance_id}};
  } else if (kind.uid == 6002) {
    event["app"] = product(version);
  }
  return canonical_json(event);
}

}  // namespace sallyport::ledger
