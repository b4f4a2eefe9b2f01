#include "policy/policy_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/nearest.h"
#include "base/try.h"
#include "config/yaml_json.h"
#include "effects/profiles.h"
#include "guardrails/document/gallery.h"
#include "guardrails/document/schema.h"
#include "guards/redact/sanitizer_settings.h"
#include "guards/size_limiter.h"
#include "policy/approval_keys.h"
#include "policy/autonomy_keys.h"
#include "policy/external_keys.h"
#include "policy/grant_keys.h"
#include "policy/model_keys.h"
#include "policy/rule_keys.h"

namespace sallyport::policy {

namespace {

constexpr std::size_t kLongestName = 512;
constexpr std::size_t kMostTools = 10'000;
constexpr std::size_t kMostServers = 1'000;
constexpr std::size_t kMostResultHooks = 16;

const std::vector<std::string> kTiers = {"observe", "confirm", "Observe", "Confirm"};
const std::vector<std::string> kHooks = {"output-sanitizer", "size-limiter", "query-result"};

config::Mapping tool_keys(ToolEntry& out) {
  config::Mapping keys("classification of a tool");
  keys.optional("server", "name of the server [any]", config::text_schema(kLongestName),
                config::read_text(out.server, kLongestName))
      .required("tool", "name of the tool", config::text_schema(kLongestName),
                config::read_text(out.tool, kLongestName))
      .optional("tier", "`observe` runs without approval, `confirm` has effects",
                config::choice_schema(kTiers),
                config::read_choice(kTiers,
                                    [&out](std::size_t at) {
                                      out.classification.tier =
                                          at % 2 == 0 ? Tier::Observe : Tier::Confirm;
                                    }))
      .optional("class", "side-effect class, such as `fs.write` or `none`",
                config::text_schema(kLongestName),
                config::read_text(out.classification.effect_class, kLongestName))
      .optional("title", "display name", config::text_schema(kLongestName),
                config::read_text(out.classification.display_name, kLongestName));
  add_role_keys(keys, out);
  return keys;
}

Result<void> check_settings(const ResultHook& hook, const config::Place& place) {
  Result<void> read;
  if (hook.hook == "output-sanitizer") {
    if (const auto settings = guards::sanitizer_settings_from_json(hook.settings); !settings) {
      read = std::unexpected(settings.error());
    }
  } else if (hook.hook == "size-limiter") {
    if (const auto limits = guards::size_limits_from_json(hook.settings); !limits) {
      read = std::unexpected(limits.error());
    }
  } else if (!hook.settings.get_object().empty()) {
    return place.refuse(fmt::format("`{}` has no settings", hook.hook));
  }
  if (read) return {};
  return place.refuse(read.error().message);  // it names the setting
}

config::Mapping result_keys(ResultHook& out) {
  config::Mapping keys("a guard of results");
  static const std::vector<std::string> kOnError = {"deny", "allow"};
  keys.required("hook", "name of the guard", config::choice_schema(kHooks),
                config::read_choice(kHooks, [&out](std::size_t at) { out.hook = kHooks[at]; }))
      .optional("settings", "its settings", json::object{{"type", "object"}},
                [&out](const config::Place& place) -> Result<void> {
                  SALLYPORT_TRY(out.settings, to_json(place.node, place.file));
                  if (out.settings.is_object()) return {};
                  return place.must_be("a mapping");
                })
      .optional(
          "on_error",
          "what happens to the result if the guard fails; `allow` is recorded as failing "
          "open",
          config::choice_schema(kOnError),
          config::read_choice(kOnError, [&out](std::size_t at) { out.fails_open = at == 1; }));
  return keys;
}

config::ReadValue read_tool(std::vector<ToolEntry>& out) {
  return [&out](const config::Place& place) -> Result<void> {
    ToolEntry entry;
    SALLYPORT_CHECK_OK(tool_keys(entry).read(place));
    for (const ToolEntry& other : out) {
      if (other.server == entry.server && other.tool == entry.tool) {
        return place.refuse(fmt::format("duplicate tool `{}`", entry.tool));
      }
    }
    out.push_back(std::move(entry));
    return {};
  };
}

config::ReadValue read_result_hook(std::vector<ResultHook>& out) {
  return [&out](const config::Place& place) -> Result<void> {
    ResultHook hook;
    SALLYPORT_CHECK_OK(result_keys(hook).read(place));
    const config::YamlNode& settings = config::node_at(place.node, "/settings");
    SALLYPORT_CHECK_OK(check_settings(hook, {settings, place.file}));
    for (const ResultHook& other : out) {
      if (other.hook == hook.hook) {
        return place.refuse(fmt::format("duplicate guard `{}`", hook.hook));
      }
      if (hook.hook == "output-sanitizer" && other.hook == "size-limiter") {
        return place.refuse(
            "`size-limiter` stands before `output-sanitizer`, where a cut could split a secret "
            "out of sight; put it behind");
      }
    }
    out.push_back(std::move(hook));
    return {};
  };
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const guardrails::Preset& preset : guardrails::gallery()) names.push_back(preset.id);
  return names;
}

// The section of a policy is a guardrail document that may also name checks of the gallery.
json::object guardrails_schema() {
  json::object schema = guardrails::document_schema().as_object();
  schema.at("properties").as_object()["gallery"] =
      config::list_schema(config::choice_schema(preset_names()), preset_names().size());
  return schema;
}

// Appends the checks of the gallery to those of the section, so that places in it stay right.
Result<void> take_gallery(const config::Place& place, json::value& section) {
  json::object* const object = section.if_object();
  if (object == nullptr || !object->contains("gallery")) return {};
  object->erase("gallery");
  json::value& checks = (*object)["checks"];
  if (checks.is_null()) checks = json::array();
  const config::Place listed{config::node_at(place.node, "/gallery"), place.file, "`gallery`"};
  std::vector<std::string> names;
  SALLYPORT_CHECK_OK(
      config::read_list(preset_names().size(), [&](const config::Place& item) -> Result<void> {
        std::string name;
        SALLYPORT_CHECK_OK(config::read_text(name, 100)(item));
        if (guardrails::preset(name) == nullptr) {
          return item.refuse(fmt::format("there is no `{}` in the gallery{}; use {}", name,
                                         did_you_mean(name, preset_names()),
                                         fmt::join(preset_names(), ", ")));
        }
        if (std::ranges::find(names, name) != names.end()) {
          return item.refuse(fmt::format("duplicate name `{}`", name));
        }
        names.push_back(std::move(name));
        return {};
      })(listed));
  if (!checks.is_array()) return {};  // the reader of the document reports it
  for (const std::string& name : names) {
    SALLYPORT_TRY(const ParsedJson parsed, parse_json(guardrails::preset(name)->document));
    for (const json::value& check : parsed.value.at("checks").as_array()) {
      checks.get_array().push_back(check);
    }
  }
  return {};
}

config::ReadValue read_guardrails(std::optional<guardrails::Document>& out) {
  return [&out](const config::Place& place) -> Result<void> {
    SALLYPORT_TRY(json::value section, to_json(place.node, place.file));
    SALLYPORT_CHECK_OK(take_gallery(place, section));
    auto document = guardrails::read_document(section);
    if (!document) {
      const guardrails::DocumentError& error = document.error();
      const config::YamlNode& node =
          config::node_at(place.node, error.path.value_or(""), error.code == "unknown_key");
      return fail(ErrorCode::InvalidInput, error.message, config::place_of(node, place.file),
                  error.code);
    }
    out = std::move(*document);
    return {};
  };
}

std::vector<std::string> profile_words() {
  std::vector<std::string> words = effects::profile_names();
  words.emplace_back("auto");
  return words;
}

config::Mapping server_keys(std::string& server, effects::ServerDescription& out) {
  static const std::vector<std::string> kPaths = {"local", "remote"};
  config::Mapping keys("a server whose tools are known");
  keys.required("server", "name of the server; `*` is every server",
                config::text_schema(kLongestName), config::read_text(server, kLongestName))
      .optional("profile",
                "profile of the server; `auto` derives it from the command that starts the server",
                config::choice_schema(profile_words()),
                config::read_choice(profile_words(),
                                    [&out](std::size_t at) { out.profile = profile_words()[at]; }))
      .optional("trust_hints",
                "use the server's own hints about a tool if no other source knows the tool",
                config::truth_schema(), config::read_truth(out.trust_hints))
      .optional(
          "paths", "where the server's files are", config::choice_schema(kPaths),
          config::read_choice(kPaths, [&out](std::size_t at) { out.remote_paths = at == 1; }));
  return keys;
}

config::ReadValue read_server(Policy& out) {
  return [&out](const config::Place& place) -> Result<void> {
    std::string server;
    effects::ServerDescription own;
    SALLYPORT_CHECK_OK(server_keys(server, own).read(place));
    if (place.node.members.size() < 2) return place.refuse("`profile` is missing");
    if (server == "*" && !own.profile.empty() && own.profile != "auto") {
      return place.refuse("not every server is of one profile; `*` takes `profile: auto`");
    }
    if (!own.profile.empty() && own.profile != "auto") out.profiles.emplace(server, own.profile);
    own.place = config::place_of(place.node, place.file);
    if (out.servers.emplace(server, std::move(own)).second) return {};
    return place.refuse(fmt::format("duplicate server `{}`", server));
  };
}

config::Mapping trust_keys(Policy& out) {
  config::Mapping keys("effect of an agent's trust record");
  keys.optional("enforce", "lower the tier of an agent whose trust record is bad",
                config::truth_schema(), config::read_truth(out.enforces_trust));
  return keys;
}

core::StreamLimits& stream_limits_of(Policy& policy) {
  if (!policy.stream_limits) policy.stream_limits.emplace();
  return *policy.stream_limits;
}

config::Mapping limit_keys(Policy& out) {
  constexpr std::uint64_t kLongestTime = 86'400'000;
  using std::chrono::milliseconds;
  config::Mapping keys("limits of a call");
  keys.optional(
          "call_ms", "milliseconds that a call may take", config::number_schema(1, kLongestTime),
          config::read_number(1, kLongestTime,
                              [&out](std::uint64_t time) { out.call_time = milliseconds(time); }))
      .optional("stream_ms", "milliseconds that a streamed result may take",
                config::number_schema(1, kLongestTime),
                config::read_number(1, kLongestTime,
                                    [&out](std::uint64_t time) {
                                      stream_limits_of(out).time = milliseconds(time);
                                    }))
      .optional(
          "stream_bytes", "maximum bytes of a streamed result", config::number_schema(1, 1u << 30),
          config::read_number(1, 1u << 30,
                              [&out](std::uint64_t bytes) { stream_limits_of(out).bytes = bytes; }))
      .optional("stream_chunks", "maximum chunks of a streamed result",
                config::number_schema(1, 1'000'000),
                config::read_number(1, 1'000'000, [&out](std::uint64_t chunks) {
                  stream_limits_of(out).chunks = chunks;
                }));
  return keys;
}

// Names that a message may contain: ASCII without blanks and control characters.
config::ReadValue read_method(std::set<std::string, std::less<>>& out) {
  return [&out](const config::Place& place) -> Result<void> {
    std::string method;
    SALLYPORT_CHECK_OK(config::read_text(method, kLongestName)(place));
    const bool plain =
        std::ranges::all_of(method, [](char c) { return c > ' ' && c < 0x7F; }) && !method.empty();
    if (!plain) {
      return place.refuse(
          fmt::format("`{}` is not a name of a method; use printable ASCII", method));
    }
    if (out.insert(method).second) return {};
    return place.refuse(fmt::format("duplicate method `{}`", method));
  };
}

config::Mapping mcp_keys(Policy& out) {
  constexpr std::size_t kMostMethods = 1'000;
  static const std::vector<std::string> kDeniable = {
      "completion/complete", "elicitation/create",     "prompts/get", "resources/read",
      "roots/list",          "sampling/createMessage", "tasks/get",   "tasks/result"};
  config::Mapping keys("messages of the Model Context Protocol");
  keys.optional(
          "allow_methods",
          "methods outside the protocol that may pass, in both directions; `*` is every method",
          config::list_schema(config::text_schema(kLongestName), kMostMethods),
          config::read_list(kMostMethods, read_method(out.allowed_methods)))
      .optional("deny_methods",
                "methods of the protocol that are denied, in requests of clients and of servers",
                config::list_schema(config::choice_schema(kDeniable), kDeniable.size()),
                config::read_list(kDeniable.size(),
                                  config::read_choice(kDeniable, [&out](std::size_t at) {
                                    out.denied_methods.insert(kDeniable[at]);
                                  })));
  return keys;
}

config::Mapping hook_keys(Policy& out) {
  static const std::vector<std::string> kOnFailure = {"deny", "allow"};
  config::Mapping keys("the hook command of coding agents");
  keys.optional(
      "on_failure", "what happens to a call if Sallyport itself fails; `allow` is recorded",
      config::choice_schema(kOnFailure),
      config::read_choice(kOnFailure, [&out](std::size_t at) { out.hook_lets_pass = at == 1; }));
  return keys;
}

Result<void> read_version(const config::Place& place) {
  const config::YamlNode& node = place.node;
  if (node.kind == config::YamlNode::Kind::Scalar && !node.quoted && node.text == "1") return {};
  return place.refuse(
      fmt::format("version `{}` is not known here; this release reads `version: 1`", node.text));
}

// A section: its schema, and a reader that builds its table for each use.
template <class Keys>
config::ReadValue section(Keys keys, Policy& out) {
  return [keys, &out](const config::Place& place) { return keys(out).read(place); };
}

// The sections by which calls and results are judged.
void add_judging_keys(config::Mapping& keys, Policy& out) {
  static const std::vector<std::string> kUnlisted = {"ask", "deny"};
  ToolEntry any_tool;
  std::string any_text;
  effects::ServerDescription any_server;
  ResultHook any_hook;
  keys.optional("tools", "classification of tools; a tool that is not listed has effects",
                config::list_schema(tool_keys(any_tool).schema(), kMostTools),
                config::read_list(kMostTools, read_tool(out.tools)))
      .optional("guardrails", "declarative checks", guardrails_schema(),
                read_guardrails(out.guardrails))
      .optional("keep_excerpts",
                "store the text that a check found in the ledger; redacted text and secrets are "
                "never stored",
                config::truth_schema(), config::read_truth(out.keeps_excerpts))
      .optional("results", "guards of results, in order, after the checks of stage `tool_output`",
                config::list_schema(result_keys(any_hook).schema(), kMostResultHooks),
                config::read_list(kMostResultHooks, read_result_hook(out.results)))
      .optional("servers", "servers whose tools are known",
                config::list_schema(server_keys(any_text, any_server).schema(), kMostServers),
                config::read_list(kMostServers, read_server(out)))
      .optional("rules", "which calls run, need approval or are refused", rules_schema(),
                read_rules(out))
      .optional("unlisted", "what happens to an effect that no rule decides [the tier decides]",
                config::choice_schema(kUnlisted),
                config::read_choice(
                    kUnlisted,
                    [&out](std::size_t at) { out.unlisted = static_cast<rules::Unlisted>(at); }))
      .optional("workspace", "one or more folders of the project [as the host names them]",
                workspace_schema(), read_workspace(out))
      .optional("external", "external programs and URLs", external_schema(), read_external(out))
      .optional("extends", "a policy whose sections apply if this one lacks them",
                config::text_schema(4'096), [](const config::Place&) { return Result<void>(); })
      .optional("without", "ids of rules of the extended policy that do not apply",
                config::list_schema(config::text_schema(64), 1'000),
                config::read_list(1'000, [](const config::Place& place) {
                  std::string id;
                  return config::read_text(id, 64)(place);
                }));
}

// The sections about people, servers and limits.
void add_conduct_keys(config::Mapping& keys, Policy& out) {
  Policy any_policy;
  keys.optional("autonomy", "how much agents may do without approval", autonomy_schema(),
                read_autonomy(out))
      .optional("scopes", "narrower autonomy for some agents, sessions, servers or fronts",
                scopes_schema(), read_scopes(out))
      .optional("trust", "effect of an agent's trust record", trust_keys(out).schema(),
                section(trust_keys, out))
      .optional("approvals", "who approves calls, and on what terms", approval_keys(out).schema(),
                read_approvals(out))
      .optional("grants", "which calls need a capability grant, and which issuers are trusted",
                grant_keys(out).schema(), read_grant_section(out))
      .optional("limits", "limits of a call", limit_keys(out).schema(), section(limit_keys, out))
      .optional("mcp", "messages of the Model Context Protocol", mcp_keys(out).schema(),
                section(mcp_keys, out))
      .optional("model", "which models agents may use, and how requests and answers are handled",
                model_keys(any_policy).schema(), section(model_keys, out))
      .optional("hook", "the hook command of coding agents", hook_keys(out).schema(),
                section(hook_keys, out));
}

}  // namespace

config::Mapping policy_keys(Policy& out) {
  static const std::vector<std::string> kDurabilities = {"strict", "effect", "relaxed"};
  config::Mapping keys("a policy: what agents may do, and what is done to their calls and results");
  keys.required("version", "version of the format", json::object{{"const", 1}}, read_version)
      .optional("name", "name of the policy", config::text_schema(64),
                config::read_text(out.name, 64))
      .optional("about", "purpose of the policy", config::text_schema(2000),
                config::read_text(out.about, 2000))
      .optional("durability",
                "when the intent of a call is on disk: before every call, before effects, or with "
                "the outcome",
                config::choice_schema(kDurabilities),
                config::read_choice(kDurabilities,
                                    [&out](std::size_t at) {
                                      out.durability = static_cast<core::IntentDurability>(at);
                                    }))
      .optional("redaction_notice", "tell the agent that content was redacted",
                config::truth_schema(), config::read_truth(out.redaction_notice));
  add_judging_keys(keys, out);
  add_conduct_keys(keys, out);
  return keys;
}

}  // namespace sallyport::policy
