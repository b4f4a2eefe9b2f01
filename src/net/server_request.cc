#include "net/server_request.h"

#include <algorithm>

namespace sallyport::net {

std::optional<std::string_view> ServerRequest::header(std::string_view name) const {
  std::optional<std::string_view> found;
  for (const auto& [key, value] : headers) {
    if (key != name) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

std::size_t ServerRequest::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(headers, [&](const auto& header) { return header.first == name; }));
}

ServerResponse ServerResponse::json(unsigned status, std::string body) {
  return {status, {{"content-type", "application/json"}}, std::move(body)};
}

ServerResponse ServerResponse::text(unsigned status, std::string body) {
  return {status, {{"content-type", "text/plain; charset=utf-8"}}, std::move(body)};
}

}  // namespace sallyport::net
