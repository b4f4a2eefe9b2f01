// The syntax tree of a command line. It is at most `kMostLevels` deep.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "effects/effect.h"

namespace sallyport::effects {

// The limits of RU-54.
inline constexpr std::size_t kMostBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMostCommands = 512;
inline constexpr int kMostLevels = 16;
inline constexpr std::size_t kMostEffects = 1024;

struct CommandList;

// A piece of a word.
struct Part {
  enum class Kind {
    Text,
    Parameter,   // `$name`, `${name}`, `${name...}`
    Command,     // `$(...)`, backticks
    Arithmetic,  // `$((...))`, `$[...]`
    Process,     // `<(...)`, `>(...)`
    Unknown,     // text that depends on the machine, such as `$'\u00e9'`
  };
  Kind kind = Kind::Text;
  bool quoted = false;
  std::string text{};          // Text; the name of a parameter; literal text of an arithmetic
  bool plain = false;          // a parameter without an operator
  bool bare = false;           // `$name`: a following letter would belong to the name
  bool arithmetic = false;     // the operator of a parameter has an arithmetic value
  std::vector<Part> inside{};  // the content of an operator or of arithmetic
  std::shared_ptr<CommandList> list{};
};

struct WordSyntax {
  std::vector<Part> parts{};
  std::size_t start = 0;
  std::size_t end = 0;

  // The text of a word without quotes and expansions. No value for other words.
  std::optional<std::string> bare() const {
    std::string out;
    for (const Part& part : parts) {
      if (part.kind != Part::Kind::Text || part.quoted) return std::nullopt;
      out += part.text;
    }
    return out;
  }
};

struct Assignment {
  std::string name{};
  bool append = false;
  bool element = false;  // `name[1]=value`
  bool array = false;    // `name=(...)`
  std::string subscript{};
  std::vector<WordSyntax> values{};  // one, or the elements of an array
};

struct Redirection {
  enum class Kind { Read, Write, Duplicate, HereDocument, HereString };
  Kind kind = Kind::Read;
  bool standard_input = false;  // descriptor 0
  bool standard_output = false;
  bool reads = false;     // a Duplicate: `<&`
  bool numbered = false;  // a Duplicate: `2>&`
  WordSyntax target{};
  std::shared_ptr<WordSyntax> body{};  // of a here-document
};

struct CommandSyntax {
  enum class Kind { Simple, Subshell, Group, If, Loop, For, Case, Condition, Arithmetic };
  Kind kind = Kind::Simple;
  std::size_t start = 0;
  std::size_t end = 0;
  std::vector<Assignment> assignments{};
  std::vector<WordSyntax> words{};  // of a simple command, a `for`, a `case`, a `[[ ]]`
  std::vector<Redirection> redirections{};
  // Subshell, Group: one. If: condition, branch, condition, branch, .., maybe a last branch.
  // Loop: condition, body. For: body. Case: one for each branch.
  std::vector<std::shared_ptr<CommandList>> lists{};
  std::string name{};   // the variable of a `for`
  bool has_in = false;  // `for name in words`
  bool has_else = false;
  bool complete = false;      // a simple command that was read to its end
  std::vector<Part> parts{};  // the expression of an arithmetic command
};

struct Pipeline {
  std::vector<CommandSyntax> commands{};
};

struct AndOrList {
  std::vector<Pipeline> pipelines{};
  std::vector<bool> is_or{};  // for each operator between two pipelines
  bool background = false;
};

struct CommandList {
  std::vector<AndOrList> items{};
};

struct ShellSyntax {
  CommandList list{};
  // The place where reading stopped. `list` has everything before it.
  std::optional<OpaqueSpan> failure{};
};

}  // namespace sallyport::effects
