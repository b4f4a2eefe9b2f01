// Entries as lines of a body that is posted to an address.
#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/run_on.h"
#include "base/try.h"
#include "machine/environment.h"
#include "net/http_client.h"
#include "outside/event_sink.h"

namespace sallyport::app {

namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kLongestWait{5'000};
constexpr std::size_t kLargestAnswer = 64 * 1024;

std::string_view media_type(EventForm form) {
  return form == EventForm::Cef ? "text/plain; charset=utf-8" : "application/x-ndjson";
}

class HttpSink final : public EventSink {
 public:
  static Result<std::unique_ptr<EventSink>> open(const EventPostConfig& config) {
    auto sink = std::make_unique<HttpSink>(config);
    SALLYPORT_TRY(net::Url url, net::Url::parse(config.url));
    if (!url.tls && !url.is_loopback() && !config.allow_http) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("entries would go to `{}` without encryption; use `https`, or write "
                              "`allow_http: true`",
                              url.text()));
    }
    if (!config.bearer_env.empty()) {
      const auto token = variable_of_this_process(config.bearer_env);
      if (!token) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("the variable `{}` is not set", config.bearer_env));
      }
      sink->headers_.emplace_back("Authorization", "Bearer " + *token);
    }
    sink->headers_.emplace_back("Content-Type", media_type(config.form));
    net::HttpClient::Settings settings{
        .url = std::move(url),
        .allow_plain = config.allow_http,
        .follow_redirects = false,
        .ca_file = config.ca_file ? config.ca_file->string() : std::string()};
    settings.limits.connect = kLongestWait;
    SALLYPORT_TRY(sink->client_,
                  net::HttpClient::open(sink->loop_.get_executor(), std::move(settings)));
    return sink;
  }

  explicit HttpSink(const EventPostConfig& config) : form_(config.form) {}

  EventForm form() const override { return form_; }

  // All of them or, as far as we know, none.
  Delivered deliver(std::span<const OutgoingEvent> events) override {
    std::string body;
    for (const OutgoingEvent& event : events) {
      body += event.line;
      body += '\n';
    }
    const Result<void> sent = run_on(loop_, post(std::move(body)));
    if (!sent) return {.error = sent.error()};
    return {.count = events.size()};
  }

  // Ends a running request, and is checked before the next one.
  void cancel() override {
    asio::post(loop_, [this] {
      cancelled_ = true;
      if (running_ != nullptr) running_->cancel();
    });
  }

 private:
  Task<void> post(std::string body) {
    if (cancelled_) co_return fail(ErrorCode::Cancelled, "cancelled");
    const auto exchange = client_->exchange();
    running_ = exchange.get();
    struct Ended {
      net::HttpExchange*& running;
      ~Ended() { running = nullptr; }
    } ended{running_};
    net::HttpRequest request{.headers = headers_, .body = std::move(body)};
    SALLYPORT_CO_TRY(const net::HttpHead head,
                     co_await exchange->send(std::move(request), kLongestWait));
    // Read to its end, so that the connection is used again.
    SALLYPORT_CO_CHECK_OK(co_await exchange->read_all(kLargestAnswer, kLongestWait));
    if (head.status / 100 == 2) co_return Result<void>{};
    co_return fail(ErrorCode::Unavailable, fmt::format("it answers {}", head.status));
  }

  asio::io_context loop_{1};
  EventForm form_;
  net::HttpHeaders headers_;
  std::unique_ptr<net::HttpClient> client_;
  net::HttpExchange* running_ = nullptr;
  bool cancelled_ = false;
};

}  // namespace

Result<std::unique_ptr<EventSink>> open_http_sink(const EventPostConfig& config) {
  return HttpSink::open(config);
}

}  // namespace sallyport::app
