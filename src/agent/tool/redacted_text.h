// Text without its secrets, for what is stored outside the ledger or cut before it gets there.
#pragma once

#include <string>

#include "core/record/redactor.h"

namespace sallyport::agent {

// A redactor that fails leaves nothing of it.
std::string redacted_text(const core::Redactor& redactor, std::string text);

}  // namespace sallyport::agent
