// The input of a waiting call exactly as its approval binds it, for authenticated people. The
// record of the question has the redacted input; the exact one is stored encrypted until the
// question is decided (AP-38, AU-87).
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/record/record_reader.h"
#include "core/record/vault.h"
#include "sallyport/approval.h"

namespace sallyport::core {

// `bound` is the text whose digest is the binding (`bound_text`).
Fact kept_input(Vault& vault, const std::string& approval_id, std::string_view bound);
Fact no_kept_input(const std::string& approval_id);

using Decrypt = std::function<Result<std::string>(std::string_view)>;
// No value: none is stored, because the record has the whole input, or because the question is
// decided. `Corrupt`: `binding` does not cover the stored input.
Result<std::optional<json::value>> bound_input(RecordReader& records, const Decrypt& decrypt,
                                               const std::string& approval_id,
                                               std::string_view binding);

}  // namespace sallyport::core
