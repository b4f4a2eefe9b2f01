// One event of each kind, as its RFC 8785 text, with the specification's statements about it.
#pragma once

#include <string_view>

namespace sallyport::test {

struct EventSample {
  std::string_view kind;
  bool announces;
  std::string_view text;
};

inline constexpr EventSample kEventSamples[] = {
    {"authorization_denied", false,
     R"({"action":"shell","agent_id":"agent:a","detail":"no","kind":"authorization_denied"})"},
    {"tool_authorization_started", true,
     R"({"agent_id":"agent:a","kind":"tool_authorization_started","preview":{"approval_category":)"
     R"("Default","capabilities":["ReadOnly",{"Custom":"x"}],"durability":"Ephemeral",)"
     R"("execution_category":"ReadOnlyParallel","raw_input":{"n":0.5},"side_effect_level":"None",)"
     R"("structured_input":null,"working_directory":"/w"},"tool_call_id":"t1","tool_name":"read"})"},
    {"tool_authorization_finished", false,
     R"({"agent_id":"agent:a","kind":"tool_authorization_finished","outcome":"allow",)"
     R"("reason":null,"tool_call_id":"t1","tool_name":"read"})"},
    {"tool_authorization_blocked", false,
     R"({"agent_id":"agent:a","kind":"tool_authorization_blocked","outcome":"prompt",)"
     R"("reason":"why","tool_call_id":"t1","tool_name":"read"})"},
    {"recovery_prepared", true, R"({"kind":"recovery_prepared","runtime_instance_id":"i-1"})"},
    {"model_request_started", true,
     R"({"agent_id":"agent:a","attempt":1,"kind":"model_request_started","model":"m"})"},
    {"model_request_finished", false,
     R"({"agent_id":"agent:a","attempt":2,"error":"http 503","kind":"model_request_finished",)"
     R"("model":"m","success":false})"},
    {"model_response_finished", false,
     R"({"agent_id":"agent:a","attempt":2,"error":null,"kind":"model_response_finished",)"
     R"("model":"m","stop_reason":"end_turn","success":true,"usage":{)"
     R"("cache_creation_input_tokens":null,"cache_read_input_tokens":null,"input_tokens":12,)"
     R"("output_tokens":3,"reasoning_tokens":null,"thoughts_tokens":null,)"
     R"("tool_input_tokens":null,"total_tokens":15}})"},
    {"tool_execution_started", true,
     R"({"agent_id":"agent:a","kind":"tool_execution_started","tool_call_id":"t1",)"
     R"("tool_name":"read"})"},
    {"tool_execution_finished", false,
     R"({"agent_id":"agent:a","details":{"rows":[1,2]},"error":"broken","is_error":true,)"
     R"("kind":"tool_execution_finished","output_preview":"é","tool_call_id":"t1",)"
     R"("tool_name":"read"})"},
    {"policy_denied", false,
     R"({"agent_id":"agent:a","kind":"policy_denied","reason":"r","tool_name":"model:m"})"},
    {"background_task_started", true,
     R"({"agent_id":"agent:a","command":"make","cwd":"/w","kind":"background_task_started",)"
     R"("task_id":"b1"})"},
    {"background_task_finished", false,
     R"({"agent_id":"agent:a","kind":"background_task_finished","status":"interrupted",)"
     R"("task_id":"b1"})"},
    {"memory_search_started", true,
     R"({"agent_id":"agent:a","kind":"memory_search_started","limit":5,"query_preview":"q"})"},
    {"memory_search_finished", false,
     R"({"agent_id":"agent:a","error":null,"kind":"memory_search_finished","result_count":0,)"
     R"("success":true})"},
    {"memory_ingest_started", true,
     R"({"agent_id":"agent:a","kind":"memory_ingest_started","source_revision":7})"},
    {"memory_ingest_finished", false,
     R"({"agent_id":"agent:a","error":"full","kind":"memory_ingest_finished",)"
     R"("source_revision":7,"stored_records":0,"success":false})"},
    {"memory_compaction_proposed", true,
     R"({"agent_id":"agent:a","base_revision":7,"kind":"memory_compaction_proposed",)"
     R"("transcript_path":"transcripts/1.jsonl"})"},
    {"memory_compaction_applied", false,
     R"({"agent_id":"agent:a","base_revision":7,"kind":"memory_compaction_applied",)"
     R"("resulting_history_len":9007199254740991})"},
    {"memory_compaction_skipped", false,
     R"({"agent_id":"agent:a","base_revision":7,"kind":"memory_compaction_skipped"})"},
    {"run_aborted", false,
     R"({"agent_id":"agent:a","kind":"run_aborted","reason":"cancelled: by the caller"})"},
    {"tool_execution_blocked", false,
     R"({"agent_id":"agent:a","kind":"tool_execution_blocked","reason":"r","tool_call_id":"t1",)"
     R"("tool_name":"read"})"},
};

// Fields that may be `null` or absent.
inline bool is_optional(std::string_view kind, std::string_view field) {
  if (field == "reason") return kind.starts_with("tool_authorization_");
  return field == "error" || field == "stop_reason" || field == "usage" || field == "details";
}

}  // namespace sallyport::test
