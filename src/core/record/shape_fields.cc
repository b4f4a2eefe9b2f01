#include "core/record/shape_fields.h"

#include "base/clock.h"

namespace sallyport::core {

Tier tier_in(ObjectReader& in, std::string_view name) {
  return in.word(name, {"Observe", "Confirm"}) == "Observe" ? Tier::Observe : Tier::Confirm;
}

Autonomy autonomy_in(ObjectReader& in, std::string_view name) {
  return autonomy_from(in.word(name, {"shadow", "suggest", "act_with_approval", "act_auto"}))
      .value_or(Autonomy::ActWithApproval);
}

std::string utc_time_in(ObjectReader& in, std::string_view name) {
  const std::string text = in.time(name);
  return in.ok() ? rfc3339(*from_rfc3339(text)) : std::string();
}

std::optional<std::string> optional_utc_time_in(ObjectReader& in, std::string_view name) {
  if (!in.has(name)) return std::nullopt;
  return utc_time_in(in, name);
}

}  // namespace sallyport::core
