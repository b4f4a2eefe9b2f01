// Programs that need more than a row of the table. Each function takes a command whose first word
// is the program, and adds its effects to the reader.
#pragma once

#include <optional>

#include "effects/arguments.h"
#include "effects/shell_reader.h"

namespace sallyport::effects {

// These return false if they do not handle the program.
bool builtin_effects(ShellReader& reader, const Invocation& call, const std::string& name);
bool wrapper_effects(ShellReader& reader, const Invocation& call, const std::string& name);
bool file_effects(ShellReader& reader, const Invocation& call, const std::string& name);
bool network_effects(ShellReader& reader, const Invocation& call, const std::string& name);
// A row of wrappers: `nice`, `timeout`, `strace` ..
void wrapped_effects(ShellReader& reader, const Invocation& call, const Program& row,
                     const std::string& name);
void git_effects(ShellReader& reader, const Invocation& call);
void package_effects(ShellReader& reader, const Invocation& call, const Program& row,
                     const std::string& name);
void shell_effects(ShellReader& reader, const Invocation& call, const Program& row);
void interpreter_effects(ShellReader& reader, const Invocation& call, const Program& row);

// The effects of options that name files, hosts and programs.
void option_effects(ShellReader& reader, const Invocation& call, const Arguments& arguments);
// True if an option of the row writes or runs. An unknown word may then be such an option.
bool has_dangerous_option(const std::vector<Option>& options);

// The words from `from` on, as a separate command.
Invocation rest_of(const Invocation& call, std::size_t from);

// The file tool that a `cmake -E` command stands for. No value for other uses of cmake.
std::optional<Invocation> cmake_tool(const Invocation& call);

// True for scripts that do not run or write anything (RU-54, `code`).
bool is_plain_sed_script(std::string_view script);
bool is_plain_awk_script(std::string_view script);

}  // namespace sallyport::effects
