// What a decision about a call was made of beside the call itself: enough to make it again (WB-8).
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "sallyport/json.h"

namespace sallyport::core {

struct DecisionContext {
  std::string decided_at{};       // RFC 3339
  std::uint64_t as_of = 0;        // entries of the ledger that the facts are of
  std::string class_source{};     // who says what the tool is: `policy`, `table`, `unknown`, ..
  bool caution = false;           // what the tool says of itself is reason for care
  std::string definition{};       // digest of what the tool says of itself; empty: unknown
  std::string front = "library";  // `mcp`, `http`, `hook`, `library` or `agent`

  // As one short text: an intent holds it for the record that is made of it later.
  // `decided_at` is `started_at` of the intent.
  std::string brief() const;
  // No value: the text is not one of ours.
  static std::optional<DecisionContext> from_brief(const std::string& brief,
                                                   std::string started_at);
};

// The front of a call in records: one of the five words, `library` for every other.
std::string front_word(const std::string& front);

}  // namespace sallyport::core
