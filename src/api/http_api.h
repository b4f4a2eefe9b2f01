// Serves everything below /api/v1: finds the route, authenticates the request, and applies the
// conventions of all routes (problems, ETags, rates, idempotency keys, headers).
#pragma once

#include <optional>
#include <string>

#include "api/idempotency.h"
#include "api/rates.h"
#include "api/readers.h"
#include "api/route.h"
#include "api/sessions.h"
#include "net/http_server.h"

namespace sallyport::api {

// The people who are registered now. Used on the loop.
class People {
 public:
  virtual ~People() = default;
  // No value: the token belongs to no person.
  virtual Result<std::optional<Person>> with_token(std::string_view token) = 0;
  // No value: no person has this name any more.
  virtual Result<std::optional<Roles>> roles_of(const std::string& name) = 0;
  // The roles of the person of a session without roles of its own. No value: the person may no
  // longer use the API.
  virtual Result<std::optional<Roles>> roles_now(const Session& session) {
    return roles_of(session.name);
  }
};

// Used on the loop of its server.
class HttpApi final : public net::HttpHandler {
 public:
  static constexpr std::size_t kLargestBody = 4u << 20;

  struct Parts {
    const Clock& clock;
    Entropy& entropy;
    People& people;
  };
  explicit HttpApi(Parts parts);

  void add(Route route) { table_.add(std::move(route)); }
  const RouteTable& table() const { return table_; }
  Sessions& sessions() { return sessions_; }
  // A further way to sign in, shown to a person who is not signed in. Set before the first request.
  void offer_sign_in(std::string_view way) { sign_in_.emplace_back(way); }
  Readers& readers() { return readers_; }

  Async<std::optional<net::ServerResponse>> refuse(net::ServerRequest& head) override;
  Async<void> handle(net::ServerExchange& exchange) override;
  net::ServerResponse format_refusal(net::ServerResponse refusal) const override;

 private:
  // Checks a request before its body is read.
  std::optional<net::ServerResponse> check(const net::ServerRequest& head, Person& person);
  Result<Person> person_of(const net::ServerRequest& request, Access access, bool use);
  Result<Person> signed_in(const net::ServerRequest& request, bool use);
  std::optional<net::ServerResponse> check_rate(const net::ServerRequest& head, Access access);
  Result<Request> read(const net::ServerRequest& http, const RouteTable::Match& match);
  Async<net::ServerResponse> answer(const net::ServerRequest& http, const Route& route,
                                    Request request);
  Async<net::ServerResponse> act_once(const net::ServerRequest& http, const Route& route,
                                      Request request);
  Async<net::ServerResponse> act(const net::ServerRequest& http, const Route& route,
                                 Request request);
  Task<Response> run_read(Read read, Request request);
  Async<void> stream(net::ServerExchange& exchange, const Route& route, Request request);

  Parts parts_;
  RouteTable table_;
  Sessions sessions_;
  Rate requests_;
  Rate logins_;
  Idempotency repeats_;
  json::array sign_in_{"link", "token", "passkey"};
  Snapshots lists_;
  Readers readers_;  // joined first
};

// The beginning of a stream of events.
net::ServerResponse stream_head();
// True if a page of this origin is protected in transit: over https, or on this machine (CO-23).
bool is_private_origin(std::string_view origin);
// The header that sets the cookie of a session, or removes it if `value` is empty (CO-12).
std::string session_cookie(std::string_view origin, std::string_view value);

}  // namespace sallyport::api
