#include "external/url_peer.h"

#include <fmt/format.h>

#include <boost/asio/this_coro.hpp>
#include <boost/json.hpp>

#include "base/on_pool.h"
#include "base/try.h"
#include "external/wire.h"
#include "net/http_client.h"

namespace sallyport::external {

namespace {

Result<net::HttpRequest> request_to(const Launch& launch, const PeerRequest& question) {
  net::HttpRequest request{
      .headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
      .body = json::serialize(question.request)};
  for (const auto& [header, name] : launch.entry.header_env) {
    const std::optional<std::string> value = launch.host->variable(name);
    if (!value) {
      return fail(ErrorCode::Unavailable,
                  fmt::format("the variable `{}` of the header `{}` is not set", name, header));
    }
    request.headers.emplace_back(header, *value);
  }
  return request;
}

std::chrono::milliseconds left_until(SteadyPoint deadline) {
  return std::chrono::milliseconds(std::max(poll_time(deadline), 1));
}

Task<json::object> post(std::shared_ptr<const Launch> launch, net::Url url, PeerRequest question) {
  const auto executor = co_await boost::asio::this_coro::executor;
  SALLYPORT_CO_TRY(net::HttpRequest request, request_to(*launch, question));
  // Reads certificates from the disk.
  using Opened = Result<std::unique_ptr<net::HttpClient>>;
  Opened client = co_await on_pool<Opened>(launch->host->pool(), [executor, url] {
    return net::HttpClient::open(executor, {.url = url, .follow_redirects = false});
  });
  if (!client) co_return std::unexpected(client.error());
  const std::unique_ptr<net::HttpExchange> exchange = (*client)->exchange();
  SALLYPORT_CO_TRY(const net::HttpHead head,
                   co_await exchange->send(std::move(request), left_until(question.deadline)));
  if (head.status != 200) {
    co_return fail(ErrorCode::Unavailable, fmt::format("status {}", head.status));
  }
  SALLYPORT_CO_TRY(const std::string body,
                   co_await exchange->read_all(kLargestAnswer, left_until(question.deadline)));
  if (std::chrono::steady_clock::now() >= question.deadline) {
    co_return fail(ErrorCode::Deadline, "it did not answer in time");
  }
  co_return answer_from(body);
}

}  // namespace

Result<net::Url> peer_url(const std::string& text) {
  SALLYPORT_TRY(net::Url url, net::Url::parse(text));
  if (url.tls || url.is_loopback()) return url;
  return fail(ErrorCode::InvalidInput,
              fmt::format("`{:.200}` would be reached without encryption; use `https`, or an "
                          "address of this machine",
                          url.text()));
}

Task<json::object> UrlPeer::ask(PeerRequest question) const {
  const std::shared_ptr<const Launch> launch = launch_;
  Result<json::object> answer = co_await post(launch, url_, std::move(question));
  if (!answer) {
    launch->log_failure(without_secrets(launch->entry, *launch->host, answer.error().message), "");
  }
  co_return answer;
}

}  // namespace sallyport::external
