#include "core/plan_shelf.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/try.h"

namespace sallyport::core {

namespace {

class DenyAll final : public Guard {
 public:
  DenyAll() { traits_.name = "no-policy"; }
  const GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call&, const GuardContext&) const override {
    co_return Verdict::deny("no policy is in force");
  }

 private:
  GuardTraits traits_;
};

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value() : json::value(text);
}

// A list of people is the policy's own; every other dump names people elsewhere.
Fact people_of(const Plan& plan, const std::string& source) {
  const auto& people = plan.approvals().people;
  Fact fact{std::string(kPolicyPeople), source, std::nullopt};
  if (people && people->dump().is_array()) fact.value = digest_of_people(*people);
  return fact;
}

}  // namespace

std::string digest_of_people(const ReviewerBook& people) {
  return "sha256:" + hex(sha256(canonical_json(people.dump())));
}

std::shared_ptr<const Plan> closed_plan() {
  return *PlanBuilder().guard(std::make_shared<DenyAll>()).build();
}

PlanShelf::PlanShelf(Recorder& recorder, std::string hash_before)
    : recorder_(recorder), hash_before_(std::move(hash_before)), plan_(closed_plan()) {}

Task<void> PlanShelf::load(std::shared_ptr<const Plan> plan, Origin origin) {
  Draft draft{.kind = Kind::Control,
              .subject = {.policy_hash = plan->hash()},
              .body = {{"control", "policy_loaded"},
                       {"hash", plan->hash()},
                       {"hash_before", text_or_null(hash_before_)},
                       {"source", origin.source},
                       {"who", origin.who},
                       {"generation", origin.generation}}};
  draft.facts.push_back({"policy", "hash", plan->hash()});
  draft.facts.push_back(
      {"policy", "loaded", fmt::format("{} {}", origin.generation, origin.source), true});
  draft.facts.push_back({"policy", "refused", std::nullopt});
  draft.facts.push_back(people_of(*plan, origin.source));
  std::vector<Draft> drafts;
  drafts.push_back(std::move(draft));
  SALLYPORT_CO_TRY([[maybe_unused]] const auto written,
                   co_await recorder_.append(std::move(drafts), Urgency::Announces));
  hash_before_ = plan->hash();
  plan_.store(std::move(plan));
  co_return Result<void>{};
}

Task<void> PlanShelf::reject(Origin origin, Error error) {
  std::vector<Draft> drafts;
  drafts.push_back(
      {.kind = Kind::Control,
       .subject = {.policy_hash = hash_before_},
       .body = {{"control", "policy_rejected"},
                {"place", text_or_null(error.where)},
                {"message", error.message},
                {"source", origin.source},
                {"who", origin.who}},
       .facts = {{"policy", "refused", error.where.empty() ? origin.source : error.where, true}}});
  SALLYPORT_CO_TRY([[maybe_unused]] const auto written,
                   co_await recorder_.append(std::move(drafts), Urgency::Reports));
  co_return Result<void>{};
}

}  // namespace sallyport::core
