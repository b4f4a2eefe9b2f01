// Checks for JSON shapes: a literal with every member set is written again byte for byte, and each
// of its members, removed or changed to another type, is refused by name.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

inline json::value parsed(std::string_view text) {
  Result<ParsedJson> value = parse_json(text);
  EXPECT_TRUE(value) << value.error().message << " in " << text;
  return value ? std::move(value->value) : json::value();
}

// The members of a literal that are not simply required, by JSON Pointer.
struct Leniency {
  std::set<std::string> open{};      // any JSON value will do
  std::set<std::string> optional{};  // may be absent or null
};

struct Member {
  std::string owner;    // JSON Pointer of the object that contains it
  std::string pointer;  // the pointer of the member itself
  std::string key;
  std::string name;  // as messages name it
};

inline void collect_members(const json::value& value, const std::string& pointer,
                            const std::string& name, const Leniency& leniency,
                            std::vector<Member>& out) {
  if (leniency.open.contains(pointer)) return;
  if (const json::array* const array = value.if_array()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      collect_members(array->at(i), fmt::format("{}/{}", pointer, i),
                      fmt::format("{}[{}]", name, i), leniency, out);
    }
  }
  if (!value.is_object()) return;
  for (const auto& member : value.get_object()) {
    const std::string key = member.key();
    const Member found{.owner = pointer,
                       .pointer = pointer + "/" + key,
                       .key = key,
                       .name = name.empty() ? key : name + "." + key};
    out.push_back(found);
    collect_members(member.value(), found.pointer, found.name, leniency, out);
  }
}

inline std::vector<json::value> values_of_another_type(const json::value& value) {
  if (value.is_string()) return {7, true, json::array(), json::object()};
  if (value.is_number()) return {"7", -1, 1.5, 9007199254740992, json::array()};
  if (value.is_bool()) return {"true", 1, json::array()};
  if (value.is_array()) return {"text", 7, json::object()};
  return {"text", 7, json::array()};
}

template <class Read>
void expect_round_trip(std::string_view text, Read read) {
  const json::value value = parsed(text);
  const auto shape = read(value);
  ASSERT_TRUE(shape) << shape.error().message << " in " << text;
  EXPECT_EQ(canonical_json(to_json(*shape)), canonical_json(value));
}

template <class Read>
void expect_refused(const json::value& value, const std::string& name, Read read) {
  const auto shape = read(value);
  ASSERT_FALSE(shape) << "accepted " << canonical_json(value);
  EXPECT_EQ(shape.error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(shape.error().where, name) << shape.error().message;
  EXPECT_NE(shape.error().message.find("`" + name + "`"), std::string::npos)
      << shape.error().message;
}

template <class Read>
void expect_each_member_is_checked(std::string_view text, const std::string& where,
                                   const Leniency& leniency, Read read) {
  const json::value whole = parsed(text);
  ASSERT_TRUE(read(whole)) << read(whole).error().message;
  std::vector<Member> members;
  collect_members(whole, "", where, leniency, members);
  ASSERT_FALSE(members.empty());
  std::set<std::string> met;
  for (const Member& member : members) {
    SCOPED_TRACE(member.pointer);
    met.insert(member.pointer);
    json::value without = whole;
    without.at_pointer(member.owner).as_object().erase(member.key);
    json::value with_null = whole;
    with_null.at_pointer(member.pointer) = nullptr;
    if (leniency.optional.contains(member.pointer)) {
      EXPECT_TRUE(read(without)) << read(without).error().message;
      EXPECT_TRUE(read(with_null)) << read(with_null).error().message;
    } else {
      expect_refused(without, member.name, read);
    }
    if (leniency.open.contains(member.pointer)) {
      EXPECT_TRUE(read(with_null)) << read(with_null).error().message;
      continue;
    }
    if (!leniency.optional.contains(member.pointer)) expect_refused(with_null, member.name, read);
    for (const json::value& other : values_of_another_type(whole.at_pointer(member.pointer))) {
      json::value changed = whole;
      changed.at_pointer(member.pointer) = other;
      expect_refused(changed, member.name, read);
    }
  }
  for (const std::string& pointer : leniency.open) EXPECT_TRUE(met.contains(pointer)) << pointer;
  for (const std::string& pointer : leniency.optional) {
    EXPECT_TRUE(met.contains(pointer)) << pointer;
  }
}

// An unknown word is refused together with a list of every accepted one.
template <class Read>
void expect_words(std::string_view text, const std::string& pointer, const std::string& name,
                  const std::vector<std::string>& words, Read read) {
  json::value value = parsed(text);
  value.at_pointer(pointer) = "no_such_word";
  expect_refused(value, name, read);
  const std::string message = read(value).error().message;
  EXPECT_NE(message.find("`no_such_word`"), std::string::npos) << message;
  for (const std::string& word : words) {
    EXPECT_NE(message.find("`" + word + "`"), std::string::npos) << message;
    value.at_pointer(pointer) = word;
    const auto shape = read(value);
    ASSERT_TRUE(shape) << shape.error().message;
    EXPECT_EQ(canonical_json(to_json(*shape)), canonical_json(value));
  }
}

}  // namespace sallyport
