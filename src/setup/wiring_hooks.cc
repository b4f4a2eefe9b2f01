#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "setup/wiring.h"

namespace sallyport::app {

namespace {

constexpr std::uint64_t kSeconds = 10;

// A shell reads it on the other side.
std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:@,+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// The words of a line that was written with `shell_word`.
std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words;
  bool between = true;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!quoted && line[i] == ' ') {
      between = true;
      continue;
    }
    if (std::exchange(between, false)) words.emplace_back();
    if (line[i] == '\'') {
      quoted = !quoted;
    } else if (!quoted && line[i] == '\\' && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += line[i];
    }
  }
  return words;
}

std::vector<std::string> arguments(std::string_view agent, const Invoked& invoked) {
  std::vector<std::string> words{"hook", "--agent", std::string(agent)};
  words.insert(words.end(), invoked.options.begin(), invoked.options.end());
  return words;
}

std::string command_line(std::string_view agent, const Invoked& invoked) {
  std::string line = shell_word(invoked.program);
  for (const std::string& word : arguments(agent, invoked)) line += ' ' + shell_word(word);
  return line;
}

struct Wiring {
  std::string_view agent;
  std::vector<std::string_view> events;
  bool grouped;           // hooks of an event stand in groups with a matcher
  std::string_view file;  // below the home folder
  json::object start;     // of a file that is not there yet
};

const std::vector<Wiring>& wirings() {
  static const std::vector<Wiring> kAll = {
      {"claude-code",
       {"PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionEnd"},
       true,
       ".claude/settings.json",
       {}},
      {"codex", {"PreToolUse", "PostToolUse", "UserPromptSubmit"}, true, ".codex/hooks.json", {}},
      {"gemini",
       {"BeforeTool", "AfterTool", "BeforeAgent", "SessionEnd"},
       true,
       ".gemini/settings.json",
       {}},
      {"cursor",
       {"preToolUse", "postToolUse", "beforeSubmitPrompt"},
       false,
       ".cursor/hooks.json",
       {{"version", 1}}},
      {"copilot",
       {"preToolUse", "postToolUse", "sessionEnd"},
       false,
       ".copilot/hooks/sallyport.json",
       {{"version", 1}}},
  };
  return kAll;
}

const Wiring& wiring_of(std::string_view agent) {
  return *std::ranges::find(wirings(), agent, &Wiring::agent);
}

bool about_tools(std::string_view event) {
  return event.find("Tool") != std::string_view::npos;
}

json::object hook_of(std::string_view agent, std::string_view event, const Invoked& invoked) {
  const std::string line = command_line(agent, invoked);
  if (agent == "claude-code") {
    const std::vector<std::string> words = arguments(agent, invoked);
    json::object hook{{"type", "command"},
                      {"command", invoked.program},
                      {"args", json::array(words.begin(), words.end())},
                      {"timeout", kSeconds}};
    if (event == "PreToolUse") hook["onFailure"] = "block";
    return hook;
  }
  if (agent == "codex") return {{"type", "command"}, {"command", line}, {"timeout", kSeconds}};
  if (agent == "gemini") {
    return {{"type", "command"},
            {"name", "sallyport"},
            {"command", line},
            {"timeout", kSeconds * 1000}};
  }
  if (agent == "cursor") {
    json::object hook{{"command", line}, {"timeout", kSeconds}};
    if (event == "preToolUse") hook["failClosed"] = true;
    return hook;
  }
  return {{"type", "command"}, {"bash", line}, {"timeoutSec", kSeconds}};
}

// True for a hook that an earlier run of ours wrote, wherever the program was installed then.
bool is_ours(const json::value& value, std::string_view agent) {
  const json::object* const hook = value.if_object();
  if (hook == nullptr) return false;
  const std::string wanted = fmt::format("hook --agent {}", agent);
  for (const char* const name : {"command", "bash"}) {
    const std::string text = text_or_empty(*hook, name);
    if (text.find("sallyport") == std::string::npos) continue;
    if (text.find(wanted) != std::string::npos) return true;
    const json::value* const words = hook->if_contains("args");
    if (words == nullptr || !words->is_array() || words->get_array().size() < 3) continue;
    const json::array& args = words->get_array();
    if (args[0] == "hook" && args[1] == "--agent" && args[2] == json::value(agent)) return true;
  }
  return false;
}

void remove_ours(json::array& list, const Wiring& wiring) {
  for (auto at = list.begin(); at != list.end();) {
    bool gone = !wiring.grouped && is_ours(*at, wiring.agent);
    json::object* const group = wiring.grouped ? at->if_object() : nullptr;
    json::value* const hooks = group ? group->if_contains("hooks") : nullptr;
    if (hooks != nullptr && hooks->is_array()) {
      json::array& inner = hooks->get_array();
      const std::size_t before = inner.size();
      for (auto hook = inner.begin(); hook != inner.end();) {
        hook = is_ours(*hook, wiring.agent) ? inner.erase(hook) : hook + 1;
      }
      gone = before > 0 && inner.empty();
    }
    at = gone ? list.erase(at) : at + 1;
  }
}

std::vector<std::string> words_in(const json::object& hook) {
  std::string command(text_in(hook, "command").value_or(text_in(hook, "bash").value_or("")));
  const json::value* const given = hook.if_contains("args");
  if (given == nullptr || !given->is_array()) return shell_words(command);
  std::vector<std::string> words{std::move(command)};
  for (const json::value& word : given->get_array()) {
    words.emplace_back(word.is_string() ? std::string(word.get_string()) : std::string());
  }
  return words;
}

Invoked with_kept_options(const Invoked& invoked, std::vector<std::string> kept) {
  for (std::size_t i = 0; i + 1 < invoked.options.size(); i += 2) {
    const auto there = std::ranges::find(kept, invoked.options[i]);
    if (kept.end() - there > 1) {
      *(there + 1) = invoked.options[i + 1];
    } else {
      kept.insert(kept.end(), {invoked.options[i], invoked.options[i + 1]});
    }
  }
  return {.program = invoked.program, .options = std::move(kept)};
}

}  // namespace

std::vector<std::string> Invoked::options_of_new() const {
  std::vector<std::string> all = options;
  if (!default_policy.empty() && std::ranges::find(all, "--policy") == all.end()) {
    all.insert(all.end(), {"--policy", default_policy});
  }
  return all;
}

std::filesystem::path agent_settings(std::string_view agent) {
  return wiring_of(agent).file;
}

Result<json::object> with_hooks(json::object settings, std::string_view agent,
                                const Invoked& asked) {
  const Wiring& wiring = wiring_of(agent);
  std::optional<InstalledHook> before = installed_hook(settings, agent);
  const Invoked invoked = before ? with_kept_options(asked, std::move(before->options))
                                 : Invoked{asked.program, asked.options_of_new()};
  if (settings.empty()) settings = wiring.start;
  settings = without_hooks(std::move(settings), agent);
  if (settings.empty()) settings = wiring.start;
  if (!settings.contains("hooks")) settings["hooks"] = json::object();
  json::object* const events = settings["hooks"].if_object();
  if (events == nullptr) {
    return fail(ErrorCode::InvalidInput, "`hooks` is not an object there; it is left alone");
  }
  for (const std::string_view event : wiring.events) {
    json::value& list = (*events)[event];
    if (list.is_null()) list = json::array();
    if (!list.is_array()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("`hooks.{}` is not a list there; it is left alone", event));
    }
    json::object hook = hook_of(agent, event, invoked);
    if (wiring.grouped) {
      json::object group;
      // Claude Code matches all tools with `*`; the others take a regular expression.
      if (about_tools(event)) group["matcher"] = agent == "claude-code" ? "*" : ".*";
      group["hooks"] = json::array{std::move(hook)};
      hook = std::move(group);
    }
    list.get_array().push_back(std::move(hook));
  }
  return settings;
}

json::object without_hooks(json::object settings, std::string_view agent) {
  const Wiring& wiring = wiring_of(agent);
  json::value* const hooks = settings.if_contains("hooks");
  if (hooks == nullptr || !hooks->is_object()) return settings;
  json::object& events = hooks->get_object();
  bool found = false;
  for (const std::string_view event : wiring.events) {
    json::value* const list = events.if_contains(event);
    if (list == nullptr || !list->is_array()) continue;
    const std::size_t before = list->get_array().size();
    remove_ours(list->get_array(), wiring);
    found = found || list->get_array().size() != before;
    if (before > 0 && list->get_array().empty()) events.erase(event);
  }
  if (found && events.empty()) settings.erase("hooks");
  if (found && settings == wiring.start) settings.clear();
  return settings;
}

namespace {

// Our hook of an event; null: there is none.
const json::object* our_hook(const json::object& events, std::string_view event,
                             const Wiring& wiring) {
  const json::value* const list = events.if_contains(event);
  if (list == nullptr || !list->is_array()) return nullptr;
  for (const json::value& item : list->get_array()) {
    if (!wiring.grouped && is_ours(item, wiring.agent)) return item.if_object();
    const json::object* const group = wiring.grouped ? item.if_object() : nullptr;
    const json::value* const hooks = group ? group->if_contains("hooks") : nullptr;
    if (hooks == nullptr || !hooks->is_array()) continue;
    for (const json::value& hook : hooks->get_array()) {
      if (is_ours(hook, wiring.agent)) return hook.if_object();
    }
  }
  return nullptr;
}

}  // namespace

std::optional<InstalledHook> installed_hook(const json::object& settings, std::string_view agent) {
  const Wiring& wiring = wiring_of(agent);
  const json::object* const events = object_in(settings, "hooks");
  if (events == nullptr) return std::nullopt;
  std::optional<InstalledHook> installed;
  std::vector<std::string> missing;
  for (const std::string_view event : wiring.events) {
    const json::object* const hook = our_hook(*events, event, wiring);
    if (hook == nullptr) {
      missing.emplace_back(event);
    } else if (!installed) {
      const std::vector<std::string> words = words_in(*hook);
      // `sallyport hook --agent NAME`, then the options.
      const auto options =
          words.begin() + static_cast<long>(std::min<std::size_t>(4, words.size()));
      installed = {.program = words.empty() ? std::string() : words.front(),
                   .options = {options, words.end()},
                   // Copilot always denies then.
                   .blocks_on_failure = agent == "copilot" ||
                                        text_in(*hook, "onFailure") == "block" ||
                                        bool_in(*hook, "failClosed").value_or(false)};
    }
  }
  if (installed) installed->missing = std::move(missing);
  return installed;
}

namespace {

// `PreToolUse` as `pre_tool_use`.
std::string snake_case(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !out.empty()) out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

// The tables `[hooks.state."KEY"]` of a TOML file as Codex writes them, by key: the hash that is
// trusted, or nothing where the hook is switched off.
std::map<std::string, std::string> codex_hook_states(std::string_view toml) {
  std::map<std::string, std::string> states;
  std::string key;
  bool off = false;
  for (std::size_t at = 0; at < toml.size();) {
    const std::size_t end = std::min(toml.find('\n', at), toml.size());
    const std::string_view line = toml.substr(at, end - at);
    at = end + 1;
    constexpr std::string_view kTable = "[hooks.state.";
    if (line.starts_with('[')) {
      key.clear();
      off = false;
      const std::size_t close = line.rfind("]");
      const bool ours = line.starts_with(kTable) && close > kTable.size() + 1;
      if (ours) key = line.substr(kTable.size() + 1, close - kTable.size() - 2);
      continue;
    }
    if (key.empty()) continue;
    const std::size_t quote = line.find('"');
    const std::size_t last = line.rfind('"');
    if (line.starts_with("trusted_hash") && last > quote && !off) {
      states[key] = line.substr(quote + 1, last - quote - 1);
    }
    off = off || (line.starts_with("enabled") && line.find("false") != std::string_view::npos);
    if (off) states[key].clear();
  }
  return states;
}

// The hash of a hook, over the JSON that Codex hashes.
std::string codex_hash(std::string_view event, const json::object& group,
                       const json::object& hook) {
  json::object identity{
      {"event_name", snake_case(event)},
      {"hooks", json::array{json::object{{"type", "command"},
                                         {"command", text_or_empty(hook, "command")},
                                         {"timeout", number_in(hook, "timeout").value_or(0)},
                                         {"async", false}}}}};
  if (const auto matcher = text_in(group, "matcher")) identity["matcher"] = *matcher;
  return "sha256:" + hex(sha256(canonical_json(identity)));
}

}  // namespace

std::vector<std::string> codex_hooks_not_run(const std::filesystem::path& file,
                                             const json::object& settings,
                                             std::string_view codex_config) {
  const std::map<std::string, std::string> states = codex_hook_states(codex_config);
  std::vector<std::string> missing;
  const json::object* const events = object_in(settings, "hooks");
  for (const std::string_view event : wiring_of("codex").events) {
    const json::value* const groups = events ? events->if_contains(event) : nullptr;
    if (groups == nullptr || !groups->is_array()) continue;
    for (std::size_t g = 0; g < groups->get_array().size(); ++g) {
      const json::object* const group = groups->get_array()[g].if_object();
      const json::value* const hooks = group ? group->if_contains("hooks") : nullptr;
      if (hooks == nullptr || !hooks->is_array()) continue;
      for (std::size_t h = 0; h < hooks->get_array().size(); ++h) {
        const json::value& hook = hooks->get_array()[h];
        if (!is_ours(hook, "codex")) continue;
        const auto state =
            states.find(fmt::format("{}:{}:{}:{}", file.string(), snake_case(event), g, h));
        const bool trusted =
            state != states.end() && state->second == codex_hash(event, *group, hook.get_object());
        if (!trusted) missing.emplace_back(event);
      }
    }
  }
  return missing;
}

}  // namespace sallyport::app
