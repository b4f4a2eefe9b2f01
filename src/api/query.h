// The part of an address after `?`, as names and values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::api {

// `%41` is `A`. No value: a `%` is not followed by two hex digits, or the text is not UTF-8.
std::optional<std::string> unescaped(std::string_view text, bool plus_is_blank = false);

class Query {
 public:
  // `InvalidInput`: a name occurs twice, a value is malformed, or there are over 32 of them.
  static Result<Query> parse(std::string_view text);

  // An empty value counts as absent.
  std::optional<std::string> get(std::string_view name) const;
  // `InvalidInput`: it is not a whole number from `least` to `most`.
  Result<std::optional<std::uint64_t>> number(std::string_view name, std::uint64_t least,
                                              std::uint64_t most) const;
  const std::map<std::string, std::string, std::less<>>& all() const { return values_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace sallyport::api
