#include "api/idempotency.h"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sallyport::api {

namespace asio = boost::asio;

bool Idempotency::is_key(std::string_view key) {
  return key.size() >= 8 && key.size() <= 128 &&
         std::ranges::all_of(key, [](char c) { return c > 0x20 && c < 0x7f; });
}

// Drops expired answers and, if needed, the oldest one. Running requests stay.
bool Idempotency::make_room() {
  const SteadyTime now = clock_.steady();
  const auto drop = [this](auto it) {
    bytes_ -= it->second->response->body.size();
    return slots_.erase(it);
  };
  for (auto it = slots_.begin(); it != slots_.end();) {
    const bool old = it->second->response && now - it->second->at >= kKept;
    it = old ? drop(it) : std::next(it);
  }
  while (slots_.size() >= limits_.answers || bytes_ > limits_.bytes) {
    auto oldest = slots_.end();
    for (auto it = slots_.begin(); it != slots_.end(); ++it) {
      if (!it->second->response) continue;
      if (oldest == slots_.end() || it->second->at < oldest->second->at) oldest = it;
    }
    if (oldest == slots_.end()) return slots_.size() < limits_.answers;
    drop(oldest);
  }
  return true;
}

Task<std::optional<net::ServerResponse>> Idempotency::begin(std::string name,
                                                            std::string_view body) {
  const Hash digest = sha256(body);
  const bool room = make_room();
  const auto found = slots_.find(name);
  if (found == slots_.end()) {
    if (!room) {
      co_return fail(ErrorCode::Unavailable, "too many requests with a key are running; try again",
                     {}, "busy");
    }
    const auto slot = std::make_shared<Slot>(co_await asio::this_coro::executor);
    slot->body = digest;
    slot->at = clock_.steady();
    slot->done.expires_after(limits_.wait);
    slots_.emplace(std::move(name), slot);
    co_return std::optional<net::ServerResponse>();
  }
  const std::shared_ptr<Slot> slot = found->second;
  if (slot->body != digest) {
    co_return fail(ErrorCode::InvalidInput,
                   "another request had this `Idempotency-Key`; use a new one", "idempotency-key",
                   "idempotency_key_reused");
  }
  if (!slot->response) {
    boost::system::error_code ignored;
    co_await slot->done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (!slot->response) {
    co_return fail(ErrorCode::Unavailable, "the first request with this key has not ended yet", {},
                   "busy");
  }
  net::ServerResponse response = *slot->response;
  response.headers.emplace_back("idempotency-replayed", "true");
  co_return response;
}

void Idempotency::finish(const std::string& name, const net::ServerResponse& response) {
  const auto found = slots_.find(name);
  if (found == slots_.end()) return;
  const std::shared_ptr<Slot> slot = found->second;
  slot->response = response;
  slot->at = clock_.steady();
  slot->done.cancel();
  const bool again = response.status >= 500 || response.status == 429;
  if (again) {
    slots_.erase(found);
  } else {
    bytes_ += response.body.size();
  }
}

}  // namespace sallyport::api
