#include "config/yaml.h"

#include <fmt/format.h>
#include <libfyaml.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/try.h"

namespace sallyport::config {

namespace {

struct Destroy {
  void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
  void operator()(fy_document* document) const { fy_document_destroy(document); }
};
using Diag = std::unique_ptr<fy_diag, Destroy>;
using Parser = std::unique_ptr<fy_parser, Destroy>;
using Document = std::unique_ptr<fy_document, Destroy>;

std::unexpected<Error> refused(std::string message, const YamlNode& node, const std::string& file) {
  return fail(ErrorCode::InvalidInput, std::move(message), place_of(node, file));
}

std::unexpected<Error> first_error(fy_diag* diag, const std::string& text,
                                   const std::string& file) {
  void* previous = nullptr;
  const fy_diag_error* const error = fy_diag_errors_iterate(diag, &previous);
  if (error == nullptr || error->msg == nullptr) {
    return fail(ErrorCode::InvalidInput, "this is not YAML", file);
  }
  // The library reports a tab as something else.
  const bool tabs = text.starts_with('\t') || text.contains("\n\t") || text.contains(" \t");
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}{}", error->msg, tabs ? "; indent with spaces" : ""),
              fmt::format("{}:{}:{}", file, error->line, error->column));
}

void place(YamlNode& node, fy_node* from) {
  fy_token* const token = fy_node_get_scalar_token(from);
  const fy_mark* const mark = token == nullptr ? nullptr : fy_token_start_mark(token);
  if (mark == nullptr) return;
  node.line = mark->line + 1;
  node.column = mark->column + 1;
}

Result<YamlNode> read(fy_node* from, const YamlNode& above, const std::string& file);

Result<void> read_members(YamlNode& node, fy_node* from, const std::string& file) {
  std::set<std::string> seen;
  void* at = nullptr;
  while (fy_node_pair* const pair = fy_node_mapping_iterate(from, &at)) {
    SALLYPORT_TRY(YamlNode key, read(fy_node_pair_key(pair), node, file));
    if (key.kind != YamlNode::Kind::Scalar || key.text == "<<") {
      return refused("a key is a plain word", key, file);
    }
    if (!seen.insert(key.text).second) return refused("duplicate key", key, file);
    if (node.members.empty()) {
      node.line = key.line;
      node.column = key.column;
    }
    SALLYPORT_TRY(YamlNode value, read(fy_node_pair_value(pair), key, file));
    node.members.push_back({std::move(key), std::move(value)});
  }
  return {};
}

Result<void> read_items(YamlNode& node, fy_node* from, const std::string& file) {
  void* at = nullptr;
  while (fy_node* const item = fy_node_sequence_iterate(from, &at)) {
    SALLYPORT_TRY(YamlNode read_item, read(item, node, file));
    node.items.push_back(std::move(read_item));
  }
  return {};
}

// A node without a place of its own gets the place of its key.
Result<YamlNode> read(fy_node* from, const YamlNode& above, const std::string& file) {
  YamlNode node{.line = above.line, .column = above.column};
  if (from == nullptr) return node;
  place(node, from);
  if (fy_node_is_alias(from) || fy_node_get_anchor(from) != nullptr) {
    return refused("anchors and aliases are not allowed", node, file);
  }
  if (fy_node_get_tag_token(from) != nullptr) return refused("tags are not allowed", node, file);
  switch (fy_node_get_type(from)) {
    case FYNT_MAPPING:
      node.kind = YamlNode::Kind::Mapping;
      SALLYPORT_CHECK_OK(read_members(node, from, file));
      return node;
    case FYNT_SEQUENCE:
      node.kind = YamlNode::Kind::Sequence;
      SALLYPORT_CHECK_OK(read_items(node, from, file));
      return node;
    case FYNT_SCALAR:
      break;
  }
  std::size_t length = 0;
  const char* const text = fy_node_get_scalar(from, &length);
  if (text != nullptr) node.text.assign(text, length);
  const fy_node_style style = fy_node_get_style(from);
  node.quoted = style != FYNS_PLAIN;
  // The library counts from after the quote.
  if (style == FYNS_SINGLE_QUOTED || style == FYNS_DOUBLE_QUOTED) --node.column;
  return node;
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view name) const {
  const auto found = std::ranges::find_if(
      members, [&](const YamlMember& member) { return member.key.text == name; });
  return found == members.end() ? nullptr : &found->value;
}

bool YamlNode::is_null() const {
  return kind == Kind::Scalar && !quoted &&
         (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL");
}

std::string place_of(const YamlNode& node, const std::string& file) {
  return fmt::format("{}:{}:{}", file, node.line, node.column);
}

Result<YamlNode> parse_yaml(const std::string& text, const std::string& file) {
  fy_diag_cfg diag_cfg;
  fy_diag_cfg_default(&diag_cfg);
  diag_cfg.fp = nullptr;
  diag_cfg.colorize = false;
  const Diag diag(fy_diag_create(&diag_cfg));
  if (!diag) return fail(ErrorCode::Exhausted, "there is no memory to read YAML", file);
  fy_diag_set_collect_errors(diag.get(), true);
  const fy_parse_cfg cfg{
      .search_path = nullptr,
      // The library compares each key with all keys before it: minutes for a large file.
      .flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2 |
                                               FYPCF_ALLOW_DUPLICATE_KEYS),
      .userdata = nullptr,
      .diag = diag.get()};
  const Parser parser(fy_parser_create(&cfg));
  if (!parser || fy_parser_set_string(parser.get(), text.data(), text.size()) != 0) {
    return first_error(diag.get(), text, file);
  }
  const Document document(fy_parse_load_document(parser.get()));
  if (fy_parser_get_stream_error(parser.get())) return first_error(diag.get(), text, file);
  if (!document) return YamlNode{};
  const Document second(fy_parse_load_document(parser.get()));
  if (fy_parser_get_stream_error(parser.get())) return first_error(diag.get(), text, file);
  if (second) return fail(ErrorCode::InvalidInput, "a second document follows the first", file);
  return read(fy_document_root(document.get()), YamlNode{}, file);
}

}  // namespace sallyport::config
