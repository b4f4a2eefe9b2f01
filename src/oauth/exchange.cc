#include "oauth/exchange.h"

#include <fmt/format.h>

#include <boost/asio/this_coro.hpp>

#include "base/try.h"

namespace sallyport::oauth {

namespace {

using namespace std::chrono_literals;
// A request between machines waits no longer than a person waits for a page.
constexpr std::chrono::milliseconds kPatience = 10s;

std::unexpected<Error> about(const net::Url& url, const Error& error) {
  if (error.message.find(url.text()) != std::string::npos) return std::unexpected(error);
  return fail(error.code, fmt::format("`{}`: {}", url.text(), error.message));
}

}  // namespace

Task<Response> exchange(Destination to, net::HttpRequest request) {
  const auto executor = co_await boost::asio::this_coro::executor;
  SALLYPORT_CO_TRY(const std::unique_ptr<net::HttpClient> client,
                   net::HttpClient::open(executor, {.url = to.url, .allow_plain = to.allow_plain}));
  request.headers.emplace_back("User-Agent", "sallyport");
  const std::unique_ptr<net::HttpExchange> http = client->exchange();
  Result<net::HttpHead> head = co_await http->send(std::move(request), kPatience);
  if (!head) co_return about(to.url, head.error());
  Result<std::string> body = co_await http->read_all(kMostBytes, kPatience);
  if (!body) co_return about(to.url, body.error());
  co_return Response{head->status, std::move(head->headers), std::move(*body)};
}

Task<Response> get_json(Destination to) {
  net::HttpRequest request{.method = "GET", .headers = {{"Accept", "application/json"}}};
  return exchange(std::move(to), std::move(request));
}

Task<Response> post_json(Destination to, std::string body) {
  net::HttpRequest request{
      .headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}},
      .body = std::move(body)};
  return exchange(std::move(to), std::move(request));
}

Task<Response> post_form(Destination to, Fields fields, net::HttpHeaders headers) {
  headers.emplace_back("Accept", "application/json");
  headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  net::HttpRequest request{.headers = std::move(headers), .body = form_text(fields)};
  return exchange(std::move(to), std::move(request));
}

}  // namespace sallyport::oauth
