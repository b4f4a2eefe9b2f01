#include "workspace/config/authorization_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "workspace/config/config_values.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostIssuers = 16;
constexpr std::size_t kMostNamedAgents = 10'000;
constexpr std::size_t kMostScopes = 64;
constexpr std::size_t kLongestScope = 256;
constexpr std::size_t kLongestClaim = 256;

using config::Mapping;
using config::Place;
using config::ReadValue;

// RFC 6749, section 3.3: it stands between quotes in a header, and between blanks in a token.
ReadValue read_scope(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(config::read_text(out, kLongestScope)(place));
    const bool good = !out.empty() && std::ranges::all_of(out, [](char c) {
      return c > ' ' && c < 0x7F && c != '"' && c != '\\';
    });
    if (good) return {};
    return place.refuse("a scope is one word of visible ASCII, without quotes and backslashes");
  };
}

Mapping named_agent_keys(AuthorizationConfig::Agent& out) {
  Mapping keys("an agent of an issuer");
  keys.required("claim", "value of the agent claim in its tokens",
                config::text_schema(kLongestClaim), config::read_text(out.claim, kLongestClaim))
      .required("name", "name of the agent in records", name_schema(), read_name(out.name));
  return keys;
}

ReadValue read_named_agents(std::vector<AuthorizationConfig::Agent>& out) {
  return config::read_list(kMostNamedAgents, [&out](const Place& place) -> Result<void> {
    AuthorizationConfig::Agent agent;
    SALLYPORT_CHECK_OK(named_agent_keys(agent).read(place));
    if (std::ranges::find(out, agent.claim, &AuthorizationConfig::Agent::claim) != out.end()) {
      return place.refuse(fmt::format("duplicate claim `{}`", agent.claim));
    }
    out.push_back(std::move(agent));
    return {};
  });
}

Mapping issuer_keys(AuthorizationConfig::Issuer& out, const std::filesystem::path& folder) {
  AuthorizationConfig::Agent agent;
  const json::object text = config::text_schema(kLongestConfigText);
  Mapping keys("an authorization server");
  keys.required("name", "prefix of the names of its agents", name_schema(), read_name(out.name))
      .required("issuer", "URL of the issuer, exactly as its tokens have it in `iss`", text,
                read_issuer(out.issuer))
      .optional("audience", "audience that its tokens must have [the address of this server]", text,
                config::read_text(out.audience, kLongestConfigText))
      .optional("jwks_uri", "URL of its keys [from its metadata]", text,
                read_safe_url(out.jwks_uri))
      .optional("jwks_file", "file with its keys, instead of a URL", text,
                read_file_name(out.jwks_file, folder))
      .optional("agent_claim", "claim that names the agent [client_id, else azp, else sub]",
                config::text_schema(kLongestClaim),
                config::read_text(out.agent_claim, kLongestClaim))
      .optional("agents", "agents with names of their own",
                config::list_schema(named_agent_keys(agent).schema(), kMostNamedAgents),
                read_named_agents(out.agents));
  return keys;
}

ReadValue read_issuers(std::vector<AuthorizationConfig::Issuer>& out,
                       const std::filesystem::path& folder) {
  return config::read_list(kMostIssuers, [&out, folder](const Place& place) -> Result<void> {
    AuthorizationConfig::Issuer issuer;
    SALLYPORT_CHECK_OK(issuer_keys(issuer, folder).read(place));
    for (const AuthorizationConfig::Issuer& other : out) {
      if (other.name == issuer.name || other.issuer == issuer.issuer) {
        return place.refuse(other.name == issuer.name
                                ? fmt::format("duplicate name `{}`", issuer.name)
                                : fmt::format("duplicate issuer `{}`", issuer.issuer));
      }
    }
    if (!issuer.jwks_uri.empty() && issuer.jwks_file) {
      return place.refuse("`jwks_uri` and `jwks_file` exclude each other");
    }
    out.push_back(std::move(issuer));
    return {};
  });
}

}  // namespace

std::string AuthorizationConfig::scope() const {
  return fmt::format("{}", fmt::join(scopes, " "));
}

Mapping authorization_keys(AuthorizationConfig& out, const std::filesystem::path& folder) {
  AuthorizationConfig::Issuer issuer;
  Mapping keys("access tokens of authorization servers");
  keys.required("issuers", "authorization servers that are trusted to identify agents",
                config::list_schema(issuer_keys(issuer, folder).schema(), kMostIssuers),
                read_issuers(out.issuers, folder))
      .optional("scopes", "scopes that a token must have, all of them [none]",
                config::list_schema(config::text_schema(kLongestScope), kMostScopes),
                config::read_list(kMostScopes, [&out](const Place& place) -> Result<void> {
                  std::string scope;
                  SALLYPORT_CHECK_OK(read_scope(scope)(place));
                  out.scopes.push_back(std::move(scope));
                  return {};
                }));
  return keys;
}

Result<void> read_authorization(AuthorizationConfig& out, const std::filesystem::path& folder,
                                const Place& place) {
  SALLYPORT_CHECK_OK(authorization_keys(out, folder).read(place));
  if (!out.issuers.empty()) return {};
  return place.refuse("`issuers` is empty; name at least one");
}

}  // namespace sallyport::app
