#include "core/call/idempotency.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/handoff/waiting_facts.h"

namespace sallyport::core {

namespace {

std::string_view word_of(Idempotency::Status status) {
  switch (status) {
    case Idempotency::Status::InFlight:
      return "InFlight";
    case Idempotency::Status::Completed:
      return "Completed";
    case Idempotency::Status::Unknown:
      return "Unknown";
  }
  return "Unknown";
}

Idempotency::Status status_of(std::string_view word) {
  if (word == "InFlight") return Idempotency::Status::InFlight;
  return word == "Completed" ? Idempotency::Status::Completed : Idempotency::Status::Unknown;
}

}  // namespace

std::string Idempotency::key(const Call& call) const {
  if (call.session_id.empty() || call.tool_call_id == call.call_id) return {};
  return digest_(canonical_json(json::array{call.session_id, call.tool_call_id}));
}

Result<std::optional<Idempotency::Row>> Idempotency::row(const std::string& key) {
  SALLYPORT_TRY(const std::optional<std::string> stored, records_.fact(kRowSpace, key));
  if (!stored) return std::nullopt;
  const std::optional<Placed> placed = split_place(*stored);
  if (!placed) return fail(ErrorCode::Corrupt, "an idempotency row cannot be read");
  SALLYPORT_TRY(const json::value value, parse_own_json(placed->value));
  const json::object& object = value.as_object();
  return Row{.call_id = text_or_empty(object, "call_id"),
             .request_digest = text_or_empty(object, "request_digest"),
             .status = status_of(text_or_empty(object, "status")),
             .started_at = text_or_empty(object, "started_at"),
             .stored = *stored,
             .sequence = placed->sequence};
}

Fact Idempotency::fact(const std::string& key, const Row& row) {
  return {std::string(kRowSpace), key,
          canonical_json(json::object{{"call_id", row.call_id},
                                      {"request_digest", row.request_digest},
                                      {"status", word_of(row.status)},
                                      {"started_at", row.started_at}}),
          true};
}

Fact Idempotency::no_row(const std::string& key) {
  return {std::string(kRowSpace), key, std::nullopt};
}

Fact Idempotency::expected(const std::string& key, const std::optional<Row>& row) {
  if (!row) return no_row(key);
  return {std::string(kRowSpace), key, row->stored};
}

Result<bool> Idempotency::running(const Row& row) {
  SALLYPORT_TRY(const auto handed_out, records_.fact(kHandedOut, row.call_id));
  if (handed_out) return true;
  SALLYPORT_TRY(const auto open, records_.fact(kOpenCall, row.call_id));
  const std::optional<Placed> placed = open ? split_place(*open) : std::nullopt;
  return placed && instances_.alive(placed->value);
}

Result<Idempotency::Claim> Idempotency::claim(const std::string& key) {
  const bool free = held_->with([&](auto& held) { return held.insert(key).second; });
  if (!free) return nullptr;
  const Claim here(held_.get(), [held = held_, key](void*) {
    held->with([&](auto& keys) { keys.erase(key); });
  });
  SALLYPORT_TRY(Instances::Claim claim, instances_.claim(key));
  if (!claim) return nullptr;
  // The claim is released first, so that the next caller in this process finds it free.
  return std::make_shared<std::pair<Claim, Instances::Claim>>(here, std::move(claim));
}

Result<std::optional<IdempotencyRow>> Idempotency::read(const std::string& session_id,
                                                        const std::string& tool_call_id) {
  const Call named{.tool_call_id = tool_call_id, .session_id = session_id};
  SALLYPORT_TRY(const std::optional<Row> found, row(key(named)));
  if (!found) return std::nullopt;
  SALLYPORT_TRY(const json::object entry, records_.entry(found->sequence));
  const json::object& body = entry.at("body").as_object();
  const json::object* const prepared = object_in(body, "effective_input");
  IdempotencyRow shown{.session_id = session_id,
                       .tool_call_id = tool_call_id,
                       .call_id = found->call_id,
                       .request_digest = found->request_digest,
                       .tool_name = text_or_empty(entry, "tool_name"),
                       .display_name = text_or_empty(body, "display_name"),
                       .input = body.at("requested_input"),
                       .started_at = found->started_at};
  if (prepared && prepared->contains("operation_id")) {
    shown.operation_id = text_or_empty(*prepared, "operation_id");
  }
  const std::string recorded_at = text_or_empty(entry, "recorded_at");
  if (found->status != Status::Completed) return shown;
  shown.status = IdempotencyRow::Status::Completed;
  shown.completed_at = recorded_at;
  if (const json::object* const outcome = object_in(body, "outcome")) {
    if (const json::value* const result = outcome->if_contains("result")) {
      if (Result<ToolResult> stored = tool_result_from_json(*result)) shown.result = *stored;
    }
  }
  return shown;
}

}  // namespace sallyport::core
