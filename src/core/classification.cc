#include "sallyport/classification.h"

namespace sallyport {

std::string_view to_string(Tier tier) {
  return tier == Tier::Observe ? "Observe" : "Confirm";
}

std::string_view to_string(Autonomy autonomy) {
  switch (autonomy) {
    case Autonomy::Shadow:
      return "shadow";
    case Autonomy::Suggest:
      return "suggest";
    case Autonomy::ActWithApproval:
      return "act_with_approval";
    case Autonomy::ActAuto:
      return "act_auto";
  }
  return "act_with_approval";
}

}  // namespace sallyport
