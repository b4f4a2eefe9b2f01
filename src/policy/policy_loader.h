// Loads a policy that may change while calls run. Reading it again gives a new plan, no change, or
// an error (GR-76..GR-79).
//
//   PolicyLoader loader(PolicyOrigin::file("policy.yaml"), {clock, key});
//   SALLYPORT_TRY(const auto loaded, loader.refresh());   // on error the last good plan stays
//   if (loaded) use(loaded->plan);                        // no value: nothing has changed
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/plan/plan.h"
#include "policy/policy.h"

namespace sallyport::policy {

struct PolicyOrigin {
  std::string name{};
  // The store, if there is one, caches compiled patterns.
  std::function<Result<Policy>(const guardrails::PatternStore*)> read{};
  std::optional<std::filesystem::path> changes{};  // the file that may change

  static PolicyOrigin file(const std::filesystem::path& path);
  // `NotFound` if no policy of this name is shipped.
  static Result<PolicyOrigin> shipped(const std::string& name);
  // Resolves a name: a shipped policy, or else a file.
  static PolicyOrigin named(const std::string& name);
};

class PolicyLoader {
 public:
  // Adds the parts of the front to a plan. The policy is added later and overrides them.
  using Extend = std::function<void(core::PlanBuilder&)>;

  PolicyLoader(PolicyOrigin origin, Surroundings surroundings, Extend extend = {});

  struct Loaded {
    std::shared_ptr<const core::Plan> plan;
    std::shared_ptr<const guardrails::Guardrails> guardrails;  // null: no checks
    std::string name;
    std::shared_ptr<const core::PolicyText> text{};
  };
  Result<std::optional<Loaded>> refresh();

  // Builds the plan of `text` under the name of this policy, without loading it.
  Result<std::shared_ptr<const core::Plan>> rehearse(core::PolicyText text) const;

  // Switches to another policy. The loaded plan stays until `refresh`. Returns the previous source.
  struct Source {
    PolicyOrigin origin;
    effects::Machine machine;
  };
  Source switch_to(Source next);

  const PolicyOrigin& origin() const { return origin_; }
  std::uint64_t generation() const { return generation_; }
  // The file that the policy extends, as last read. No value: it extends no file.
  const std::optional<std::filesystem::path>& extended_file() const { return extended_file_; }

 private:
  struct Built {
    std::shared_ptr<const core::Plan> plan;
    std::shared_ptr<const guardrails::Guardrails> guardrails;
    std::string config_hash;
    bool same_checks = false;
  };
  Result<Built> build(const Policy& policy) const;

  PolicyOrigin origin_;
  Surroundings surroundings_;
  Extend extend_;
  std::string config_hash_;
  std::string plan_hash_;
  std::shared_ptr<const guardrails::Guardrails> guardrails_;
  std::uint64_t generation_ = 0;
  std::optional<std::filesystem::path> extended_file_;
  std::uint64_t checks_generation_ = 0;  // the generation of the guardrails
};

}  // namespace sallyport::policy
