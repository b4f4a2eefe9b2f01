// Redacts a text that is stored outside the ledger or cut before the ledger sees it.
#pragma once

#include <string>

#include "core/record/redactor.h"

namespace sallyport::agent {

// If the redactor fails, the result is `[REDACTED:unreadable]`.
std::string redacted_text(const core::Redactor& redactor, std::string text);

}  // namespace sallyport::agent
