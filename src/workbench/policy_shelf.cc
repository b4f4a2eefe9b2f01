#include "workbench/policy_shelf.h"

#include "base/try.h"

namespace sallyport::app {

Result<std::shared_ptr<const ShelvedPolicy>> PolicyShelf::read(const core::PolicyText& text,
                                                               const std::string& name) {
  const std::tuple key(text.text, text.base_text, name);
  if (const auto found = policies_.find(key); found != policies_.end()) return found->second;
  auto shelved = std::make_shared<ShelvedPolicy>();
  SALLYPORT_TRY(shelved->policy, policy::read_policy(text, name));
  SALLYPORT_TRY(shelved->guardrails, policy::compile_guardrails(shelved->policy, 1));
  SALLYPORT_TRY(shelved->tree, PolicyTree::read(text, name));
  if (policies_.size() >= kMost) policies_.clear();
  policies_[key] = shelved;
  return shelved;
}

}  // namespace sallyport::app
