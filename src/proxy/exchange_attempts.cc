// Attempts to open an answer: the choice of provider, the retries and the credentials.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "base/encoding.h"
#include "base/try.h"
#include "base/without_secret.h"
#include "llm/wire_json.h"
#include "proxy/exchange.h"
#include "sallyport/model_error.h"
#include "sallyport/retry.h"

namespace sallyport::proxy {

namespace {

// Headers of the client that do not go upstream (MP-6).
constexpr std::array<std::string_view, 22> kNotForwarded{"connection",
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

}  // namespace

std::string ModelExchange::without_keys(std::string text) const {
  for (const std::string& secret : secrets_) text = without_secret(std::move(text), secret);
  return text;
}

// Takes `starting_after` out of the query of a stored response, in any spelling: the provider sends
// a resumed stream from the start, so that checks see all of it (MP-65).
ModelExchange::Ended ModelExchange::take_query() {
  constexpr std::string_view kName = "starting_after";
  std::string_view left = client_.request().query;
  const Refusal unclear =
      deny(400, "invalid_request", "`starting_after` of the query is not one whole number");
  while (!left.empty()) {
    const std::string_view parameter = left.substr(0, left.find('&'));
    left.remove_prefix(std::min(parameter.size() + 1, left.size()));
    const auto decoded = percent_decoded(parameter, true);
    if (!decoded) return deny(400, "invalid_request", "the query has a broken escape");
    if (decoded->find(kName) == std::string::npos) {
      if (!query_.empty()) query_ += '&';
      query_ += parameter;
      continue;
    }
    const std::size_t begin = kName.size() + 1;
    if (!decoded->starts_with(kName) || decoded->find('=') != kName.size() || starting_after_) {
      return unclear;
    }
    std::uint64_t number = 0;
    const char* const end = decoded->data() + decoded->size();
    const auto read = std::from_chars(decoded->data() + begin, end, number);
    if (read.ec != std::errc{} || read.ptr != end) return unclear;
    starting_after_ = number;
  }
  return std::nullopt;
}

Result<net::HttpRequest> ModelExchange::upstream_request(const ModelUpstream& upstream) {
  const net::ServerRequest& request = client_.request();
  const UpstreamSettings& settings = upstream.settings();
  net::HttpRequest out{.method = request.method};
  const bool stored = route_.kind == Route::Kind::Stored;
  out.target = upstream.target(request.path, stored ? query_ : request.query);
  const std::vector<std::string> hops = hop_headers(request.headers);
  const bool client_key = settings.key == UpstreamSettings::Key::Client;
  for (const auto& [name, value] : request.headers) {
    const bool credential = name == "authorization" || name == "x-api-key";
    if (credential && client_key) {
      out.headers.emplace_back(name, value);
      continue;
    }
    const bool left_out = std::ranges::find(kNotForwarded, name) != kNotForwarded.end() ||
                          is_ours(name) || std::ranges::find(hops, name) != hops.end();
    if (!left_out) out.headers.emplace_back(name, value);
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
  added_usage_ = request_ && route_.request == llm::RequestKind::Chat && request_->stream &&
                 !request_->asks_usage && !settings.usage_as_sent;
  const json::value* const options = llm::member_of(parsed_, "stream_options");
  if (added_usage_ && options != nullptr && options->is_object()) {
    llm::set_member(edits, *options, "/stream_options", "include_usage", "true");
  } else if (added_usage_) {
    llm::set_member(edits, parsed_, "", "stream_options", R"({"include_usage":true})");
  }
  out.body = edits.applied(body_);
  return out;
}

ModelExchange::Refusal ModelExchange::upstream_failure(const Error& error) const {
  const bool late = error.code == ErrorCode::Deadline;
  Refusal refusal = fault(late ? 504 : 502, late ? "upstream_timeout" : "upstream_unreachable",
                          fmt::format("upstream `{}` {}", record_.upstream,
                                      late ? "did not answer in time" : "cannot be reached"));
  refusal.reason = without_keys(error.message);
  return refusal;
}

ModelExchange::Refusal ModelExchange::over_budget(std::string message) const {
  Refusal refusal = deny(402, "budget_exceeded", std::move(message));
  refusal.decision = "budget";
  return refusal;
}

// Reserves an estimate before anything is sent: a token for four bytes of text, and at most 16,384
// tokens of output for each choice (MP-71).
ModelExchange::Ended ModelExchange::reserve() {
  if (!route_.spends() || !request_) return std::nullopt;
  constexpr std::uint64_t kBytesPerToken = 4;
  constexpr std::uint64_t kTokensPerMedia = 1'600;
  constexpr std::uint64_t kMostOutput = 16'384;
  constexpr std::uint64_t kMostChoices = 1'024;  // of an answer (MP-78)
  estimate_.input_tokens = text_bytes_ / kBytesPerToken + kTokensPerMedia * request_->media_parts +
                           request_->token_numbers;
  if (route_.generates()) {
    estimate_.output_tokens = std::min(request_->output_limit.value_or(kMostOutput), kMostOutput) *
                              std::min(request_->choices, kMostChoices);
  }
  const Budgets budgets(plan_->model_rules(), {record_.agent_id, record_.model, doors_.session_id},
                        shared_.clock.wall());
  if (!budgets.any()) return std::nullopt;
  if (const NamedPrice* const price = price_of(live_->settings, record_.model)) {
    estimate_.cost_microusd =
        cost_of(price->second, route_.api,
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

// Estimates the counts that the provider has not reported. If it reported only the beginning of an
// answer, the text that came counts: otherwise a client that leaves early would pay for no output.
void ModelExchange::estimate_usage() {
  constexpr std::uint64_t kBytesPerToken = 4;
  const std::uint64_t input = std::max<std::uint64_t>(estimate_.input_tokens, 1);
  const std::uint64_t output = (record_.answer_bytes + 3) / kBytesPerToken;
  const bool reported =
      record_.usage && (record_.usage->input_tokens || record_.usage->output_tokens);
  if (!reported) {
    record_.usage = Usage{.input_tokens = input, .output_tokens = output};
    record_.usage_source = "estimated";
  }
  Usage& usage = *record_.usage;
  if (!usage.input_tokens) {
    usage.input_tokens = input;
    record_.usage_source = "estimated";
  }
  const bool counts_all = usage.output_tokens && usage_is_final_;
  if (route_.generates() && !counts_all && usage.output_tokens.value_or(0) < output) {
    usage.output_tokens = output;
    record_.usage_source = "estimated";
  }
}

// Sets the cost of the answer: as reported, otherwise an estimate, never nothing (MP-72). A provider
// that has the whole request may have done its work without an answer.
void ModelExchange::price() {
  if ((!opened_ && !spent_) || !route_.spends()) return;
  estimate_usage();
  if (const NamedPrice* const price = price_of(live_->settings, record_.model)) {
    record_.price = price->first;
    record_.cost_microusd = cost_of(price->second, route_.api, *record_.usage);
  }
}

void ModelExchange::settle(core::Draft& record) {
  if (!reserved_) return;
  Amount used;
  if (record_.usage) {
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

// The first attempt announces the request itself. The event is durable before the attempt is made
// and counted.
Async<ModelExchange::Ended> ModelExchange::announce_attempt() {
  co_await events_->wait();  // the attempt before has its end
  const std::uint64_t number = record_.attempts + 1;
  core::BesideEvent beside;
  beside.facts.push_back(open_request(record_, number, shared_.recorder.instance_id()));
  if (reservation_) beside.changes.push_back(std::exchange(reservation_, nullptr));
  const Result<void> emitted = co_await shared_.events.emit(
      event::ModelRequestStarted{
          .agent_id = record_.agent_id, .model = record_.upstream_model, .attempt = number},
      record_.subject(), std::move(beside));
  if (emitted) {
    record_.attempts = number;
    if (!attempted_) attempted_ = shared_.clock.steady();
    co_return std::nullopt;
  }
  if (emitted.error().code == ErrorCode::Exhausted) co_return over_budget(emitted.error().message);
  const bool hook = emitted.error().cause == "hook";
  Refusal refusal =
      hook ? deny(403, "hook_refused", "a hook refused this request")
           : fault(503, kLedgerUnavailable, "the ledger cannot be written, so nothing is sent");
  refusal.reason = emitted.error().message;
  co_return refusal;
}

void ModelExchange::emit_opened() {
  if (std::exchange(emitted_later_, false)) emit_attempt(std::nullopt);
}

void ModelExchange::emit_attempt(std::optional<std::string> error) {
  event::ModelRequestFinished finished{.agent_id = record_.agent_id,
                                       .model = record_.upstream_model,
                                       .attempt = record_.attempts,
                                       .success = !error,
                                       .error = std::move(error)};
  events_->add(std::move(finished), record_.subject());
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
    const auto allowed = upstream->circuit().allow();
    if (!allowed) {
      ended = fault(
          503, "circuit_open",
          fmt::format("upstream `{}` failed five times in a row; try again later", settings.name));
      ended->retry_after_s = static_cast<std::uint64_t>(allowed.error().count());
      continue;
    }
    const bool last = i + 1 == candidates_.size();
    Opened opened;
    ended = co_await attempt(upstream, last, opened);
    shared_.meter.circuit(settings.name, upstream->circuit().is_open());
    if (!ended) co_return co_await answer(std::move(opened));
    // No other upstream helps if the ledger cannot be written.
    const bool unrecorded = ended->error.code == kLedgerUnavailable;
    if (ended->error.status < 500 || unrecorded || gone()) break;
  }
  co_return ended;
}

Task<net::HttpHead> ModelExchange::send(std::shared_ptr<net::HttpExchange> exchange,
                                        net::HttpRequest request) {
  upstream_exchange_ = exchange;
  if (gone()) co_return fail(ErrorCode::Cancelled, "the client went away");
  const SteadyTime sent = shared_.clock.steady();
  Result<net::HttpHead> head =
      co_await exchange->send(std::move(request), live_->settings.answer_time);
  waited_ += shared_.clock.steady() - sent;
  co_return head;
}

bool ModelExchange::take_status(const net::HttpHead& head, ModelUpstream& upstream) {
  const bool good = head.status >= 200 && head.status < 300;
  const bool again = !good && is_transient(ProviderError{.kind = ProviderError::Kind::Http,
                                                         .status = head.status});
  // An upstream that refuses the client or limits its rate works (MP-76).
  const bool upstream_failed = head.status == 408 || head.status >= 500;
  if (upstream_failed) {
    upstream.circuit().failed();
  } else if (good) {
    upstream.circuit().begun();  // `judge` follows
  } else {
    upstream.circuit().worked();
  }
  // This event only reports. The first byte must not wait until it is on disk.
  emitted_later_ = emitted_later_ || good;
  if (!good) emit_attempt(fmt::format("http {}", head.status));
  return !again;
}

// Takes the end of an answer. The end of the client or of the proxy, a limit of ours or a check says
// nothing about the upstream.
void ModelExchange::judge(ModelUpstream& upstream, const std::optional<Error>& failed) {
  const bool ours =
      failed && (failed->code == ErrorCode::Internal || failed->code == ErrorCode::Exhausted ||
                 gone() || shared_.ending.stop_requested());
  if (ours || provider_failed_) return;
  if (failed) {
    upstream.circuit().failed();
  } else {
    upstream.circuit().worked();
  }
  shared_.meter.circuit(upstream.settings().name, upstream.circuit().is_open());
}

Async<ModelExchange::Ended> ModelExchange::attempt(const std::shared_ptr<ModelUpstream>& upstream,
                                                   bool last, Opened& opened) {
  const core::ModelRules& rules = plan_->model_rules();
  const RetrySchedule schedule({.attempts = rules.retries + 1});
  // Otherwise the agent's token would go upstream in place of the client's key (MP-18, MP-19).
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
    const std::shared_ptr<net::HttpExchange> exchange = upstream->exchange();
    Result<net::HttpHead> head = co_await send(exchange, std::move(*request));
    spent_ = spent_ || (!head && exchange->written());
    if (gone()) {
      emit_attempt("the client went away");
      Refusal refusal = deny(499, "cancelled", "the client went away");
      refusal.outcome = Outcome::Cancelled;
      co_return refusal;
    }
    if (!head) {
      upstream->circuit().failed();
      emit_attempt(without_keys(head.error().message));
      const bool repeatable = !exchange->written() || rules.retries_after_send;
      const auto wait = repeatable ? schedule.before(tries + 1) : std::nullopt;
      if (!wait || !co_await wait_for_retry(*wait)) co_return upstream_failure(head.error());
      continue;
    }
    if (!take_status(*head, *upstream)) {
      const auto retry_after = parse_retry_after(head->header("retry-after"), shared_.clock.wall());
      const auto wait = schedule.before(tries + 1, retry_after);
      if (wait && co_await wait_for_retry(*wait)) continue;
      if (!last && rules.fails_over) {
        co_return upstream_failure({ErrorCode::Unavailable, fmt::format("http {}", head->status)});
      }
      own_retries_ = rules.retries > 0;
    }
    opened = {upstream, exchange, std::move(*head)};
    co_return std::nullopt;
  }
}

}  // namespace sallyport::proxy
