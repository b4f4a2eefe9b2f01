// A policy that may change while calls run: read again, it is a new plan, the same, or refused
// (GR-76..GR-79).
//
//   PolicyLoader loader(PolicyOrigin::file("policy.yaml"), {clock, key});
//   SALLYPORT_TRY(const auto loaded, loader.refresh());   // an error: what was good before stays
//   if (loaded) use(loaded->plan);                        // nothing: it says what it said before
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
  // Compiled patterns come from the store, where there is one, and are kept there.
  std::function<Result<Policy>(const guardrails::PatternStore*)> read{};
  std::optional<std::filesystem::path> changes{};  // the file that may change

  static PolicyOrigin file(const std::filesystem::path& path);
  // `NotFound` where no such policy is shipped.
  static Result<PolicyOrigin> shipped(const std::string& name);
  // Resolves a name: a shipped policy, or else a file.
  static PolicyOrigin named(const std::string& name);
};

class PolicyLoader {
 public:
  // Adds what the front brings along; the policy has the last word over it.
  using Extend = std::function<void(core::PlanBuilder&)>;

  PolicyLoader(PolicyOrigin origin, Surroundings surroundings, Extend extend = {});

  struct Loaded {
    std::shared_ptr<const core::Plan> plan;
    std::shared_ptr<const guardrails::Guardrails> guardrails;  // null where there are no checks
    std::string name;
    std::shared_ptr<const core::PolicyText> text{};
  };
  Result<std::optional<Loaded>> refresh();

  // The plan that this text would be under the name of the policy here. Nothing is loaded.
  Result<std::shared_ptr<const core::Plan>> rehearse(core::PolicyText text) const;

  // Another policy from now on; what was loaded stays until `refresh`. Returns what was in its
  // place.
  struct Turn {
    PolicyOrigin origin;
    effects::Machine machine;
  };
  Turn turn_to(Turn next);

  const PolicyOrigin& origin() const { return origin_; }
  std::uint64_t generation() const { return generation_; }
  // That the policy extends, as last read; none: it extends no file.
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
  std::uint64_t checks_generation_ = 0;  // of the guardrails in it
};

}  // namespace sallyport::policy
