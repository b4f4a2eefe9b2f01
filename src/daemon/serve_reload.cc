#include "daemon/serve_reload.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>

#include "app/gateway_plan.h"
#include "base/json_members.h"
#include "base/try.h"
#include "config/yaml_json.h"
#include "daemon/serve_notice.h"
#include "terminal/exit_code.h"
#include "terminal/input.h"

namespace sallyport::app {

namespace {

// The section `serve` of the configuration as it is written now.
Result<json::object> written_section(const Context& context) {
  SALLYPORT_TRY(const std::optional<std::filesystem::path> file, context.config_file());
  if (!file) return json::object();
  constexpr std::size_t kLargest = 1u << 20;
  SALLYPORT_TRY(const std::string text, read_input(*file, kLargest));
  SALLYPORT_TRY(const config::YamlNode root, config::parse_yaml(text, file->string()));
  SALLYPORT_TRY(const json::value document, config::to_json(root, file->string()));
  const json::object* const whole = document.if_object();
  const json::object* const section = whole ? object_in(*whole, "serve") : nullptr;
  return section ? *section : json::object();
}

bool is_files(const json::value* tls) {
  return tls != nullptr && tls->is_object();
}

}  // namespace

Result<ServeConfig> serve_config_of(const Context& context, const ServeOptions& options) {
  SALLYPORT_TRY(Workspace::Place place, context.place());
  if (place.config.serve_lacks) return std::unexpected(*place.config.serve_lacks);
  if (!place.config.serve) {
    return fail(
        ErrorCode::InvalidInput,
        "the configuration has no section `serve`; name one with --config, see docs/serve.md");
  }
  ServeConfig config = std::move(*place.config.serve);
  if (options.policy) config.policy = *options.policy;
  return config;
}

Result<AgentTokens> tokens_of(const ServeConfig& config, Gate& gate, bool serves_models) {
  const bool hooks_alone = config.is_for_hooks_alone() && !serves_models;
  if (hooks_alone || !config.has_http()) return AgentTokens::of({});
  Workspace& workspace = gate.workspace();
  return AgentTokens::open(config, acting_agent(*gate.plans().current()),
                           workspace.place().data_dir, workspace.entropy());
}

ServeReload::ServeReload(const Parts& parts) : parts_(parts) {
  if (const auto section = written_section(parts.context)) at_start_ = *section;
  const auto file = parts.context.config_file();
  if (!file || !*file) return;
  watch_.emplace(**file, [this] { return reload("its file has changed"); });
}

Async<void> ServeReload::reload(std::string_view why) {
  waiting_ = true;
  if (std::exchange(running_, true)) co_return;
  while (std::exchange(waiting_, false)) co_await reload_once(why);
  running_ = false;
}

Async<void> ServeReload::reload_once(std::string_view why) {
  if (watch_) watch_->known();
  parts_.gate.log(fmt::format("{}: the configuration is read again", why));
  const Result<void> taken = co_await apply();
  if (taken) co_return;
  parts_.gate.log(fmt::format("the configuration was refused, what was in force stays: {}",
                              with_place(taken.error())));
}

Task<void> ServeReload::apply() {
  auto& [context, options, gate, authenticator, tls, model_door] = parts_;
  SALLYPORT_CO_TRY(const ServeConfig config, serve_config_of(context, options));
  SALLYPORT_CO_TRY(AgentTokens tokens, tokens_of(config, gate, model_door != nullptr));
  SALLYPORT_CO_TRY(const json::object section, written_section(context));
  const bool has_tls = tls != nullptr && config.tls;
  std::unique_ptr<net::ServerTls> certificate;
  if (has_tls) {
    SALLYPORT_CO_TRY(certificate, tls->read(*config.tls));
  }
  std::optional<ModelDoor::Change> models;
  if (model_door != nullptr && config.models) {
    SALLYPORT_CO_TRY(models, model_door->prepare(*config.models));
  }
  SALLYPORT_CO_CHECK_OK(co_await gate.turn_to_policy(context, config.policy));
  if (has_tls) tls->use(*config.tls, std::move(certificate));
  authenticator.replace(std::move(tokens));
  if (models) model_door->apply(std::move(*models));
  gate.log(
      fmt::format("{}; {}", gate.about_policy(), about_tokens(config, authenticator.tokens())));
  if (const std::string later = keys_for_restart(section); !later.empty()) {
    gate.log(fmt::format("a change of {} counts from the next start", later));
  }
  co_return Result<void>{};
}

std::string ServeReload::keys_for_restart(const json::object& section) const {
  std::set<std::string> names;
  for (const json::object* const one : {&at_start_, &section}) {
    for (const json::key_value_pair& pair : *one) {
      const json::value* const then = at_start_.if_contains(pair.key());
      const json::value* const now = section.if_contains(pair.key());
      const bool same = then != nullptr && now != nullptr && *then == *now;
      const bool taken_up = pair.key() == "policy" || pair.key() == "agents" ||
                            (pair.key() == "models" && then != nullptr && now != nullptr) ||
                            (pair.key() == "tls" && is_files(then) && is_files(now));
      if (!same && !taken_up) names.insert(pair.key());
    }
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "`" : ", `") + name + "`";
  return text;
}

}  // namespace sallyport::app
