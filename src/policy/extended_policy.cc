#include "policy/extended_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "policy/mapping.h"

namespace sallyport::policy {

Result<YamlNode> joined(const YamlNode& root, const std::string& file, const YamlNode& base) {
  if (base.find("extends")) {
    return Place{*root.find("extends"), file}.refuse(
        "the policy that it names extends another one; only one level is read");
  }
  std::set<std::string> dropped;
  const YamlNode* const without = root.find("without");
  const YamlNode* const base_rules = base.find("rules");
  const auto in_base = [&](const YamlNode& id) {
    return base_rules && std::ranges::any_of(base_rules->items, [&](const YamlNode& rule) {
             const YamlNode* const name = rule.find("id");
             return name && name->text == id.text;
           });
  };
  for (const YamlNode& id : without ? without->items : std::vector<YamlNode>()) {
    if (!in_base(id)) {
      return Place{id, file}.refuse(
          fmt::format("`{:.80}` is not a rule of the policy that this one extends", id.text));
    }
    if (!dropped.insert(id.text).second) {
      return Place{id, file}.refuse(fmt::format("duplicate id `{:.80}`", id.text));
    }
  }
  const YamlNode* const own_rules = root.find("rules");
  for (const YamlNode& rule : own_rules ? own_rules->items : std::vector<YamlNode>()) {
    const YamlNode* const id = rule.find("id");
    if (id == nullptr || dropped.contains(id->text) || !in_base(*id)) continue;
    return Place{*id, file}.refuse(
        fmt::format("duplicate rule `{:.80}`, first in the policy that this one extends; name "
                    "it in `without`, or choose another id",
                    id->text));
  }
  YamlNode merged = root;
  for (const YamlMember& section : base.members) {
    const auto own = std::ranges::find_if(
        merged.members, [&](const YamlMember& each) { return each.key.text == section.key.text; });
    if (section.key.text != "rules") {
      if (own == merged.members.end()) merged.members.push_back(section);
      continue;
    }
    YamlMember rules = section;
    std::erase_if(rules.value.items, [&](const YamlNode& rule) {
      const YamlNode* const name = rule.find("id");
      return name && dropped.contains(name->text);
    });
    if (own == merged.members.end()) {
      merged.members.push_back(std::move(rules));
      continue;
    }
    std::vector<YamlNode>& items = own->value.items;
    items.insert(items.begin(), rules.value.items.begin(), rules.value.items.end());
    own->value.kind = YamlNode::Kind::Sequence;
  }
  return merged;
}

}  // namespace sallyport::policy
