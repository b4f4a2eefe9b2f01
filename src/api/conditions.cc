#include "api/conditions.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"

namespace sallyport::api {

namespace {

bool names(const net::ServerRequest& request, std::string_view header, std::string_view tag,
           bool weak) {
  for (const auto& [name, value] : request.headers) {
    if (name != header) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      std::string_view item = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), item.size() + 1));
      while (item.starts_with(' ')) item.remove_prefix(1);
      while (item.ends_with(' ')) item.remove_suffix(1);
      if (weak && item.starts_with("W/")) item.remove_prefix(2);
      if (!tag.empty() && (item == "*" || item == tag)) return true;
    }
  }
  return false;
}

}  // namespace

std::string etag_of(const Response& answer) {
  if (!answer.tag.empty()) return answer.tag;
  const std::string text = answer.state  ? *answer.state
                           : answer.text ? *answer.text
                                         : json::serialize(answer.body);
  return fmt::format("\"{}\"", hex(sha256(text)).substr(0, 32));
}

bool has_already(const net::ServerRequest& request, std::string_view tag) {
  return names(request, "if-none-match", tag, true);
}

bool may_match(const net::ServerRequest& request, std::string_view tag) {
  return request.count("if-match") == 0 || names(request, "if-match", tag, false);
}

}  // namespace sallyport::api
