#include "config/yaml_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/try.h"

namespace sallyport::config {

namespace {

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool looks_like_number(std::string_view text) {
  const std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const auto digit = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  if (!digit(sign) && !(text.substr(sign).starts_with('.') && digit(sign + 1))) return false;
  return text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
}

Result<json::value> scalar(const YamlNode& node, const std::string& file) {
  if (node.quoted) return json::value(node.text);
  if (node.is_null()) return json::value();
  if (node.text == "true") return json::value(true);
  if (node.text == "false") return json::value(false);
  if (!looks_like_number(node.text)) return json::value(node.text);
  const std::string_view text = std::string_view(node.text).substr(node.text.starts_with('+'));
  if (const auto whole = number_in<std::int64_t>(text)) return json::value(*whole);
  const auto real = number_in<double>(text);
  if (real && std::isfinite(*real)) return json::value(*real);
  // Texts such as `1.2.3` are words.
  if (!real) return json::value(node.text);
  return fail(ErrorCode::InvalidInput, fmt::format("`{}` is too large for a number", node.text),
              place_of(node, file));
}

std::string unescaped(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escaped = token[i] == '~' && i + 1 < token.size();
    text += !escaped ? token[i] : token[++i] == '0' ? '~' : '/';
  }
  return text;
}

}  // namespace

Result<json::value> to_json(const YamlNode& node, const std::string& file) {
  switch (node.kind) {
    case YamlNode::Kind::Scalar:
      return scalar(node, file);
    case YamlNode::Kind::Sequence: {
      json::array array;
      for (const YamlNode& item : node.items) {
        SALLYPORT_TRY(json::value value, to_json(item, file));
        array.push_back(std::move(value));
      }
      return json::value(std::move(array));
    }
    case YamlNode::Kind::Mapping:
      break;
  }
  json::object object;
  for (const auto& [key, member] : node.members) {
    SALLYPORT_TRY(json::value value, to_json(member, file));
    object.insert_or_assign(key.text, std::move(value));
  }
  return json::value(std::move(object));
}

const YamlNode& node_at(const YamlNode& root, std::string_view pointer, bool key) {
  const YamlNode* node = &root;
  while (pointer.starts_with('/')) {
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string token = unescaped(pointer.substr(1, end - 1));
    pointer.remove_prefix(end);
    if (node->kind == YamlNode::Kind::Sequence) {
      const auto index = number_in<std::size_t>(token);
      if (!index || *index >= node->items.size()) return *node;
      node = &node->items[*index];
      continue;
    }
    const auto member = std::ranges::find_if(
        node->members, [&](const YamlMember& each) { return each.key.text == token; });
    if (member == node->members.end()) return *node;
    node = key && pointer.empty() ? &member->key : &member->value;
  }
  return *node;
}

}  // namespace sallyport::config
