#include "policy/grant_keys.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "grants/token.h"

namespace sallyport::policy {

namespace {

constexpr std::size_t kMostIssuers = 1000;
constexpr std::size_t kMostRequirements = 1000;
constexpr std::size_t kLongestGrantName = 512;

using Requirement = grants::GrantGuard::Requirement;

grants::GrantGuard::Settings& settings_of(Policy& policy) {
  if (!policy.grants) policy.grants.emplace();
  return *policy.grants;
}

config::Mapping requirement_keys(Requirement& out) {
  config::Mapping keys("calls that need a grant; a key that is left out matches any value");
  keys.optional("server", "name of the server", config::text_schema(kLongestGrantName),
                config::read_text(out.server, kLongestGrantName))
      .optional("tool", "name of the tool", config::text_schema(kLongestGrantName),
                config::read_text(out.tool, kLongestGrantName))
      .optional("agent", "principal that calls", config::text_schema(kLongestGrantName),
                config::read_text(out.agent, kLongestGrantName));
  return keys;
}

// `all`, or a list of calls.
json::object required_schema() {
  Requirement any;
  return {{"description", "calls that need a grant: `all`, or a list"},
          {"anyOf",
           json::array{config::choice_schema({"all"}),
                       config::list_schema(requirement_keys(any).schema(), kMostRequirements)}}};
}

Result<void> read_required(const config::Place& place, Policy& out) {
  std::vector<Requirement>& required = settings_of(out).required;
  if (place.node.kind == config::YamlNode::Kind::Scalar) {
    return config::read_choice({"all"}, [&](std::size_t) { required.push_back({}); })(place);
  }
  return config::read_list(kMostRequirements, [&](const config::Place& item) -> Result<void> {
    Requirement requirement;
    SALLYPORT_CHECK_OK(requirement_keys(requirement).read(item));
    required.push_back(std::move(requirement));
    return {};
  })(place);
}

Result<void> read_issuer(const config::Place& place, Policy& out) {
  std::string key;
  SALLYPORT_CHECK_OK(config::read_text(key, kLongestGrantName)(place));
  if (!grants::is_key(key)) {
    return place.refuse(
        fmt::format("`{:.80}` is not a key; write `ed25519:` and 64 lower-case hex digits", key));
  }
  settings_of(out).trusted_issuers.insert(std::move(key));
  return {};
}

}  // namespace

config::Mapping grant_keys(Policy& out) {
  config::Mapping keys("which calls need a grant, and which issuers are trusted");
  keys.required("required", "calls that need a grant: `all`, or a list", required_schema(),
                [&out](const config::Place& place) { return read_required(place, out); })
      .required("trusted_issuers", "public keys of the issuers whose grants are accepted",
                config::list_schema(config::text_schema(kLongestGrantName), kMostIssuers),
                [&out](const config::Place& place) {
                  return config::read_list(kMostIssuers, [&out](const config::Place& item) {
                    return read_issuer(item, out);
                  })(place);
                });
  return keys;
}

config::ReadValue read_grant_section(Policy& out) {
  return [&out](const config::Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(grant_keys(out).read(place));
    if (settings_of(out).required.empty()) return place.refuse("`required` names no call");
    return {};
  };
}

}  // namespace sallyport::policy
