#include "core/plan/policy_text.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::core {

Result<std::optional<KeptPolicy>> kept_policy(RecordReader& records, const std::string& hash) {
  SALLYPORT_TRY(const std::optional<std::string> stored, records.fact(kPolicyText, hash));
  const std::optional<Placed> placed = stored ? split_place(*stored) : std::nullopt;
  if (!placed) return std::nullopt;
  const Result<json::object> entry = records.entry(placed->sequence);
  if (!entry && entry.error().code == ErrorCode::NotFound) return std::nullopt;
  if (!entry) return std::unexpected(entry.error());
  const json::object* const body = object_in(*entry, "body");
  if (body == nullptr || text_in(*body, "hash") != hash) return std::nullopt;
  const auto text = text_in(*body, "text");
  if (!text) return std::nullopt;
  KeptPolicy kept{.source = text_or_empty(*body, "source"), .sequence = placed->sequence};
  kept.text.text = *text;
  if (const json::object* const base = object_in(*body, "extends")) {
    const auto base_text = text_in(*base, "text");
    if (!base_text) return std::nullopt;
    kept.text.base_name = text_or_empty(*base, "name");
    kept.text.base_text = *base_text;
  }
  return kept;
}

}  // namespace sallyport::core
