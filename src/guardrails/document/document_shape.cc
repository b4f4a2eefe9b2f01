#include "guardrails/document/document_shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <cmath>
#include <ranges>
#include <type_traits>

#include "base/json_pointer.h"
#include "base/nearest.h"
#include "base/try.h"
#include "guardrails/document/argument_path.h"
#include "guardrails/document/document_names.h"
#include "guardrails/document/one_line.h"

namespace sallyport::guardrails {

namespace {

using Done = std::expected<void, DocumentError>;

struct Place {
  std::string path{};
  std::optional<std::size_t> check_index{};

  Place at(std::string_view segment) const {
    Place below = *this;
    append_step(below.path, segment);
    return below;
  }
  Place at(std::size_t index) const { return at(std::to_string(index)); }
};

std::unexpected<DocumentError> refuse(std::string code, const Place& place, std::string what) {
  std::string message =
      place.check_index ? fmt::format("check #{}: {}", *place.check_index, what) : std::move(what);
  return std::unexpected(DocumentError{.code = std::move(code),
                                       .message = std::move(message),
                                       .check_index = place.check_index,
                                       .path = place.path});
}

std::unexpected<DocumentError> wrong_type(const Place& place, std::string_view wanted) {
  const std::string subject =
      place.path.empty() ? "a guardrail document" : fmt::format("`{}`", in_one_line(place.path));
  return refuse("shape", place, fmt::format("{} must be {}", subject, wanted));
}

template <class Names>
std::unexpected<DocumentError> unknown_key(const Place& object, std::string_view key,
                                           const Names& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  return refuse("unknown_key", object.at(key),
                fmt::format("unknown key `{}`{}; known are {}", in_one_line(key),
                            did_you_mean(key, names), fmt::join(names, ", ")));
}

Done read_value(const json::value& given, const Place& place, std::string& out) {
  if (!given.is_string()) return wrong_type(place, "a string");
  out = given.get_string();
  return {};
}

Done read_value(const json::value& given, const Place& place, bool& out) {
  if (!given.is_bool()) return wrong_type(place, "true or false");
  out = given.get_bool();
  return {};
}

template <class T>
Done read_value(const json::value& given, const Place& place, std::optional<T>& out) {
  return read_value(given, place, out.emplace());
}

template <class E>
  requires std::is_enum_v<E>
Done read_value(const json::value& given, const Place& place, E& out) {
  std::vector<std::string_view> names;
  for (const auto& [value, name] : spellings(E{})) {
    if (given.is_string() && given.get_string() == name) {
      out = value;
      return {};
    }
    names.push_back(name);
  }
  const std::string wanted = fmt::format("one of {}", fmt::join(names, ", "));
  if (!given.is_string()) return wrong_type(place, wanted);
  return refuse("shape", place,
                fmt::format("`{}` must be {}, not `{}`", in_one_line(place.path), wanted,
                            in_one_line(given.get_string())));
}

template <class T>
Done read_value(const json::value& given, const Place& place, std::vector<T>& out) {
  if (!given.is_array()) return wrong_type(place, "a list");
  out.clear();
  std::size_t index = 0;
  for (const json::value& item : given.get_array()) {
    T element{};
    SALLYPORT_CHECK_OK(read_value(item, place.at(index), element));
    out.push_back(std::move(element));
    ++index;
  }
  return {};
}

Done read_views(const json::value& given, const Place& place, Check& check) {
  if (!given.is_array()) return wrong_type(place, "a list");
  std::size_t index = 0;
  for (const json::value& item : given.get_array()) {
    View view{};
    SALLYPORT_CHECK_OK(read_value(item, place.at(index), view));
    if (std::ranges::find(check.views, view) != check.views.end()) {
      return refuse("shape", place.at(index),
                    fmt::format("view `{}` occurs twice", to_string(view)));
    }
    check.views.push_back(view);
    ++index;
  }
  std::ranges::sort(check.views);
  return {};
}

// A whole number however it is written: `2`, `2.0` and `20e-1` have one canonical form and so one
// hash, and must mean the same.
std::optional<double> whole_number(const json::value& given) {
  const double number = given.is_int64()    ? static_cast<double>(given.get_int64())
                        : given.is_uint64() ? static_cast<double>(given.get_uint64())
                        : given.is_double() ? given.get_double()
                                            : 0.5;
  return number == std::floor(number) ? std::optional(number) : std::nullopt;
}

std::expected<std::uint64_t, DocumentError> read_integer(const json::value& given,
                                                         const Place& place, std::uint64_t least,
                                                         std::uint64_t most) {
  const std::optional<double> number = whole_number(given);
  const std::string wanted = fmt::format("an integer from {} to {}", least, most);
  if (!number) return wrong_type(place, wanted);
  if (*number < static_cast<double>(least) || *number > static_cast<double>(most)) {
    return refuse("out_of_range", place,
                  fmt::format("`{}` must be {}", in_one_line(place.path), wanted));
  }
  return static_cast<std::uint64_t>(*number);
}

Done read_depth(const json::value& given, const Place& place, Check& check) {
  SALLYPORT_TRY(const std::uint64_t depth, read_integer(given, place, 1, kMostDecodeDepth));
  check.decode_depth = static_cast<unsigned>(depth);
  return {};
}

template <auto member>
Done read_member(const json::value& given, const Place& place, Check& check) {
  return read_value(given, place, check.*member);
}

// The list that belongs to a check is known only after its type.
Done read_list(const json::value& given, const Place& place, Check&) {
  std::vector<std::string> entries;
  return read_value(given, place, entries);
}

struct CheckKey {
  std::string_view name;
  Done (*read)(const json::value&, const Place&, Check&);
};

constexpr CheckKey kCheckKeys[] = {{"type", read_member<&Check::type>},
                                   {"stage", read_member<&Check::stage>},
                                   {"id", read_member<&Check::id>},
                                   {"on_fail", read_member<&Check::on_fail>},
                                   {"severity", read_member<&Check::severity>},
                                   {"replacement", read_member<&Check::replacement>},
                                   {"patterns", read_list},
                                   {"unicode", read_member<&Check::unicode>},
                                   {"words", read_list},
                                   {"case_sensitive", read_member<&Check::case_sensitive>},
                                   {"whole_word", read_member<&Check::whole_word>},
                                   {"tools", read_list},
                                   {"args", read_member<&Check::args>},
                                   {"except", read_member<&Check::except>},
                                   {"views", read_views},
                                   {"decode_depth", read_depth}};

std::vector<std::string> texts_in(const json::object& object, std::string_view name) {
  std::vector<std::string> texts;
  const json::value* const list = object.if_contains(name);
  if (list == nullptr) return texts;
  for (const json::value& item : list->get_array()) texts.emplace_back(item.get_string());
  return texts;
}

Done require(const json::object& object, const Place& place, std::string_view name) {
  if (object.contains(name)) return {};
  return refuse("shape", place, fmt::format("`{}` is missing", name));
}

Done read_check(const json::value& given, const Place& place, Check& check) {
  if (!given.is_object()) return wrong_type(place, "an object");
  const json::object& object = given.get_object();
  for (const json::key_value_pair& member : object) {
    const auto key = std::ranges::find(kCheckKeys, std::string_view(member.key()), &CheckKey::name);
    if (key == std::end(kCheckKeys)) {
      return unknown_key(place, member.key(), kCheckKeys | std::views::transform(&CheckKey::name));
    }
    SALLYPORT_CHECK_OK(key->read(member.value(), place.at(member.key()), check));
  }
  SALLYPORT_CHECK_OK(require(object, place, "type"));
  SALLYPORT_CHECK_OK(require(object, place, "stage"));
  SALLYPORT_CHECK_OK(require(object, place, own_list(check.type)));
  check.entries = texts_in(object, own_list(check.type));
  if (check.type != CheckType::ToolPattern) check.tools = texts_in(object, "tools");
  return {};
}

Done read_checks(const json::value& given, const Place& place, std::vector<Check>& checks) {
  if (!given.is_array()) return wrong_type(place, "a list");
  for (const json::value& item : given.get_array()) {
    Place check_place = place.at(checks.size());
    check_place.check_index = checks.size();
    SALLYPORT_CHECK_OK(read_check(item, check_place, checks.emplace_back()));
  }
  return {};
}

bool is_policy(const json::object& object) {
  return object.contains("version") && !object.contains("checks");
}

}  // namespace

std::expected<Document, DocumentError> read_shape(const json::value& given) {
  Document document;
  if (given.is_null()) return document;
  const Place root;
  if (!given.is_object()) return wrong_type(root, "an object");
  for (const json::key_value_pair& member : given.get_object()) {
    const std::string_view key = member.key();
    const Place place = root.at(key);
    if (key == "mode") {
      SALLYPORT_CHECK_OK(read_value(member.value(), place, document.mode));
    } else if (key == "checks") {
      SALLYPORT_CHECK_OK(read_checks(member.value(), place, document.checks));
    } else if (key == "max_hold_bytes") {
      SALLYPORT_TRY(document.max_hold_bytes,
                    read_integer(member.value(), place, kLeastHoldBytes, kMostHoldBytes));
    } else if (is_policy(given.get_object())) {
      return refuse("unknown_key", place,
                    fmt::format("unknown key `{}`: this is a policy; use --policy, or give only "
                                "its `guardrails` section",
                                in_one_line(key)));
    } else {
      return unknown_key(root, key,
                         std::array<std::string_view, 3>{"mode", "checks", "max_hold_bytes"});
    }
  }
  return document;
}

}  // namespace sallyport::guardrails
