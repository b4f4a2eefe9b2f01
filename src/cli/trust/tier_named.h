// Tiers of autonomy, as people type them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sallyport/classification.h"
#include "sallyport/result.h"

namespace sallyport::app {

const std::vector<std::string>& tier_words();

// `InvalidInput` names the option.
Result<Autonomy> tier_named(const std::string& word, std::string_view option);

}  // namespace sallyport::app
