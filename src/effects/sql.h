// The effects of SQL text, by the first word of each statement (RU-58).
#pragma once

#include <string_view>
#include <vector>

#include "effects/effect.h"

namespace sallyport::effects {

// One effect for each statement: `db.read`, `db.write` or `db.schema`. Text that SQL dialects read
// differently adds an opaque effect.
std::vector<Effect> effects_of_sql(std::string_view text);

}  // namespace sallyport::effects
