#include "workbench/case_row.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "config/mapping.h"

namespace sallyport::app {

namespace {

using config::Place;
using config::YamlMember;
using config::YamlNode;

// Members of the row take the place of those of the case, mapping by mapping.
void lay_over(YamlNode& under, const YamlNode& over) {
  if (under.kind != YamlNode::Kind::Mapping || over.kind != YamlNode::Kind::Mapping) {
    under = over;
    return;
  }
  for (const YamlMember& member : over.members) {
    const auto same = std::ranges::find_if(
        under.members, [&](const YamlMember& own) { return own.key.text == member.key.text; });
    if (same == under.members.end()) {
      under.members.push_back(member);
    } else {
      lay_over(same->value, member.value);
    }
  }
}

bool is_case_member(std::string_view name) {
  constexpr std::string_view kMembers[] = {"call", "given", "result", "expect"};
  return std::ranges::find(kMembers, name) != std::end(kMembers);
}

}  // namespace

bool is_named(const YamlNode& node) {
  return node.find("name") != nullptr || node.find("id") != nullptr;
}

Result<std::vector<CaseRow>> CaseRow::all_of(const YamlNode& each, const std::string& file) {
  std::vector<CaseRow> rows;
  const auto add = [&](std::string name, const YamlNode& node) -> Result<void> {
    CaseRow row(std::move(name), node);
    if (node.kind == YamlNode::Kind::Mapping) {
      row.columns_ = node.members;
    } else if (node.kind == YamlNode::Kind::Scalar) {
      YamlNode key;
      key.text = "each";
      row.columns_.push_back({std::move(key), node});
    } else {
      return Place{node, file}.refuse("a row is a mapping of columns, or one value for `${each}`");
    }
    if (row.name_.empty()) row.name_ = row.name_of_columns(rows.size() + 1);
    rows.push_back(std::move(row));
    return {};
  };
  for (const YamlNode& item : each.items) SALLYPORT_CHECK_OK(add("", item));
  for (const auto& [key, value] : each.members) SALLYPORT_CHECK_OK(add(key.text, value));
  if (rows.empty()) return Place{each, file}.refuse("`each` is a list of rows");
  return rows;
}

std::string CaseRow::name_of_columns(std::size_t number) const {
  std::string name;
  for (const auto& [key, value] : columns_) {
    if (key.text == "name" && value.kind == YamlNode::Kind::Scalar) return value.text;
    if (is_case_member(key.text) || value.kind != YamlNode::Kind::Scalar) continue;
    if (!name.empty()) name += ", ";
    name += value.text;
  }
  return name.empty() ? fmt::format("row {}", number) : name;
}

// `${column}` is the value of the column, with its type where it is the whole text.
void CaseRow::fill_in(YamlNode& node, std::vector<bool>& used) const {
  for (YamlNode& item : node.items) fill_in(item, used);
  for (YamlMember& member : node.members) fill_in(member.value, used);
  if (node.kind != YamlNode::Kind::Scalar) return;
  for (std::size_t at = 0; at < columns_.size(); ++at) {
    const auto& [key, value] = columns_[at];
    const std::string variable = "${" + key.text + "}";
    if (node.text == variable) {
      used[at] = true;
      const int line = node.line, column = node.column;
      node = value;
      node.line = line;
      node.column = column;
      return;
    }
    if (value.kind != YamlNode::Kind::Scalar) continue;
    for (std::size_t found = node.text.find(variable); found != std::string::npos;
         found = node.text.find(variable, found + value.text.size())) {
      used[at] = true;
      node.text.replace(found, variable.size(), value.text);
      node.quoted = true;
    }
  }
}

Result<YamlNode> CaseRow::fill_in(YamlNode node, const std::string& file) const {
  std::vector<bool> used(columns_.size());
  for (YamlMember& member : node.members) {
    if (member.key.text != "name") fill_in(member.value, used);
  }
  for (std::size_t at = 0; at < columns_.size(); ++at) {
    const auto& [key, value] = columns_[at];
    if (key.text == "name") continue;
    if (is_case_member(key.text)) {
      YamlNode over, name = key;
      over.kind = YamlNode::Kind::Mapping;
      over.members.push_back({std::move(name), value});
      lay_over(node, over);
    } else if (!used[at]) {
      return Place{key.line > 0 ? key : *node_, file}.refuse(
          fmt::format("the case does not use the column `{}`; write `${{{}}}` where it belongs",
                      key.text, key.text));
    }
  }
  if (is_named(node)) return node;
  YamlNode key, name = *node_;
  key.text = "name";
  name.kind = YamlNode::Kind::Scalar;
  name.text = name_;
  node.members.push_back({std::move(key), std::move(name)});
  return node;
}

}  // namespace sallyport::app
