// `/mcp` for clients of both eras: sessions, and stateless requests. http_sessions.cc opens and ends
// sessions, http_stream.cc writes answers as streams.
#pragma once

#include <map>
#include <memory>

#include "base/clock.h"
#include "base/entropy.h"
#include "mcp/client/conversation.h"
#include "mcp/client/http_link.h"
#include "mcp/client/http_rules.h"
#include "net/http_server.h"
#include "net/quota.h"
#include "net/task_group.h"

namespace sallyport::mcp {

struct HttpFrontLimits {
  std::size_t sessions = 64;                     // of all clients together
  std::size_t sessions_each = 64;                // of one principal
  std::chrono::milliseconds idle{1'800'000};     // an unused session ends after this
  std::chrono::milliseconds evictable{5'000};    // and after this, if a new one needs room
  std::chrono::milliseconds answer_wait{5'000};  // after this, a late answer is sent as a stream
  std::chrono::milliseconds keep_alive{15'000};  // between signs of life on a stream
  std::chrono::milliseconds goodbye{10'000};     // for sessions, when we end
  OutletLimits kept{.kept_events = 64, .kept_bytes = 1u << 20};  // for a client that reconnects
};

// On a context with one thread.
class HttpFront final : public net::HttpHandler {
 public:
  // The client that is served.
  struct Caller {
    std::string principal{};
    std::string session_id{};  // in records; the client has another one
    bool shared = false;       // by all stateless requests of this principal
  };
  using Open =
      std::function<std::shared_ptr<Conversation>(const Caller&, std::unique_ptr<ClientLink>)>;
  // Returns the principal that the headers prove. `Unauthenticated`: none; the client may see the
  // reason. With the cause `oauth::kInsufficientScope`: the principal lacks a scope. Any other
  // error: the check is not possible now.
  using Authenticate = std::function<Task<std::string>(const net::ServerRequest&)>;

  struct Parts {
    const Clock& clock;
    Entropy& entropy;
    Open open;
    Authenticate authenticate;
    std::function<std::string()> policy;  // in force; after a change nothing is replayed
    net::HttpServer::Log log;
  };
  struct Settings {
    Limits limits{};
    HttpFrontLimits front{};
    std::string metadata{};  // URL of the resource metadata (RFC 9728)
    std::string scope{};     // that a token must have; empty: none
  };
  HttpFront(boost::asio::any_io_executor executor, Parts parts, Settings settings);

  Async<std::optional<net::ServerResponse>> refuse(net::ServerRequest& head) override;
  Async<void> handle(net::ServerExchange& exchange) override;

  // Runs until `stop`; all sessions have ended then.
  Async<void> run();
  void stop();

  std::size_t open_sessions() const { return sessions_.size() + shared_.size(); }

 private:
  // One client of sessions, or all stateless requests of one principal.
  struct Session {
    Caller caller;
    std::shared_ptr<Conversation> conversation{};  // shared with abandoned calls
    HttpLink* link = nullptr;                      // the conversation's
    std::string version{};                         // that was agreed on
    std::string policy{};                          // in force when it was opened
    SteadyTime used{};
    std::size_t exchanges = 0;
    std::size_t listeners = 0;  // connections for its own stream; the newest one reads it
    bool ended = false;

    bool in_use() const { return exchanges > 0 || link->busy() || conversation->holds_calls(); }
  };
  using SessionPtr = std::shared_ptr<Session>;  // shared with the exchanges that use it
  class Use;

  // The form of a response.
  struct ResponseStyle {
    bool modern = false;
    bool numbered = false;  // events have ids, so that a client can reconnect
    bool streams = true;    // the client reads streams
    std::string id{};       // of the request
    std::vector<std::pair<std::string, std::string>> headers{};
  };

  net::ServerResponse unauthorized(const net::ServerRequest& head, const Error& why) const;
  Async<void> post(net::ServerExchange& exchange, std::string principal);
  Async<void> post_modern(net::ServerExchange& exchange, std::string principal, Message message);
  Async<void> post_legacy(net::ServerExchange& exchange, std::string principal, Message message);
  Async<void> post_opening(net::ServerExchange& exchange, std::string principal, Message message);
  Async<void> post_batch(net::ServerExchange& exchange, std::string principal);
  Async<void> get(net::ServerExchange& exchange, std::string principal);
  Async<void> end_session(net::ServerExchange& exchange, std::string principal);

  Async<void> pass_on(net::ServerExchange& exchange, SessionPtr session, Message message,
                      ResponseStyle style);
  Async<std::optional<std::string>> answer(net::ServerExchange& exchange, SessionPtr session,
                                           std::shared_ptr<Outlet> outlet, ResponseStyle style);
  Async<void> end_without_answer(net::ServerExchange& exchange, const Session& session,
                                 const Outlet& outlet, const ResponseStyle& style);
  Async<bool> begin_stream(net::ServerExchange& exchange, const Session& session,
                           const Outlet& outlet, std::uint64_t delivered,
                           const ResponseStyle& style);
  Async<bool> write_event(net::ServerExchange& exchange, const Outlet& outlet,
                          const Outlet::Event& event, bool numbered);

  Result<SessionPtr> open_session(std::string principal, bool shared);
  Result<SessionPtr> shared_session(const std::string& principal);
  // `InvalidInput`: no session is named. `NotFound`: this principal has no such session.
  Result<SessionPtr> session_of(const net::ServerRequest& request, const std::string& principal);
  bool make_room(const std::string& principal);
  Async<void> converse(SessionPtr session, net::Quota::Share place);
  void sweep();
  void forget(const Session& session);

  boost::asio::any_io_executor executor_;
  Parts parts_;
  Settings settings_;
  std::map<std::string, SessionPtr, std::less<>> sessions_;  // by the id that the client knows
  std::map<std::string, SessionPtr> shared_;                 // by principal
  net::Quota running_;                                       // conversations, with those that end
  net::TaskGroup tasks_;
  boost::asio::steady_timer bell_;
  bool stopping_ = false;
};

}  // namespace sallyport::mcp
