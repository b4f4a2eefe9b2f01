// Sessions of the HTTP front: how they are opened, found, and ended when unused.
#include <fmt/format.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/try.h"
#include "base/uuid.h"
#include "mcp/client/http_front.h"

namespace sallyport::mcp {

namespace asio = boost::asio;

Result<HttpFront::SessionPtr> HttpFront::open_session(std::string principal, bool shared) {
  if (stopping_) return fail(ErrorCode::Unavailable, "this server is ending");
  // A session that has ended still counts until its server has ended too. That slows down only the
  // client that opens and closes sessions quickly.
  net::Quota::Share place = running_.share_of(principal);
  if (!place.grow_to(1) || !make_room(principal)) {
    return fail(ErrorCode::Exhausted, "too many sessions are open; try again later");
  }
  auto session = std::make_shared<Session>();
  session->caller = {.principal = std::move(principal),
                     .session_id = "http-" + uuid7_text(parts_.clock, parts_.entropy),
                     .shared = shared};
  session->policy = parts_.policy();
  session->used = parts_.clock.steady();
  HttpLink::Settings settings{.limits = settings_.limits, .shared = shared};
  if (!shared) settings.outlet = settings_.front.kept;
  auto link = std::make_unique<HttpLink>(executor_, settings);
  session->link = link.get();
  session->conversation = parts_.open(session->caller, std::move(link));
  tasks_.start(converse(session, std::move(place)));
  return session;
}

Result<HttpFront::SessionPtr> HttpFront::shared_session(const std::string& principal) {
  if (const auto found = shared_.find(principal); found != shared_.end()) return found->second;
  SALLYPORT_TRY(SessionPtr session, open_session(principal, true));
  shared_[principal] = session;
  return session;
}

Result<HttpFront::SessionPtr> HttpFront::session_of(const net::ServerRequest& request,
                                                    const std::string& principal) {
  const auto id = request.header("mcp-session-id");
  if (!id) {
    return fail(ErrorCode::InvalidInput,
                "open with `initialize` and send its `Mcp-Session-Id`, or name a protocol version "
                "in `_meta`",
                {}, "no_era");
  }
  const auto found = sessions_.find(*id);
  if (found == sessions_.end() || found->second->ended ||
      found->second->caller.principal != principal) {
    return fail(ErrorCode::NotFound, "there is no such session; open one with `initialize`");
  }
  return found->second;
}

// If no place is left, the principal's own session that was idle longest ends. A principal never
// ends a session of another one.
bool HttpFront::make_room(const std::string& principal) {
  Session* oldest = nullptr;
  std::size_t own = shared_.count(principal);
  for (const auto& [id, session] : sessions_) {
    if (session->caller.principal != principal) continue;
    ++own;
    if (session->in_use()) continue;
    if (oldest == nullptr || session->used < oldest->used) oldest = session.get();
  }
  const bool room = sessions_.size() + shared_.size() < settings_.front.sessions;
  if (room && own < settings_.front.sessions_each) return true;
  if (oldest == nullptr || parts_.clock.steady() - oldest->used < settings_.front.evictable) {
    return false;
  }
  oldest->conversation->stop();
  forget(*oldest);
  return true;
}

Async<void> HttpFront::converse(SessionPtr session, net::Quota::Share /*place*/) {
  const Result<void> ended = co_await session->conversation->run();
  if (!ended) {
    parts_.log(
        fmt::format("a session of {} ended: {}", session->caller.principal, ended.error().message));
  }
  forget(*session);
  asio::steady_timer pause(executor_);
  boost::system::error_code ignored;
  while (!session->conversation->quiet()) {
    pause.expires_after(std::chrono::milliseconds(100));
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

void HttpFront::forget(const Session& session) {
  const auto same = [&](const auto& entry) { return entry.second.get() == &session; };
  std::erase_if(sessions_, same);
  std::erase_if(shared_, same);
}

void HttpFront::sweep() {
  std::vector<SessionPtr> idle;
  const auto look = [&](const auto& entry) {
    const Session& session = *entry.second;
    if (!session.in_use() && parts_.clock.steady() - session.used > settings_.front.idle) {
      idle.push_back(entry.second);
    }
  };
  std::ranges::for_each(sessions_, look);
  std::ranges::for_each(shared_, look);
  for (const SessionPtr& session : idle) {
    session->conversation->stop();
    forget(*session);
  }
}

Async<void> HttpFront::run() {
  boost::system::error_code ignored;
  while (!stopping_) {
    sweep();
    bell_.expires_after(std::chrono::seconds(1));
    co_await bell_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  for (const auto& [id, session] : sessions_) session->conversation->stop();
  for (const auto& [principal, session] : shared_) session->conversation->stop();
  if (!co_await tasks_.join(settings_.front.goodbye)) {
    tasks_.cancel();
    (void)co_await tasks_.join(settings_.front.goodbye);
  }
}

void HttpFront::stop() {
  stopping_ = true;
  bell_.cancel();
}

}  // namespace sallyport::mcp
