#include "mcp/server/request_headers.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <set>

#include "base/encoding.h"
#include "base/json_members.h"
#include "base/lower_case.h"
#include "mcp/message/era.h"

namespace sallyport::mcp {

namespace {

constexpr std::string_view kMark = "x-mcp-header";
constexpr std::string_view kBegin = "=?base64?";
constexpr std::string_view kEnd = "?=";

bool is_token(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (lower_letter(c) >= 'a' && lower_letter(c) <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// Walks a schema for marks at all places.
class Marks {
 public:
  // `reached`: by names of properties alone.
  bool walk(const json::object& schema, bool reached) {
    if (const json::value* const mark = schema.if_contains(kMark)) {
      if (!reached || path_.empty() || !take(schema, *mark)) return false;
    }
    for (const auto& [key, value] : schema) {
      // Data, not schemas.
      if (key == "const" || key == "default" || key == "enum" || key == "examples") continue;
      if (key == "properties" && value.is_object()) {
        for (const auto& [name, property] : value.get_object()) {
          path_.emplace_back(name);
          const bool good = below(property, reached);
          path_.pop_back();
          if (!good) return false;
        }
      } else if (!below(value, false)) {
        return false;
      }
    }
    return true;
  }

  std::vector<ParamHeader> found{};

 private:
  bool below(const json::value& value, bool reached) {
    if (value.is_object()) return walk(value.get_object(), reached);
    if (!value.is_array()) return true;
    return std::ranges::all_of(value.get_array(),
                               [&](const json::value& element) { return below(element, false); });
  }

  bool take(const json::object& schema, const json::value& mark) {
    const auto type = text_in(schema, "type");
    if (type != "string" && type != "integer" && type != "boolean") return false;
    if (!mark.is_string() || !is_token(std::string_view(mark.get_string()))) return false;
    std::string name(mark.get_string());
    std::string plain = name;
    std::ranges::transform(plain, plain.begin(), lower_letter);
    if (!names_.insert(std::move(plain)).second) return false;
    found.push_back({path_, std::move(name)});
    return true;
  }

  std::vector<std::string> path_;
  std::set<std::string> names_;
};

std::optional<std::string> text_of(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_bool()) return value.get_bool() ? "true" : "false";
  if (value.is_int64() || value.is_uint64()) return json::serialize(value);
  // 5.0 is an integer to a schema.
  constexpr double kExact = 9007199254740992.0;
  if (value.is_double() && std::trunc(value.get_double()) == value.get_double() &&
      std::abs(value.get_double()) <= kExact) {
    return std::to_string(static_cast<std::int64_t>(value.get_double()));
  }
  return std::nullopt;
}

const json::value* at_path(const json::object& arguments, const std::vector<std::string>& path) {
  const json::object* object = &arguments;
  const json::value* value = nullptr;
  for (const std::string& name : path) {
    value = object ? object->if_contains(name) : nullptr;
    object = value ? value->if_object() : nullptr;
  }
  return value;
}

}  // namespace

std::optional<std::vector<ParamHeader>> param_headers(const json::object& tool) {
  const json::object* const schema = object_in(tool, "inputSchema");
  if (schema == nullptr) return std::vector<ParamHeader>();
  Marks marks;
  if (!marks.walk(*schema, true)) return std::nullopt;
  return std::move(marks.found);
}

std::string header_value(std::string_view text) {
  const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7F; });
  const bool blank = text.starts_with(' ') || text.ends_with(' ');
  const bool marked = text.starts_with(kBegin) && text.ends_with(kEnd);
  if (plain && !blank && !marked) return std::string(text);
  return std::string(kBegin) + base64(as_bytes(text)) + std::string(kEnd);
}

net::HttpHeaders modern_headers(const Message& request, const std::vector<ParamHeader>& params) {
  net::HttpHeaders headers;
  const json::object* const given = request.params();
  const json::object* const meta = request.meta();
  const auto version = meta ? text_in(*meta, kMetaVersion) : std::nullopt;
  headers.emplace_back("MCP-Protocol-Version", header_value(version.value_or(kModernVersion)));
  headers.emplace_back("Mcp-Method", header_value(request.method));
  if (given == nullptr) return headers;
  const std::string_view subject = subject_member(request.method);
  if (const auto name = subject.empty() ? std::nullopt : text_in(*given, subject)) {
    headers.emplace_back("Mcp-Name", header_value(*name));
  }
  const json::object* const arguments = object_in(*given, "arguments");
  if (arguments == nullptr) return headers;
  for (const ParamHeader& param : params) {
    const json::value* const value = at_path(*arguments, param.path);
    if (const auto text = value ? text_of(*value) : std::nullopt) {
      headers.emplace_back("Mcp-Param-" + param.header, header_value(*text));
    }
  }
  return headers;
}

}  // namespace sallyport::mcp
