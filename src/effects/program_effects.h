// Profiles that need more than a row of the table. Each is given a command whose first word is the
// program, and adds its effects to the reader.
#pragma once

#include <optional>

#include "effects/arguments.h"
#include "effects/shell_reader.h"

namespace sallyport::effects {

// False: it has no such profile.
bool builtin_effects(ShellReader& reader, const Invocation& call, const std::string& name);
bool wrapper_effects(ShellReader& reader, const Invocation& call, const std::string& name);
bool file_effects(ShellReader& reader, const Invocation& call, const std::string& name);
bool network_effects(ShellReader& reader, const Invocation& call, const std::string& name);
void git_effects(ShellReader& reader, const Invocation& call);
void package_effects(ShellReader& reader, const Invocation& call, const Program& row,
                     const std::string& name);
void shell_effects(ShellReader& reader, const Invocation& call, const Program& row);
void interpreter_effects(ShellReader& reader, const Invocation& call, const Program& row);

// The effects of options that name files, hosts and programs.
void option_effects(ShellReader& reader, const Invocation& call, const Arguments& arguments);
// True if the row has an option that writes or runs. Then an unknown word may be such an option.
bool has_dangerous_option(const std::vector<Option>& options);

// The words from `from` on, as a command of its own.
Invocation rest_of(const Invocation& call, std::size_t from);

// `cmake -E` is a set of file tools. The command that it stands for; nothing for all other uses.
std::optional<Invocation> cmake_tool(const Invocation& call);

// Scripts without commands that run or write something (RU-54, `code`).
bool is_plain_sed_script(std::string_view script);
bool is_plain_awk_script(std::string_view script);

}  // namespace sallyport::effects
