#include "app/agents/agent_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "agent/tool/roots.h"
#include "agent/tool/tools.h"
#include "base/try.h"
#include "config/mapping.h"
#include "config/yaml_json.h"
#include "net/url.h"
#include "terminal/input.h"
#include "workspace/config/config_values.h"

namespace sallyport::app {

namespace {

using config::Mapping;
using config::Place;
using config::ReadValue;
using config::YamlNode;

constexpr std::size_t kLongestSystem = 256u << 10;
constexpr std::size_t kLongestServer = 32;
constexpr std::size_t kMostRoots = 64;
constexpr std::size_t kMostPatterns = 1000;
constexpr std::size_t kMostVariables = 256;
constexpr std::size_t kMostServers = 32;
constexpr std::uint64_t kMostSeconds = 30 * 86'400;
constexpr std::uint64_t kLargestNumber = 9'007'199'254'740'991;

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = "0123456789";

// `Error::cause` of an error whose message begins with the whole key.
constexpr const char* kKeyNamed = "key_named";

std::unexpected<Error> refuse_named(const Place& place, std::string message) {
  std::unexpected<Error> refusal = place.refuse(std::move(message));
  refusal.error().cause = kKeyNamed;
  return refusal;
}

// One section of the file. Errors in its values begin with the whole key (RT-89).
class Section {
 public:
  Section(std::string path, std::string about) : path_(std::move(path)), keys_(std::move(about)) {}

  Section& required(const char* name, const char* about, json::object schema, ReadValue read) {
    keys_.required(name, about, std::move(schema), named(name, std::move(read)));
    return *this;
  }
  Section& optional(const char* name, const char* about, json::object schema, ReadValue read) {
    keys_.optional(name, about, std::move(schema), named(name, std::move(read)));
    return *this;
  }
  Section& count(const char* name, const char* about, std::uint64_t most, auto& out) {
    using Out = std::remove_reference_t<decltype(out)>;
    const auto read = [&out, most](const Place& place) -> Result<void> {
      if (place.node.text == "0" && !place.node.quoted) {
        return place.refuse(
            "0 does not mean `no limit`; write a number from 1 on, or leave the key out");
      }
      return config::read_number(1, most, [&out](std::uint64_t n) { out = Out(n); })(place);
    };
    return optional(name, about, config::number_schema(1, most), read);
  }
  Section& truth(const char* name, const char* about, bool& out) {
    return optional(name, about, config::truth_schema(), config::read_truth(out));
  }

  Result<void> read(const Place& place) const { return keys_.read(place); }
  json::object schema() const { return keys_.schema(); }

 private:
  ReadValue named(const char* own, ReadValue read) const {
    const std::string key = path_.empty() ? own : fmt::format("{}.{}", path_, own);
    return [name = fmt::format("`{}`", key), read = std::move(read)](const Place& place) {
      Result<void> done = read(Place{place.node, place.file, name});
      if (!done && done.error().cause != kKeyNamed) {
        std::string& message = done.error().message;
        const bool named =
            message.starts_with(name + " must be ") || message.starts_with("each entry of " + name);
        if (!named) message = fmt::format("{}: {}", name, message);
        done.error().cause = kKeyNamed;
      }
      return done;
    };
  }

  std::string path_;
  Mapping keys_;
};

ReadValue read_texts(std::vector<std::string>& out, std::size_t most,
                     ReadValue (*read)(std::string& out)) {
  return [&out, most, read](const Place& place) -> Result<void> {
    out.clear();
    return config::read_list(most, [&out, read](const Place& item) -> Result<void> {
      std::string text;
      SALLYPORT_CHECK_OK(read(text)(item));
      out.push_back(std::move(text));
      return {};
    })(place);
  };
}

json::object variable_schema() {
  return {{"type", "string"},
          {"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"},
          {"maxLength", kLongestConfigName}};
}

ReadValue read_variable(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    // The value may be the key itself, so the message does not repeat it.
    std::string text;
    const bool word = config::read_word(text, kLongestConfigName)(place).has_value();
    const auto is_letter = [](char c) {
      return c == '_' || kLetters.contains(c) || kDigits.contains(c);
    };
    if (!word || kDigits.contains(text.front()) || !std::ranges::all_of(text, is_letter)) {
      return place.must_be("the name of a variable (letters, digits and _), not its value");
    }
    out = std::move(text);
    return {};
  };
}

ReadValue read_pattern(std::string& out) {
  return config::read_word(out, kLongestConfigText);
}

ReadValue read_base_url(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(read_url(out)(place));
    const net::Url url = *net::Url::parse(out);
    if (url.tls || url.is_loopback()) return {};
    return place.refuse(
        fmt::format("`{}` would be reached without encryption; use `https`", url.text()));
  };
}

Section model_keys(agent::ModelSettings& out, const std::filesystem::path& folder) {
  static const std::vector<std::string> kProviders = {"openai", "anthropic", "script"};
  const json::object text = config::text_schema(kLongestConfigText);
  Section keys("agent.model", "the model");
  keys.required("provider", "provider of the model", config::choice_schema(kProviders),
                config::read_choice(
                    kProviders,
                    [&out](std::size_t at) { out.provider = static_cast<agent::Provider>(at); }))
      .optional("model", "name of the model; for provider `script`, the name in records [script]",
                text, config::read_text(out.model, kLongestConfigText))
      .optional("base_url", "URL of the provider's API [the provider's own]", text,
                read_base_url(out.base_url))
      .optional("api_key_env", "environment variable that holds the API key [no key is sent]",
                variable_schema(), read_variable(out.api_key_env))
      .optional("script", "file with the answers of provider `script`", text,
                read_path(out.script, folder))
      .count("max_output_tokens", "maximum tokens of one answer [4096]", kLargestNumber,
             out.max_output_tokens);
  return keys;
}

Result<void> read_model(agent::ModelSettings& out, const std::filesystem::path& folder,
                        const Place& place) {
  SALLYPORT_CHECK_OK(model_keys(out, folder).read(place));
  const bool script = out.provider == agent::Provider::Script;
  if (script && out.script.empty()) {
    return refuse_named(place, "`agent.model.script` is missing; name the file with the answers");
  }
  if (script && (!out.base_url.empty() || !out.api_key_env.empty())) {
    return refuse_named(
        place,
        "`agent.model.base_url` and `api_key_env` are for a provider that is reached; provider "
        "`script` is not");
  }
  if (!script && !out.script.empty()) {
    return refuse_named(place, "`agent.model.script` is for provider `script`; leave it out");
  }
  if (script && out.model.empty()) out.model = "script";
  if (out.model.empty())
    return refuse_named(place, "`agent.model.model` is missing; name the model");
  return {};
}

Section root_keys(agent::RootSettings& out, const std::filesystem::path& folder) {
  Section keys("agent.roots", "a folder that the agent works in");
  keys.required("path", "path of the folder", config::text_schema(kLongestConfigText),
                read_path(out.path, folder))
      .required("write", "whether the agent may write files in it", config::truth_schema(),
                config::read_truth(out.write))
      .optional("deny", "patterns of files in it that the agent cannot reach",
                config::list_schema(config::word_schema(kLongestConfigText), kMostPatterns),
                read_texts(out.deny, kMostPatterns, read_pattern));
  return keys;
}

Section shell_keys(agent::ShellSettings& out) {
  static const std::vector<std::string> kSandbox = {"off", "auto", "required"};
  Section keys("agent.shell", "shell commands");
  keys.optional("env", "environment variables that commands receive [PATH]",
                config::list_schema(variable_schema(), kMostVariables),
                read_texts(out.env, kMostVariables, read_variable))
      .count("timeout_s", "seconds that a command may run if it names no time [30]", kMostSeconds,
             out.timeout)
      .count("max_timeout_s", "maximum seconds that a command may name [600]", kMostSeconds,
             out.max_timeout)
      .optional(
          "sandbox", "confines commands to the roots [auto: if the kernel can]",
          config::choice_schema(kSandbox),
          config::read_choice(
              kSandbox, [&out](std::size_t at) { out.sandbox = static_cast<agent::Sandbox>(at); }))
      .truth("network", "whether commands in the sandbox may use the network [true]", out.network);
  return keys;
}

Result<void> read_shell(std::optional<agent::ShellSettings>& out, const Place& place) {
  if (place.node.is_null()) {
    return refuse_named(place,
                        "`agent.shell` is empty; write `shell: {}` for a shell, or leave it out");
  }
  SALLYPORT_CHECK_OK(shell_keys(out.emplace()).read(place));
  if (out->timeout <= out->max_timeout) return {};
  return refuse_named(
      place,
      fmt::format(
          "`agent.shell.timeout_s` is {}, over `max_timeout_s`, which is {}; raise the second one",
          out->timeout.count(), out->max_timeout.count()));
}

Section background_keys(agent::BackgroundSettings& out) {
  Section keys("agent.background", "background commands");
  keys.count("max_running", "maximum commands at the same time [8]", 1000, out.max_running)
      .count("max_runtime_s", "maximum seconds that a command may run [3600]", kMostSeconds,
             out.max_runtime);
  return keys;
}

Section memory_keys(agent::MemorySettings& out) {
  Section keys("agent.memory", "what the agent remembers of earlier runs");
  keys.truth("recall", "search the memory before each round [true]", out.recall)
      .count("limit", "maximum records that are recalled [3]", 100, out.limit)
      .count("max_chars", "maximum characters that are recalled [2000]", 100'000, out.max_chars)
      .count("timeout_ms", "maximum milliseconds of a search [250]", 60'000, out.timeout)
      .truth("edit", "offer `memory_pin` and `memory_forget` [false]", out.edit);
  return keys;
}

Section compaction_keys(agent::CompactionSettings& out) {
  Section keys("agent.compaction", "how long transcripts are shortened");
  keys.count("at_tokens", "shorten the transcript if a request has more tokens than this [50000]",
             kLargestNumber, out.at_tokens)
      .count("keep_items", "how many of the newest items stay as they are [20]", 10'000,
             out.keep_items)
      .count("keep_snapshots", "how many snapshots of whole transcripts are kept [10]", 10'000,
             out.keep_snapshots);
  return keys;
}

Section limit_keys(agent::LimitSettings& out) {
  Section keys("agent.limits", "limits of one run");
  keys.count("deadline_s", "maximum seconds of a run [3600]", kMostSeconds, out.deadline)
      .count("model_requests", "maximum requests to the model, retries included [100]",
             kLargestNumber, out.model_requests)
      .count("tool_calls", "maximum tool calls of a run [200]", kLargestNumber, out.tool_calls)
      .count("tokens", "maximum tokens of a run, input and output together [1000000]",
             kLargestNumber, out.tokens);
  return keys;
}

Section retry_keys(double& jitter) {
  Section keys("agent.retry", "retries of requests to the model");
  keys.optional(
      "jitter",
      "largest random addition to a wait, as a share of the wait; at most 0.25 counts [0.25]",
      json::object{{"type", "number"}, {"minimum", 0}, {"maximum", 1}},
      [&jitter](const Place& place) -> Result<void> {
        const std::string& text = place.node.text;
        double number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool plain = place.node.kind == YamlNode::Kind::Scalar && !place.node.quoted &&
                           error == std::errc() && end == text.data() + text.size();
        if (!plain || !(number >= 0 && number <= 1)) {
          return place.must_be(fmt::format("a number from 0 to 1, not `{}`", text));
        }
        jitter = number;
        return {};
      });
  return keys;
}

// Models are offered the tools of a server as `<server>__<tool>`.
ReadValue read_server_name(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(config::read_text(out, kLongestServer)(place));
    const auto fits = [](char c) {
      return kLetters.contains(c) || kDigits.contains(c) || c == '-' || c == '_';
    };
    if (!std::ranges::all_of(out, fits) || out.contains("__") || out.ends_with('_')) {
      return place.refuse(fmt::format(
          "`{}` is not a name of a server; use letters, digits, - and single _ between them", out));
    }
    if (out == agent::kToolProfile) {
      return place.refuse(
          fmt::format("`{}` is the name of the agent's own tools; choose another", out));
    }
    return {};
  };
}

Section server_keys(agent::ServerSettings& out) {
  const json::object text = config::text_schema(kLongestConfigText);
  Section keys("agent.servers", "a tool server that the agent uses");
  keys.required("name", "name of the server in policies and records",
                json::object{{"type", "string"},
                             {"pattern", "^[A-Za-z0-9_-]*[A-Za-z0-9-]$"},
                             {"maxLength", kLongestServer}},
                read_server_name(out.name))
      .optional("command", "command that starts the server, as a list of words",
                config::list_schema(config::word_schema(kLongestConfigText), kMostCommandWords),
                read_texts(out.command, kMostCommandWords, read_pattern))
      .optional("url", "URL of the server, instead of a command", text, read_base_url(out.url));
  return keys;
}

Result<void> read_server(std::vector<agent::ServerSettings>& out, const Place& place) {
  agent::ServerSettings server;
  SALLYPORT_CHECK_OK(server_keys(server).read(place));
  if (server.command.empty() == server.url.empty()) {
    return refuse_named(
        place,
        fmt::format("`agent.servers`: `{}` needs either a `command` or a `url`", server.name));
  }
  if (std::ranges::find(out, server.name, &agent::ServerSettings::name) != out.end()) {
    return refuse_named(place, fmt::format("`agent.servers`: duplicate name `{}`", server.name));
  }
  out.push_back(std::move(server));
  return {};
}

Section agent_file_keys(agent::Settings& out, const std::filesystem::path& folder) {
  agent::RootSettings root;
  agent::ShellSettings shell;
  agent::ServerSettings server;
  Section keys("agent", "the agent");
  keys.required("id", "name of the agent in policies and records", name_schema(), read_name(out.id))
      .optional("system", "the system prompt", config::text_schema(kLongestSystem),
                config::read_text(out.system, kLongestSystem))
      .required("model", "the model", model_keys(out.model, folder).schema(),
                [&out, folder](const Place& place) { return read_model(out.model, folder, place); })
      .required("roots", "folders that the agent works in",
                config::list_schema(root_keys(root, folder).schema(), kMostRoots),
                config::read_list(kMostRoots,
                                  [&out, folder](const Place& place) {
                                    return root_keys(out.roots.emplace_back(), folder).read(place);
                                  }))
      .optional("shell", "shell commands [not offered]", shell_keys(shell).schema(),
                [&out](const Place& place) { return read_shell(out.shell, place); })
      .optional("background", "background commands", background_keys(out.background).schema(),
                [&out](const Place& place) { return background_keys(out.background).read(place); })
      .optional("memory", "what the agent remembers of earlier runs",
                memory_keys(out.memory).schema(),
                [&out](const Place& place) { return memory_keys(out.memory).read(place); })
      .optional("compaction", "how long transcripts are shortened",
                compaction_keys(out.compaction).schema(),
                [&out](const Place& place) { return compaction_keys(out.compaction).read(place); })
      .optional("limits", "limits of one run", limit_keys(out.limits).schema(),
                [&out](const Place& place) { return limit_keys(out.limits).read(place); })
      .optional("retry", "retries of requests to the model", retry_keys(out.retry_jitter).schema(),
                [&out](const Place& place) { return retry_keys(out.retry_jitter).read(place); })
      .optional("servers", "tool servers that the agent uses",
                config::list_schema(server_keys(server).schema(), kMostServers),
                config::read_list(kMostServers, [&out](const Place& place) {
                  return read_server(out.servers, place);
                }));
  return keys;
}

Section file_keys(agent::Settings& out, const std::filesystem::path& folder) {
  Section keys("", "the configuration of an agent");
  keys.required(
      "agent", "the agent", agent_file_keys(out, folder).schema(),
      [&out, folder](const Place& place) { return agent_file_keys(out, folder).read(place); });
  return keys;
}

// `agent.roots[0].path` as `/agent/roots/0/path`.
std::string pointer_of(std::string_view key) {
  std::string pointer = "/";
  for (const char c : key) {
    if (c == '.' || c == '[') pointer += '/';
    if (c != '.' && c != '[' && c != ']') pointer += c;
  }
  return pointer;
}

// RT-89. The tools open their roots again: a folder may be gone by then.
Result<void> check_roots(const agent::Settings& settings, const Place& file) {
  const auto roots = agent::Roots::open(settings.roots, {});
  if (roots) return {};
  const Error& error = roots.error();
  return Place{config::node_at(file.node, pointer_of(error.where)), file.file}.refuse(
      error.message);
}

}  // namespace

Result<agent::Settings> parse_agent_config(const std::string& text,
                                           const std::filesystem::path& file) {
  const std::string name = file.string();
  SALLYPORT_TRY(const YamlNode root, config::parse_yaml(text, name));
  agent::Settings settings;
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (Result<void> read = file_keys(settings, folder).read({root, name}); !read) {
    read.error().cause.clear();
    return std::unexpected(std::move(read.error()));
  }
  SALLYPORT_CHECK_OK(check_roots(settings, {root, name}));
  const std::string& key = settings.model.api_key_env;
  if (settings.shell && std::ranges::count(settings.shell->env, key) != 0) {
    return Place{config::node_at(root, "/agent/shell/env"), name}.refuse(fmt::format(
        "`agent.shell.env`: `{}` holds the key of the model, which no command is given", key));
  }
  return settings;
}

Result<agent::Settings> read_agent_config(const std::filesystem::path& file) {
  SALLYPORT_TRY(const std::string text, read_input(file, kLargestConfigFile + 1));
  if (text.size() > kLargestConfigFile) {
    return fail(ErrorCode::InvalidInput, "the configuration of an agent is at most 1 MiB",
                file.string());
  }
  return parse_agent_config(text, file);
}

json::value agent_config_schema() {
  agent::Settings any;
  json::object schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"title", "Sallyport agent"}};
  for (auto& [name, value] : file_keys(any, {}).schema()) schema[name] = value;
  return schema;
}

agent::Settings default_agent(const std::filesystem::path& folder) {
  return {.id = "agent:local",
          .roots = {{.path = folder, .write = true}},
          .shell = agent::ShellSettings{.env = {"PATH", "HOME", "LANG", "TERM"}}};
}

Result<void> use_model(agent::Settings& settings, std::string_view model,
                       const std::string& base_url) {
  struct Known {
    std::string_view prefix;
    agent::Provider provider;
    const char* key;
  };
  constexpr Known kKnown[] = {
      {"anthropic/", agent::Provider::Anthropic, "ANTHROPIC_API_KEY"},
      {"openai/", agent::Provider::OpenAi, "OPENAI_API_KEY"},
      {"script:", agent::Provider::Script, ""},
  };
  const auto known =
      std::ranges::find_if(kKnown, [&](const Known& one) { return model.starts_with(one.prefix); });
  const std::string rest(
      model.substr(std::min(model.size(), known == std::end(kKnown) ? 0 : known->prefix.size())));
  if (known == std::end(kKnown) || rest.empty() || rest.size() > kLongestConfigText) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{:.200}` is not a model; write anthropic/NAME, openai/NAME or "
                            "script:FILE",
                            model),
                "--model");
  }
  agent::ModelSettings chosen{.provider = known->provider,
                              .base_url = base_url,
                              .model = rest,
                              .api_key_env = known->key,
                              .max_output_tokens = settings.model.max_output_tokens};
  if (known->provider == agent::Provider::Script) {
    if (!base_url.empty()) {
      return fail(ErrorCode::InvalidInput, "a script is reached at no address; leave it out",
                  "--base-url");
    }
    chosen.script = std::filesystem::absolute(rest);
    chosen.model = "script";
  } else if (!base_url.empty()) {
    const Result<net::Url> url = net::Url::parse(base_url);
    if (!url) return fail(ErrorCode::InvalidInput, url.error().message, "--base-url");
    if (!url->tls && !url->is_loopback()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("`{}` would be reached without encryption; use `https`", url->text()),
                  "--base-url");
    }
    if (url->is_loopback()) chosen.api_key_env.clear();
  }
  if (settings.shell) std::erase(settings.shell->env, chosen.api_key_env);
  settings.model = std::move(chosen);
  return {};
}

Result<void> check_key(
    const agent::Settings& settings,
    const std::function<std::optional<std::string>(const std::string& name)>& variable) {
  const std::string& name = settings.model.api_key_env;
  if (name.empty() || !trimmed(variable(name).value_or("")).empty()) return {};
  return fail(ErrorCode::InvalidInput,
              fmt::format("variable `{}` of `api_key_env` is not set; set it to the API key", name),
              "agent.model.api_key_env");
}

}  // namespace sallyport::app
