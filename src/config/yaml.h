// YAML 1.2 (and so JSON) as a tree in which every node knows its place in the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::config {

struct YamlMember;

struct YamlNode {
  enum class Kind { Scalar, Sequence, Mapping };

  Kind kind = Kind::Scalar;
  std::string text;     // the text of a scalar
  bool quoted = false;  // a quoted scalar is always a text
  int line = 1;
  int column = 1;
  std::vector<YamlNode> items;
  std::vector<YamlMember> members;  // in order; keys are scalars, each once

  bool is_null() const;
  // The value of a member. Null: no such member.
  const YamlNode* find(std::string_view name) const;
};

struct YamlMember {
  YamlNode key;
  YamlNode value;
};

// Parses one document. Refuses aliases, anchors, tags and merge keys, so that a configuration is
// explicit. `where` of an error is `<file>:line:column`.
Result<YamlNode> parse_yaml(const std::string& text, const std::string& file);

// `<file>:line:column`.
std::string place_of(const YamlNode& node, const std::string& file);

}  // namespace sallyport::config
