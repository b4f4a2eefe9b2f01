#include "effects/command_call.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "effects/program_table.h"
#include "grants/leaves.h"

namespace sallyport::effects {

namespace {

using MemberNames = std::span<const std::string_view>;

constexpr std::string_view kWordMembers[] = {"args", "arguments", "argv"};
constexpr std::string_view kVariableMembers[] = {"env", "environment", "env_vars"};
constexpr std::string_view kInputMembers[] = {"stdin", "input"};
// Members that coding agents send and that do not change what the command does.
constexpr std::string_view kHarmlessMembers[] = {"description",
                                                 "explanation",
                                                 "reason",
                                                 "justification",
                                                 "summary",
                                                 "title",
                                                 "task_progress",
                                                 "timeout",
                                                 "timeout_ms",
                                                 "timeout_s",
                                                 "timeout_sec",
                                                 "timeout_seconds",
                                                 "timeoutMs",
                                                 "yield_time_ms",
                                                 "initial_wait",
                                                 "max_output_tokens",
                                                 "max_output_length",
                                                 "verbose_timing",
                                                 "run_in_background",
                                                 "is_background",
                                                 "isBackground",
                                                 "background",
                                                 "mode",
                                                 "login",
                                                 "tty",
                                                 "session_id",
                                                 "sessionId",
                                                 "shellId",
                                                 "require_user_approval",
                                                 "requires_approval",
                                                 "dangerouslyDisableSandbox",
                                                 "with_escalated_permissions",
                                                 "sandbox_permissions",
                                                 "prefix_rule"};
constexpr std::string_view kShells[] = {"sh", "bash", "dash", "zsh", "ksh"};

bool is_listed(MemberNames names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool says_nothing(const json::value& value) {
  return value.is_null() || (value.is_string() && value.get_string().empty()) ||
         (value.is_array() && value.get_array().empty()) ||
         (value.is_object() && value.get_object().empty());
}

// No value: it is not a list of texts.
std::optional<std::vector<std::string>> words_in(const json::value& value) {
  const json::array* const list = value.if_array();
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> words;
  for (const json::value& word : *list) {
    if (!word.is_string()) return std::nullopt;
    words.emplace_back(word.get_string());
  }
  return words;
}

bool is_harmless_environment(const json::value& value) {
  const json::object* const variables = value.if_object();
  return variables && std::ranges::all_of(*variables, [](const json::key_value_pair& variable) {
           return variable.value().is_string() && is_harmless_variable(variable.key());
         });
}

// True if this shell reads the line as we do.
bool is_known_shell(const json::value& value, bool is_line) {
  if (!is_line) return false;
  if (value.is_bool()) return true;
  const json::string* const text = value.if_string();
  if (text == nullptr) return false;
  std::string_view name = *text;
  for (const std::string_view folder : {"/bin/", "/usr/bin/"}) {
    if (name.starts_with(folder)) {
      name.remove_prefix(folder.size());
      break;
    }
  }
  return is_listed(kShells, name);
}

// The reason why a member other than the command and its words makes the call opaque.
std::optional<OpaqueReason> reason_of_member(std::string_view name, const json::value& value,
                                             bool is_line) {
  if (is_listed(kVariableMembers, name)) {
    if (is_harmless_environment(value)) return std::nullopt;
    return OpaqueReason::Environment;
  }
  if (is_listed(kInputMembers, name)) return OpaqueReason::Stdin;
  if (name != "shell") return OpaqueReason::Configuration;
  if (is_known_shell(value, is_line)) return std::nullopt;
  return OpaqueReason::Interpreter;
}

}  // namespace

void add_command_call(EffectMaker& maker, const json::object& input) {
  const json::value& command = input.at("command");
  std::vector<std::string> words;
  std::size_t lists = 0;
  std::size_t folders = 0;
  bool clear = true;
  for (const json::key_value_pair& member : input) {
    const std::string_view name = member.key();
    if (!is_listed(kWordMembers, name) || says_nothing(member.value())) continue;
    for (const std::string_view text : grants::all_strings(member.value())) maker.note_used(text);
    std::optional<std::vector<std::string>> read = words_in(member.value());
    clear = clear && read.has_value() && ++lists == 1;
    if (read) words = std::move(*read);
  }
  maker.add_command(command, words);
  // `argv` may begin with the program itself.
  const bool repeats = !words.empty() && command.is_string() && words[0] == command.get_string();
  if (repeats) maker.add_command(command, std::span(words).subspan(1));
  if (!clear) maker.add_opaque(OpaqueReason::Expansion, 0);
  for (const json::key_value_pair& member : input) {
    const std::string_view name = member.key();
    const bool other =
        name != "command" && !is_listed(kWordMembers, name) && !is_listed(kHarmlessMembers, name);
    if (!other || says_nothing(member.value())) continue;
    // Of several folders, only the tool knows which one counts.
    const bool only_folder = is_listed(kFolderMembers, name) && ++folders == 1;
    if (only_folder) continue;
    for (const std::string_view text : grants::all_strings(member.value())) maker.note_used(text);
    const std::optional<OpaqueReason> reason =
        reason_of_member(name, member.value(), command.is_string() && words.empty());
    if (reason) maker.add_opaque(*reason, 0);
  }
}

}  // namespace sallyport::effects
