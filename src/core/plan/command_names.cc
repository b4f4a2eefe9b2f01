#include "core/plan/command_names.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/lower_case.h"

namespace sallyport::core {

bool is_command_name(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"command", "commands", "commandline", "cmd",       "cmds",      "cmdline",    "script",
       "scripts", "args",     "argv",        "arguments", "code",      "program",    "executable",
       "exec",    "shell",    "bash",        "sql",       "statement", "statements", "query"});
  constexpr auto kLastWords =
      std::to_array<std::string_view>({"command", "commands", "cmd", "script", "argv"});
  constexpr std::size_t kLongest = 64;
  if (name.size() > kLongest) return false;
  std::string folded = lower_case(name);
  std::erase_if(folded, [](char c) { return c == '_' || c == '-'; });
  return std::ranges::find(kNames, folded) != kNames.end() ||
         std::ranges::any_of(kLastWords,
                             [&](std::string_view last) { return folded.ends_with(last); });
}

}  // namespace sallyport::core
