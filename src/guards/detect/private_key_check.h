// Finds private keys in PEM and PGP armor.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "guards/detect/candidates.h"

namespace sallyport::guards {

// Confirms a key after `PRIVATE KEY`. A match covers the BEGIN line, the base64 lines that follow
// it, and the END line. It ends at a line that is not base64: text after a BEGIN line that is not a
// key stays visible, because the approver of a command must see it. Headers (`Proc-Type:`) stay
// visible too; the base64 after them is a separate match. Line ends may be escaped (`\n`). If an END
// line follows, each line may have the prefix of the BEGIN line, such as a line number.
void check_private_key_pem(Candidates& found, Anchor at);

// The place on a log line where a key begins that continues on later lines: the dashes of a BEGIN
// line without an END line after it.
std::optional<std::size_t> opened_key(std::string_view line);

// The role of a line for a key that began on an earlier line.
enum class KeyLine {
  Inside,  // continues it: base64 alone, a header, or nothing
  Closes,  // has its END line
  Other,
};
KeyLine key_line(std::string_view line);

}  // namespace sallyport::guards
