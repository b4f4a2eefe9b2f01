// Rows of `each` in a case of `policy test`: the case around them is read once for each (WB-17).
//
//   - call: {tool: Bash, input: {command: "${command}"}}
//     each:
//       - {command: git push, expect: {verdict: asks}}
//       - {command: git status, expect: {verdict: runs}}
#pragma once

#include <string>
#include <vector>

#include "config/yaml.h"

namespace sallyport::app {

// True if the case has a name.
bool is_named(const config::YamlNode& node);

// The node that it was read from must outlive it.
class CaseRow {
 public:
  // `each` is a list of rows, or a mapping of names and rows. An error has `where` =
  // file:line:column, here and below.
  static Result<std::vector<CaseRow>> all_of(const config::YamlNode& each, const std::string& file);

  const std::string& name() const { return name_; }
  const config::YamlNode& node() const { return *node_; }

  // The case with the columns of this row. A case without a name gets that of the row.
  Result<config::YamlNode> fill_in(config::YamlNode node, const std::string& file) const;

 private:
  CaseRow(std::string name, const config::YamlNode& node) : name_(std::move(name)), node_(&node) {}

  // Puts the values in, and notes which columns were used.
  void fill_in(config::YamlNode& node, std::vector<bool>& used) const;
  std::string name_of_columns(std::size_t number) const;

  std::string name_;
  std::vector<config::YamlMember> columns_{};
  const config::YamlNode* node_;
};

}  // namespace sallyport::app
