#include "net/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>

#include "base/bell.h"
#include "base/lower_case.h"
#include "base/try.h"
#include "net/header_text.h"
#include "net/http_parser.h"
#include "net/http_wire.h"

namespace sallyport::net {

namespace asio = boost::asio;

namespace {

// The bytes of one read. They are held up to three times: here, in the parser and as the body.
constexpr std::size_t kBodyPiece = 16 * 1024;
constexpr std::size_t kSmallRequest = 16 * 1024;  // leaves in one piece
// The wait for a head that a server sends before it has read the request.
constexpr std::chrono::seconds kEarlyAnswer{1};
constexpr int kRedirects = 3;
// So many connections may wait for a next request that never comes; of more, the old ones are
// closed in time. A loop has no work left while only these few wait.
constexpr std::size_t kFewIdle = 8;
using SteadyTime = std::chrono::steady_clock::time_point;

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower_letter, lower_letter);
}

Result<std::string> head_text(const Url& url, const HttpRequest& request) {
  if (!is_header_name(request.method) || !url.target.starts_with('/') ||
      !is_header_value(url.target) || url.target.find_first_of(" \t") != std::string_view::npos) {
    return fail(ErrorCode::InvalidInput, "the request line cannot be sent");
  }
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", request.method, url.target, url.authority());
  for (const auto& [name, value] : request.headers) {
    if (!is_header_name(name) || !is_header_value(value)) {
      return fail(ErrorCode::InvalidInput, fmt::format("the header `{}` cannot be sent", name));
    }
    text += fmt::format("{}: {}\r\n", name, value);
  }
  if (!request.body.empty() || request.method == "POST") {
    text += fmt::format("Content-Length: {}\r\n", request.body.size());
  }
  return text + "\r\n";
}

std::chrono::milliseconds left_until(SteadyTime deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds(1));
}

class Client;

class Exchange final : public HttpExchange {
 public:
  explicit Exchange(Client& client) : client_(client) {}
  ~Exchange() override { let_go(); }

  Task<HttpHead> send(HttpRequest request, std::chrono::milliseconds longest) override;
  bool written() const override { return written_; }
  Task<std::string> read(std::chrono::milliseconds longest) override;
  bool ended() const override { return parser_ && parser_->done(); }
  void cancel() override {
    cancelled_ = true;
    if (wire_) wire_->close();
  }

 private:
  Task<HttpHead> send_to(const Url& url, const HttpRequest& request, SteadyTime deadline);
  Task<void> connect(SteadyTime deadline);
  Task<void> write(std::string head, const std::string& body, SteadyTime deadline);
  Task<void> fill(SteadyTime deadline);
  void let_go();

  Client& client_;
  std::unique_ptr<HttpWire> wire_;
  std::optional<HttpParser> parser_;
  std::unique_ptr<char[]> piece_;
  bool holds_place_ = false;
  bool written_ = false;
  bool cancelled_ = false;
};

class Client final : public HttpClient {
 public:
  Client(asio::any_io_executor executor, Settings settings)
      : executor_(std::move(executor)),
        settings_(std::move(settings)),
        tls_(asio::ssl::context::tls_client),
        sweep_(executor_) {}

  Result<void> prepare() {
    if (!settings_.url.tls) return {};
    boost::system::error_code error;
    tls_.set_default_verify_paths(error);
    if (!error) tls_.set_verify_mode(asio::ssl::verify_peer, error);
    static constexpr unsigned char kProtocols[] = "\x08http/1.1";
    SSL_CTX* const context = tls_.native_handle();
    if (error || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_alpn_protos(context, kProtocols, sizeof kProtocols - 1) != 0) {
      return fail(ErrorCode::Internal, "certificates of servers cannot be checked");
    }
    if (!settings_.ca_file.empty()) tls_.load_verify_file(settings_.ca_file, error);
    if (error) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("`{}` holds no certificates (PEM) that can be read: {}",
                              settings_.ca_file, error.message()));
    }
    return {};
  }

  std::unique_ptr<HttpExchange> exchange() override { return std::make_unique<Exchange>(*this); }

  const Settings& settings() const { return settings_; }

  // Counts one of the allowed connections.
  Task<void> take_place(SteadyTime deadline, const bool& cancelled) {
    while (places_ >= settings_.limits.connections && !cancelled) {
      if (std::chrono::steady_clock::now() >= deadline) {
        co_return fail(ErrorCode::Exhausted, "too many requests to the server run at once");
      }
      co_await bell_.wait("place", std::min(left_until(deadline), std::chrono::milliseconds(200)),
                          {});
    }
    ++places_;
    co_return Result<void>{};
  }
  void leave_place() {
    --places_;
    bell_.ring("place");
  }

  // No value: there is none to reuse.
  std::unique_ptr<HttpWire> take_idle() {
    const auto now = std::chrono::steady_clock::now();
    while (!idle_.empty()) {
      Idle newest = std::move(idle_.back());
      idle_.pop_back();
      if (newest.until > now && newest.wire->is_quiet()) return std::move(newest.wire);
      newest.wire->close();
    }
    return nullptr;
  }
  void keep_idle(std::unique_ptr<HttpWire> wire) {
    const auto now = std::chrono::steady_clock::now();
    close_old(now);
    while (!idle_.empty() && idle_.size() >= settings_.limits.idle_connections) idle_.pop_front();
    idle_.push_back({std::move(wire), now + settings_.limits.idle});
    if (idle_.size() > kFewIdle && !sweeps_) sweep();
  }
  std::unique_ptr<HttpWire> fresh() {
    const bool only_here = !settings_.url.tls && !settings_.allow_plain;
    return HttpWire::make(executor_, tls_, settings_.url, only_here);
  }

 private:
  struct Idle {
    std::unique_ptr<HttpWire> wire;
    SteadyTime until;
  };

  void close_old(SteadyTime now) {
    while (!idle_.empty() && idle_.front().until <= now) idle_.pop_front();
  }
  // Until none is left.
  void sweep() {
    sweeps_ = !idle_.empty();
    if (!sweeps_) return;
    sweep_.expires_at(idle_.front().until);
    sweep_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code&) {
      if (alive.expired()) return;
      close_old(std::chrono::steady_clock::now());
      sweep();
    });
  }

  asio::any_io_executor executor_;
  Settings settings_;
  asio::ssl::context tls_;
  std::deque<Idle> idle_;  // the oldest first
  asio::steady_timer sweep_;
  bool sweeps_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for the timer's handler
  std::size_t places_ = 0;
  Bell bell_;
};

Task<HttpHead> Exchange::send(HttpRequest request, std::chrono::milliseconds longest) {
  const SteadyTime deadline = std::chrono::steady_clock::now() + longest;
  Url url = client_.settings().url;
  if (request.target) url.target = *request.target;
  for (int redirects = 0;; ++redirects) {
    SALLYPORT_CO_TRY(HttpHead head, co_await send_to(url, request, deadline));
    // Only these two statuses keep the method.
    const bool redirected = head.status == 307 || head.status == 308;
    if (!redirected || !client_.settings().follow_redirects) co_return head;
    if (redirects == kRedirects) co_return fail(ErrorCode::Corrupt, "the server redirects forever");
    SALLYPORT_CO_TRY(url, url.followed(head.header("Location")));
    let_go();
  }
}

Task<HttpHead> Exchange::send_to(const Url& url, const HttpRequest& request, SteadyTime deadline) {
  written_ = false;
  SALLYPORT_CO_TRY(std::string head, head_text(url, request));
  SALLYPORT_CO_CHECK_OK(co_await connect(deadline));
  const Result<void> sent = co_await write(std::move(head), request.body, deadline);
  written_ = sent.has_value();
  if (cancelled_) co_return fail(ErrorCode::Cancelled, "cancelled");
  if (!sent && sent.error().code != ErrorCode::Unavailable) co_return std::unexpected(sent.error());
  if (!sent) deadline = std::min(deadline, std::chrono::steady_clock::now() + kEarlyAnswer);
  parser_.emplace(client_.settings().limits.head_bytes);
  while (!parser_->has_head()) {
    const Result<void> filled = co_await fill(deadline);
    if (!filled) co_return std::unexpected(sent ? filled.error() : sent.error());
  }
  co_return parser_->head();
}

Task<void> Exchange::connect(SteadyTime deadline) {
  SALLYPORT_CO_CHECK_OK(co_await client_.take_place(deadline, cancelled_));
  holds_place_ = true;
  if (cancelled_) co_return fail(ErrorCode::Cancelled, "cancelled");
  wire_ = client_.take_idle();
  if (!wire_) {
    wire_ = client_.fresh();
    const auto longest = std::min(client_.settings().limits.connect, left_until(deadline));
    const Result<void> connected = co_await wire_->connect(longest);
    if (!connected && !cancelled_) co_return std::unexpected(connected.error());
  }
  if (cancelled_) co_return fail(ErrorCode::Cancelled, "cancelled");
  co_return Result<void>{};
}

Task<void> Exchange::write(std::string head, const std::string& body, SteadyTime deadline) {
  deadline = std::min(deadline, std::chrono::steady_clock::now() + client_.settings().limits.write);
  if (body.size() <= kSmallRequest) {
    head += body;
    co_return co_await wire_->write(head, left_until(deadline));
  }
  SALLYPORT_CO_CHECK_OK(co_await wire_->write(head, left_until(deadline)));
  co_return co_await wire_->write(body, left_until(deadline));
}

Task<void> Exchange::fill(SteadyTime deadline) {
  if (!piece_) piece_ = std::make_unique_for_overwrite<char[]>(kBodyPiece);
  const Result<std::size_t> count =
      co_await wire_->read(piece_.get(), kBodyPiece, left_until(deadline));
  if (cancelled_) co_return fail(ErrorCode::Cancelled, "cancelled");
  if (!count) co_return std::unexpected(count.error());
  if (*count == 0) co_return parser_->feed_end();
  co_return parser_->feed({piece_.get(), *count});
}

Task<std::string> Exchange::read(std::chrono::milliseconds longest) {
  if (!parser_) co_return fail(ErrorCode::Internal, "nothing was sent");
  const SteadyTime deadline = std::chrono::steady_clock::now() + longest;
  while (true) {
    std::string body = parser_->take_body();
    if (!body.empty()) co_return body;
    if (parser_->done()) {
      let_go();
      co_return std::string();
    }
    if (!wire_) co_return fail(ErrorCode::Cancelled, "cancelled");
    SALLYPORT_CO_CHECK_OK(co_await fill(deadline));
  }
}

// Keeps a connection whose answer was read to its end. Closes any other one, which tells the server
// that its client has left.
void Exchange::let_go() {
  if (wire_ && parser_ && parser_->may_be_reused() && written_ && !cancelled_) {
    client_.keep_idle(std::move(wire_));
  } else if (wire_) {
    wire_->close();
  }
  wire_.reset();
  if (std::exchange(holds_place_, false)) client_.leave_place();
}

}  // namespace

std::string_view HttpHead::header(std::string_view name) const {
  const auto found = std::ranges::find_if(
      headers, [&](const auto& entry) { return same_name(entry.first, name); });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::string HttpHead::content_type() const {
  const std::string_view given = header("Content-Type");
  return lower_case(given.substr(0, given.find_first_of("; \t")));
}

Task<std::string> HttpExchange::read_all(std::size_t limit, std::chrono::milliseconds longest) {
  const SteadyTime deadline = std::chrono::steady_clock::now() + longest;
  std::string all;
  while (true) {
    SALLYPORT_CO_TRY(const std::string more, co_await read(left_until(deadline)));
    if (more.empty()) co_return all;
    all += more;
    if (all.size() > limit) {
      co_return fail(ErrorCode::Exhausted,
                     fmt::format("the server's answer is over {} bytes", limit));
    }
  }
}

Result<std::unique_ptr<HttpClient>> HttpClient::open(asio::any_io_executor executor,
                                                     Settings settings) {
  if (!settings.url.tls && !settings.url.is_loopback() && !settings.allow_plain) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}` would be reached without encryption; use `https`, or say "
                            "`allow_http` (`--allow-http`) where the network between is trusted",
                            settings.url.text()));
  }
  auto client = std::make_unique<Client>(std::move(executor), std::move(settings));
  SALLYPORT_CHECK_OK(client->prepare());
  return client;
}

}  // namespace sallyport::net
