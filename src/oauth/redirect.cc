#include "oauth/redirect.h"

#include <fmt/format.h>

#include "base/bell.h"
#include "base/try.h"
#include "net/http_server.h"

namespace sallyport::oauth {

namespace {

using namespace std::chrono_literals;

constexpr const char* kAddress = "127.0.0.1";
constexpr const char* kPath = "/callback";

net::ServerResponse page(unsigned status, std::string_view text) {
  net::ServerResponse response{
      .status = status,
      .headers = {{"content-type", "text/html; charset=utf-8"},
                  {"content-security-policy", "default-src 'none'"},
                  {"referrer-policy", "no-referrer"}},  // the address holds a code
      .body = fmt::format("<!doctype html><title>Sallyport</title><p>{}</p>\n", text)};
  return response;
}

void no_log(std::string_view) {}

// Outlives its `Redirect`, until its last connection is closed.
class Page final : public net::HttpHandler {
 public:
  Page(boost::asio::any_io_executor executor, std::string state)
      : server(std::move(executor), {.connections = 16, .body_bytes = 0, .idle = 5s}, no_log),
        state_(std::move(state)) {
    server.route(kPath, *this);
  }

  Async<std::optional<net::ServerResponse>> refuse(net::ServerRequest& head) override {
    if (head.method == "GET") co_return std::nullopt;
    co_return net::ServerResponse::text(405, "only GET is allowed here\n");
  }

  Async<void> handle(net::ServerExchange& exchange) override {
    std::optional<Fields> fields = read_form(exchange.request().query);
    // We did not send a browser without the state, so it does not end this login.
    const bool ours = fields && field(*fields, "state") == state_ && !received;
    if (ours) received = std::move(*fields);
    co_await exchange.respond(!ours ? page(400, "This is not the expected login.")
                              : field(*received, "code").empty()
                                  ? page(200, "The login was refused. You can close this page.")
                                  : page(200, "You can close this page and go back."));
    if (ours) bell.ring("brought");
  }

  net::HttpServer server;
  Bell bell;
  std::optional<Fields> received;

 private:
  std::string state_;
};

Async<void> run(std::shared_ptr<Page> page) {
  co_await page->server.run(100ms);
}

class LoopbackRedirect final : public Redirect {
 public:
  LoopbackRedirect(boost::asio::any_io_executor executor, std::string state)
      : tasks_(executor, no_log), page_(std::make_shared<Page>(executor, std::move(state))) {}
  ~LoopbackRedirect() override { page_->server.stop(); }

  Result<void> listen(std::uint16_t port) {
    SALLYPORT_TRY(port_, page_->server.listen(kAddress, port));
    page_->server.serve_only({.hosts = {fmt::format("{}:{}", kAddress, port_)}});
    tasks_.start(run(page_));
    return {};
  }

  std::string uri() const override { return fmt::format("http://{}:{}{}", kAddress, port_, kPath); }

  Task<Fields> wait(std::chrono::milliseconds longest) override {
    const std::shared_ptr<Page> page = page_;
    const auto end = std::chrono::steady_clock::now() + longest;
    while (!page->received) {
      if (std::chrono::steady_clock::now() >= end) {
        co_return fail(
            ErrorCode::Deadline,
            fmt::format("the browser did not come back within {} seconds",
                        std::chrono::duration_cast<std::chrono::seconds>(longest).count()));
      }
      co_await page->bell.wait("brought", 200ms, {});
    }
    co_return *page->received;
  }

 private:
  net::TaskGroup tasks_;
  std::shared_ptr<Page> page_;  // shared with the coroutine that serves it
  std::uint16_t port_ = 0;
};

}  // namespace

Result<std::unique_ptr<Redirect>> Redirect::open(boost::asio::any_io_executor executor,
                                                 std::uint16_t port, std::string state) {
  auto redirect = std::make_unique<LoopbackRedirect>(std::move(executor), std::move(state));
  SALLYPORT_CHECK_OK(redirect->listen(port));
  return redirect;
}

}  // namespace sallyport::oauth
