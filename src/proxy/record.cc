#include "proxy/record.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/cut_text.h"
#include "base/json_members.h"
#include "base/try.h"
#include "proxy/budgets.h"

namespace sallyport::proxy {

namespace {

constexpr std::size_t kLongestText = 512;
constexpr std::size_t kLongestBody = 60'000;  // an entry has at most 65,535 bytes

// Cuts names and ids of clients and providers, so that records stay short and readable.
json::value short_text(const std::string& text) {
  return json::value(cut_utf8_bytes(readable(text), kLongestText));
}

json::value short_text_or_null(const std::string& text) {
  return text.empty() ? json::value() : short_text(text);
}

template <class T>
json::value number_or_null(const std::optional<T>& number) {
  return number ? json::value(*number) : json::value();
}

// Returns the first elements of a list. If there are more, `cut` gets its length.
template <class List, class Make>
json::array listed(const List& list, const char* name, std::size_t most, json::object& cut,
                   Make make) {
  json::array out;
  for (const auto& element : list) {
    if (out.size() == most) break;
    out.push_back(make(element));
  }
  if (list.size() > most) cut[name] = list.size();
  return out;
}

json::array covered_json(const auto& coverage, std::size_t most, json::object& cut) {
  json::array covered;
  for (const auto& [channel, checks] : coverage) {
    const auto unchanged = [](const json::value& check) { return check; };
    covered.push_back(json::object{{"channel", channel},
                                   {"checks", listed(checks, "coverage", most, cut, unchanged)}});
  }
  return covered;
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  static constexpr std::array<std::string_view, 5> kWords{"completed", "blocked", "refused",
                                                          "failed", "cancelled"};
  return kWords.at(static_cast<std::size_t>(outcome));
}

void ModelRecord::degrade(std::string word) {
  if (std::ranges::find(degraded, word) == degraded.end()) degraded.push_back(std::move(word));
}

ModelRecord ModelRecord::reduced() const {
  return {.request_id = request_id,
          .agent_id = agent_id,
          .session_id = session_id,
          .trace_id = trace_id,
          .run_id = run_id,
          .api = api,
          .route = route,
          .stream = stream,
          .upstream = upstream,
          .credential = credential,
          .model = model,
          .upstream_model = upstream_model,
          .outcome = outcome,
          .reason = "the record of this request could not be written as it was",
          .status = status,
          .attempts = attempts,
          .stored = stored,
          .duration_ms = duration_ms,
          .bytes_in = bytes_in,
          .bytes_out = bytes_out,
          .changes = changes,
          .request_digest = request_digest,
          .request = request,
          .released = released,
          .policy_hash = policy_hash,
          .generation = generation};
}

Subject ModelRecord::subject() const {
  return {.policy_hash = policy_hash,
          .call_id = request_id,
          .session_id = session_id,
          .agent_id = agent_id,
          .trace_id = trace_id,
          .run_id = run_id};
}

json::object ModelRecord::body(std::size_t most) const {
  const auto text = [](const std::string& value) { return short_text(value); };
  json::object cut;
  json::object body{
      {"request_id", request_id},
      {"agent_id", agent_id},
      {"session_id", short_text_or_null(session_id)},
      {"trace_id", trace_id},
      {"api", api},
      {"route", route},
      {"stream", stream},
      {"upstream", short_text_or_null(upstream)},
      {"credential", credential},
      {"model", short_text(model)},
      {"upstream_model", short_text_or_null(upstream_model)},
      {"outcome", to_string(outcome)},
      {"reason", short_text_or_null(reason)},
      {"status", status},
      {"attempts", attempts},
      {"client_retry", client_retry},
      {"provider_request_id", short_text_or_null(provider_request_id)},
      {"response_id", short_text_or_null(response_id)},
      {"stored", stored},
      {"stop_reason", short_text_or_null(stop_reason)},
      {"sent_stop_reason", short_text_or_null(sent_stop_reason)},
      {"usage", usage ? json::value(to_json(*usage)) : json::value()},
      {"usage_source", usage_source},
      {"cost_microusd", number_or_null(cost_microusd)},
      {"price", short_text_or_null(price)},
      {"first_byte_ms", number_or_null(first_byte_ms)},
      {"duration_ms", duration_ms},
      {"bytes_in", bytes_in},
      {"bytes_out", bytes_out},
      {"held_max", held_max},
      {"coverage", covered_json(coverage, most, cut)},
      {"changes", changes},
  };
  body["degraded"] = listed(degraded, "degraded", most, cut, text);
  body["unread"] = listed(unread, "unread", most, cut, [](const auto& part) -> json::value {
    return json::object{{"path", short_text(part.first)}, {"kind", short_text(part.second)}};
  });
  body["unknown"] = listed(unknown, "unknown", most, cut, text);
  body["calls"] = listed(calls, "calls", most, cut, [](const RecordedCall& call) -> json::value {
    return json::object{{"tool_call_id", short_text(call.tool_call_id)},
                        {"call_id", call.call_id},
                        {"verdict", call.verdict}};
  });
  body["state"] = listed(state, "state", most, cut, text);
  body["cut"] = std::move(cut);
  body["request_digest"] = request_digest;
  body["request"] = short_text_or_null(request.empty() ? "" : "withheld");
  body["released"] = short_text_or_null(released.empty() ? "" : "withheld");
  body["policy_hash"] = policy_hash;
  body["generation"] = generation;
  return body;
}

core::Draft ModelRecord::draft() const {
  core::Draft draft{.kind = core::Kind::ModelAudit,
                    .subject = subject(),
                    .outcome = std::string(to_string(outcome))};
  // Shortens the lists until the entry fits.
  for (std::size_t most = kLongestList;; most /= 4) {
    json::object entry = body(most);
    const bool fits = most == 0 || json::serialize(entry).size() <= kLongestBody;
    draft.body = std::move(entry);
    if (fits) break;
  }
  draft.id = request_id;
  draft.fresh_id = true;
  if (!request.empty()) {
    draft.exact.push_back({.path = "/request", .bytes = request, .raw = true, .withheld = true});
  }
  if (!released.empty()) {
    draft.exact.push_back({.path = "/released", .bytes = released, .raw = true, .withheld = true});
  }
  draft.facts.push_back({std::string(kOpenRequests), request_id, std::nullopt});
  return draft;
}

core::Fact open_request(const ModelRecord& record, std::uint64_t attempt,
                        const std::string& instance_id) {
  // Only ids and names: a fact contains no content.
  const json::object skeleton{{"instance", instance_id},
                              {"agent_id", record.agent_id},
                              {"session_id", record.session_id},
                              {"trace_id", record.trace_id},
                              {"run_id", record.run_id},
                              {"api", record.api},
                              {"route", record.route},
                              {"stream", record.stream},
                              {"upstream", record.upstream},
                              {"credential", record.credential},
                              {"model", record.model},
                              {"upstream_model", record.upstream_model},
                              {"attempts", attempt},
                              {"request_digest", record.request_digest},
                              {"policy_hash", record.policy_hash},
                              {"generation", record.generation}};
  return {std::string(kOpenRequests), record.request_id, canonical_json(skeleton)};
}

std::optional<LostRequest> lost_request(const core::Fact& fact) {
  const auto value = fact.value ? parse_own_json(*fact.value) : fail(ErrorCode::NotFound, "");
  const json::object* const object = value ? value->if_object() : nullptr;
  if (object == nullptr) return std::nullopt;
  const auto text = [&](std::string_view name) { return text_or_empty(*object, name); };
  const auto number = [&](std::string_view name) -> std::uint64_t {
    const json::value* const member = object->if_contains(name);
    return member != nullptr && member->is_number() ? member->to_number<std::uint64_t>() : 0;
  };
  const ModelRecord record{.request_id = fact.key,
                           .agent_id = text("agent_id"),
                           .session_id = text("session_id"),
                           .trace_id = text("trace_id"),
                           .run_id = text("run_id"),
                           .api = text("api"),
                           .route = text("route"),
                           .stream = bool_in(*object, "stream").value_or(false),
                           .upstream = text("upstream"),
                           .credential = text("credential"),
                           .model = text("model"),
                           .upstream_model = text("upstream_model"),
                           .outcome = Outcome::Failed,
                           .reason = "interrupted: the process ended before the answer did",
                           .attempts = number("attempts"),
                           .request_digest = text("request_digest"),
                           .policy_hash = text("policy_hash"),
                           .generation = number("generation")};
  LostRequest lost{text("instance"), record.draft()};
  // The reservation counts as used, because the real use is unknown.
  lost.draft.facts.push_back({std::string(kReservations), fact.key, std::nullopt});
  return lost;
}

Task<void> close_lost_requests(core::Recorder& recorder) {
  SALLYPORT_CO_TRY(const std::vector<core::Fact> open, recorder.facts(kOpenRequests));
  for (const core::Fact& fact : open) {
    std::optional<LostRequest> lost = lost_request(fact);
    if (!lost || recorder.alive(lost->instance_id)) continue;
    std::vector<core::Draft> drafts;
    drafts.push_back(std::move(lost->draft));
    const auto written =
        co_await recorder.append(std::move(drafts), core::Urgency::Reports, {fact});
    // Another process may have ended it.
    if (!written && written.error().code != ErrorCode::Conflict) {
      co_return std::unexpected(written.error());
    }
  }
  co_return Result<void>{};
}

}  // namespace sallyport::proxy
