// The table of known programs: how the words of a command become effects (RU-31).
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace sallyport::effects {

// The meaning of a program's operands.
enum class Operands {
  None,         // no effect
  Read,         // each is read
  ReadHere,     // each is read; without operands, the current folder is read
  PatternRead,  // a pattern or program, then files that are read
  Write,
  ModeWrite,  // a mode or an owner, then files that are written
  Delete,
  Replace,    // each is deleted, and a file next to it is written
  Copy,       // sources are read, the last is written
  Move,       // sources are deleted, the last is written
  Link,       // the last is written
  ReadWrite,  // the first is read, the second is written
  WriteRead,  // the first is written, the others are read
  Hosts,      // each is a host or an address
  Special,    // a function of its own
  Wrapper,    // a command
  Packages,   // a subcommand of a package manager
  Shell,
  Interpreter,
};

// `options` are groups of spellings, separated by blanks. `-n,--lines=` takes a value; the letter
// after `=` says what the value is. The letter after `:` is the meaning of a flag without a value:
//   <  a file that is read              >  a file that is written
//   @  a host                           !  something that runs: opaque `interpreter`
//   ~  the pattern or the script        T  the target folder
//   C  opaque `configuration`           c  program text
//   R  reaches everything below         W  operands are written
//   L  keeps links                      N  no effect at all
//   ?  may have a value in the same word
// Other letters are specific to one program.
struct Program {
  std::string_view names;  // separated by blanks
  Operands operands = Operands::None;
  std::string_view options = "";
  int skip = 0;                   // a wrapper: words between its options and the command
  bool single_dash = false;       // `-delete`: letters after one dash are one name
  bool always_recursive = false;  // always reads everything below its operands
  bool complete = false;          // `options` has every option of the program
};

struct Option {
  std::vector<std::string_view> spellings;
  bool takes_value = false;
  char meaning = ' ';
};

// Subcommands of git or of a package manager.
struct Subcommand {
  std::string_view program;
  std::string_view names;  // separated by blanks; `install,i` is one name in two spellings
  std::string_view effect_class;
  std::string_view options = "";
  bool complete = false;
};

std::span<const Program> programs();
std::span<const Subcommand> subcommands();

// Finds a program by the last segment of its path: `python3.11` is `python`. Null: no profile.
const Program* find_program(std::string_view name);
std::string_view program_alias(std::string_view name);
const Subcommand* find_subcommand(std::string_view program, std::string_view name);
// The full name of an alias: `i` of npm is `install`. A name without a row is returned as is.
std::string_view subcommand_alias(std::string_view program, std::string_view name);
// True if `beginning` may abbreviate `name`. Only npm accepts abbreviations: `npm publ`.
bool begins_subcommand(std::string_view program, std::string_view beginning, std::string_view name);

// The options of a row. The result is never freed.
const std::vector<Option>& options_of(std::string_view options);

// Null: the row does not know it. Long options may be abbreviated to three letters or more.
const Option* find_option(const std::vector<Option>& options, std::string_view spelling);

// Environment variables (RU-56).
bool is_harmless_variable(std::string_view name);
bool steers_programs(std::string_view name);
// bash evaluates the values of these as arithmetic, which can run commands.
bool is_arithmetic_variable(std::string_view name);

std::string_view name_of(Operands operands);

}  // namespace sallyport::effects
