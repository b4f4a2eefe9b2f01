#include "proxy/exchange.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/lower_case.h"
#include "base/uuid.h"
#include "base/visible_text.h"
#include "proxy/kept_messages.h"

namespace sallyport::proxy {

namespace {

// Headers of the provider that do not reach the client (MP-7).
constexpr std::array<std::string_view, 13> kHidden{"connection",
                                                   "keep-alive",
                                                   "proxy-authenticate",
                                                   "proxy-connection",
                                                   "te",
                                                   "trailer",
                                                   "transfer-encoding",
                                                   "upgrade",
                                                   "content-length",
                                                   "content-encoding",
                                                   "set-cookie",
                                                   "alt-svc",
                                                   "strict-transport-security"};

}  // namespace

std::vector<std::string> hop_headers(const net::HttpHeaders& headers) {
  std::vector<std::string> names;
  for (const auto& [name, value] : headers) {
    if (lower_case(name) != "connection") continue;
    std::string word;
    for (const char c : value + ",") {
      if (c != ',') {
        if (c != ' ' && c != '\t') word += lower_letter(c);
        continue;
      }
      if (!word.empty()) names.push_back(std::exchange(word, {}));
    }
  }
  return names;
}

ModelExchange::ModelExchange(Shared& shared, std::shared_ptr<const Live> live,
                             net::ServerExchange& client, Route route)
    : shared_(shared),
      live_(std::move(live)),
      client_(client),
      route_(std::move(route)),
      plan_(shared.plans.current()),
      started_(shared.clock.steady()),
      doors_{.plan = plan_,
             .governor = shared.governor,
             .hand_offs = shared.hand_offs,
             .record = record_,
             .findings = findings_,
             .facts = facts_,
             .changes = changes_,
             .unanswered = unanswered_,
             .session_id = {},
             .gone = gone_.get_token(),
             .clock = shared.clock,
             .approvals_url = shared.approvals_url} {
  events_ = std::make_shared<EventQueue>(shared.events, shared.asides, shared.executor);
  room_ = shared.bodies.share_of(client.request().principal);
  record_.request_id = uuid7_text(shared.clock, shared.entropy);
  record_.agent_id = client.request().principal;
  record_.trace_id = random_id(shared.entropy);
  record_.api = to_string(route_.api);
  record_.route = route_.name;
  record_.policy_hash = plan_->hash();
  if (plan_->stream_guard()) record_.generation = plan_->stream_guard()->generation();
}

std::uint64_t ModelExchange::elapsed_ms() const {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(shared_.clock.steady() - started_)
          .count());
}

std::string ModelExchange::overhead_ms() const {
  const auto ours = shared_.clock.steady() - started_ - waited_;
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(ours).count());
}

Async<void> ModelExchange::run() {
  const auto cancel_upstream = [this] {
    if (const auto exchange = upstream_exchange_.lock()) exchange->cancel();
  };
  client_.on_gone([this, cancel_upstream] {
    gone_.request_stop();
    cancel_upstream();
  });
  const std::stop_callback on_ending(shared_.ending, cancel_upstream);
  co_await shared_.begins.pass();
  Ended refusal = co_await serve();
  if (refusal) co_await refuse(std::move(*refusal));
}

Async<void> ModelExchange::answer_here(net::ServerResponse response) {
  begin();
  Ended refusal = refuse_upgrade();
  if (!refusal) refusal = refuse_unread();
  if (refusal) {
    co_await refuse(std::move(*refusal));
    co_return;
  }
  record_.bytes_out = response.body.size();
  const bool good = response.status < 300;
  if (!good) {
    decision_ = "deny";
    response.headers.emplace_back("x-should-retry", "false");
  }
  if (!co_await conclude(good ? Outcome::Completed : Outcome::Refused,
                         good ? "" : "there is no such model", response.status)) {
    co_await client_.respond(ledger_failed());
    co_return;
  }
  add_own_headers(response);
  response.headers.emplace_back("x-sallyport-overhead-ms", overhead_ms());
  co_await client_.respond(std::move(response));
}

Async<ModelExchange::Ended> ModelExchange::serve() {
  begin();
  if (Ended ended = refuse_upgrade()) co_return ended;
  if (route_.kind == Route::Kind::Elsewhere) {
    if (Ended ended = refuse_other_route()) co_return ended;
  }
  if (Ended ended = read_body()) co_return ended;
  if (Ended ended = refuse_stream()) co_return ended;
  if (Ended ended = choose()) co_return ended;
  if (Ended ended = owns_state()) co_return ended;
  if (Ended ended = apply_rules()) co_return ended;
  if (Ended ended = co_await check_input()) co_return ended;
  if (Ended ended = reserve()) co_return ended;
  co_return co_await forward();
}

// On every path: Codex asks for a WebSocket with GET, and changes to HTTP at 426 (MP-3).
ModelExchange::Ended ModelExchange::refuse_upgrade() {
  if (client_.request().count("upgrade") == 0) return std::nullopt;
  return deny(426, "upgrade_required", "the proxy serves HTTP/1.1 and no WebSocket");
}

// A client that cannot read a stream must not have the provider make one.
ModelExchange::Ended ModelExchange::refuse_stream() {
  const bool asks = request_ ? request_->stream
                             : route_.kind == Route::Kind::Stored &&
                                   client_.request().query.find("stream") != std::string::npos;
  if (!asks || client_.can_stream()) return std::nullopt;
  return deny(505, "http_version", "streams need HTTP/1.1; ask without `stream`");
}

ModelExchange::Refusal ModelExchange::deny(unsigned status, std::string code,
                                           std::string message) const {
  // A client may put any bytes into a path or a header.
  if (!is_utf8(message)) message = visible(message);
  return {.error = {.status = status,
                    .message = std::move(message),
                    .code = std::move(code),
                    .request_id = record_.request_id}};
}

ModelExchange::Refusal ModelExchange::fault(unsigned status, std::string code,
                                            std::string message) const {
  Refusal refusal = deny(status, std::move(code), std::move(message));
  refusal.outcome = Outcome::Failed;
  refusal.decision = "error";
  return refusal;
}

// The checks of the request and of the answer (MP-82). `none`: the policy has no check of that
// stage. `skipped`: the request was refused before.
std::string ModelExchange::guards() const {
  if (!route_.has_body() && route_.kind != Route::Kind::Stored) return "none";
  const auto& guard = plan_->stream_guard();
  const auto has = [&](core::TextStage stage) {
    if (!guard) return false;
    const json::array checks = guard->coverage(stage, std::nullopt);
    return std::ranges::any_of(checks, [](const json::value& check) {
      return text_in(check.as_object(), "why") != "stage";
    });
  };
  const std::string output =
      std::string("output=") + (has(core::TextStage::Output) ? "armed" : "none");
  if (route_.kind == Route::Kind::Stored) return output;
  const bool reads = has(core::TextStage::Input) || has(core::TextStage::ToolOutput);
  const std::string input = std::string("input=") + (!reads     ? "none"
                                                     : checked_ ? "ran"
                                                                : "skipped");
  if (!route_.generates()) return input;
  // If calls are handed out, the whole first door decides about them.
  const core::ToolCallMode mode = plan_->model_rules().tool_calls_of(record_.agent_id);
  const bool decides = mode == core::ToolCallMode::HandOff ||
                       (mode == core::ToolCallMode::Defer && has(core::TextStage::ToolUse));
  return input + "; " + output + "; tool_use=" + (decides ? "armed" : "none");
}

void ModelExchange::add_own_headers(net::ServerResponse& response) const {
  response.headers.emplace_back("x-sallyport-record", record_.request_id);
  response.headers.emplace_back("x-sallyport-policy", record_.policy_hash);
  response.headers.emplace_back("x-sallyport-decision", decision_);
  response.headers.emplace_back("x-sallyport-guards", guards());
}

net::ServerResponse ModelExchange::head_of(unsigned status, const net::HttpHead* provider) const {
  net::ServerResponse response{.status = status};
  if (provider != nullptr) {
    const std::vector<std::string> hops = hop_headers(provider->headers);
    for (const auto& [name, value] : provider->headers) {
      const std::string lower = lower_case(name);
      const bool ours =
          lower.starts_with("x-sallyport-") || std::ranges::find(hops, lower) != hops.end();
      if (!ours && std::ranges::find(kHidden, lower) == kHidden.end()) {
        response.headers.emplace_back(lower, without_keys(value));
      }
    }
  }
  add_own_headers(response);
  return response;
}

net::ServerResponse ModelExchange::ledger_failed() {
  decision_ = "error";
  net::ServerResponse response = head_of(503, nullptr);
  response.headers.emplace_back("content-type", "application/json");
  response.headers.emplace_back("x-should-retry", "false");
  response.body = llm::error_body(
      route_.api, {.status = 503,
                   .message = "the ledger cannot be written, so nothing is answered",
                   .code = kLedgerUnavailable,
                   .request_id = record_.request_id});
  return response;
}

Async<void> ModelExchange::refuse(Refusal refusal) {
  decision_ = refusal.decision;
  const std::string reason = refusal.reason.empty() ? refusal.error.message : refusal.reason;
  const Outcome outcome = gone() ? Outcome::Cancelled : refusal.outcome;
  refusal.error.request_id = record_.request_id;
  if (!co_await conclude(outcome, reason, refusal.error.status)) {
    co_await client_.respond(ledger_failed());
    co_return;
  }
  net::ServerResponse response = head_of(refusal.error.status, nullptr);
  response.headers.emplace_back("content-type", "application/json");
  response.headers.emplace_back("x-should-retry", "false");
  if (refusal.retry_after_s) {
    response.headers.emplace_back("retry-after", std::to_string(*refusal.retry_after_s));
  }
  response.headers.emplace_back("x-sallyport-overhead-ms", overhead_ms());
  response.body = llm::error_body(route_.api, refusal.error);
  co_await client_.respond(std::move(response));
}

// Writes the one entry of the request. True: it is durable.
Async<bool> ModelExchange::conclude(Outcome outcome, std::string reason, unsigned status) {
  if (durable_) co_return *durable_;
  emit_opened();
  record_.outcome = outcome;
  record_.reason = std::move(reason);
  record_.status = status;
  record_.duration_ms = elapsed_ms();
  price();
  core::Draft draft = record_.draft();
  settle(draft);
  for (core::Fact& fact : facts_) draft.facts.push_back(std::move(fact));
  for (auto& change : changes_) draft.changes.push_back(std::move(change));
  std::vector<core::Draft> drafts = std::move(findings_);
  const std::size_t findings = drafts.size();
  // A request that was refused before it went upstream may contain blocked text.
  if (keeps_content() && request_ && record_.attempts > 0) {
    const KeptMessages kept(shared_.recorder, shared_.digest, shared_.clock);
    kept.add(record_, route_.api, edits_.applied(body_), kept_.json(), drafts);
  }
  drafts.push_back(std::move(draft));
  shared_.meter.ended(record_, route_.operation());
  trace();
  auto written = co_await shared_.recorder.append(drafts, core::Urgency::Reports);
  const auto unfit = [&] { return !written && written.error().code == ErrorCode::InvalidInput; };
  if (unfit()) {
    // An entry cannot hold what the record says, or a finding, or a kept text.
    drafts.erase(drafts.begin() + static_cast<std::ptrdiff_t>(findings), drafts.end() - 1);
    drafts.back().body = record_.reduced().draft().body;
    written = co_await shared_.recorder.append(drafts, core::Urgency::Reports);
  }
  if (unfit()) {
    drafts.erase(drafts.begin(), drafts.end() - 1);
    written = co_await shared_.recorder.append(drafts, core::Urgency::Reports);
  }
  durable_ = written.has_value();
  // A record that does not fit into an entry would be owed forever and stop all others.
  if (!written && !unfit()) shared_.recorder.owe(std::move(drafts));
  co_return *durable_;
}

}  // namespace sallyport::proxy
