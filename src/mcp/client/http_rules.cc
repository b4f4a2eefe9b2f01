#include "mcp/client/http_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <optional>

#include "base/encoding.h"
#include "base/exact_numbers.h"
#include "base/json_members.h"
#include "base/lower_case.h"
#include "mcp/message/era.h"
#include "mcp/message/json_text.h"
#include "mcp/message/translation.h"

namespace sallyport::mcp {

namespace {

constexpr std::string_view kVersionHeader = "mcp-protocol-version";
constexpr std::size_t kDeepestSchema = 32;

Refused mismatch(std::string message) {
  return {.code = kHeaderMismatch, .message = std::move(message)};
}

// The header must occur once and have this value.
std::optional<Refused> compare(const net::ServerRequest& head, const char* shown,
                               std::string_view name, std::string_view body) {
  if (head.count(name) > 1) return mismatch(fmt::format("`{}` is there more than once", shown));
  const auto value = head.header(name);
  if (!value) return mismatch(fmt::format("the header `{}` is missing", shown));
  const auto text = header_text(*value);
  if (!text) return mismatch(fmt::format("the header `{}` is malformed", shown));
  if (*text != body) return mismatch(fmt::format("the header `{}` is unlike the body", shown));
  return std::nullopt;
}

bool supported(std::string_view version) {
  return std::ranges::find(kLegacyVersions, version) != kLegacyVersions.end();
}

// The whole text as a number of this type.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// `42.0` and `042` are the number 42. Numbers that a double would round are compared by their
// digits.
bool same_number(std::string_view text, const json::value& value) {
  if (!value.is_number()) return false;
  const auto whole = number_in<std::int64_t>(text);
  if (whole && value.is_int64()) return value.get_int64() == *whole;
  const auto number = number_in<double>(text);
  const bool exact = number && numbers_are_exact(*number) && numbers_are_exact(value);
  return exact ? *number == value.to_number<double>() : text == id_text(value);
}

bool equals(std::string_view text, const json::value& value) {
  if (value.is_string()) return text == std::string_view(value.get_string());
  if (value.is_bool()) return text == (value.get_bool() ? "true" : "false");
  return same_number(text, value);
}

std::string check_argument(const net::ServerRequest& head, std::string_view mark,
                           const json::value* value) {
  const std::string name = "mcp-param-" + lower_case(mark);
  const std::size_t count = head.count(name);
  const bool absent = value == nullptr || value->is_null();
  if (absent && count == 0) return {};
  if (absent) return fmt::format("`Mcp-Param-{}` is set, but its argument is missing", mark);
  if (count != 1) return fmt::format("`Mcp-Param-{}` must occur exactly once", mark);
  const auto text = header_text(*head.header(name));
  if (!text) return fmt::format("`Mcp-Param-{}` is malformed", mark);
  return equals(*text, *value) ? "" : fmt::format("`Mcp-Param-{}` differs from the argument", mark);
}

std::string check_properties(const net::ServerRequest& head, const json::object& schema,
                             const json::object* input, std::size_t depth) {
  const json::object* const properties = object_in(schema, "properties");
  if (properties == nullptr || depth > kDeepestSchema) return {};
  for (const auto& [name, property] : *properties) {
    if (!property.is_object()) continue;
    const json::value* const value = input ? input->if_contains(name) : nullptr;
    if (const auto mark = text_in(property.get_object(), "x-mcp-header")) {
      std::string wrong = check_argument(head, *mark, value);
      if (!wrong.empty()) return wrong;
    }
    std::string below = check_properties(head, property.get_object(),
                                         value ? value->if_object() : nullptr, depth + 1);
    if (!below.empty()) return below;
  }
  return {};
}

}  // namespace

bool is_modern(const net::ServerRequest& head, const Message& message) {
  if (message.is_modern()) return true;
  if (message.method == "initialize") return false;
  const auto version = head.header(kVersionHeader);
  return version && !supported(*version) && head.count("mcp-session-id") == 0;
}

std::optional<Refused> refuse_modern(const net::ServerRequest& head, const Message& message) {
  if (message.kind == Message::Kind::Response) {
    return Refused{.code = kInvalidRequest, .message = "this answers no request"};
  }
  if (message.kind == Message::Kind::Notification) return std::nullopt;
  const json::object* const meta = message.meta();
  const auto version = meta ? text_in(*meta, kMetaVersion) : std::nullopt;
  const auto lacks = [](std::string_view member) {
    return Refused{.code = kInvalidParams,
                   .message = fmt::format("`_meta` lacks `{}`", member),
                   .data = modern_version("")};
  };
  if (head.count(kVersionHeader) != 1) {
    return mismatch("the header `MCP-Protocol-Version` must occur exactly once");
  }
  if (!version) return lacks(kMetaVersion);
  if (auto wrong = compare(head, "MCP-Protocol-Version", kVersionHeader, *version)) return wrong;
  if (*version != kModernVersion) {
    return Refused{.code = kUnsupportedVersion,
                   .message = "this protocol version is not supported",
                   .data = modern_version(*version)};
  }
  if (auto wrong = compare(head, "Mcp-Method", "mcp-method", message.method)) return wrong;
  if (object_in(*meta, kMetaCapabilities) == nullptr) return lacks(kMetaCapabilities);
  // All stateless requests share one conversation, so none of them may open it.
  if (message.method == "initialize") {
    return Refused{.status = 404, .code = kMethodNotFound, .message = "Method not found"};
  }
  const std::string_view member = subject_member(message.method);
  if (member.empty()) return std::nullopt;
  const auto name = text_in(*message.params(), member);
  if (!name) {
    return Refused{.code = kInvalidParams, .message = fmt::format("`{}` is missing", member)};
  }
  return compare(head, "Mcp-Name", "mcp-name", *name);
}

std::optional<Refused> refuse_legacy(const net::ServerRequest& head) {
  if (head.count(kVersionHeader) == 0) return std::nullopt;
  const auto version = head.header(kVersionHeader);
  if (version && supported(*version)) return std::nullopt;
  return Refused{.code = kInvalidRequest,
                 .message = "`MCP-Protocol-Version` names no version that is spoken here",
                 .data = every_version(version.value_or(""))};
}

std::optional<std::string> header_text(std::string_view value) {
  constexpr std::string_view kBegin = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  if (!value.starts_with(kBegin) || !value.ends_with(kEnd) ||
      value.size() < kBegin.size() + kEnd.size()) {
    return std::string(value);
  }
  value.remove_prefix(kBegin.size());
  value.remove_suffix(kEnd.size());
  return from_base64(value);
}

std::string argument_contradiction(const net::ServerRequest& head, const json::value& schema,
                                   const json::value& input) {
  if (!schema.is_object()) return {};
  return check_properties(head, schema.get_object(), input.if_object(), 0);
}

unsigned status_of_error(std::int64_t code) {
  if (code == kMethodNotFound) return 404;
  if (code == kHeaderMismatch || code == kMissingCapability || code == kUnsupportedVersion) {
    return 400;
  }
  return 200;
}

bool accepts(const net::ServerRequest& head, std::string_view type) {
  if (head.count("accept") == 0) return true;
  const std::string family = std::string(type.substr(0, type.find('/') + 1)) + '*';
  for (const auto& [name, value] : head.headers) {
    if (name != "accept") continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      std::string_view range = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
      range = range.substr(0, range.find(';'));
      while (range.starts_with(' ') || range.starts_with('\t')) range.remove_prefix(1);
      while (range.ends_with(' ') || range.ends_with('\t')) range.remove_suffix(1);
      const std::string given = lower_case(range);
      if (given == type || given == "*/*" || given == family) return true;
    }
  }
  return false;
}

}  // namespace sallyport::mcp
