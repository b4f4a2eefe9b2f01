#include "console/console_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/lower_case.h"
#include "base/trimmed.h"
#include "console/assets.h"
#include "net/page_headers.h"

namespace sallyport::console {

namespace {

using net::ServerRequest;
using net::ServerResponse;

constexpr std::string_view kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types sallyport";

std::string_view text_of(ContentType type) {
  constexpr auto kTypes = std::to_array<std::string_view>(
      {"text/javascript; charset=utf-8", "text/css; charset=utf-8", "image/svg+xml",
       "text/html; charset=utf-8", "application/json", "text/plain; charset=utf-8"});
  static_assert(kTypes.size() == static_cast<std::size_t>(ContentType::Text) + 1);
  return kTypes[static_cast<std::size_t>(type)];
}

std::string_view cache_control(Keeping keeping) {
  switch (keeping) {
    case Keeping::Cached:
      return "public, max-age=31536000, immutable";
    case Keeping::Shell:
      return "no-store";
    case Keeping::Fresh:
    case Keeping::Download:
      return "no-cache";
  }
  return "no-store";
}

// Calls `look(item)` for each item of a comma-separated header field, which may occur several
// times.
template <class Look>
void for_each_item(const ServerRequest& request, std::string_view header, const Look& look) {
  for (const auto& [name, value] : request.headers) {
    if (name != header) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      look(trimmed_field(rest.substr(0, comma)));
      rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    }
  }
}

// True if the weight of an item is above zero: `gzip`, `gzip;q=0.5`.
bool has_weight(std::string_view item) {
  const std::size_t at = item.find(';');
  if (at == std::string_view::npos) return true;
  const std::string weight = lower_case(trimmed_field(item.substr(at + 1)));
  if (!weight.starts_with("q=")) return true;
  return weight.find_first_of("123456789") != std::string::npos;
}

// `gzip` takes precedence over `*` (RFC 9110, 12.5.3).
bool accepts_gzip(const ServerRequest& request) {
  std::optional<bool> named;
  bool any = false;
  for_each_item(request, "accept-encoding", [&](std::string_view item) {
    const std::string name = lower_case(trimmed_field(item.substr(0, item.find(';'))));
    if (name == "gzip" || name == "x-gzip") named = has_weight(item);
    if (name == "*") any = has_weight(item);
  });
  return named.value_or(any);
}

bool has_tag(const ServerRequest& request, std::string_view tag) {
  bool found = false;
  for_each_item(request, "if-none-match", [&](std::string_view item) {
    if (item.starts_with("W/")) item.remove_prefix(2);
    found = found || item == tag || item == "*";
  });
  return found;
}

// A path without a dot is a screen, which the script shows.
const Asset* asset_at(std::string_view path) {
  path.remove_prefix(std::min(path.size(), ConsolePages::kPath.size() + 1));
  if (path.find('.') == std::string_view::npos) return find_asset("shell.html");
  const Asset* const asset = find_asset(path);
  return asset != nullptr && asset->keeping != Keeping::Shell ? asset : nullptr;
}

ServerResponse with_headers(ServerResponse response) {
  response.headers.emplace_back("content-security-policy", kContentSecurityPolicy);
  net::add_page_headers(response);
  return response;
}

ServerResponse show(const Asset& asset, const ServerRequest& request) {
  const bool gzip = accepts_gzip(request);
  const std::string tag = fmt::format("\"{}{}\"", asset.digest, gzip ? "-gzip" : "");
  ServerResponse response{
      .headers = {{"etag", tag},
                  {"vary", "Accept-Encoding"},
                  {"cache-control", std::string(cache_control(asset.keeping))}}};
  if (has_tag(request, tag)) {
    response.status = 304;
    return response;
  }
  response.headers.emplace_back("content-type", text_of(asset.type));
  if (gzip) response.headers.emplace_back("content-encoding", "gzip");
  if (asset.keeping == Keeping::Download) {
    response.headers.emplace_back("content-disposition",
                                  fmt::format("attachment; filename=\"{}\"", asset.name));
  }
  response.body = as_text(gzip ? asset.gzip : asset.plain);
  return response;
}

}  // namespace

ServerResponse ConsolePages::response_to(const ServerRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    ServerResponse response = ServerResponse::text(405, "only GET is allowed here\n");
    response.headers.emplace_back("allow", "GET, HEAD");
    return with_headers(std::move(response));
  }
  if (request.path == kPath) {
    ServerResponse response = ServerResponse::text(308, "the console is at /console/\n");
    response.headers.emplace_back("location", "/console/");
    return with_headers(std::move(response));
  }
  const Asset* const asset = asset_at(request.path);
  if (asset == nullptr) {
    return with_headers(ServerResponse::text(404, "the console has no such file\n"));
  }
  return with_headers(show(*asset, request));
}

Async<std::optional<ServerResponse>> ConsolePages::refuse(ServerRequest& head) {
  if (head.method == "GET" || head.method == "HEAD") co_return std::nullopt;
  co_return response_to(head);
}

ServerResponse ConsolePages::format_refusal(ServerResponse refusal) const {
  return with_headers(std::move(refusal));
}

Async<void> ConsolePages::handle(net::ServerExchange& exchange) {
  co_await exchange.respond(response_to(exchange.request()));
}

}  // namespace sallyport::console
