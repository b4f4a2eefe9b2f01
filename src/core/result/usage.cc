#include "sallyport/usage.h"

#include <boost/json.hpp>
#include <string_view>
#include <utility>

#include "base/object_reader.h"

namespace sallyport {

namespace {

struct TokenField {
  std::string_view name;
  std::optional<std::uint64_t> Usage::* member;
};

constexpr TokenField kTokenFields[] = {
    {"input_tokens", &Usage::input_tokens},
    {"output_tokens", &Usage::output_tokens},
    {"total_tokens", &Usage::total_tokens},
    {"cache_read_input_tokens", &Usage::cache_read_input_tokens},
    {"cache_creation_input_tokens", &Usage::cache_creation_input_tokens},
    {"reasoning_tokens", &Usage::reasoning_tokens},
    {"thoughts_tokens", &Usage::thoughts_tokens},
    {"tool_input_tokens", &Usage::tool_input_tokens},
};

}  // namespace

json::object to_json(const Usage& usage) {
  json::object object;
  for (const TokenField& field : kTokenFields) {
    const std::optional<std::uint64_t>& tokens = usage.*field.member;
    object[field.name] = tokens ? json::value(*tokens) : json::value(nullptr);
  }
  return object;
}

Result<Usage> usage_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  Usage usage;
  for (const TokenField& field : kTokenFields) {
    usage.*field.member = in.optional_number(field.name);
  }
  if (!in.ok()) return std::unexpected(in.error());
  return usage;
}

}  // namespace sallyport
