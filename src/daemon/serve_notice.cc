#include "daemon/serve_notice.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "daemon/api/approvals_api.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

// In backticks, with commas.
std::string upstream_names(const auto& upstreams) {
  std::string names;
  for (const auto& upstream : upstreams) {
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", upstream.name);
  }
  return names;
}

std::string about_service(const ServeConfig& config, const Gate& gate, const AgentTokens& tokens,
                          const ServeAddresses& addresses) {
  if (!config.has_http()) {
    return fmt::format("users of this machine are served at {}, {} tool servers; {}",
                       config.socket_dir->string(), config.upstreams.size(), gate.about_policy());
  }
  if (config.is_for_hooks_alone()) {
    return fmt::format(
        "hooks of coding agents are answered, each by the policy that it names; people answer at "
        "{}{}",
        addresses.url, ApprovalsApi::kPath);
  }
  std::string served;
  if (config.has_tools()) {
    served = fmt::format("{} {} served at {}; ", upstream_names(config.upstreams),
                         config.upstreams.size() == 1 ? "is" : "are", addresses.url);
  }
  if (config.models) {
    served += fmt::format("models of {} are served at {}; ",
                          upstream_names(config.models->upstreams), addresses.models);
  }
  return fmt::format("{}{}; {}", served, gate.about_policy(), about_tokens(config, tokens));
}

}  // namespace

std::string about_tokens(const ServeConfig& config, const AgentTokens& tokens) {
  if (!config.needs_token) return "no token is required: every program of this machine has access";
  if (!tokens.file().empty()) return fmt::format("the token is in {}", tokens.file().string());
  std::string who = fmt::format("tokens of {} agents", config.agents.size());
  if (!config.authorization) return who;
  if (config.agents.empty()) who.clear();
  for (const AuthorizationConfig::Issuer& issuer : config.authorization->issuers) {
    who += fmt::format("{}{}", who.empty() ? "tokens of " : ", ", issuer.issuer);
  }
  return who;
}

Result<void> announce(const Context& context, const ServeConfig& config, Gate& gate,
                      const AgentTokens& tokens, const ServeAddresses& addresses) {
  const Workspace::Place& place = gate.workspace().place();
  gate.log(fmt::format("{}; records are in {}", about_service(config, gate, tokens, addresses),
                       place.log_name()));
  if (!context.json()) return {};
  json::object body{{"policy", config.policy},
                    {"policy_hash", gate.plans().current()->hash()},
                    {"data_dir", place.data_dir.string()}};
  if (config.has_http()) body["url"] = addresses.url;
  if (config.has_http() && config.models) body["models_url"] = addresses.models;
  if (!tokens.file().empty()) body["token_file"] = tokens.file().string();
  if (config.is_system_service()) body["socket_dir"] = config.socket_dir->string();
  print_line(json::serialize(body));
  return finish_output();
}

}  // namespace sallyport::app
