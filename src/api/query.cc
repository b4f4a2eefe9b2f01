#include "api/query.h"

#include <fmt/format.h>

#include <boost/json/value.hpp>
#include <charconv>

#include "base/encoding.h"
#include "sallyport/json.h"

namespace sallyport::api {

namespace {

constexpr std::size_t kMostPairs = 32;
constexpr std::size_t kLongestValue = 4096;

std::unexpected<Error> malformed(std::string message, std::string_view name) {
  return fail(ErrorCode::InvalidInput, std::move(message), std::string(name.substr(0, 80)));
}

}  // namespace

std::optional<std::string> unescaped(std::string_view text, bool plus_is_blank) {
  std::optional<std::string> out = percent_decoded(text, plus_is_blank);
  if (out && !check_json(json::value(*out))) return std::nullopt;
  return out;
}

Result<Query> Query::parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto name = unescaped(pair.substr(0, equals), true);
    const auto value = unescaped(pair.substr(std::min(pair.size(), equals + 1)), true);
    if (!name || !value || value->size() > kLongestValue) {
      return malformed("a part of the query is malformed or too long", pair.substr(0, equals));
    }
    if (query.values_.size() >= kMostPairs) return malformed("the query has too many parts", "");
    if (!query.values_.emplace(*name, *value).second) {
      return malformed(fmt::format("`{:.80}` occurs twice in the query", *name), *name);
    }
  }
  return query;
}

std::optional<std::string> Query::get(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

Result<std::optional<std::uint64_t>> Query::number(std::string_view name, std::uint64_t least,
                                                   std::uint64_t most) const {
  const std::optional<std::string> text = get(name);
  if (!text) return std::optional<std::uint64_t>();
  std::uint64_t value = 0;
  const char* const last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, value);
  if (error != std::errc{} || end != last || value < least || value > most) {
    return malformed(fmt::format("`{}` is a whole number from {} to {}", name, least, most), name);
  }
  return std::optional(value);
}

}  // namespace sallyport::api
