// Requests and responses of HTTP/1.1 as values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sallyport::net {

struct ServerRequest {
  std::string method{};
  std::string path{};   // as sent, without the query
  std::string query{};  // behind `?`, as sent
  std::vector<std::pair<std::string, std::string>>
      headers{};  // in their order, names in lower case
  std::string body{};
  std::string principal{};  // whose it is, where its handler has found that out
  std::string peer{};       // the address of the client, without its port
  // Why the body was not read: `too_large` or `busy`. Only for `HttpHandler::answers_unread`.
  std::string unread{};

  // `name` in lower case. No value: it is not there, or there more than once.
  std::optional<std::string_view> header(std::string_view name) const;
  std::size_t count(std::string_view name) const;
};

struct ServerResponse {
  unsigned status = 200;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  std::string cause{};  // of a refusal, in one word for the handler that words it anew; not sent

  static ServerResponse json(unsigned status, std::string body);
  static ServerResponse text(unsigned status, std::string body);
};

// The names by which a browser, or a proxy in front of it, may reach this server. DNS is not asked:
// otherwise a foreign page could reach a server on this machine.
struct HttpNames {
  std::vector<std::string> hosts{};    // `127.0.0.1:8765`, in lower case; empty: any
  std::vector<std::string> origins{};  // `https://console.example.com`

  // The refusal, or nothing.
  std::optional<ServerResponse> refuse(const ServerRequest& request) const;
};

}  // namespace sallyport::net
