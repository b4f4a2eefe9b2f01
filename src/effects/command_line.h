// Reads a command line like a POSIX shell or bash and returns its effects (RU-43..RU-57).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "effects/effect.h"
#include "effects/file_view.h"

namespace sallyport::effects {

struct ShellSetting {
  std::optional<std::string> folder{};  // absolute; none: unknown
  std::string home{};                   // absolute; empty: unknown
  const FileView* files = nullptr;      // for globs; null: every glob is unknown
};

// Never fails: a part that cannot be read is opaque, and the effects before it still count.
Effects effects_of_line(std::string_view line, const ShellSetting& setting);

// The same for a list of words, as in tools that start a program without a shell.
Effects effects_of_words(const std::vector<std::string>& words, const ShellSetting& setting);

// The condition `command` of a rule: words, or `{run, flags?, without?}` (RU-52).
struct CommandPattern {
  std::vector<std::string> run{};  // the program and its first words
  std::vector<std::string> flags{};
  std::vector<std::string> without{};

  bool operator==(const CommandPattern&) const = default;
};

enum class Match { No, Unknown, Yes };

// `restrictive`: for a rule that denies, asks or logs. An `allow` rule is stricter about the place
// of the program (RU-51, RU-53). `workspaces`: the base folders of a relative program in a rule
// (`./gradlew`).
Match matches(const CommandPattern& pattern, const Command& command, bool restrictive,
              const std::vector<std::string>& workspaces = {});

// True if the program's profile knows this flag, or if there is none (RU-74, `unknown_flag`).
bool knows_flag(const CommandPattern& pattern, std::string_view flag);

}  // namespace sallyport::effects
