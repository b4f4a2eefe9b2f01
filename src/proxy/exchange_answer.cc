// Passes the answer of a provider to the client: streamed, whole, or an error.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/running_digest.h"
#include "llm/wire_json.h"
#include "net/content_decoder.h"
#include "net/sse_parser.h"
#include "proxy/exchange.h"
#include "proxy/kept_messages.h"
#include "proxy/owned_state.h"
#include "proxy/provider_ids.h"

namespace sallyport::proxy {

namespace {

constexpr std::chrono::seconds kWholeRequest{3'600};
constexpr std::size_t kLargestEvent = 16u << 20;
constexpr std::size_t kLargestAnswer = 64u << 20;
constexpr std::uint64_t kLongestStream = std::uint64_t{1} << 30;
constexpr std::size_t kLongestError = 1u << 20;
// The most bytes after the event that ends an answer.
constexpr std::size_t kLongestRest = 16u << 10;
constexpr std::chrono::seconds kRestTime{1};

std::string first_header(const net::HttpHead& head, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (const std::string_view value = head.header(name); !value.empty()) return std::string(value);
  }
  return {};
}

// Reads the rest of a body after its last event, so that the connection can be reused.
Async<void> read_rest(std::shared_ptr<ModelUpstream>, std::shared_ptr<net::HttpExchange> exchange) {
  (void)co_await exchange->read_all(kLongestRest, kRestTime);
}

}  // namespace

Async<ModelExchange::Ended> ModelExchange::answer(Opened opened) {
  const net::HttpHead& head = opened.head;
  constexpr std::size_t kLongestId = 256;
  // A cut through a key would leave half of it.
  record_.provider_request_id =
      without_keys(first_header(head, {"request-id", "x-request-id"})).substr(0, kLongestId);
  if (head.status >= 300 && head.status < 400) {
    Refusal refusal = upstream_failure({ErrorCode::Unavailable, "the provider sent a redirect"});
    refusal.error.code = "upstream_redirect";
    refusal.error.message =
        fmt::format("upstream `{}` sent a redirect, which is not followed", record_.upstream);
    co_return refusal;
  }
  if (head.status >= 400) co_return co_await pass_error(std::move(opened));
  responded_ = true;
  opened_ = true;
  doors_.json_format = request_ && request_->json_format;
  kept_.most = KeptMessages::kLargest;
  if (keeps_content()) doors_.kept = &kept_;
  RequestDoors doors(doors_);
  const core::ModelRules& rules = plan_->model_rules();
  const std::unique_ptr<llm::AnswerAdapter> adapter =
      llm::answer_adapter(route_.api, doors,
                          {.end_on_signed_hit = rules.ends_on_signed_hit,
                           .block_as_answer = rules.blocks_as_answer,
                           .json_format = doors_.json_format,
                           .choices = request_ ? request_->choices : 1,
                           .hides_usage = added_usage_,
                           .starting_after = starting_after_});
  const bool stream = head.content_type() == "text/event-stream";
  if (stream && request_ && route_.generates() && !request_->stream) {
    Refusal refusal =
        upstream_failure({ErrorCode::Corrupt, "a stream came that was not asked for"});
    refusal.error.code = "upstream_failed";
    refusal.error.message =
        fmt::format("upstream `{}` sent a stream that was not asked for", record_.upstream);
    judge(*opened.upstream, Error{ErrorCode::Corrupt, {}});
    emit_response(false, refusal.reason);
    co_return refusal;
  }
  const bool governed = route_.generates() || route_.kind == Route::Kind::Stored;
  if (governed && stream) co_return co_await stream_answer(std::move(opened), *adapter);
  co_return co_await whole_answer(std::move(opened), governed ? adapter.get() : nullptr);
}

// `why`: what is wrong with the answer, if it did not end in silence.
ModelExchange::Refusal ModelExchange::unreadable(const Error& error, std::string_view why) const {
  Refusal refusal = upstream_failure(error);
  refusal.error.code = "upstream_failed";
  refusal.error.message =
      error.code == ErrorCode::Deadline
          ? fmt::format("upstream `{}` fell silent", record_.upstream)
          : fmt::format("the answer of upstream `{}` {}", record_.upstream, why);
  return refusal;
}

// Passes errors with status, body and `Retry-After`, except those about our own key.
Async<ModelExchange::Ended> ModelExchange::pass_error(Opened opened) {
  const net::HttpHead& head = opened.head;
  const SteadyTime wait_began = shared_.clock.steady();
  Result<std::string> body =
      co_await opened.exchange->read_all(kLongestError, live_->settings.silence);
  waited_ += shared_.clock.steady() - wait_began;
  if (body) {
    body = net::ContentDecoder::decode(head.header("content-encoding"), std::move(*body),
                                       kLongestError);
  }
  const bool own_key = record_.credential == "proxy";
  if (head.status == 401 && own_key) {
    co_return fault(403, "upstream_credentials",
                    fmt::format("upstream `{}` refused the key of the proxy (upstream_credentials)",
                                record_.upstream));
  }
  if (!body) co_return unreadable(body.error(), "cannot be read");
  net::ServerResponse response = head_of(head.status, &head);
  if (own_retries_) {  // in place of what the provider says
    std::erase_if(response.headers, [](const auto& one) { return one.first == "x-should-retry"; });
    response.headers.emplace_back("x-should-retry", "false");
  }
  response.headers.emplace_back("x-sallyport-overhead-ms", overhead_ms());
  response.body = without_keys(std::move(*body));
  record_.bytes_out = response.body.size();
  record_.first_byte_ms = elapsed_ms();
  const Outcome outcome = gone() ? Outcome::Cancelled : Outcome::Failed;
  if (!co_await conclude(outcome, fmt::format("http {}", head.status), head.status)) {
    co_await client_.respond(ledger_failed());
    co_return std::nullopt;
  }
  co_await client_.respond(std::move(response));
  co_return std::nullopt;
}

void ModelExchange::take_observed(const llm::AnswerAdapter& adapter) {
  const llm::Observed& seen = adapter.observed();
  record_.usage = seen.usage;
  record_.usage_source = seen.usage ? "reported" : "none";
  usage_is_final_ = seen.usage_is_final;
  if (!seen.response_id.empty()) record_.response_id = seen.response_id;
  response_model_ = seen.model;
  record_.stop_reason = seen.stop_reason;
  record_.sent_stop_reason = seen.sent_stop_reason;
  record_.stored = seen.stored;
  blocked_ = seen.block;
  provider_failed_ = seen.failed;
  const OwnedState owned(shared_.recorder);
  for (const std::string& id : seen.file_ids) {
    if (!owned.find("file", id)) facts_.push_back(OwnedState::fact("file", id, owner()));
  }
  for (const std::string& id : seen.container_ids) {
    // One that the request names has its owner already, or was made by the operator.
    const bool named = request_ && std::ranges::find(request_->stores, id, &llm::StateRef::id) !=
                                       request_->stores.end();
    if (!named && !owned.find("container", id)) {
      facts_.push_back(OwnedState::fact("container", id, owner()));
    }
  }
  // Later requests may name a response, or a message of a thread that the provider keeps.
  const bool thread = route_.api == llm::Api::AnthropicMessages;
  const bool kept = thread ? parsed_.is_object() && parsed_.get_object().contains("thread")
                           : route_.api == llm::Api::OpenAiResponses;
  if (route_.generates() && kept && !seen.response_id.empty()) {
    OwnedState::Owner owner = this->owner();
    owner.unanswered = unanswered_;
    facts_.push_back(OwnedState::fact(thread ? "message" : "response", seen.response_id, owner));
    if (request_->store == false) return;  // the provider keeps no items then
    for (const std::string& item : seen.item_ids) {
      facts_.push_back(OwnedState::fact("item", item, this->owner()));
    }
  }
}

OwnedState::Owner ModelExchange::owner() const {
  return {.agent_id = record_.agent_id,
          .upstream = record_.upstream,
          .request_id = record_.request_id,
          .at = shared_.clock.wall()};
}

// Stores the ids that the provider gave this agent. An id of another agent keeps its owner.
void ModelExchange::take_ids(const std::string& answer) {
  const net::ServerRequest& request = client_.request();
  const ProviderId named = id_in_path(request.path);
  if (request.method == "DELETE" && !named.id.empty()) {
    if (ends_at_id(request.path)) facts_.push_back(OwnedState::gone(named.kind, named.id));
    return;
  }
  const auto parsed = llm::read_wire_json(answer, {.bytes = kLargestAnswer});
  if (!parsed || (named.id.empty() && request.method != "POST")) return;
  const OwnedState owned(shared_.recorder);
  for (const ProviderId& provider_id : ids_in_answer(named.kind, parsed->value)) {
    if (!owned.find(provider_id.kind, provider_id.id)) {
      facts_.push_back(OwnedState::fact(provider_id.kind, provider_id.id, owner()));
    }
  }
}

void ModelExchange::emit_response(bool success, std::optional<std::string> error) {
  emit_opened();
  if (!std::exchange(responded_, false)) return;
  if (blocked_) {
    events_->add(event::PolicyDenied{.agent_id = record_.agent_id,
                                     .tool_name = "model:" + record_.upstream_model,
                                     .reason = blocked_->reason},
                 record_.subject());
  }
  event::ModelResponseFinished finished{.agent_id = record_.agent_id,
                                        .model = record_.upstream_model,
                                        .attempt = record_.attempts,
                                        .success = success,
                                        .error = std::move(error),
                                        .usage = record_.usage};
  if (success && !record_.stop_reason.empty()) finished.stop_reason = record_.stop_reason;
  events_->add(std::move(finished), record_.subject());
}

Async<std::optional<Error>> ModelExchange::relay(Opened& opened, llm::AnswerAdapter& adapter,
                                                 ClientStream& stream) {
  const auto broken = [](ErrorCode code, std::string message) {
    return Error{code, std::move(message)};
  };
  auto decoder = net::ContentDecoder::open(opened.head.header("content-encoding"), kLongestStream);
  if (!decoder) co_return decoder.error();
  net::SseParser parser(kLargestEvent);
  bool ended = false;
  while (!adapter.complete() && !ended) {
    const SteadyTime wait_began = shared_.clock.steady();
    if (wait_began - started_ > kWholeRequest) {
      co_return broken(ErrorCode::Deadline, "the answer took over an hour");
    }
    Result<std::string> bytes = co_await opened.exchange->read(live_->settings.silence);
    waited_ += shared_.clock.steady() - wait_began;
    if (!bytes) co_return bytes.error();
    ended = bytes->empty();
    (*decoder)->feed(*bytes);
    while (true) {
      const Result<std::string> piece = (*decoder)->next();
      if (!piece) co_return piece.error();
      if (piece->empty()) break;
      parser.feed(*piece);
    }
    while (!adapter.complete()) {
      const net::SseEvent* const event = parser.next();
      if (!event) break;
      if (event->too_long) co_return broken(ErrorCode::Exhausted, "an event has over 16 MiB");
      const Result<void> passed = co_await adapter.on_event(*event, stream);
      if (!passed) co_return passed.error();
    }
    co_await stream.make_room();
    if (stream.begun()) emit_opened();
    if (!stream.client_reads() || gone()) {
      co_return broken(ErrorCode::Cancelled, "the client went away");
    }
  }
  if (adapter.complete()) co_return std::nullopt;
  if (const Result<void> whole = (*decoder)->finish(); !whole) co_return whole.error();
  const Result<void> finished = co_await adapter.on_end(stream);
  if (!finished) co_return finished.error();
  co_return std::nullopt;
}

Async<ModelExchange::Ended> ModelExchange::stream_answer(Opened opened,
                                                         llm::AnswerAdapter& adapter) {
  ClientStream* writes_to = nullptr;
  ClientStream stream(client_, shared_.executor, head_of(opened.head.status, &opened.head),
                      [&] { adapter.keep_alive(*writes_to); });
  writes_to = &stream;
  std::optional<Error> failed;
  try {
    failed = co_await relay(opened, adapter, stream);
  } catch (const std::exception& thrown) {
    failed = Error{ErrorCode::Internal, thrown.what()};
  }
  take_observed(adapter);
  if (provider_failed_) {
    stream.change_last([&](std::string frame) { return without_keys(std::move(frame)); });
  }
  const bool cancelled = gone() || !stream.client_reads();
  if (!cancelled) judge(*opened.upstream, failed);
  if (failed || cancelled || blocked_ || provider_failed_) {
    opened.exchange->cancel();  // what is left of it is not needed
  } else if (!opened.exchange->ended()) {
    shared_.asides.start(read_rest(opened.upstream, std::move(opened.exchange)));
  }
  opened.exchange.reset();
  if (shared_.ending.stop_requested() && failed) {
    failed = Error{ErrorCode::Unavailable, "the proxy ends"};
  }
  if (failed && !cancelled) {
    Refusal refusal = unreadable(*failed, "broke off");
    if (!stream.begun() && !stream.waits()) {
      co_await stream.drain();
      emit_response(false, refusal.reason);
      co_return refusal;
    }
    stream.replace_last();
    adapter.fail(stream, refusal.error);
  } else if (cancelled) {
    adapter.fail(stream, {.status = 499, .message = "the client went away", .code = "cancelled"});
  }
  co_await finish_stream(stream, adapter, std::move(failed));
  co_return std::nullopt;
}

// The record first, then the frame that ends the answer, then the event that says so (MP-68).
Async<void> ModelExchange::finish_stream(ClientStream& stream, llm::AnswerAdapter& adapter,
                                         std::optional<Error> failed) {
  co_await stream.drain();
  const bool cancelled = gone() || !stream.client_reads();
  record_.bytes_out = stream.bytes();
  record_.released = stream.digest();
  if (stream.first_byte()) {
    record_.first_byte_ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(*stream.first_byte() - started_)
            .count());
  }
  const Outcome outcome = cancelled                    ? Outcome::Cancelled
                          : failed || provider_failed_ ? Outcome::Failed
                          : blocked_                   ? Outcome::Blocked
                                                       : Outcome::Completed;
  std::string reason;
  if (cancelled) {
    reason = "the client went away";
  } else if (failed) {
    reason = without_keys(failed->message);
  } else if (provider_failed_) {
    reason = "the provider ended the answer with an error";
  } else if (blocked_) {
    reason = blocked_->reason;
  }
  const bool durable = co_await conclude(outcome, reason, 200);
  if (!durable) {
    stream.replace_last();
    adapter.fail(stream, {.status = 503,
                          .message = "the ledger cannot be written",
                          .code = kLedgerUnavailable,
                          .request_id = record_.request_id});
  }
  co_await stream.send_last();
  const bool success = outcome == Outcome::Completed && durable;
  emit_response(success, success ? std::nullopt : std::optional(reason));
}

// Reads the answer of a route without an output stage: it must be JSON, and its usage counts.
Result<std::string> ModelExchange::read_unguarded(std::string body) {
  const auto parsed = llm::read_wire_json(body, {.bytes = kLargestAnswer});
  // Embeddings have more numbers than are worth a value each.
  const bool large = !parsed && parsed.error().cause == kOverLimit;
  if (parsed ? !parsed->value.is_object() : !large) {
    return fail(ErrorCode::Corrupt, "the provider's answer is not a JSON object");
  }
  const auto usage = llm::read_wire_json(llm::value_at(body, "/usage"));
  if (!usage || !usage->value.is_object()) return body;
  const auto first = [&](std::string_view one, std::string_view other) {
    const auto count = llm::count_in(usage->value, one);
    return count ? count : llm::count_in(usage->value, other);
  };
  record_.usage = Usage{.input_tokens = first("input_tokens", "prompt_tokens"),
                        .output_tokens = first("output_tokens", "completion_tokens"),
                        .total_tokens = llm::count_in(usage->value, "total_tokens")};
  if (!record_.usage->input_tokens) record_.usage->input_tokens = record_.usage->total_tokens;
  record_.usage_source = "reported";
  return body;
}

Async<ModelExchange::Ended> ModelExchange::whole_answer(Opened opened,
                                                        llm::AnswerAdapter* adapter) {
  const SteadyTime wait_began = shared_.clock.steady();
  Result<std::string> body =
      co_await opened.exchange->read_all(kLargestAnswer, live_->settings.silence);
  waited_ += shared_.clock.steady() - wait_began;
  emit_opened();
  if (body) {
    body = net::ContentDecoder::decode(opened.head.header("content-encoding"), std::move(*body),
                                       kLargestAnswer);
  }
  const bool json = opened.head.content_type() == "application/json";
  const bool checked = route_.kind != Route::Kind::Elsewhere;
  const bool none = body && body->empty() && opened.head.status == 204;
  if (body && checked && !json && !none) {
    body = fail(ErrorCode::Corrupt,
                fmt::format("the answer has content type `{:.80}`", opened.head.content_type()));
  }
  if (body && checked && adapter == nullptr && !none) body = read_unguarded(std::move(*body));
  if (body && adapter != nullptr && !none) {
    try {
      body = co_await adapter->on_body(std::move(*body));
    } catch (const std::exception& thrown) {
      body = fail(ErrorCode::Internal, thrown.what());
    }
    take_observed(*adapter);
  }
  judge(*opened.upstream, body ? std::nullopt : std::optional(body.error()));
  if (gone() || !body) {
    Refusal refusal = gone() ? upstream_failure({ErrorCode::Cancelled, "the client went away"})
                             : unreadable(body.error(), "cannot be read");
    emit_response(false, refusal.reason);
    co_return refusal;
  }
  net::ServerResponse response = head_of(opened.head.status, &opened.head);
  response.headers.emplace_back("x-sallyport-overhead-ms", overhead_ms());
  response.body = std::move(*body);
  record_.bytes_out = response.body.size();
  record_.first_byte_ms = elapsed_ms();
  RunningDigest digest;
  digest.add(response.body);
  if (!response.body.empty()) record_.released = "sha256:" + hex(digest.finish());
  const bool deleted = route_.kind == Route::Kind::Stored && client_.request().method == "DELETE";
  if (deleted) facts_.push_back(OwnedState::gone("response", route_.id));
  if (route_.kind == Route::Kind::Elsewhere) take_ids(response.body);
  const Outcome outcome = blocked_ ? Outcome::Blocked : Outcome::Completed;
  if (!co_await conclude(outcome, blocked_ ? blocked_->reason : "", opened.head.status)) {
    emit_response(false, "the ledger cannot be written");
    co_await client_.respond(ledger_failed());
    co_return std::nullopt;
  }
  co_await client_.respond(std::move(response));
  emit_response(!blocked_, blocked_ ? std::optional(blocked_->reason) : std::nullopt);
  co_return std::nullopt;
}

}  // namespace sallyport::proxy
