#include "mcp/client/http_link.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "mcp/client/http_rules.h"
#include "mcp/message/era.h"
#include "mcp/message/grant_in_meta.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace asio = boost::asio;

namespace {

std::string with_meta(std::string_view text, std::string_view part, std::string_view name,
                      std::string_view value) {
  const std::string object(find(text, {part}).value_or("{}"));
  const std::string meta(find(object, {"_meta"}).value_or("{}"));
  return with_member(text, part, with_member(object, "_meta", with_member(meta, name, value)));
}

}  // namespace

HttpLink::HttpLink(asio::any_io_executor executor, Settings settings)
    : executor_(executor),
      settings_(settings),
      bell_(executor),
      end_(executor, asio::steady_timer::time_point::max()),
      standing_(std::make_shared<Outlet>(executor, 0, settings_.outlet)) {
  bell_.expires_at(asio::steady_timer::time_point::max());
}

Result<void> HttpLink::take(std::string text) {
  if (closed_ || hung_up_) return fail(ErrorCode::Unavailable, "the session has ended");
  if (received_.size() >= settings_.limits.requests ||
      (!received_.empty() && received_bytes_ + text.size() > settings_.limits.queue_bytes)) {
    return fail(ErrorCode::Exhausted, "too many messages wait; try again later");
  }
  received_bytes_ += text.size();
  received_.push_back(std::move(text));
  bell_.cancel();
  return {};
}

Result<std::shared_ptr<Outlet>> HttpLink::ask(Message request, const net::ServerRequest& head) {
  if (pending_.size() >= settings_.limits.requests) {
    return fail(ErrorCode::Exhausted, "too many requests wait; try again later");
  }
  std::string id = request.id;
  PendingRequest pending{.id = request.id};
  if (settings_.shared) {
    // Without the body, which may be large and shared by many requests.
    pending.head.headers = head.headers;
    id = std::to_string(++last_request_);
    request.text = request.with_id(id);
    if (const auto token = find(request.text, {"params", "_meta", "progressToken"})) {
      pending.token = std::string(*token);
      request.text = with_meta(request.text, "params", "progressToken", id);
    }
  } else if (pending_.contains(id)) {
    return fail(ErrorCode::Conflict, "this id is in use");
  }
  // Requests that are not governed need no grant.
  if (is_governed(request.method)) {
    request.text = with_grant_headers(std::move(request.text), head);
  }
  if (const Result<void> taken = take(std::move(request.text)); !taken) {
    return std::unexpected(taken.error());
  }
  pending.outlet = std::make_shared<Outlet>(executor_, ++last_stream_, settings_.outlet);
  std::shared_ptr<Outlet> outlet = pending.outlet;
  pending_[id] = std::move(pending);
  return outlet;
}

Result<void> HttpLink::receive(std::string text) {
  if (find(text, {"method"}) == R"("notifications/cancelled")") end_cancelled(text);
  return take(std::move(text));
}

// A cancelled request gets no answer, so its stream ends.
void HttpLink::end_cancelled(std::string_view notification) {
  const Result<ParsedJson> id =
      parse_json(find(notification, {"params", "requestId"}).value_or("null"));
  const auto found = id ? pending_.find(id_text(id->value)) : pending_.end();
  if (found == pending_.end()) return;
  found->second.outlet->close();
  pending_.erase(found);
}

void HttpLink::cancel(const Outlet& outlet) {
  for (auto it = pending_.begin(); it != pending_.end(); ++it) {
    if (it->second.outlet.get() != &outlet) continue;
    (void)take(notification_text(
        "notifications/cancelled",
        "{\"requestId\":" + it->first + ",\"reason\":\"the client closed the stream\"}"));
    pending_.erase(it);
    return;
  }
}

std::shared_ptr<Outlet> HttpLink::stream(std::uint64_t number) const {
  if (number == 0) return standing_;
  for (const auto& [id, pending] : pending_) {
    if (pending.outlet->number() == number) return pending.outlet;
  }
  for (const auto& outlet : kept_) {
    if (outlet->number() == number) return outlet;
  }
  return nullptr;
}

Async<std::optional<net::Line>> HttpLink::next() {
  boost::system::error_code ignored;
  while (received_.empty() && !hung_up_ && !closed_) {
    co_await bell_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (hung_up_ || closed_) co_return std::nullopt;
  net::Line line{.text = std::move(received_.front())};
  received_.pop_front();
  received_bytes_ -= line.text.size();
  co_return line;
}

void HttpLink::hang_up() {
  hung_up_ = true;
  bell_.cancel();
}

Async<void> HttpLink::run() {
  boost::system::error_code ignored;
  while (!closed_) {
    co_await end_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

bool HttpLink::send(std::string text, std::string_view about) {
  if (closed_) return false;
  const auto id = find(text, {"id"});
  if (id && !find(text, {"method"})) return answer(std::move(text), *id);
  const auto found = pending_.find(about);
  if (found == pending_.end()) return settings_.shared || standing_->put(std::move(text), false);
  const PendingRequest& pending = found->second;
  return pending.outlet->put(renamed_back(std::move(text), pending, found->first), false);
}

bool HttpLink::answer(std::string text, std::string_view id) {
  const auto found = pending_.find(id);
  // The request is unknown, or its client has left.
  if (found == pending_.end()) return true;
  const PendingRequest pending = std::move(found->second);
  pending_.erase(found);
  const bool taken =
      pending.outlet->put(renamed_back(std::move(text), pending, std::string(id)), true);
  keep(pending.outlet);
  return taken;
}

std::string HttpLink::renamed_back(std::string text, const PendingRequest& pending,
                                   std::string_view ours) const {
  if (!settings_.shared) return text;
  if (find(text, {"result", "_meta", kMetaSubscription}) == ours) {
    text = with_meta(text, "result", kMetaSubscription, pending.id);
  }
  if (find(text, {"params", "_meta", kMetaSubscription}) == ours) {
    text = with_meta(text, "params", kMetaSubscription, pending.id);
  }
  if (!pending.token.empty() && find(text, {"params", "progressToken"}) == ours) {
    const std::string params(*find(text, {"params"}));
    text = with_member(text, "params", with_member(params, "progressToken", pending.token));
  }
  return find(text, {"id"}) == ours ? with_member(text, "id", pending.id) : text;
}

void HttpLink::keep(std::shared_ptr<Outlet> outlet) {
  if (settings_.outlet.kept_events == 0) return;
  kept_.push_back(std::move(outlet));
  const auto bytes = [&] {
    std::size_t all = 0;
    for (const auto& kept : kept_) all += kept->bytes();
    return all;
  };
  while (kept_.size() > 1 &&
         (kept_.size() > settings_.kept_streams || bytes() > settings_.kept_bytes)) {
    kept_.pop_front();
  }
}

Async<void> HttpLink::flush(std::chrono::milliseconds longest) {
  asio::steady_timer pause(executor_);
  const auto end = std::chrono::steady_clock::now() + longest;
  const auto waits = [&] {
    if (std::ranges::any_of(kept_, [](const auto& outlet) { return outlet->waits(); })) return true;
    return std::ranges::any_of(pending_,
                               [](const auto& entry) { return entry.second.outlet->waits(); });
  };
  boost::system::error_code ignored;
  while (waits() && std::chrono::steady_clock::now() < end) {
    pause.expires_after(std::chrono::milliseconds(20));
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

void HttpLink::close() {
  closed_ = true;
  standing_->close();
  for (const auto& [id, pending] : pending_) pending.outlet->close();
  for (const auto& outlet : kept_) outlet->close();
  bell_.cancel();
  end_.cancel();
}

std::string HttpLink::contradiction(std::string_view about, const json::value& schema,
                                    const json::value& input) const {
  const auto found = pending_.find(about);
  if (!settings_.shared || found == pending_.end()) return {};
  return argument_contradiction(found->second.head, schema, input);
}

}  // namespace sallyport::mcp
