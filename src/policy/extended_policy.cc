#include "policy/extended_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/mapping.h"

namespace sallyport::policy {

Result<config::YamlNode> joined(const config::YamlNode& root, const std::string& file,
                                const config::YamlNode& base) {
  if (base.find("extends")) {
    return config::Place{*root.find("extends"), file}.refuse(
        "the policy that it names extends another one; only one level is read");
  }
  std::set<std::string> dropped;
  const config::YamlNode* const without = root.find("without");
  const config::YamlNode* const base_rules = base.find("rules");
  const auto in_base = [&](const config::YamlNode& id) {
    return base_rules && std::ranges::any_of(base_rules->items, [&](const config::YamlNode& rule) {
             const config::YamlNode* const name = rule.find("id");
             return name && name->text == id.text;
           });
  };
  for (const config::YamlNode& id : without ? without->items : std::vector<config::YamlNode>()) {
    if (!in_base(id)) {
      return config::Place{id, file}.refuse(
          fmt::format("`{:.80}` is not a rule of the policy that this one extends", id.text));
    }
    if (!dropped.insert(id.text).second) {
      return config::Place{id, file}.refuse(fmt::format("duplicate id `{:.80}`", id.text));
    }
  }
  const config::YamlNode* const own_rules = root.find("rules");
  for (const config::YamlNode& rule :
       own_rules ? own_rules->items : std::vector<config::YamlNode>()) {
    const config::YamlNode* const id = rule.find("id");
    if (id == nullptr || dropped.contains(id->text) || !in_base(*id)) continue;
    return config::Place{*id, file}.refuse(
        fmt::format("duplicate rule `{:.80}`, first in the policy that this one extends; name "
                    "it in `without`, or choose another id",
                    id->text));
  }
  config::YamlNode merged = root;
  for (const config::YamlMember& section : base.members) {
    const auto own = std::ranges::find_if(merged.members, [&](const config::YamlMember& each) {
      return each.key.text == section.key.text;
    });
    if (section.key.text != "rules") {
      if (own == merged.members.end()) merged.members.push_back(section);
      continue;
    }
    config::YamlMember rules = section;
    std::erase_if(rules.value.items, [&](const config::YamlNode& rule) {
      const config::YamlNode* const name = rule.find("id");
      return name && dropped.contains(name->text);
    });
    if (own == merged.members.end()) {
      merged.members.push_back(std::move(rules));
      continue;
    }
    std::vector<config::YamlNode>& items = own->value.items;
    items.insert(items.begin(), rules.value.items.begin(), rules.value.items.end());
    own->value.kind = config::YamlNode::Kind::Sequence;
  }
  return merged;
}

}  // namespace sallyport::policy
