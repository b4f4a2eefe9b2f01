#include "cli/trust/tier_named.h"

#include <fmt/format.h>

namespace sallyport::app {

const std::vector<std::string>& tier_words() {
  static const std::vector<std::string> words = {"shadow", "suggest", "act_with_approval",
                                                 "act_auto"};
  return words;
}

Result<Autonomy> tier_named(const std::string& word, std::string_view option) {
  for (const Autonomy tier :
       {Autonomy::Shadow, Autonomy::Suggest, Autonomy::ActWithApproval, Autonomy::ActAuto}) {
    if (to_string(tier) == word) return tier;
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("{} is `{:.60}`, give shadow, suggest, act_with_approval or act_auto",
                          option, word));
}

}  // namespace sallyport::app
