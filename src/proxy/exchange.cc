#include "proxy/exchange.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <span>

#include "base/encoding.h"
#include "base/json_members.h"
#include "base/lower_case.h"
#include "base/uuid.h"
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

std::string fresh_trace(Entropy& entropy) {
  std::array<std::uint8_t, 16> bytes{};
  entropy.fill(bytes);
  return hex(std::span<const std::uint8_t>(bytes));
}

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
  events_ = std::make_shared<EventTeller>(shared.events, shared.asides, shared.executor);
  room_ = shared.bodies.share_of(client.request().principal);
  record_.request_id = uuid7_text(shared.clock, shared.entropy);
  record_.agent_id = client.request().principal;
  record_.trace_id = fresh_trace(shared.entropy);
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
  client_.on_gone([this] {
    gone_.request_stop();
    if (upstream_exchange_ != nullptr) upstream_exchange_->cancel();
  });
  const std::stop_callback on_ending(shared_.ending, [this] {
    if (upstream_exchange_ != nullptr) upstream_exchange_->cancel();
  });
  co_await shared_.begins.pass();
  Ended refusal = co_await serve();
  if (refusal) co_await refuse(std::move(*refusal));
}

Async<void> ModelExchange::answer_here(net::ServerResponse response) {
  begin();
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
  // On every path: Codex asks for a WebSocket with GET, and changes to HTTP at 426 (MP-3).
  if (client_.request().count("upgrade") > 0) {
    co_return deny(426, "upgrade_required", "the proxy serves HTTP/1.1 and no WebSocket");
  }
  if (route_.kind == Route::Kind::Elsewhere) {
    if (Ended ended = refuse_elsewhere()) co_return ended;
  }
  if (Ended ended = read_body()) co_return ended;
  if (Ended ended = choose()) co_return ended;
  if (Ended ended = owns_state()) co_return ended;
  if (Ended ended = obey_rules()) co_return ended;
  if (Ended ended = co_await check_input()) co_return ended;
  if (Ended ended = reserve()) co_return ended;
  co_return co_await forward();
}

ModelExchange::Refusal ModelExchange::deny(unsigned status, std::string code,
                                           std::string message) const {
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

// What looked at the request, and what will look at the answer (MP-82). `none`: the policy has no
// check of that stage. `skipped`: the request was refused before.
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
  // Where calls are handed out, the whole first door decides about them.
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
                   .code = "ledger_unavailable",
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

// True: the entry is durable.
Async<bool> ModelExchange::conclude(Outcome outcome, std::string reason, unsigned status) {
  if (concluded_) co_return true;
  concluded_ = true;
  tell_opened();
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
  // What was refused before it went upstream may hold what no text may show.
  if (keeps_content() && request_ && record_.attempts > 0) {
    const KeptMessages kept(shared_.recorder, shared_.digest, shared_.clock);
    kept.add(record_, route_.api, edits_.applied(body_), kept_.json(), drafts);
  }
  drafts.push_back(std::move(draft));
  shared_.meter.ended(record_, route_.operation());
  trace();
  const auto written = co_await shared_.recorder.append(drafts, core::Urgency::Reports);
  if (written) co_return true;
  // What no entry can hold would be owed for ever, and stop all others.
  if (written.error().code == ErrorCode::InvalidInput) co_return false;
  shared_.recorder.owe(std::move(drafts));
  co_return false;
}

}  // namespace sallyport::proxy
