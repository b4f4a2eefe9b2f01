// Reads a command line as a POSIX shell or bash would and says what it would do (RU-43..RU-57).
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

// Never fails: what cannot be read is opaque, and what was found before it still counts.
Effects effects_of_line(std::string_view line, const ShellSetting& setting);

// A list of words, as tools that start a program without a shell take it.
Effects effects_of_words(const std::vector<std::string>& words, const ShellSetting& setting);

// The condition `command` of a rule: words, or `{run, flags?, without?}` (RU-52).
struct CommandPattern {
  std::vector<std::string> run{};  // the program and its first words
  std::vector<std::string> flags{};
  std::vector<std::string> without{};

  bool operator==(const CommandPattern&) const = default;
};

enum class Match { No, Unknown, Yes };

// `restrictive`: asked for a rule that denies, asks or logs; an `allow` rule is stricter about the
// place of the program (RU-51, RU-53). `workspaces`: the folders that a relative program of a rule
// (`./gradlew`) starts from.
Match matches(const CommandPattern& pattern, const Command& command, bool restrictive,
              const std::vector<std::string>& workspaces = {});

// True if the profile of the program knows this flag, or if it has none (RU-74, `unknown_flag`).
bool knows_flag(const CommandPattern& pattern, std::string_view flag);

}  // namespace sallyport::effects
