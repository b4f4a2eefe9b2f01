// The token usage of one model response, as its provider reported it.
//
//   Usage usage{.input_tokens = 1200, .output_tokens = 80};
//   to_json(usage);   // {"input_tokens":1200,"output_tokens":80,"total_tokens":null,...}
//   usage_from_json(json::parse(R"({"input_tokens":-1})")).error().where;   // "usage.input_tokens"
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

// A value. A member without a value was not reported. Nothing is computed, not even `total_tokens`.
struct Usage {
  std::optional<std::uint64_t> input_tokens{};
  std::optional<std::uint64_t> output_tokens{};
  std::optional<std::uint64_t> total_tokens{};
  std::optional<std::uint64_t> cache_read_input_tokens{};
  std::optional<std::uint64_t> cache_creation_input_tokens{};
  std::optional<std::uint64_t> reasoning_tokens{};
  std::optional<std::uint64_t> thoughts_tokens{};
  std::optional<std::uint64_t> tool_input_tokens{};

  bool operator==(const Usage&) const = default;
};

// Writes all eight members. A member without a value is `null`.
json::object to_json(const Usage& usage);

// Reads absent members as `null` and ignores unknown members. `InvalidInput` names the member that
// is not a whole number from 0 to 2^53-1; messages name the object `where`.
Result<Usage> usage_from_json(const json::value& value, std::string where = "usage");

}  // namespace sallyport
