#include "core/event/topic_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "core/event/topic_name.h"
#include "core/record/shape_fields.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kMaxPayload = 65535;
constexpr std::size_t kMaxHeaders = 16 * 1024;

bool is_governed_header(std::string_view name) {
  return name == "trace_id" || name == "agent" || name == "autonomy_tier";
}

// The topics of entries that the product writes. Verifiers read some of them, such as
// `turned_away`, so no program may write there.
constexpr std::string_view kOwnTopics[] = {
    kAutonomyTopic, kGuardrailsTopic, kOutboxTopic,  "artifacts",     "bridge",
    "clients",      "facts",          "hooks",       "late_outcomes", "late_results",
    "mcp",          "model_messages", "processes",   "rules",         "scenes",
    "server_tasks", "tool_pins",      "trust_graph", "turned_away",   "turns",
};

bool is_own_topic(std::string_view topic) {
  return std::ranges::find(kOwnTopics, topic) != std::end(kOwnTopics) ||
         topic.starts_with("trust_graph.") || topic.starts_with("hitl.");
}

Draft draft_of(TopicEvent event, const std::optional<Governed>& governed) {
  json::object headers;
  for (const auto& [name, value] : event.headers) headers[name] = value;
  Draft draft{.kind = Kind::Topic, .topic = std::move(event.topic)};
  if (governed) {
    headers["trace_id"] = governed->trace_id;
    headers["agent"] = governed->agent;
    headers["autonomy_tier"] = to_string(governed->autonomy_tier);
    draft.subject.set(&Subject::agent_id, governed->agent);
    draft.subject.set(&Subject::trace_id, governed->trace_id);
  }
  draft.body = {{"kind", std::move(event.kind)},
                {"headers", std::move(headers)},
                {"payload", std::move(event.payload)}};
  return draft;
}

}  // namespace

Result<Draft> topic_draft(TopicEvent event, const std::optional<Governed>& governed) {
  if (event.kind.empty() || event.kind.size() > 128) {
    return fail(ErrorCode::InvalidInput, "the kind of an event has 1 to 128 bytes", "kind");
  }
  std::size_t bytes = 0;
  for (const auto& [name, value] : event.headers) {
    bytes += name.size() + value.size();
    if (is_governed_header(name)) {
      return fail(ErrorCode::InvalidInput, fmt::format("header `{}` is not yours to set", name),
                  "headers");
    }
  }
  if (bytes > kMaxHeaders) {
    return fail(ErrorCode::InvalidInput, "the headers of an event are over 16 KiB", "headers");
  }
  if (canonical_json(event.payload).size() > kMaxPayload) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("the payload of an event is over {} bytes", kMaxPayload), "payload");
  }
  return draft_of(std::move(event), governed);
}

Result<Draft> program_draft(TopicEvent event, const Subject& subject) {
  const std::string_view topic = event.topic;
  if (is_own_topic(topic)) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("topic `{:.128}` is written by sallyport itself, choose another name", topic),
        "topic");
  }
  SALLYPORT_CHECK_OK(check_topic_name(topic));
  // Smaller than an entry may be: a row shares a commit with the record of a call.
  constexpr std::size_t kLargest = 16 * 1024;
  if (canonical_json(event.payload).size() > kLargest) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("the payload of an event of a program is over {} bytes", kLargest),
                "payload");
  }
  SALLYPORT_TRY(Draft draft, topic_draft(std::move(event)));
  draft.subject = subject;
  return draft;
}

Draft dispatch_proposed(const Proposal& proposal) {
  json::object payload{{"agent", proposal.about.agent},
                       {"action", proposal.action},
                       {"builtin", proposal.tool},
                       {"action_class", proposal.effect_class},
                       {"args", json::array{proposal.input}},
                       {"trace_id", proposal.about.trace_id},
                       {"replay_of_event_id", or_null(proposal.replay_of_event_id)},
                       {"autonomy_tier", to_string(proposal.about.autonomy_tier)},
                       {"proposal", true},
                       {"call_id", proposal.call_id}};
  if (!proposal.approval_request_id.empty()) {
    payload["approval_request_id"] = proposal.approval_request_id;
  }
  Draft draft = draft_of({.topic = std::string(kOutboxTopic),
                          .kind = "dispatch_proposed",
                          .payload = std::move(payload)},
                         proposal.about);
  draft.subject.set(&Subject::call_id, proposal.call_id);
  return draft;
}

}  // namespace sallyport::core
