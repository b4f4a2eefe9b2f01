// Redacts whole texts (GR-35).
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "guardrails/check/check_set.h"
#include "guardrails/check/text_search.h"
#include "guardrails/document/document.h"
#include "match/regions.h"

namespace sallyport::guardrails {

// Spans of the wanted redact rules in these readings, from every start. Throws if more matches are
// open than can be tracked.
match::Regions redacted_regions(const CheckSet& set, std::string_view text,
                                const std::vector<bool>& wanted, const std::set<Reading>& readings);

// The text with each region replaced. The rest stays, as valid UTF-8.
std::string redacted_text(const Document& document, const CheckSet& set, std::string_view text,
                          const match::Regions& regions);

// The size of that text if `text` is valid UTF-8.
std::size_t redacted_size(const Document& document, const CheckSet& set, std::string_view text,
                          const match::Regions& regions);

// The replacement of a redacted region of a check.
std::string redaction_of(const Check& check);

}  // namespace sallyport::guardrails
