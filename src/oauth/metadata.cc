#include "oauth/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "base/visible_text.h"

namespace sallyport::oauth {

namespace {

constexpr std::size_t kDepth = 32;
constexpr std::size_t kMostWords = 1000;
constexpr std::size_t kLongestText = 4096;

Result<json::object> read_object(std::string_view text, std::string_view server) {
  Result<ParsedJson> parsed = parse_json(text, {.bytes = kMostBytes, .depth = kDepth});
  if (!parsed || !parsed->value.is_object()) {
    return fail(ErrorCode::Corrupt,
                fmt::format("the description of the {} is not a JSON object", server));
  }
  return std::move(parsed->value.get_object());
}

// Too much, or something else than words, counts as nothing said.
std::vector<std::string> words_in(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr || !value->is_array() || value->get_array().size() > kMostWords) return {};
  std::vector<std::string> words;
  for (const json::value& word : value->get_array()) {
    if (!word.is_string() || word.get_string().size() > kLongestText) return {};
    words.emplace_back(word.get_string());
  }
  return words;
}

std::string string_in(const json::object& object, std::string_view name) {
  const auto text = text_in(object, name);
  return text && text->size() <= kLongestText ? std::string(*text) : std::string();
}

std::string origin(const net::Url& url) {
  return fmt::format("{}://{}", url.tls ? "https" : "http", url.authority());
}

std::string_view path_of(const net::Url& url) {
  std::string_view path(url.target);
  path = path.substr(0, path.find('?'));
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

}  // namespace

Result<ResourceMetadata> read_resource_metadata(std::string_view text) {
  SALLYPORT_TRY(const json::object object, read_object(text, "tool server"));
  ResourceMetadata out{string_in(object, "resource"), words_in(object, "authorization_servers"),
                       words_in(object, "scopes_supported")};
  if (out.resource.empty() || out.issuers.empty()) {
    return fail(ErrorCode::Corrupt,
                "the tool server does not say who gives out tokens for it (`resource` and "
                "`authorization_servers`)");
  }
  return out;
}

Result<ServerMetadata> read_server_metadata(std::string_view text, std::string_view issuer) {
  SALLYPORT_TRY(const json::object object, read_object(text, "authorization server"));
  ServerMetadata out{.issuer = string_in(object, "issuer"),
                     .authorization_endpoint = string_in(object, "authorization_endpoint"),
                     .token_endpoint = string_in(object, "token_endpoint"),
                     .registration_endpoint = string_in(object, "registration_endpoint"),
                     .revocation_endpoint = string_in(object, "revocation_endpoint"),
                     .jwks_uri = string_in(object, "jwks_uri"),
                     .grants = words_in(object, "grant_types_supported"),
                     .client_methods = words_in(object, "token_endpoint_auth_methods_supported"),
                     .scopes = words_in(object, "scopes_supported")};
  if (out.issuer != issuer) {
    return fail(ErrorCode::Conflict,
                fmt::format("the authorization server `{}` describes itself as `{}`, which is not "
                            "trusted",
                            visible(issuer), visible(out.issuer.substr(0, 200))));
  }
  if (out.token_endpoint.empty()) {
    return fail(ErrorCode::Corrupt, "the authorization server names no `token_endpoint`");
  }
  // These are the defaults of RFC 8414.
  if (out.client_methods.empty()) out.client_methods = {"client_secret_basic"};
  if (out.grants.empty()) out.grants = {"authorization_code", "implicit"};
  const auto challenges = words_in(object, "code_challenge_methods_supported");
  out.has_s256 = std::ranges::find(challenges, "S256") != challenges.end();
  out.returns_issuer =
      bool_in(object, "authorization_response_iss_parameter_supported").value_or(false);
  out.reads_client_urls = bool_in(object, "client_id_metadata_document_supported").value_or(false);
  return out;
}

std::vector<std::string> resource_metadata_places(const net::Url& server) {
  const std::string root = origin(server) + "/.well-known/oauth-protected-resource";
  const std::string_view path = path_of(server);
  if (path.empty()) return {root};
  return {root + std::string(path), root};
}

std::vector<std::string> server_metadata_places(const net::Url& issuer) {
  const std::string path(path_of(issuer));
  const std::string known = origin(issuer) + "/.well-known";
  std::vector<std::string> places{known + "/oauth-authorization-server" + path,
                                  known + "/openid-configuration" + path};
  if (!path.empty()) places.push_back(origin(issuer) + path + "/.well-known/openid-configuration");
  return places;
}

bool covers(std::string_view resource, const net::Url& server) {
  const Result<net::Url> url = net::Url::parse(resource);
  if (!url || resource.find('#') != std::string_view::npos) return false;
  if (url->tls != server.tls || url->host != server.host || url->port != server.port) return false;
  const std::string_view above = path_of(*url);
  const std::string_view path = path_of(server);
  return path.starts_with(above) && (path.size() == above.size() || path[above.size()] == '/');
}

Result<Destination> reachable(std::string_view text, const net::Url& server, bool allow_plain) {
  Result<net::Url> url = net::Url::parse(text);
  // An address must have no fragment, because browsers would not send what we append to it.
  if (!url || text.find('#') != std::string_view::npos) {
    return fail(ErrorCode::Corrupt,
                fmt::format("the server sends us to `{}`, which is not an address",
                            visible(text.substr(0, 200))));
  }
  const bool both_here = url->is_loopback() && server.is_loopback();
  if (url->tls || both_here || allow_plain) return Destination{std::move(*url), allow_plain};
  return fail(ErrorCode::Conflict,
              fmt::format("the server sends us to `{}`, which is not encrypted; tokens do not go "
                          "there",
                          visible(url->text())));
}

}  // namespace sallyport::oauth
