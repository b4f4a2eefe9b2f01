#include "config/mapping.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <optional>

#include "base/nearest.h"
#include "base/try.h"
#include "config/yaml_json.h"

namespace sallyport::config {

namespace {

std::optional<std::uint64_t> whole_number(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::Scalar || node.quoted) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = node.text.data() + node.text.size();
  const auto [stopped, error] = std::from_chars(node.text.data(), end, number);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

std::string instead_of(const YamlNode& node) {
  return node.text.empty() ? std::string() : fmt::format(", not `{}`", node.text);
}

// An empty section is valid.
json::value or_nothing(const char* type) {
  return json::array{type, "null"};
}

}  // namespace

std::unexpected<Error> Place::refuse(std::string message) const {
  return fail(ErrorCode::InvalidInput, std::move(message), place_of(node, file));
}

std::unexpected<Error> Place::must_be(std::string_view rule) const {
  return refuse(fmt::format("{} must be {}", name.empty() ? "this" : name, rule));
}

Mapping& Mapping::optional(std::string name, std::string about, json::object schema,
                           ReadValue read) {
  keys_.push_back({std::move(name), std::move(about), std::move(schema), std::move(read), false});
  return *this;
}

Mapping& Mapping::required(std::string name, std::string about, json::object schema,
                           ReadValue read) {
  optional(std::move(name), std::move(about), std::move(schema), std::move(read));
  keys_.back().required = true;
  return *this;
}

Result<void> Mapping::read(const Place& place) const {
  const YamlNode& node = place.node;
  if (!node.is_null() && node.kind != YamlNode::Kind::Mapping) {
    return Place{node, place.file, place.name.empty() ? about_ : place.name}.must_be("a mapping");
  }
  for (const auto& [key, value] : node.members) {
    const auto known = std::ranges::find(keys_, key.text, &Key::name);
    if (known == keys_.end()) {
      std::vector<std::string> names;
      for (const Key& known_key : keys_) names.push_back(known_key.name);
      return Place{key, place.file}.refuse(
          fmt::format("unknown key `{}`{}", key.text, did_you_mean(key.text, names)));
    }
    SALLYPORT_CHECK_OK(known->read({value, place.file, fmt::format("`{}`", key.text)}));
  }
  for (const Key& key : keys_) {
    const bool there = std::ranges::any_of(
        node.members, [&](const YamlMember& member) { return member.key.text == key.name; });
    if (key.required && !there) return place.refuse(fmt::format("`{}` is missing", key.name));
  }
  return {};
}

json::object Mapping::schema() const {
  json::object properties;
  json::array required;
  for (const Key& key : keys_) {
    json::object schema = key.schema;
    schema["description"] = key.about;
    properties[key.name] = std::move(schema);
    if (key.required) required.push_back(json::value(key.name));
  }
  json::object schema{{"type", or_nothing("object")},
                      {"description", about_},
                      {"additionalProperties", false},
                      {"properties", std::move(properties)}};
  if (required.empty()) return schema;
  schema["type"] = "object";
  schema["required"] = std::move(required);
  return schema;
}

json::object text_schema(std::size_t longest) {
  return {{"type", "string"}, {"minLength", 1}, {"maxLength", longest}};
}

ReadValue read_text(std::string& out, std::size_t longest) {
  return [&out, longest](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(read_word(out, longest)(place));
    SALLYPORT_TRY(const json::value value, to_json(place.node, place.file));
    if (value.is_string()) return {};
    return place.must_be(fmt::format("a text; put `{}` in quotes", out));
  };
}

json::object word_schema(std::size_t longest) {
  json::object schema = text_schema(longest);
  schema["type"] = {"string", "number", "boolean"};
  return schema;
}

ReadValue read_word(std::string& out, std::size_t longest) {
  return [&out, longest](const Place& place) -> Result<void> {
    const YamlNode& node = place.node;
    if (node.kind != YamlNode::Kind::Scalar || node.is_null() || node.text.empty()) {
      return place.must_be("a text");
    }
    if (node.text.size() > longest) {
      return place.must_be(fmt::format("a text of at most {} bytes", longest));
    }
    out = node.text;
    return {};
  };
}

json::object choice_schema(const std::vector<std::string>& words) {
  return {{"enum", json::array(words.begin(), words.end())}};
}

ReadValue read_choice(std::vector<std::string> words, std::function<void(std::size_t)> take) {
  return [words = std::move(words), take = std::move(take)](const Place& place) -> Result<void> {
    const YamlNode& node = place.node;
    if (node.kind != YamlNode::Kind::Scalar) {
      return place.must_be(fmt::format("one of {}", fmt::join(words, ", ")));
    }
    const auto word = std::ranges::find(words, node.text);
    if (word == words.end()) {
      return place.must_be(fmt::format("one of {}, not `{}`{}", fmt::join(words, ", "), node.text,
                                       did_you_mean(node.text, words)));
    }
    take(static_cast<std::size_t>(word - words.begin()));
    return {};
  };
}

json::object number_schema(std::uint64_t least, std::uint64_t greatest) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", greatest}};
}

ReadValue read_number(std::uint64_t least, std::uint64_t greatest,
                      std::function<void(std::uint64_t)> take) {
  return [=](const Place& place) -> Result<void> {
    const std::optional<std::uint64_t> number = whole_number(place.node);
    if (!number || *number < least || *number > greatest) {
      return place.must_be(
          fmt::format("a whole number from {} to {}{}", least, greatest, instead_of(place.node)));
    }
    take(*number);
    return {};
  };
}

json::object truth_schema() {
  return {{"type", "boolean"}};
}

ReadValue read_truth(bool& out) {
  return [&out](const Place& place) -> Result<void> {
    const YamlNode& node = place.node;
    const bool truth = node.text == "true" || node.text == "false";
    if (node.kind != YamlNode::Kind::Scalar || !truth) {
      return place.must_be("true or false" + instead_of(node));
    }
    if (node.quoted) return place.must_be("true or false, without quotes");
    out = node.text == "true";
    return {};
  };
}

json::object list_schema(json::object items, std::size_t most) {
  return {{"type", or_nothing("array")}, {"items", std::move(items)}, {"maxItems", most}};
}

ReadValue read_list(std::size_t most, ReadValue read_item) {
  return [most, read_item = std::move(read_item)](const Place& place) -> Result<void> {
    const YamlNode& node = place.node;
    if (node.is_null()) return {};
    if (node.kind != YamlNode::Kind::Sequence) return place.must_be("a list");
    if (node.items.size() > most) {
      return place.refuse(fmt::format("{} entries, at most {} are read", node.items.size(), most));
    }
    const std::string name = place.name.empty() ? "each entry" : "each entry of " + place.name;
    for (const YamlNode& item : node.items) SALLYPORT_CHECK_OK(read_item({item, place.file, name}));
    return {};
  };
}

}  // namespace sallyport::config
