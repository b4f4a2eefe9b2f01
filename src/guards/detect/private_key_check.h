// Private keys in PEM and PGP armor: which bytes of a text are the key.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "guards/detect/candidates.h"

namespace sallyport::guards {

// Confirms a key behind `PRIVATE KEY`. A match covers the BEGIN line, the base64 lines that follow
// it, and the END line. It ends where a line is no base64: text behind a BEGIN line that is no key
// stays visible, because the approver of a command must see it. Headers (`Proc-Type:`) stay visible
// too; the base64 behind them is a match of its own. Line ends may be escaped (`\n`).
void check_private_key_pem(Candidates& found, Anchor at);

// Where on a line of a log a key begins that goes on below it: the dashes of a BEGIN line with no
// END line behind it.
std::optional<std::size_t> opened_key(std::string_view line);

// What a line is to a key that began on an earlier one.
enum class KeyLine {
  Inside,  // continues it: base64 alone, a header, or nothing
  Closes,  // has its END line
  Other,
};
KeyLine key_line(std::string_view line);

}  // namespace sallyport::guards
