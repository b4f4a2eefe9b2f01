// YAML 1.2 (and so JSON) as a plain tree in which every node knows its place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::policy {

struct YamlMember;

struct YamlNode {
  enum class Kind { Scalar, Sequence, Mapping };

  Kind kind = Kind::Scalar;
  std::string text;     // of a scalar
  bool quoted = false;  // then it is text, whatever it looks like
  int line = 1;
  int column = 1;
  std::vector<YamlNode> items;
  std::vector<YamlMember> members;  // in order, keys are scalars and differ

  bool is_null() const;
  // The value of a member. Null: there is none.
  const YamlNode* find(std::string_view name) const;
};

struct YamlMember {
  YamlNode key;
  YamlNode value;
};

// One document. Refuses aliases, anchors, tags and merge keys: a configuration says what it means.
// `where` of an error is `<file>:line:column`.
Result<YamlNode> parse_yaml(const std::string& text, const std::string& file);

// `<file>:line:column`.
std::string place_of(const YamlNode& node, const std::string& file);

}  // namespace sallyport::policy
