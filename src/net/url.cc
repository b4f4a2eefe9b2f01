#include "net/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>

#include "base/lower_case.h"

namespace sallyport::net {

namespace {

constexpr std::size_t kLongest = 4096;

std::unexpected<Error> no_url(std::string_view why) {
  return fail(ErrorCode::InvalidInput, fmt::format("{}; write it as `https://host/path`", why));
}

bool is_name(std::string_view host) {
  return !host.empty() && std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

bool is_ipv6(const std::string& host) {
  boost::system::error_code error;
  boost::asio::ip::make_address_v6(host, error);
  return !error;
}

bool is_port(std::string_view port) {
  std::uint16_t number = 0;
  const auto read = std::from_chars(port.data(), port.data() + port.size(), number);
  return read.ec == std::errc() && read.ptr == port.data() + port.size() && number != 0;
}

// Addresses may come from a server. No part, not even the fragment, may contain a line end, a zero
// byte or other characters that are not printed.
bool is_printed(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7F; });
}

// A target must not end the request line.
bool is_target(std::string_view target) {
  return is_printed(target) && target.find('#') == std::string_view::npos;
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  const std::size_t mark = text.find("://");
  if (mark == std::string_view::npos || text.size() > kLongest || !is_printed(text)) {
    return no_url("this is not a URL");
  }
  const std::string scheme = lower_case(text.substr(0, mark));
  if (scheme != "http" && scheme != "https") return no_url("a server has an `http` or `https` URL");
  Url url{.tls = scheme == "https"};
  text.remove_prefix(mark + 3);
  const std::size_t slash = std::min(text.find_first_of("/?#"), text.size());
  std::string_view authority = text.substr(0, slash);
  if (authority.find('@') != std::string_view::npos) {
    return fail(ErrorCode::InvalidInput,
                "a URL must not hold credentials; name a variable that holds them, as with "
                "`bearer_env` (`--bearer-env`)");
  }
  const bool bracketed = authority.starts_with('[');
  const std::size_t end = bracketed ? authority.find(']') : authority.find(':');
  url.host = lower_case(authority.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end));
  if (bracketed ? end == std::string_view::npos || !is_ipv6(url.host) : !is_name(url.host)) {
    return no_url("the URL names no host");
  }
  authority.remove_prefix(std::min(end + (bracketed ? 1 : 0), authority.size()));
  url.port = authority.empty() ? (url.tls ? "443" : "80") : std::string(authority.substr(1));
  if (!authority.empty() && (!authority.starts_with(':') || !is_port(url.port))) {
    return no_url("the URL has a port that is none");
  }
  url.target = std::string(text.substr(slash, text.find('#') - slash));
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  if (!is_target(url.target)) return no_url("the URL has a path that is none");
  return url;
}

Result<Url> Url::followed(std::string_view location) const {
  Result<Url> url = *this;
  if (location.starts_with('/') && !location.starts_with("//")) {
    url->target = std::string(location.substr(0, location.find('#')));
  } else {
    url = parse(location);
  }
  if (!url || !is_target(url->target) || url->target.size() > kLongest) {
    return fail(ErrorCode::Corrupt, "the server redirects to nowhere");
  }
  if (url->tls != tls || url->host != host || url->port != port) {
    return fail(ErrorCode::Conflict,
                fmt::format("the server redirects to another one, `{}`, which is not followed; "
                            "name that one if it is the right one",
                            url->text()));
  }
  return url;
}

bool Url::is_loopback() const {
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  return !error && address.is_loopback();
}

std::string Url::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : '[' + host + ']';
  return port == (tls ? "443" : "80") ? name : name + ':' + port;
}

std::string Url::text() const {
  return fmt::format("{}://{}{}", tls ? "https" : "http", authority(),
                     target.substr(0, target.find('?')));
}

}  // namespace sallyport::net
