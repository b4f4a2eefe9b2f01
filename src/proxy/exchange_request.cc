// Handles a request before it is sent: reads it, chooses a provider and applies the policy.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "base/json_members.h"
#include "base/lower_case.h"
#include "llm/wire_json.h"
#include "net/content_decoder.h"
#include "proxy/exchange.h"
#include "proxy/input_stage.h"
#include "proxy/owned_state.h"
#include "proxy/provider_ids.h"
#include "telemetry/span.h"

namespace sallyport::proxy {

namespace {

constexpr std::size_t kLargestBody = 64u << 20;
constexpr const char* kTooLarge = "the body has over 64 MiB when it is decoded";
constexpr std::size_t kLongestId = 512;
constexpr std::size_t kMostIds = 1024;  // in one body

std::string id_in(std::string_view text) {
  return text.size() <= kLongestId && is_utf8(text) ? std::string(text) : std::string();
}

// Several headers are one list of codings.
std::string codings_of(const net::ServerRequest& request) {
  std::string codings;
  for (const auto& [name, value] : request.headers) {
    if (name == "content-encoding") codings += (codings.empty() ? "" : ",") + value;
  }
  return codings;
}

}  // namespace

void ModelExchange::begin() {
  const net::ServerRequest& request = client_.request();
  if (request.unread == "cut") gone_.request_stop();
  record_.bytes_in = request.body.size();
  const std::string_view parent = request.header("traceparent").value_or("");
  if (const auto trace = telemetry::TraceContext::parse(parent)) {
    record_.trace_id = trace->trace_id();
  }
  for (const std::string& name : live_->settings.session_headers) {
    if (const auto session = request.header(name)) {
      record_.session_id = id_in(*session);
      if (!record_.session_id.empty()) break;
    }
  }
  // The token of the agent may be in any of these headers, with or without a scheme (MP-26).
  for (const char* const name : {"x-sallyport-token", "authorization", "x-api-key"}) {
    const std::string_view shown = request.header(name).value_or("");
    const std::string_view token = shown.substr(shown.rfind(' ') + 1);
    if (!token.empty()) secrets_.emplace_back(token);
  }
  if (const auto retry = request.header("x-stainless-retry-count")) {
    std::uint64_t count = 0;
    std::from_chars(retry->data(), retry->data() + retry->size(), count);
    record_.client_retry = std::min(count, llm::kMostCount);  // an entry holds no larger number
  }
  // Call ids are unique only within a session. An agent that names none has one of its own.
  doors_.session_id = record_.session_id.empty() ? "model:" + record_.agent_id : record_.session_id;
}

ModelExchange::Ended ModelExchange::refuse_other_route() {
  const net::ServerRequest& request = client_.request();
  // A provider that resolves such a path could serve a route that is governed here.
  net::ServerRequest alike{.method = request.method, .path = lower_case(request.path)};
  while (alike.path.ends_with('/')) alike.path.pop_back();
  const bool plain = request.path.find("/.") == std::string::npos &&
                     request.path.find("//") == std::string::npos &&
                     request.path.find_first_of("%\\;") == std::string::npos &&
                     route_of(alike).kind == Route::Kind::Elsewhere;
  for (const std::shared_ptr<ModelUpstream>& upstream : live_->upstreams) {
    for (const std::string& prefix : upstream->settings().pass_through) {
      const bool below = request.path.starts_with(prefix) &&
                         (request.path.size() == prefix.size() || prefix.ends_with('/') ||
                          request.path[prefix.size()] == '/');
      if (!below || !plain) continue;
      if (candidates_.empty()) {
        record_.route = prefix;
        record_.degrade("ungoverned");
        shared_.meter.ungoverned(prefix);
      }
      candidates_.push_back(upstream);
      break;
    }
  }
  if (!candidates_.empty()) return std::nullopt;
  return deny(
      404, "not_served",
      fmt::format("`{} {:.200}` is not served here (not_served); the proxy serves /v1/messages, "
                  "/v1/chat/completions and /v1/responses",
                  request.method, request.path));
}

ModelExchange::Refusal ModelExchange::busy() const {
  Refusal refusal = fault(503, "busy", "requests of this agent take too much memory; try again");
  refusal.retry_after_s = 1;
  return refusal;
}

// A body that did not come whole. Its request is recorded like any other (MP-66).
ModelExchange::Ended ModelExchange::refuse_unread() {
  const std::string& why = client_.request().unread;
  if (why.empty()) return std::nullopt;
  if (why == "too_large") return deny(413, "request_too_large", kTooLarge);
  if (why == "damaged") {
    return deny(400, "damaged_body", "the body is not framed as HTTP/1.1 requires");
  }
  if (why == "cut") return deny(499, "cancelled", "the client left before its body had come");
  return busy();
}

ModelExchange::Ended ModelExchange::read_body() {
  const net::ServerRequest& request = client_.request();
  if (Ended ended = refuse_unread()) return ended;
  const std::string coding = codings_of(request);
  Result<std::string> decoded = net::ContentDecoder::decode(coding, request.body, kLargestBody);
  if (!decoded) {
    const Error& error = decoded.error();
    if (error.code == ErrorCode::InvalidInput) {
      return deny(415, "unsupported_encoding",
                  fmt::format("content coding `{:.80}` is not known; use gzip, deflate, br or zstd",
                              coding));
    }
    if (error.code == ErrorCode::Exhausted) {
      return deny(413, "request_too_large", kTooLarge);
    }
    return deny(400, "damaged_body", fmt::format("the body cannot be decoded: {}", error.message));
  }
  body_ = std::move(*decoded);
  constexpr std::size_t kCopies = 3;  // the text, its values, and what goes upstream
  if (!room_.grow_to(kCopies * body_.size())) return busy();
  record_.request_digest = shared_.digest(body_);
  record_.request = body_;
  if (!route_.has_body()) return std::nullopt;
  Result<ParsedJson> parsed = llm::read_wire_json(body_, {.bytes = kLargestBody});
  if (!parsed) {
    return deny(400, "invalid_json",
                fmt::format("the body is not JSON that proxy and provider read alike: {}{}{}",
                            parsed.error().message, parsed.error().where.empty() ? "" : " at ",
                            parsed.error().where));
  }
  if (!parsed->value.is_object()) return deny(400, "invalid_json", "the body is not a JSON object");
  Result<llm::Request> read = llm::read_request(route_.request, parsed->value);
  if (!read) return deny(400, "invalid_request", read.error().message);
  if (read->model.size() > kLongestId) {
    return deny(400, "invalid_request", "the name of the model has over 512 bytes");
  }
  request_ = std::move(*read);
  parsed_ = std::move(parsed->value);
  record_.model = request_->model;
  record_.stream = request_->stream;
  for (const llm::Unread& unread : request_->unread) {
    record_.unread.emplace_back(unread.path, unread.kind);
  }
  return std::nullopt;
}

// Collects the upstreams with this API and model, in order. `forward` tries the later ones only
// with `failover`.
ModelExchange::Ended ModelExchange::choose() {
  if (!candidates_.empty()) return std::nullopt;
  const bool named = request_.has_value();
  for (const std::shared_ptr<ModelUpstream>& upstream : live_->upstreams) {
    if (upstream->settings().api != route_.api) continue;
    if (named && !upstream->serves(request_->model)) continue;
    candidates_.push_back(upstream);
  }
  if (named && !plan_->model_rules().may_use(record_.agent_id, request_->model)) {
    return deny(
        403, "model_not_allowed",
        fmt::format("agent `{}` may not use model `{:.200}`", record_.agent_id, request_->model));
  }
  if (!candidates_.empty()) return std::nullopt;
  return deny(404, "model_not_found",
              named ? fmt::format("no upstream of {} serves model `{:.200}`", to_string(route_.api),
                                  request_->model)
                    : fmt::format("no upstream speaks {}", to_string(route_.api)));
}

// Checks the ids on paths that pass unchecked: those in the path and in a JSON body.
ModelExchange::Ended ModelExchange::owns_ids() {
  const net::ServerRequest& request = client_.request();
  std::vector<ProviderId> named;
  const auto parsed = llm::read_wire_json(body_, {.bytes = kLargestBody});
  if (parsed) named = ids_in_body(parsed->value);
  const bool json =
      request.header("content-type").value_or("json").find("json") != std::string::npos;
  const bool looks_so = body_.find_first_of("{[\xEF \t\r\n") == 0;
  if (!parsed && !body_.empty() && (json || looks_so)) {
    return deny(400, "invalid_json",
                fmt::format("the body is not JSON that proxy and provider read alike: {}",
                            parsed.error().message));
  }
  if (named.size() > kMostIds) {
    return deny(400, "invalid_request", "the body names over 1,024 ids of the provider's state");
  }
  if (ProviderId id = id_in_path(request.path); !id.id.empty()) {
    named.insert(named.begin(), std::move(id));
  }
  const OwnedState owned(shared_.recorder);
  for (const ProviderId& provider_id : named) {
    const auto owner = owned.find(provider_id.kind, provider_id.id);
    if (!owner || owner->agent_id != record_.agent_id) {
      return deny(
          404, "not_found",
          fmt::format("there is no {} `{:.200}` of this agent", provider_id.kind, provider_id.id));
    }
    if (Ended ended = take_upstream(owner->upstream)) return ended;
    touch_state(provider_id.kind, provider_id.id, *owner);
  }
  candidates_.resize(1);
  return std::nullopt;
}

// State that the provider keeps works only for the agent that obtained it here (MP-25, MP-35).
ModelExchange::Ended ModelExchange::owns_state() {
  if (route_.kind == Route::Kind::Elsewhere) return owns_ids();
  const OwnedState owned(shared_.recorder);
  if (route_.kind == Route::Kind::Stored) {
    const auto owner = owned.find("response", route_.id);
    if (owner && owner->agent_id == record_.agent_id) {
      if (Ended ended = take_upstream(owner->upstream)) return ended;
      record_.state.push_back(owner->request_id);
      record_.response_id = route_.id;
      touch_state("response", route_.id, *owner);
      return take_query();
    }
    return deny(404, "not_found",
                fmt::format("there is no response `{:.200}` of this agent", route_.id));
  }
  if (!request_) return std::nullopt;
  if (Ended ended = owns_stores()) return ended;
  if (request_->state.empty()) return std::nullopt;
  if (plan_->model_rules().refuses_state) {
    return deny(403, "state_refused",
                fmt::format("the policy refuses `{}`: the provider keeps that conversation",
                            request_->state.front().path.substr(1)));
  }
  for (const llm::StateRef& ref : request_->state) {
    const auto owner = owned.find(ref.kind, ref.id);
    if (!owner || owner->agent_id != record_.agent_id) {
      return deny(404, "not_found",
                  fmt::format("there is no {} `{:.200}` of this agent", ref.kind, ref.id));
    }
    if (Ended ended = take_upstream(owner->upstream)) return ended;
    record_.state.push_back(owner->request_id);
    touch_state(ref.kind, ref.id, *owner);
    answer_unanswered(owner->unanswered);
  }
  return std::nullopt;
}

// A container or a vector store that an agent obtained here works for no other agent. Of others the
// proxy knows no owner: the operator may have made them for all.
ModelExchange::Ended ModelExchange::owns_stores() {
  const OwnedState owned(shared_.recorder);
  for (const llm::StateRef& ref : request_->stores) {
    const auto owner = owned.find(ref.kind, ref.id);
    if (!owner) continue;
    if (owner->agent_id != record_.agent_id) {
      return deny(404, "not_found",
                  fmt::format("there is no {} `{:.200}` of this agent", ref.kind, ref.id));
    }
    if (Ended ended = take_upstream(owner->upstream)) return ended;
    record_.state.push_back(owner->request_id);
    touch_state(ref.kind, ref.id, *owner);
  }
  return std::nullopt;
}

// Keeps used state from expiring. Writing once a day is enough.
void ModelExchange::touch_state(const std::string& kind, const std::string& id,
                                OwnedState::Owner owner) {
  constexpr std::chrono::hours kSeldom{24};
  const WallTime now = shared_.clock.wall();
  if (now - owner.at < kSeldom) return;
  owner.at = now;
  facts_.push_back(OwnedState::fact(kind, id, owner));
}

// The provider refuses a history with an unanswered call (MP-64).
void ModelExchange::answer_unanswered(std::vector<llm::UnansweredCall> calls) {
  std::erase_if(calls, [&](const llm::UnansweredCall& call) {
    return std::ranges::any_of(request_->returns, [&](const llm::ToolReturn& result) {
      return result.tool_call_id == call.id;
    });
  });
  if (calls.empty()) return;
  llm::answer_calls(edits_, calls, parsed_);
  ++record_.changes;
}

// State is at the provider that made it. No other host gets its id.
ModelExchange::Ended ModelExchange::take_upstream(const std::string& name) {
  const auto made_it = [&](const std::shared_ptr<ModelUpstream>& upstream) {
    return upstream->settings().name == name;
  };
  const auto maker = std::ranges::find_if(live_->upstreams, made_it);
  std::erase_if(candidates_, [&](const std::shared_ptr<ModelUpstream>& upstream) {
    const bool same_host = maker != live_->upstreams.end() && upstream->shares_host_with(**maker);
    return !made_it(upstream) && !same_host;
  });
  const auto first = std::ranges::find_if(candidates_, made_it);
  if (first != candidates_.end()) std::iter_swap(candidates_.begin(), first);
  if (!candidates_.empty()) return std::nullopt;
  return deny(
      404, "not_found",
      fmt::format("upstream `{}` keeps this state and is not configured for this request", name));
}

ModelExchange::Ended ModelExchange::apply_rules() {
  if (!request_) return std::nullopt;
  const core::ModelRules& rules = plan_->model_rules();
  const auto& guard = plan_->stream_guard();
  if (rules.refuses_unread && !request_->unread.empty()) {
    const llm::Unread& first = request_->unread.front();
    return deny(
        403, "unread_content",
        fmt::format(
            "no check can read `{}` ({}), and the policy refuses such requests (unread_content)",
            first.path, first.kind));
  }
  if (request_->audio && !rules.passes_audio && guard && guard->enforces(core::TextStage::Output)) {
    return deny(403, "audio_refused",
                "audio cannot be checked while it streams; ask for text, or let the policy say "
                "`model.audio: pass`");
  }
  for (std::size_t i = 0; i < request_->provider_tools.size(); ++i) {
    const llm::ProviderTool& tool = request_->provider_tools[i];
    record_.degrade("provider_tool:" + tool.type);
    switch (rules.rule_for_tool(tool.type)) {
      case core::ProviderToolRule::Allow:
        break;
      case core::ProviderToolRule::Refuse:
        return deny(403, "provider_tool_refused",
                    fmt::format("the policy refuses `{:.100}`, a tool that the provider runs",
                                tool.name.empty() ? tool.type : tool.name));
      case core::ProviderToolRule::Strip:
        edits_.remove(tool.path);
        // The provider refuses the choice of a missing tool.
        if (const json::value* const choice = llm::member_of(parsed_, "tool_choice");
            choice != nullptr &&
            (llm::text_in(*choice, "type") == tool.type ||
             (!tool.name.empty() && llm::text_in(*choice, "name") == tool.name))) {
          edits_.remove("/tool_choice");
        }
        ++record_.changes;
        break;
    }
  }
  if (rules.never_stores && route_.generates() && route_.api != llm::Api::AnthropicMessages) {
    llm::set_member(edits_, parsed_, "", "store", "false");
    request_->store = false;
  }
  return std::nullopt;
}

Async<ModelExchange::Ended> ModelExchange::check_input() {
  if (!request_) co_return std::nullopt;
  InputStage stage(doors_, shared_.fail_open, shared_.clock);
  const Result<InputStage::Decision> checked = co_await stage.run(*request_, parsed_, edits_);
  checked_ = true;
  if (!checked) co_return fault(503, kLedgerUnavailable, checked.error().message);
  text_bytes_ = checked->text_bytes;
  if (checked->block) {
    Refusal refusal = deny(403, checked->block->reason_code, checked->block->notice);
    refusal.outcome = Outcome::Blocked;
    refusal.reason = checked->block->reason;
    (void)co_await shared_.events.emit(event::PolicyDenied{.agent_id = record_.agent_id,
                                                           .tool_name = "model:" + record_.model,
                                                           .reason = checked->block->reason},
                                       record_.subject());
    co_return refusal;
  }
  if (!edits_.fits(body_)) {
    co_return fault(500, "internal", "a change of the request has no place in it");
  }
  if (record_.changes > 0) decision_ = "redact";
  co_return std::nullopt;
}

}  // namespace sallyport::proxy
