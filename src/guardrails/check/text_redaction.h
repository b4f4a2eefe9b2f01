// Redacts whole texts (GR-35).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "guardrails/check/check_set.h"
#include "guardrails/check/text_search.h"
#include "guardrails/document/document.h"
#include "match/regions.h"

namespace sallyport::guardrails {

// Spans of the wanted redact rules in these readings, from every start. Throws where more is open
// than can be followed.
match::Regions redacted_regions(const CheckSet& plan, std::string_view text,
                                const std::vector<bool>& wanted, const std::set<Reading>& readings);

// The text with each region replaced; what is outside stays, as UTF-8.
std::string redacted_text(const Document& document, const CheckSet& plan, std::string_view text,
                          const match::Regions& regions);

// What a redacted region of a check becomes.
std::string redaction_of(const Check& check);

}  // namespace sallyport::guardrails
