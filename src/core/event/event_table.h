// The 22 events, in the order of their variant: kind, role, scope, fields in wire order.
#pragma once

#include "core/event/event_shape.h"
#include "sallyport/event.h"

namespace sallyport::core {

template <class E>
inline constexpr auto kShape = nullptr;

template <>
inline constexpr auto kShape<event::AuthorizationDenied> = [] {
  using E = event::AuthorizationDenied;
  return shape("authorization_denied", Role::Reports, &E::agent_id, Field{"agent_id", &E::agent_id},
               WordField{"action", &E::action, kDeniedActions}, Field{"detail", &E::detail});
}();

template <>
inline constexpr auto kShape<event::ToolAuthorizationStarted> = [] {
  using E = event::ToolAuthorizationStarted;
  return shape("tool_authorization_started", Role::Announces, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"tool_name", &E::tool_name},
               Field{"tool_call_id", &E::tool_call_id}, Field{"preview", &E::preview});
}();

template <>
inline constexpr auto kShape<event::ToolAuthorizationFinished> = [] {
  using E = event::ToolAuthorizationFinished;
  return shape("tool_authorization_finished", Role::Reports, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"tool_name", &E::tool_name},
               Field{"tool_call_id", &E::tool_call_id},
               WordField{"outcome", &E::outcome, kAuthorizations}, Field{"reason", &E::reason});
}();

template <>
inline constexpr auto kShape<event::ToolAuthorizationBlocked> = [] {
  using E = event::ToolAuthorizationBlocked;
  return shape(
      "tool_authorization_blocked", Role::Reports, &E::agent_id, Field{"agent_id", &E::agent_id},
      Field{"tool_name", &E::tool_name}, Field{"tool_call_id", &E::tool_call_id},
      WordField{"outcome", &E::outcome, kBlockingAuthorizations}, Field{"reason", &E::reason});
}();

template <>
inline constexpr auto kShape<event::RecoveryPrepared> = [] {
  using E = event::RecoveryPrepared;
  return shape("recovery_prepared", Role::Announces, &E::runtime_instance_id,
               Field{"runtime_instance_id", &E::runtime_instance_id});
}();

template <>
inline constexpr auto kShape<event::ModelRequestStarted> = [] {
  using E = event::ModelRequestStarted;
  return shape("model_request_started", Role::Announces, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"model", &E::model},
               Field{"attempt", &E::attempt});
}();

template <>
inline constexpr auto kShape<event::ModelRequestFinished> = [] {
  using E = event::ModelRequestFinished;
  return shape("model_request_finished", Role::Reports, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"model", &E::model},
               Field{"attempt", &E::attempt}, Field{"success", &E::success},
               Field{"error", &E::error});
}();

template <>
inline constexpr auto kShape<event::ModelResponseFinished> = [] {
  using E = event::ModelResponseFinished;
  return shape(
      "model_response_finished", Role::Reports, &E::agent_id, Field{"agent_id", &E::agent_id},
      Field{"model", &E::model}, Field{"attempt", &E::attempt}, Field{"success", &E::success},
      Field{"error", &E::error}, Field{"stop_reason", &E::stop_reason}, Field{"usage", &E::usage});
}();

template <>
inline constexpr auto kShape<event::ToolExecutionStarted> = [] {
  using E = event::ToolExecutionStarted;
  return shape("tool_execution_started", Role::Announces, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"tool_name", &E::tool_name},
               Field{"tool_call_id", &E::tool_call_id});
}();

template <>
inline constexpr auto kShape<event::ToolExecutionFinished> = [] {
  using E = event::ToolExecutionFinished;
  return shape("tool_execution_finished", Role::Reports, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"tool_name", &E::tool_name},
               Field{"tool_call_id", &E::tool_call_id}, Field{"is_error", &E::is_error},
               Field{"error", &E::error},
               CutField{"output_preview", &E::output_preview, CutUnit::Bytes, 4096},
               Field{"details", &E::details});
}();

template <>
inline constexpr auto kShape<event::PolicyDenied> = [] {
  using E = event::PolicyDenied;
  return shape("policy_denied", Role::Reports, &E::agent_id, Field{"agent_id", &E::agent_id},
               Field{"tool_name", &E::tool_name}, Field{"reason", &E::reason});
}();

template <>
inline constexpr auto kShape<event::BackgroundTaskStarted> = [] {
  using E = event::BackgroundTaskStarted;
  return shape("background_task_started", Role::Announces, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"task_id", &E::task_id},
               Field{"command", &E::command}, Field{"cwd", &E::cwd});
}();

template <>
inline constexpr auto kShape<event::BackgroundTaskFinished> = [] {
  using E = event::BackgroundTaskFinished;
  return shape("background_task_finished", Role::Reports, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"task_id", &E::task_id},
               WordField{"status", &E::status, kTaskStatuses});
}();

template <>
inline constexpr auto kShape<event::MemorySearchStarted> = [] {
  using E = event::MemorySearchStarted;
  return shape("memory_search_started", Role::Announces, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"limit", &E::limit},
               CutField{"query_preview", &E::query_preview, CutUnit::CodePoints, 120});
}();

template <>
inline constexpr auto kShape<event::MemorySearchFinished> = [] {
  using E = event::MemorySearchFinished;
  return shape("memory_search_finished", Role::Reports, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"success", &E::success},
               Field{"result_count", &E::result_count}, Field{"error", &E::error});
}();

template <>
inline constexpr auto kShape<event::MemoryIngestStarted> = [] {
  using E = event::MemoryIngestStarted;
  return shape("memory_ingest_started", Role::Announces, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"source_revision", &E::source_revision});
}();

template <>
inline constexpr auto kShape<event::MemoryIngestFinished> = [] {
  using E = event::MemoryIngestFinished;
  return shape("memory_ingest_finished", Role::Reports, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"source_revision", &E::source_revision},
               Field{"success", &E::success}, Field{"stored_records", &E::stored_records},
               Field{"error", &E::error});
}();

template <>
inline constexpr auto kShape<event::MemoryCompactionProposed> = [] {
  using E = event::MemoryCompactionProposed;
  return shape("memory_compaction_proposed", Role::Announces, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"base_revision", &E::base_revision},
               Field{"transcript_path", &E::transcript_path});
}();

template <>
inline constexpr auto kShape<event::MemoryCompactionApplied> = [] {
  using E = event::MemoryCompactionApplied;
  return shape("memory_compaction_applied", Role::Reports, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"base_revision", &E::base_revision},
               Field{"resulting_history_len", &E::resulting_history_len});
}();

template <>
inline constexpr auto kShape<event::MemoryCompactionSkipped> = [] {
  using E = event::MemoryCompactionSkipped;
  return shape("memory_compaction_skipped", Role::Reports, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"base_revision", &E::base_revision});
}();

template <>
inline constexpr auto kShape<event::RunAborted> = [] {
  using E = event::RunAborted;
  return shape("run_aborted", Role::Reports, &E::agent_id, Field{"agent_id", &E::agent_id},
               Field{"reason", &E::reason});
}();

template <>
inline constexpr auto kShape<event::ToolExecutionBlocked> = [] {
  using E = event::ToolExecutionBlocked;
  return shape("tool_execution_blocked", Role::Reports, &E::agent_id,
               Field{"agent_id", &E::agent_id}, Field{"tool_name", &E::tool_name},
               Field{"tool_call_id", &E::tool_call_id}, Field{"reason", &E::reason});
}();

}  // namespace sallyport::core
