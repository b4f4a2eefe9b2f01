#include "policy/policy_loader.h"

#include <fmt/format.h>

#include <utility>

#include "base/try.h"
#include "policy/shipped.h"

namespace sallyport::policy {

PolicyOrigin PolicyOrigin::file(const std::filesystem::path& path) {
  return {.name = path.string(),
          .read = [path](const auto* patterns) { return load_policy(path, patterns); },
          .changes = path};
}

Result<PolicyOrigin> PolicyOrigin::shipped(const std::string& name) {
  const ShippedPolicy* const found = shipped_policy(name);
  if (found == nullptr) {
    return fail(ErrorCode::NotFound, fmt::format("there is no policy `{}`", name));
  }
  return PolicyOrigin{.name = name, .read = [found](const auto* patterns) {
                        return read_policy(std::string(found->text), std::string(found->name),
                                           patterns);
                      }};
}

PolicyOrigin PolicyOrigin::named(const std::string& name) {
  if (Result<PolicyOrigin> known = shipped(name)) return std::move(*known);
  return file(name);
}

PolicyLoader::PolicyLoader(PolicyOrigin origin, Surroundings surroundings, Extend extend)
    : origin_(std::move(origin)),
      surroundings_(std::move(surroundings)),
      extend_(std::move(extend)) {}

PolicyLoader::Source PolicyLoader::switch_to(Source next) {
  std::swap(next.origin, origin_);
  std::swap(next.machine, surroundings_.machine);
  return next;
}

Result<PolicyLoader::Built> PolicyLoader::build(const Policy& policy) const {
  Built built{.guardrails = guardrails_,
              .config_hash = policy.guardrails ? policy.guardrails->config_hash : "none"};
  // Unchanged checks keep their generation, even if other sections have changed (GR-78).
  built.same_checks = checks_generation_ > 0 && built.config_hash == config_hash_;
  if (!built.same_checks) {
    SALLYPORT_TRY(built.guardrails,
                  compile_guardrails(policy, checks_generation_ + 1, surroundings_.patterns));
  }
  core::PlanBuilder builder;
  if (extend_) extend_(builder);
  SALLYPORT_CHECK_OK(add_to_plan(builder, policy, built.guardrails, surroundings_));
  SALLYPORT_TRY(built.plan, builder.build());
  return built;
}

Result<std::shared_ptr<const core::Plan>> PolicyLoader::rehearse(core::PolicyText text) const {
  SALLYPORT_TRY(const Policy policy,
                read_policy(std::move(text), origin_.name, surroundings_.patterns));
  SALLYPORT_TRY(Built built, build(policy));
  return std::move(built.plan);
}

Result<std::optional<PolicyLoader::Loaded>> PolicyLoader::refresh() {
  SALLYPORT_TRY(const Policy policy, origin_.read(surroundings_.patterns));
  extended_file_ = policy.extended_file;
  SALLYPORT_TRY(Built built, build(policy));
  if (built.plan->hash() == plan_hash_) return std::nullopt;
  plan_hash_ = built.plan->hash();
  guardrails_ = built.guardrails;
  if (!built.same_checks) ++checks_generation_;
  ++generation_;
  config_hash_ = std::move(built.config_hash);
  return Loaded{std::move(built.plan), std::move(built.guardrails), policy.name, policy.text};
}

}  // namespace sallyport::policy
