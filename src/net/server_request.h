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
  std::string principal{};  // set by the handler once it is authenticated
  std::string peer{};       // the address of the client, without its port
  // Why the body was not read: `too_large`, `busy`, `damaged` (its chunks), or `cut` (the client left
  // or was too slow; no client reads the answer). Only for `HttpHandler::answers_unread`.
  std::string unread{};

  // `name` in lower case. No value: it is missing, or occurs more than once.
  std::optional<std::string_view> header(std::string_view name) const;
  std::size_t count(std::string_view name) const;
};

struct ServerResponse {
  unsigned status = 200;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  std::string cause{};  // of a refusal, one word for `HttpHandler::format_refusal`; not sent

  static ServerResponse json(unsigned status, std::string body);
  static ServerResponse text(unsigned status, std::string body);
};

}  // namespace sallyport::net
