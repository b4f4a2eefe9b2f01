// The inputs of a decision beside the call itself: enough to make the decision again (WB-8).
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "sallyport/json.h"

namespace sallyport::core {

struct DecisionContext {
  std::string decided_at{};       // RFC 3339
  std::uint64_t as_of = 0;        // size of the ledger when the facts were read
  std::string class_source{};     // source of the classification: `policy`, `table`, `unknown`, ..
  bool caution = false;           // the tool's own definition gives reason for caution
  std::string definition{};       // digest of the tool's definition; empty: unknown
  std::string front = "library";  // `mcp`, `http`, `hook`, `library` or `agent`

  // A short text that an intent holds for its later record. `decided_at` is `started_at` of the
  // intent.
  std::string brief() const;
  // No value: `brief` did not write this text.
  static std::optional<DecisionContext> from_brief(const std::string& brief,
                                                   std::string started_at);
};

// The front of a call in records: one of the five words, `library` for every other.
std::string front_word(const std::string& front);

}  // namespace sallyport::core
