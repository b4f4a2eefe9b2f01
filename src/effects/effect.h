// The effects that a call would have, according to its arguments: one for each path, host, command
// or statement (RU-23). Rules match effects, not tool names.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sallyport::effects {

// A path as written in the call. `rules::PathForms` holds its written and its resolved form.
struct EffectPath {
  std::string text{};                   // as written, quotes and `~` already processed
  std::optional<std::string> folder{};  // absolute base of a relative text; no value: unknown
  bool unknown = false;  // the text is not known (an expansion, a link made in the line)
  bool below = false;    // some path below this folder, as with `find D -delete` (RU-40)

  bool operator==(const EffectPath&) const = default;
};

struct EffectHost {
  std::string text{};  // normalized: lower case, no port, no user (RU-59)
  bool unknown = false;

  bool operator==(const EffectHost&) const = default;
};

// A word of a command line after quotes and expansions: one of several literals, or unknown.
struct Word {
  std::vector<std::string> values{};  // its possible values; empty: unknown
  bool many = false;                  // stands for any number of words

  bool known() const { return !values.empty() && !many; }
  bool operator==(const Word&) const = default;
};

// A command with the program first and without its wrappers (RU-50, RU-51).
struct Command {
  std::vector<Word> words{};
  bool has_profile = false;             // its program is in `program_table.cc`
  std::optional<std::string> folder{};  // absolute, where it starts; none: unknown

  bool operator==(const Command&) const = default;
};

// A shared std::optional<Command>. All effects of a command share it: a command of a thousand words
// may have a thousand effects.
class SharedCommand {
 public:
  SharedCommand() = default;
  SharedCommand(std::nullopt_t) {}  // NOLINT
  SharedCommand(Command command)    // NOLINT
      : command_(std::make_shared<const Command>(std::move(command))) {}

  bool has_value() const { return command_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const Command& operator*() const { return *command_; }
  const Command* operator->() const { return command_.get(); }
  const Command& value() const { return *command_; }

  bool operator==(const SharedCommand& other) const {
    if (command_ == other.command_) return true;
    return has_value() && other.has_value() && *command_ == *other.command_;
  }

 private:
  std::shared_ptr<const Command> command_{};
};

// Why a part of a command line is opaque (RU-54).
enum class OpaqueReason {
  Syntax,
  Function,
  Alias,
  Expansion,
  Eval,
  Builtin,
  Code,
  Heredoc,
  Stdin,
  Interpreter,
  Configuration,
  Environment,
  Remote,
  Encoding,
  Limit,
};

struct Effect {
  std::string effect_class{};  // `fs.write`, `git.push`, ...
  std::optional<EffectPath> path{};
  std::optional<EffectHost> host{};
  SharedCommand command{};  // the command that causes it; none for a redirection (RU-49)
  bool recursive = false;
  bool opaque = false;  // the program that would run is unknown

  bool operator==(const Effect&) const = default;
};

// A part of a command line that the reader does not understand: bytes [start, end) of the line.
struct OpaqueSpan {
  OpaqueReason reason = OpaqueReason::Syntax;
  std::size_t start = 0;
  std::size_t end = 0;

  bool operator==(const OpaqueSpan&) const = default;
};

struct Effects {
  std::vector<Effect> effects{};
  std::vector<OpaqueSpan> opaque{};

  bool operator==(const Effects&) const = default;
};

}  // namespace sallyport::effects
