// The input of a waiting call exactly as its approval binds it, for people who have said who they
// are. The record of the question has it redacted; this is kept encrypted until the question is
// decided (AP-38, AU-87).
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

// `bound` is the text that the binding is the digest of (`bound_text`).
Fact kept_input(Vault& vault, const std::string& approval_id, std::string_view bound);
Fact no_kept_input(const std::string& approval_id);

using Decrypt = std::function<Result<std::string>(std::string_view)>;
// Nothing: none is kept, because the record has the input whole, or because the question is
// decided. `Corrupt`: what is kept is not what `binding` is about.
Result<std::optional<json::value>> bound_input(RecordReader& records, const Decrypt& decrypt,
                                               const std::string& approval_id,
                                               std::string_view binding);

}  // namespace sallyport::core
