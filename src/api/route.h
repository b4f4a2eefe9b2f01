// A route of the HTTP API: required roles, largest body, handler and schema. The route table serves
// requests and generates the documents, so the two always agree.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/problem.h"
#include "api/query.h"
#include "api/role.h"
#include "api/snapshots.h"
#include "base/async.h"
#include "net/http_server.h"

namespace sallyport::api {

inline constexpr std::string_view kRoot = "/api/v1";

// A request as its handler sees it. Its person is authenticated and its size is limited. It is
// copied, because a reader may run longer than the caller waits.
struct Request {
  Person person{};
  std::map<std::string, std::string, std::less<>> path{};  // by the names in the pattern
  Query query{};
  json::value body{};  // null if nothing was sent
  std::string peer{};
  std::string origin{};            // as the browser sent it; empty: none
  std::string cookies{};           // the header, on routes that need no session
  std::function<bool()> wanted{};  // for readers: does the caller still wait?
  Snapshots* lists = nullptr;      // the lists that pages are taken from; always set
  const std::string& at(std::string_view name) const { return path.find(name)->second; }
};

struct Response {
  unsigned status = 200;
  json::value body{};
  std::optional<std::string> text{};  // instead of JSON, as `type`
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};
  std::optional<std::string> state{};  // the source of the ETag, if not the body
  std::string tag{};                   // the ETag, once computed
};

// Runs on a reader thread. It may wait for the disk and must not change anything.
using Read = std::function<Result<Response>(const Request&)>;
// Runs on the loop and never blocks.
using Act = std::function<Task<Response>(Request)>;
// Runs on the loop until the client disconnects. `still` returns whether the person may still read.
using Stream =
    std::function<Async<void>(Request, net::ServerExchange&, std::function<bool()> still)>;

enum class Access {
  Open,     // every caller
  Login,    // every caller, to sign in (CO-14, CO-23)
  Session,  // a session of any role, no token
  Person,   // a session or a token, that has one of the roles
};

struct Parameter {
  std::string name;
  std::string description;
  json::object schema;
};

// The documentation of a route.
struct Words {
  std::string name;  // `listApprovals`
  std::string summary;
  std::vector<Parameter> query{};
  json::object request{};   // JSON Schema of the body; empty: there is none
  json::object response{};  // of a successful response; empty: it has no body
  std::string type = "application/json";
  std::vector<unsigned> problems{};  // in addition to those of all routes of its kind
  std::vector<unsigned> good{200};   // statuses of successful responses with a body
};

struct Route {
  std::string method;
  std::string pattern;  // below /api/v1, for example `approvals/{id}/respond`
  Access access = Access::Person;
  Roles roles{};
  std::size_t body_bytes = 64u << 10;
  std::variant<Read, Act, Stream> handler;
  Words words{};
  // For a write: reads the content that `If-Match` refers to. Empty: there is none.
  Read condition{};
  // True: unknown query parameters are ignored, because another party chooses them.
  bool other_parameters = false;
};

class RouteTable {
 public:
  // Call it before the first request.
  void add(Route route) { routes_.push_back(std::move(route)); }
  const std::vector<Route>& all() const { return routes_; }

  struct Match {
    const Route* route = nullptr;
    std::map<std::string, std::string, std::less<>> path{};
    std::vector<std::string>
        allowed{};  // the methods of this path, if it has no route for this method
  };
  // `path` as sent. HEAD finds the route of GET. No route and no allowed methods: unknown path.
  Match find(std::string_view method, std::string_view path) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace sallyport::api
