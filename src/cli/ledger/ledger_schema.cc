// `ledger schema`: describes the entries, for people and programs that read one for the first time.

#include <boost/json.hpp>

#include "cli/command.h"
#include "ledger/entry/entry.h"
#include "ledger/entry/sealed_names.h"
#include "records/entry_text.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct Member {
  const char* name;
  const char* type;
  bool required;
  const char* meaning;
};

constexpr Member kMembers[] = {
    {"schema", "string", true, "always sallyport.entry.v1"},
    {"id", "uuid", true, "UUIDv7; appending it again writes nothing"},
    {"sequence", "integer", true, "position from 0, without gaps; decides the order"},
    {"recorded_at", "time", true, "RFC 3339 in UTC with six fractional digits"},
    {"kind", "string", true, "what sort of entry this is; see kinds"},
    {"instance_id", "string", true, "the run of the process that wrote it"},
    {"body", "object", true, "what happened; content is replaced by commitments"},
    {"policy_hash", "string", false, "the policy pinned for this call"},
    {"call_id", "string", false, "the call it belongs to"},
    {"session_id", "string", false, "the session it belongs to"},
    {"agent_id", "string", false, "who acted"},
    {"server", "string", false, "the tool server"},
    {"tool_name", "string", false, "the tool"},
    {"outcome", "string", false, "how the call ended"},
    {"trace_id", "string", false, "the distributed trace"},
    {"run_id", "string", false, "the run of our own agent"},
    {"topic", "string", false, "the topic of a topic event"},
    {"topic_id", "integer", false, "position in the topic, from 1"},
    {"redactions", "array", false, "what was taken out before writing: path, category, digest"},
};

constexpr const char* kControls[] = {"started",
                                     "stopped",
                                     "gap",
                                     "policy_loaded",
                                     "policy_rejected",
                                     "policy_activated",
                                     "policy_activation_failed",
                                     "key_created",
                                     "key_rotated",
                                     "fail_open_started",
                                     "fail_open_ended",
                                     "clock_step",
                                     "grant_issued",
                                     "grant_revoked",
                                     "erased",
                                     "pruned",
                                     "hold_set",
                                     "hold_lifted",
                                     "rollback_acknowledged",
                                     "refused_control",
                                     "content_opened",
                                     "witness_refused",
                                     "passkey_added",
                                     "passkey_removed",
                                     "moved",
                                     "instance_lost",
                                     "clock_skew"};

Result<int> ledger_schema(const Context& context) {
  json::array members;
  for (const Member& member : kMembers) {
    members.push_back(json::object{{"name", member.name},
                                   {"type", member.type},
                                   {"required", member.required},
                                   {"meaning", member.meaning}});
  }
  json::array kinds;
  for (const std::string_view kind : core::kind_words()) kinds.emplace_back(kind);
  json::array sealed;
  for (const std::string_view name : ledger::sealed_names()) sealed.emplace_back(name);
  json::array controls;
  for (const char* const name : kControls) controls.emplace_back(name);
  const json::object schema{
      {"schema", ledger::kEntrySchema},    {"max_bytes", ledger::kMaxEntryBytes},
      {"members", std::move(members)},     {"kinds", std::move(kinds)},
      {"sealed_names", std::move(sealed)}, {"controls", std::move(controls)}};
  print_line(context.json() ? canonical_json(schema) : pretty_json(schema, 0));
  return 0;
}

const Command kLedgerSchema("ledger schema", "print what an entry can contain", ledger_schema);

}  // namespace

}  // namespace sallyport::app
