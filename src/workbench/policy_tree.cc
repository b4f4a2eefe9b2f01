#include "workbench/policy_tree.h"

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "base/json_members.h"
#include "base/try.h"
#include "config/yaml_json.h"
#include "policy/extended_policy.h"
#include "policy/shipped.h"

namespace sallyport::app {

namespace {

const config::YamlNode* rule_in(const config::YamlNode& root, std::string_view id) {
  const config::YamlNode* const rules = root.find("rules");
  if (rules == nullptr) return nullptr;
  for (const config::YamlNode& rule : rules->items) {
    const config::YamlNode* const name = rule.find("id");
    if (name != nullptr && name->text == id) return &rule;
  }
  return nullptr;
}

std::string first_step(std::string_view pointer) {
  const std::size_t end = pointer.find('/', 1);
  return std::string(pointer.substr(1, end == std::string_view::npos ? end : end - 1));
}

}  // namespace

Result<PolicyTree> PolicyTree::read(const core::PolicyText& text, const std::string& file) {
  PolicyTree tree;
  tree.own_.name = file;
  SALLYPORT_TRY(tree.own_.root, config::parse_yaml(text.text, file));
  config::YamlNode whole = tree.own_.root;
  if (!text.base_name.empty()) {
    const bool shipped = policy::shipped_policy(text.base_name) != nullptr;
    File base{.name = shipped
                          ? text.base_name
                          : (std::filesystem::path(file).parent_path() / text.base_name).string()};
    SALLYPORT_TRY(base.root, config::parse_yaml(text.base_text, base.name));
    SALLYPORT_TRY(whole, policy::joined(whole, file, base.root));
    tree.base_ = std::move(base);
  }
  SALLYPORT_TRY(tree.value_, config::to_json(whole, file));
  if (json::object* const object = tree.value_.if_object()) {
    object->erase("extends");
    object->erase("without");
  }
  return tree;
}

std::string PolicyTree::place(std::string_view pointer) const {
  const File* file = &own_;
  if (pointer.size() > 1 && base_ && own_.root.find(first_step(pointer)) == nullptr &&
      base_->root.find(first_step(pointer)) != nullptr) {
    file = &*base_;
  }
  return config::place_of(config::node_at(file->root, pointer), file->name);
}

std::string PolicyTree::place_of_rule(std::string_view id) const {
  if (const config::YamlNode* const rule = rule_in(own_.root, id)) {
    return config::place_of(*rule, own_.name);
  }
  const config::YamlNode* const rule = base_ ? rule_in(base_->root, id) : nullptr;
  return rule ? config::place_of(*rule, base_->name) : place("");
}

std::optional<std::size_t> PolicyTree::rule_index(std::string_view id) const {
  const json::value* const rules = at("/rules");
  if (rules == nullptr || !rules->is_array()) return std::nullopt;
  for (std::size_t i = 0; i < rules->get_array().size(); ++i) {
    const json::object* const rule = rules->get_array()[i].if_object();
    if (rule != nullptr && text_in(*rule, "id") == id) return i;
  }
  return std::nullopt;
}

const json::value* PolicyTree::at(std::string_view pointer) const {
  boost::system::error_code code;
  return value_.find_pointer(pointer, code);
}

}  // namespace sallyport::app
