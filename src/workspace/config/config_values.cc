#include "workspace/config/config_values.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "net/url.h"

namespace sallyport::app {

using config::Place;
using config::ReadValue;

json::object name_schema() {
  return {{"type", "string"}, {"pattern", "^[A-Za-z0-9._:@-]{1,128}$"}};
}

ReadValue read_name(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    constexpr std::size_t kLongest = 128;
    SALLYPORT_CHECK_OK(config::read_text(out, kLongest)(place));
    constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@-";
    if (out.find_first_not_of(kLetters) == std::string::npos) return {};
    return place.refuse(fmt::format("`{}` is not a name; use letters, digits and . _ : @ -", out));
  };
}

ReadValue read_url(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(config::read_text(out, kLongestConfigText)(place));
    const Result<net::Url> url = net::Url::parse(out);
    return url ? Result<void>{} : place.refuse(url.error().message);
  };
}

ReadValue read_safe_url(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(read_url(out)(place));
    const net::Url url = *net::Url::parse(out);
    if (url.tls || url.is_loopback()) return {};
    return place.refuse(fmt::format("`{}` is not encrypted; use `https`", out));
  };
}

ReadValue read_issuer(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(read_safe_url(out)(place));
    if (out.find_first_of("?#") == std::string::npos) return {};
    return place.refuse("an issuer has no query and no fragment (RFC 8414)");
  };
}

ReadValue read_file_name(std::optional<std::filesystem::path>& out,
                         const std::filesystem::path& folder) {
  return [&out, folder](const Place& place) -> Result<void> {
    std::string text;
    SALLYPORT_CHECK_OK(config::read_text(text, kLongestConfigText)(place));
    out = folder / text;
    return {};
  };
}

ReadValue read_path(std::filesystem::path& out, const std::filesystem::path& folder) {
  return [&out, folder](const Place& place) -> Result<void> {
    std::optional<std::filesystem::path> path;
    SALLYPORT_CHECK_OK(read_file_name(path, folder)(place));
    out = *path;
    return {};
  };
}

}  // namespace sallyport::app
