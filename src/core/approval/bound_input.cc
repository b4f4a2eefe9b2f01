#include "core/approval/bound_input.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/handoff/waiting_facts.h"

namespace sallyport::core {

Fact kept_input(Vault& vault, const std::string& approval_id, std::string_view bound) {
  return {std::string(kApprovalInput), approval_id, vault.encrypt(bound)};
}

Fact no_kept_input(const std::string& approval_id) {
  return {std::string(kApprovalInput), approval_id, std::nullopt};
}

Result<std::optional<json::value>> bound_input(RecordReader& records, const Decrypt& decrypt,
                                               const std::string& approval_id,
                                               std::string_view binding) {
  constexpr std::size_t kLargestCall = 64u << 20;
  SALLYPORT_TRY(const std::optional<std::string> sealed, records.fact(kApprovalInput, approval_id));
  if (!sealed) return std::nullopt;
  SALLYPORT_TRY(const std::string text, decrypt(*sealed));
  if ("sha256:" + hex(sha256(text)) != binding) {
    return fail(ErrorCode::Corrupt,
                fmt::format("the input that is kept for `{:.80}` is not the one that its binding "
                            "covers; deny it",
                            approval_id));
  }
  SALLYPORT_TRY(const json::value bound, parse_own_json(text, {.bytes = kLargestCall}));
  const json::object* const object = bound.if_object();
  const json::value* const input = object ? object->if_contains("input") : nullptr;
  if (input == nullptr) return fail(ErrorCode::Corrupt, "the input that is kept has no shape");
  return *input;
}

}  // namespace sallyport::core
