// Attempts to open an answer: which provider is asked, how often, and with which credentials.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "base/try.h"
#include "llm/wire_json.h"
#include "proxy/exchange.h"
#include "sallyport/retry.h"

namespace sallyport::proxy {

namespace {

// Headers of the client that do not go upstream (MP-6).
constexpr std::array<std::string_view, 22> kKept{"connection",
                                                 "keep-alive",
                                                 "proxy-authenticate",
                                                 "proxy-authorization",
                                                 "proxy-connection",
                                                 "te",
                                                 "trailer",
                                                 "transfer-encoding",
                                                 "upgrade",
                                                 "host",
                                                 "content-length",
                                                 "content-encoding",
                                                 "accept-encoding",
                                                 "expect",
                                                 "authorization",
                                                 "x-api-key",
                                                 "cookie",
                                                 "forwarded",
                                                 "traceparent",
                                                 "tracestate",
                                                 "baggage",
                                                 "http2-settings"};

bool is_ours(std::string_view name) {
  return name.starts_with("x-forwarded-") || name.starts_with("x-sallyport-");
}

// Does trying the same request again help (EV-99)?
bool is_transient(unsigned status) {
  return status == 408 || status == 429 || status >= 500;
}

}  // namespace

std::string ModelExchange::without_keys(std::string text) const {
  const auto take_out = [&](const std::string& secret) {
    if (secret.size() < 4) return;
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
      text.replace(at, secret.size(), "[REDACTED:credential]");
    }
  };
  for (const std::string& secret : secrets_) take_out(secret);
  return text;
}

std::string ModelExchange::take_starting_after(std::string_view query) {
  constexpr std::string_view kName = "starting_after=";
  std::string rest;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(one.size() + 1, query.size()));
    std::uint64_t number = 0;
    const char* const end = one.data() + one.size();
    const bool named = one.starts_with(kName);
    const auto read = named ? std::from_chars(one.data() + kName.size(), end, number)
                            : std::from_chars_result{end, std::errc::invalid_argument};
    if (read.ec == std::errc{} && read.ptr == end) {
      starting_after_ = number;
      continue;
    }
    if (!rest.empty()) rest += '&';
    rest += one;
  }
  return rest;
}

Result<net::HttpRequest> ModelExchange::upstream_request(const ModelUpstream& upstream) {
  const net::ServerRequest& request = client_.request();
  const UpstreamSettings& settings = upstream.settings();
  net::HttpRequest out{.method = request.method};
  // A stream that is resumed comes whole, so that checks see all of it (MP-65).
  const bool stored = route_.kind == Route::Kind::Stored;
  out.target =
      upstream.target(request.path, stored ? take_starting_after(request.query) : request.query);
  const std::vector<std::string> hops = hop_headers(request.headers);
  const bool client_key = settings.key == UpstreamSettings::Key::Client;
  for (const auto& [name, value] : request.headers) {
    const bool credential = name == "authorization" || name == "x-api-key";
    if (credential && client_key) {
      out.headers.emplace_back(name, value);
      continue;
    }
    const bool kept = std::ranges::find(kKept, name) != kKept.end() || is_ours(name) ||
                      std::ranges::find(hops, name) != hops.end();
    if (!kept) out.headers.emplace_back(name, value);
  }
  SALLYPORT_TRY(const std::string key, upstream.key());
  if (!key.empty()) {
    secrets_.push_back(key);
    if (settings.api == llm::Api::AnthropicMessages) {
      out.headers.emplace_back("x-api-key", key);
    } else {
      out.headers.emplace_back("authorization", "Bearer " + key);
    }
  }
  out.headers.emplace_back("accept-encoding", "identity");
  llm::Splice edits = edits_;
  if (request_ && request_->model != upstream.renamed(request_->model)) {
    edits.replace("/model", llm::json_string(upstream.renamed(request_->model)));
  }
  asked_usage_ = request_ && route_.request == llm::RequestKind::Chat && request_->stream &&
                 !request_->asks_usage && !settings.usage_as_sent;
  const json::value* const options = llm::member_of(parsed_, "stream_options");
  if (asked_usage_ && options != nullptr && options->is_object()) {
    llm::set_member(edits, *options, "/stream_options", "include_usage", "true");
  } else if (asked_usage_) {
    llm::set_member(edits, parsed_, "", "stream_options", R"({"include_usage":true})");
  }
  out.body = edits.applied(body_);
  return out;
}

ModelExchange::Refusal ModelExchange::unreachable(const Error& error) const {
  const bool late = error.code == ErrorCode::Deadline;
  Refusal refusal = fault(late ? 504 : 502, late ? "upstream_timeout" : "upstream_unreachable",
                          fmt::format("upstream `{}` {}", record_.upstream,
                                      late ? "did not answer in time" : "cannot be reached"));
  refusal.reason = without_keys(error.message);
  return refusal;
}

ModelExchange::Refusal ModelExchange::over_budget(std::string message) {
  --record_.attempts;  // it was not made
  reserved_ = false;
  Refusal refusal = deny(402, "budget_exceeded", std::move(message));
  refusal.decision = "budget";
  return refusal;
}

// What the request may cost at most, before anything is sent (MP-71).
ModelExchange::Ended ModelExchange::reserve() {
  if (!route_.spends() || !request_) return std::nullopt;
  constexpr std::uint64_t kBytesPerToken = 4;
  constexpr std::uint64_t kTokensPerMedia = 1'600;
  constexpr std::uint64_t kMostOutput = 16'384;
  estimate_.input_tokens = text_bytes_ / kBytesPerToken + kTokensPerMedia * request_->media_parts;
  if (route_.generates()) {
    estimate_.output_tokens =
        std::min(request_->output_limit.value_or(kMostOutput), kMostOutput) * request_->choices;
  }
  const Budgets budgets(plan_->model_rules(), {record_.agent_id, record_.model, doors_.session_id},
                        shared_.clock.wall());
  if (!budgets.any()) return std::nullopt;
  if (const Price* const price = price_of(live_->settings, record_.model)) {
    estimate_.cost_microusd =
        cost_of(*price, route_.api,
                {.input_tokens = estimate_.input_tokens, .output_tokens = estimate_.output_tokens});
  } else if (budgets.count_cost()) {
    Refusal refusal = deny(402, "no_price",
                           fmt::format("a budget counts dollars, and model `{:.200}` has no price; "
                                       "add one under `serve.models.prices`",
                                       record_.model));
    refusal.decision = "budget";
    return refusal;
  }
  reservation_ = budgets.reserve(record_.request_id, estimate_);
  reserved_ = true;
  return std::nullopt;
}

// What the answer cost: as reported, else an estimate, never nothing (MP-72).
void ModelExchange::price() {
  if (!opened_ || !route_.spends()) return;
  const bool reported =
      record_.usage && (record_.usage->input_tokens || record_.usage->output_tokens);
  if (!reported) {
    constexpr std::uint64_t kBytesPerToken = 4;
    record_.usage = Usage{.input_tokens = std::max<std::uint64_t>(estimate_.input_tokens, 1),
                          .output_tokens = (record_.answer_bytes + 3) / kBytesPerToken};
    record_.usage_source = "estimated";
  }
  for (const auto& [wildcard, price] : live_->settings.prices) {
    if (!core::model_matches(wildcard, record_.model)) continue;
    record_.price = wildcard;
    record_.cost_microusd = cost_of(price, route_.api, *record_.usage);
    break;
  }
}

void ModelExchange::settle(core::Draft& record) {
  if (!reserved_) return;
  Amount used;
  if (opened_ && record_.usage) {
    const Usage& usage = *record_.usage;
    const std::uint64_t cached = route_.api == llm::Api::AnthropicMessages
                                     ? usage.cache_read_input_tokens.value_or(0) +
                                           usage.cache_creation_input_tokens.value_or(0)
                                     : 0;
    used = {.input_tokens = usage.input_tokens.value_or(estimate_.input_tokens) + cached,
            .output_tokens = usage.output_tokens.value_or(0),
            .cost_microusd = record_.cost_microusd.value_or(0)};
  }
  record.changes.push_back(Budgets::settle(record_.request_id, used));
}

// The first attempt announces the request itself; what is announced is durable before it happens.
Async<ModelExchange::Ended> ModelExchange::announce_attempt() {
  co_await events_->wait();  // the attempt before has its end
  ++record_.attempts;
  if (!attempted_) attempted_ = shared_.clock.steady();
  core::BesideEvent beside;
  beside.facts.push_back(open_request(record_, shared_.recorder.instance_id()));
  if (reservation_) beside.changes.push_back(std::exchange(reservation_, nullptr));
  const Result<void> told =
      co_await shared_.events.emit(event::ModelRequestStarted{.agent_id = record_.agent_id,
                                                              .model = record_.upstream_model,
                                                              .attempt = record_.attempts},
                                   record_.subject(), std::move(beside));
  if (told) co_return std::nullopt;
  if (told.error().code == ErrorCode::Exhausted) co_return over_budget(told.error().message);
  const bool hook = told.error().cause == "hook";
  Refusal refusal =
      hook ? deny(403, "hook_refused", "a hook refused this request")
           : fault(503, "ledger_unavailable", "the ledger cannot be written, so nothing is sent");
  refusal.reason = told.error().message;
  co_return refusal;
}

void ModelExchange::tell_opened() {
  if (std::exchange(told_later_, false)) tell_attempt(std::nullopt);
}

void ModelExchange::tell_attempt(std::optional<std::string> error) {
  event::ModelRequestFinished finished{.agent_id = record_.agent_id,
                                       .model = record_.upstream_model,
                                       .attempt = record_.attempts,
                                       .success = !error,
                                       .error = std::move(error)};
  events_->tell(std::move(finished), record_.subject());
}

Async<bool> ModelExchange::wait_for_retry(std::chrono::milliseconds wait) {
  boost::asio::steady_timer timer(shared_.executor, wait);
  const std::stop_callback on_gone(gone_.get_token(), [&timer] { timer.cancel(); });
  boost::system::error_code ignored;
  co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  co_return !gone();
}

Async<ModelExchange::Ended> ModelExchange::forward() {
  const core::ModelRules& rules = plan_->model_rules();
  const bool bound = !record_.state.empty() || (request_ && request_->has_signed_blocks);
  if (!rules.fails_over || bound) candidates_.resize(1);
  Ended ended;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const std::shared_ptr<ModelUpstream>& upstream = candidates_[i];
    const UpstreamSettings& settings = upstream->settings();
    record_.upstream = settings.name;
    record_.upstream_model = request_ ? upstream->renamed(request_->model) : record_.model;
    record_.credential = settings.key == UpstreamSettings::Key::None     ? "none"
                         : settings.key == UpstreamSettings::Key::Client ? "client"
                                                                         : "proxy";
    if (const auto open = upstream->circuit().blocked()) {
      ended = fault(
          503, "circuit_open",
          fmt::format("upstream `{}` failed five times in a row; try again later", settings.name));
      ended->retry_after_s = static_cast<std::uint64_t>(open->count());
      continue;
    }
    const bool last = i + 1 == candidates_.size();
    Opened opened;
    ended = co_await attempt(upstream, last, opened);
    shared_.meter.circuit(settings.name, upstream->circuit().is_open());
    if (!ended) co_return co_await answer(std::move(opened));
    if (ended->error.status < 500 || gone()) break;
  }
  co_return ended;
}

Task<net::HttpHead> ModelExchange::send(net::HttpExchange& exchange, net::HttpRequest request) {
  upstream_exchange_ = &exchange;
  if (gone()) co_return fail(ErrorCode::Cancelled, "the client went away");
  const SteadyTime sent = shared_.clock.steady();
  Result<net::HttpHead> head =
      co_await exchange.send(std::move(request), live_->settings.answer_time);
  waited_ += shared_.clock.steady() - sent;
  co_return head;
}

bool ModelExchange::stands(const net::HttpHead& head, ModelUpstream& upstream) {
  const bool good = head.status >= 200 && head.status < 300;
  const bool again = !good && is_transient(head.status);
  // What a client did wrong, or did too often, is no fault of the upstream (MP-76).
  const bool upstream_failed = head.status == 408 || head.status >= 500;
  if (!upstream_failed) upstream.circuit().worked();
  if (upstream_failed && again) upstream.circuit().failed();
  // An event that reports: what waits for the disk for it must not hold up the first byte.
  told_later_ = told_later_ || good;
  if (!good) tell_attempt(fmt::format("http {}", head.status));
  return !again;
}

Async<ModelExchange::Ended> ModelExchange::attempt(const std::shared_ptr<ModelUpstream>& upstream,
                                                   bool last, Opened& opened) {
  const core::ModelRules& rules = plan_->model_rules();
  const RetrySchedule schedule({.attempts = rules.retries + 1});
  // Else what it showed as its token would go upstream in place of its own key (MP-18, MP-19).
  if (upstream->settings().key == UpstreamSettings::Key::Client && shared_.needs_token() &&
      client_.request().count("x-sallyport-token") == 0) {
    co_return deny(401, "invalid_token",
                   fmt::format("upstream `{}` gets the client's own key; show the agent's token in "
                               "`x-sallyport-token`",
                               upstream->settings().name));
  }
  for (std::uint64_t tries = 1;; ++tries) {
    Result<net::HttpRequest> request = upstream_request(*upstream);
    if (!request) {
      Refusal refusal =
          fault(403, "upstream_credentials",
                fmt::format("the proxy has no key for upstream `{}` (upstream_credentials)",
                            upstream->settings().name));
      refusal.reason = request.error().message;
      co_return refusal;
    }
    if (Ended ended = co_await announce_attempt()) co_return ended;
    if (tries == 1) shared_.meter.added(static_cast<double>(elapsed_ms()) / 1e3);
    std::unique_ptr<net::HttpExchange> exchange = upstream->exchange();
    Result<net::HttpHead> head = co_await send(*exchange, std::move(*request));
    if (gone()) {
      upstream_exchange_ = nullptr;
      tell_attempt("the client went away");
      Refusal refusal = deny(499, "cancelled", "the client went away");
      refusal.outcome = Outcome::Cancelled;
      co_return refusal;
    }
    if (!head) {
      upstream_exchange_ = nullptr;
      upstream->circuit().failed();
      tell_attempt(without_keys(head.error().message));
      const bool repeatable = !exchange->written() || rules.retries_after_send;
      const auto wait = repeatable ? schedule.before(tries + 1) : std::nullopt;
      if (!wait || !co_await wait_for_retry(*wait)) co_return unreachable(head.error());
      continue;
    }
    if (!stands(*head, *upstream)) {
      const auto asked = parse_retry_after(head->header("retry-after"), shared_.clock.wall());
      const auto wait = schedule.before(tries + 1, asked);
      if (wait && co_await wait_for_retry(*wait)) {
        upstream_exchange_ = nullptr;
        continue;
      }
      if (!last && rules.fails_over) {
        upstream_exchange_ = nullptr;
        co_return unreachable({ErrorCode::Unavailable, fmt::format("http {}", head->status)});
      }
      own_retries_ = rules.retries > 0;
    }
    opened = {upstream, std::move(exchange), std::move(*head)};
    co_return std::nullopt;
  }
}

}  // namespace sallyport::proxy
