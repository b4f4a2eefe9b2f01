// Splits the words of a command into options and operands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "effects/program_table.h"
#include "effects/shell_reader.h"

namespace sallyport::effects {

struct GivenOption {
  const Option* option = nullptr;  // null: the profile does not know it
  std::string spelling{};
  std::optional<Argument> value{};
};

struct Arguments {
  std::vector<Argument> operands{};
  std::vector<GivenOption> options{};
  bool unclear = false;           // a word before `--` may be an option
  std::size_t next = 0;           // where a wrapper's command starts
  bool dashes = false;            // `--` was there
  std::size_t before_dashes = 0;  // the number of operands before it

  bool has(char meaning) const;
  bool has(std::string_view spelling) const;
  const Argument* value(char meaning) const;
  const Argument* value(std::string_view spelling) const;
  // True if a long option is unknown to the profile. Such an option may take the next word.
  bool has_unknown() const;
};

struct ArgumentRules {
  const std::vector<Option>& options;
  bool single_dash = false;
  bool stop_at_operand = false;  // a wrapper: the words after the first operand are not its own
};

// Reads `words` from the index `from` on.
Arguments read_arguments(const std::vector<Argument>& words, std::size_t from,
                         const ArgumentRules& rules);

Argument literal(std::string text);

}  // namespace sallyport::effects
