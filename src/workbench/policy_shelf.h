// Policies that were read and compiled once, for many decisions: a backtest decides thousands of
// calls by a few texts.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "guardrails/check/guardrails.h"
#include "policy/policy.h"
#include "workbench/policy_tree.h"

namespace sallyport::app {

struct ShelvedPolicy {
  policy::Policy policy{};
  std::shared_ptr<const guardrails::Guardrails> guardrails{};  // null: it has none
  PolicyTree tree{};
};

// One thread.
class PolicyShelf {
 public:
  // `name`: how places name the text. An error is that of the text.
  Result<std::shared_ptr<const ShelvedPolicy>> read(const core::PolicyText& text,
                                                    const std::string& name);

 private:
  // A search for changes tries many texts; what is not asked for again must not stay.
  static constexpr std::size_t kMost = 16;
  std::map<std::tuple<std::string, std::string, std::string>, std::shared_ptr<const ShelvedPolicy>>
      policies_;
};

}  // namespace sallyport::app
