// Removes secrets, personal data and internal addresses before the ledger stores a value (LE-55,
// AU-81, AU-82).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/guarded.h"
#include "core/record/redactor.h"
#include "guards/detect/detectors.h"

namespace sallyport::guards {

// Replaces findings by `[REDACTED:<category>]`:
//
// - in strings, member names and integers of nine digits or more, the bytes a detector matches;
//   names that become alike get `#2`, `#3`, ..., and an integer becomes a string;
// - under a sensitive name (sensitive_name.h), the whole of a string or number, and every string
//   inside of an array or object; null, true, false and "" say nothing and stay;
// - a Google Cloud service account as a whole becomes null.
//
// A JSON schema that describes a member `password` is not a password: below `properties` the name
// applies only to keywords with a value (`default`, `const`, `enum`, `examples`, ...).
//
// Redacting a second time changes nothing. `Removal::path` has the member names after redaction, so
// that a path never contains what was removed.
class StorageRedactor final : public core::Redactor {
 public:
  explicit StorageRedactor(std::shared_ptr<const Detectors> detectors);

  std::vector<core::Removal> redact(std::string_view name, json::value& value) const override;
  bool is_clean(std::string_view name, std::string_view text) const override;
  bool redact_identifier(std::string& text) const override;

 private:
  std::shared_ptr<const Detectors> detectors_;
  // Identifiers without findings. They occur in every entry of a call and are not searched again.
  // Limited in size.
  mutable Guarded<std::unordered_set<std::string>> clean_;
};

}  // namespace sallyport::guards
