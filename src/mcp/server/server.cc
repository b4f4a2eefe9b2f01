#include "mcp/server/server.h"

#include <fmt/format.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/try.h"

namespace sallyport::mcp {

namespace asio = boost::asio;

namespace {

class Wait final : public Waiter {
 public:
  explicit Wait(const asio::any_io_executor& executor) : bell(executor) {}
  Async<void> answered(Response given) override {
    reply = std::move(given);
    bell.cancel();
    co_return;
  }
  asio::steady_timer bell;
  std::optional<Response> reply;
};

}  // namespace

Response failed(std::string reason) {
  return {.error = {ErrorCode::Unavailable, std::move(reason), {}, {}}};
}

Task<Message> Server::ask(std::string method, std::string params,
                          std::chrono::milliseconds longest) {
  // Shared, because an answer may arrive when the wait has just ended.
  const auto wait = std::make_shared<Wait>(co_await asio::this_coro::executor);
  const auto compose = [&](std::string_view id) { return request_text(id, method, params); };
  SALLYPORT_CO_TRY(const std::uint64_t id, request(compose, wait));
  do {
    boost::system::error_code ignored;
    wait->bell.expires_after(longest);
    co_await wait->bell.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  } while (!wait->reply && logging_in());
  if (!wait->reply) {
    abandon(id, "\"timed out\"");
    co_return fail(ErrorCode::Deadline, fmt::format("no answer to `{}`", method));
  }
  if (wait->reply->message) co_return std::move(*wait->reply->message);
  if (wait->reply->malformed) {
    co_return fail(ErrorCode::Corrupt, fmt::format("the answer to `{}` is malformed", method));
  }
  co_return std::unexpected(wait->reply->error);
}

}  // namespace sallyport::mcp
