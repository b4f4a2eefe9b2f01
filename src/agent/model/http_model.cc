#include "agent/model/http_model.h"

#include <fmt/format.h>

#include <deque>
#include <utility>

#include "agent/model/answer_reader.h"
#include "agent/model/anthropic_wire.h"
#include "agent/model/chat_wire.h"
#include "base/cut_text.h"
#include "base/race.h"
#include "base/try.h"
#include "base/without_secret.h"
#include "net/content_decoder.h"
#include "net/header_text.h"
#include "net/http_client.h"
#include "net/http_parser.h"
#include "sallyport/retry.h"

namespace sallyport::agent {

namespace {

constexpr std::string_view kOpenAiHost = "api.openai.com";
constexpr std::chrono::milliseconds kHeadTime{600'000};
constexpr std::chrono::seconds kErrorTime{10};
constexpr std::size_t kLongestError = 1u << 20;
constexpr std::size_t kLongestKey = 8'192;
constexpr std::size_t kLongestMessage = 4'096;

// Shared, because abandoned work uses it until it ends.
struct Connection {
  std::shared_ptr<net::HttpClient> client;  // of the model, which may be gone before the work is
  std::unique_ptr<net::HttpExchange> exchange;

  ~Connection() { exchange.reset(); }
};

Task<net::HttpHead> send_on(std::shared_ptr<Connection> connection, net::HttpRequest request) {
  co_return co_await connection->exchange->send(std::move(request), kHeadTime);
}
Task<std::string> read_on(std::shared_ptr<Connection> connection,
                          std::chrono::milliseconds longest) {
  co_return co_await connection->exchange->read(longest);
}
Task<std::string> read_error_on(std::shared_ptr<Connection> connection) {
  co_return co_await connection->exchange->read_all(kLongestError, kErrorTime);
}

// The work has its own deadline. A cancel ends the wait for it at once.
template <class T>
Task<T> unless_cancelled(Task<T> work, std::stop_token cancel) {
  if (cancel.stop_requested()) co_return fail(ErrorCode::Cancelled, kCancelled);
  Raced<Result<T>> raced = co_await race(std::move(work), SteadyTime::max(), std::move(cancel));
  if (raced.value) co_return std::move(*raced.value);
  if (raced.finish == Finish::Threw) {
    co_return fail(ErrorCode::Internal, "the request cannot be made");
  }
  co_return fail(ErrorCode::Cancelled, kCancelled);
}

// EV-92.
ProviderError error_of(const Error& error, bool opened) {
  switch (error.code) {
    case ErrorCode::Cancelled:
      return provider_error(TransportFault::Reset, kCancelled);
    case ErrorCode::Deadline:
      return provider_error(TransportFault::Silence, error.message);
    case ErrorCode::Corrupt:
      return provider_error(TransportFault::BrokenEncoding, error.message);
    case ErrorCode::Exhausted:
      return {.kind = ProviderError::Kind::InvalidResponse, .message = error.message};
    case ErrorCode::InvalidInput:
      return {.kind = ProviderError::Kind::InvalidRequest, .message = error.message};
    default:
      break;
  }
  const bool cut = opened && error.cause == net::kCutBody;
  return provider_error(cut ? TransportFault::CutBody : TransportFault::Reset, error.message);
}

// Removes the key from texts of the provider, which may repeat it.
class ErrorText {
 public:
  ErrorText(const core::Redactor& redactor, std::string key)
      : redactor_(redactor), key_(std::move(key)) {}

  ProviderError http(std::uint64_t status, std::string body,
                     std::optional<std::chrono::milliseconds> retry_after) const {
    return ProviderError::http(status, without_secret(std::move(body), key_), retry_after,
                               redactor_);
  }

  ProviderError shown(ProviderError error) const {
    json::value message(without_secret(std::move(error.message), key_));
    try {
      redactor_.redact("message", message);
    } catch (const std::exception&) {
      message = "[REDACTED:unreadable]";
    }
    error.message = message.is_string()
                        ? cut_utf8_bytes(std::string_view(message.get_string()), kLongestMessage)
                        : "[REDACTED:unreadable]";
    return error;
  }

 private:
  const core::Redactor& redactor_;
  std::string key_;
};

class HttpStream final : public ModelStream {
 public:
  struct Parts {
    std::shared_ptr<Connection> connection;  // also of reads that a cancel left behind
    std::unique_ptr<net::ContentDecoder> decoder;
    std::unique_ptr<FrameReader> frames;
    ErrorText errors;
    std::stop_token cancel;
    std::chrono::milliseconds silence;
    std::string request_id;
    std::string content_type;
  };
  explicit HttpStream(Parts parts) : parts_(std::move(parts)), reader_(std::move(parts_.frames)) {}

  Async<ModelResult<std::optional<ModelEvent>>> next() override {
    while (events_.empty()) {
      if (failed_) co_return std::unexpected(*failed_);
      if (over_) co_return std::nullopt;
      ModelResult<void> read = co_await read_more();
      if (!read) failed_ = parts_.errors.shown(std::move(read.error()));
    }
    ModelEvent event = std::move(events_.front());
    events_.pop_front();
    co_return std::optional(std::move(event));
  }

  std::uint64_t bytes() const override { return bytes_; }
  std::string provider_request_id() const override { return parts_.request_id; }

 private:
  Async<ModelResult<void>> read_more() {
    Result<std::string> bytes =
        co_await unless_cancelled(read_on(parts_.connection, parts_.silence), parts_.cancel);
    if (!bytes) {
      if (bytes.error().code == ErrorCode::Deadline) {
        bytes.error().message =
            fmt::format("the provider sent no byte for {} s",
                        std::chrono::duration_cast<std::chrono::seconds>(parts_.silence).count());
      }
      co_return std::unexpected(error_of(bytes.error(), true));
    }
    bytes_ += bytes->size();
    co_return bytes->empty() ? end() : take(*bytes);
  }

  ModelResult<void> take(const std::string& bytes) {
    parts_.decoder->feed(bytes);
    std::vector<ModelEvent> made;
    ModelResult<void> fed;
    while (fed && !reader_.ended()) {
      const Result<std::string> piece = parts_.decoder->next();
      if (!piece && piece.error().code == ErrorCode::Exhausted) {
        fed = malformed_stream("the answer is over 16 MiB");
      } else if (!piece) {
        fed = std::unexpected(error_of(piece.error(), true));
      } else if (piece->empty()) {
        break;
      } else {
        fed = reader_.feed(*piece, made);
      }
    }
    for (ModelEvent& event : made) events_.push_back(std::move(event));
    over_ = fed && reader_.ended();
    return fed;
  }

  ModelResult<void> end() {
    over_ = true;
    ModelResult<void> finished = reader_.finish();
    const std::string& type = parts_.content_type;
    if (!finished && type != "text/event-stream") {
      return malformed_stream(
          fmt::format("the answer has content type `{:.80}` and holds no stream", type));
    }
    return finished;
  }

  Parts parts_;
  AnswerReader reader_;
  std::deque<ModelEvent> events_;
  std::optional<ProviderError> failed_;
  bool over_ = false;
  std::uint64_t bytes_ = 0;
};

class HttpModel final : public Model {
 public:
  HttpModel(ModelSettings settings, ModelParts parts, net::Url url,
            std::shared_ptr<net::HttpClient> client)
      : settings_(std::move(settings)),
        parts_(std::move(parts)),
        url_(std::move(url)),
        client_(std::move(client)) {}

  Result<std::string> read_key() const {
    if (settings_.api_key_env.empty()) return std::string();
    std::string key = parts_.variable(settings_.api_key_env).value_or("");
    while (!key.empty() && (key.back() == '\n' || key.back() == '\r' || key.back() == ' ')) {
      key.pop_back();
    }
    if (key.empty()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("variable `{}` of `api_key_env` is not set; set it to the API key",
                              settings_.api_key_env));
    }
    if (key.size() > kLongestKey || !net::is_header_value(key)) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("variable `{}` of `api_key_env` holds no key that can be sent",
                              settings_.api_key_env));
    }
    return key;
  }

  Async<ModelResult<std::unique_ptr<ModelStream>>> open(ModelRequest request,
                                                        std::stop_token cancel) override {
    Result<std::string> key = read_key();
    if (!key) co_return std::unexpected(error_of(key.error(), false));
    key_ = *key;
    const ErrorText errors(parts_.redactor, *key);
    const auto connection = std::make_shared<Connection>(client_, client_->exchange());
    net::HttpRequest http = http_request(request, *key);
    const Result<net::HttpHead> head =
        co_await unless_cancelled(send_on(connection, std::move(http)), cancel);
    if (!head) co_return std::unexpected(errors.shown(error_of(head.error(), false)));
    if (head->status < 200 || head->status > 299) {
      co_return std::unexpected(co_await refusal(connection, *head, errors, cancel));
    }
    auto decoder = net::ContentDecoder::open(head->header("content-encoding"), kLargestAnswer + 1);
    if (!decoder) {
      co_return std::unexpected(
          provider_error(TransportFault::BrokenEncoding, decoder.error().message));
    }
    co_return std::make_unique<HttpStream>(
        HttpStream::Parts{.connection = connection,
                          .decoder = std::move(*decoder),
                          .frames = is_anthropic() ? anthropic_frames() : chat_frames(),
                          .errors = errors,
                          .cancel = std::move(cancel),
                          .silence = parts_.silence,
                          .request_id = request_id(*head, *key),
                          .content_type = head->content_type()});
  }

  std::string api() const override { return is_anthropic() ? "anthropic.messages" : "openai.chat"; }
  std::string upstream() const override { return url_.host; }
  std::string credential() const override { return key_; }

 private:
  bool is_anthropic() const { return settings_.provider == Provider::Anthropic; }

  static std::string request_id(const net::HttpHead& head, std::string_view key) {
    constexpr std::size_t kLongestId = 256;
    for (const char* const name : {"request-id", "x-request-id"}) {
      const std::string value = without_secret(std::string(head.header(name)), key);
      if (!value.empty() && is_utf8(value)) return cut_utf8_bytes(value, kLongestId);
    }
    return {};
  }

  // Appends `path` to the path of `base_url`, before its query.
  std::string target(std::string_view path) const {
    const std::string_view whole = url_.target;
    const std::size_t query = std::min(whole.find('?'), whole.size());
    std::string_view base = whole.substr(0, query);
    while (base.ends_with('/')) base.remove_suffix(1);
    return fmt::format("{}{}{}", base, path, whole.substr(query));
  }

  net::HttpRequest http_request(const ModelRequest& request, const std::string& key) const {
    net::HttpRequest http;
    http.headers = {{"content-type", "application/json"},
                    {"accept", "text/event-stream"},
                    {"accept-encoding", "identity"},
                    {"user-agent", "sallyport"}};
    if (is_anthropic()) {
      http.target = target("/v1/messages");
      http.headers.emplace_back("anthropic-version", kAnthropicVersion);
      if (!key.empty()) http.headers.emplace_back("x-api-key", key);
      http.body = anthropic_body(request);
    } else {
      http.target = target("/chat/completions");
      if (!key.empty()) http.headers.emplace_back("authorization", "Bearer " + key);
      http.body =
          chat_body(request, url_.host == kOpenAiHost ? "max_completion_tokens" : "max_tokens");
    }
    return http;
  }

  Async<ProviderError> refusal(std::shared_ptr<Connection> connection, net::HttpHead head,
                               ErrorText errors, std::stop_token cancel) const {
    const auto retry_after = parse_retry_after(head.header("retry-after"), parts_.clock.wall());
    Result<std::string> body = co_await unless_cancelled(read_error_on(connection), cancel);
    if (!body && body.error().code == ErrorCode::Cancelled) {
      co_return error_of(body.error(), true);
    }
    if (body) {
      body = net::ContentDecoder::decode(head.header("content-encoding"), std::move(*body),
                                         kLongestError);
    }
    co_return errors.http(head.status, body.value_or(""), retry_after);
  }

  ModelSettings settings_;
  ModelParts parts_;
  net::Url url_;
  std::shared_ptr<net::HttpClient> client_;  // shared with connections that a cancel left behind
  std::string key_;
};

}  // namespace

Result<std::unique_ptr<Model>> open_http_model(const ModelSettings& settings, ModelParts parts) {
  std::string address = settings.base_url;
  if (address.empty()) {
    address = settings.provider == Provider::Anthropic ? "https://api.anthropic.com"
                                                       : "https://api.openai.com/v1";
  }
  Result<net::Url> url = net::Url::parse(address);
  if (!url) {
    // An address with credentials is not shown.
    const std::string shown = address.contains('@') ? "" : fmt::format(" `{:.200}`", address);
    return fail(ErrorCode::InvalidInput,
                fmt::format("`base_url`{}: {}", shown, url.error().message), "model.base_url");
  }
  if (!url->tls && !url->is_loopback()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`base_url` `{}` would be reached without encryption; use `https`",
                            url->text()),
                "model.base_url");
  }
  SALLYPORT_TRY(std::shared_ptr<net::HttpClient> client,
                net::HttpClient::open(parts.executor, {.url = *url, .follow_redirects = false}));
  auto model =
      std::make_unique<HttpModel>(settings, std::move(parts), std::move(*url), std::move(client));
  SALLYPORT_TRY(const std::string key, model->read_key());
  return model;
}

}  // namespace sallyport::agent
