#include "core/plan/plan_shelf.h"

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

json::value name_or_null(const std::string& text) {
  return text.empty() ? json::value() : json::value(text);
}

// A list is the policy's own people. Any other dump refers to people elsewhere.
Fact people_of(const Plan& plan, const std::string& source) {
  const auto& people = plan.approvals().people;
  Fact fact{std::string(kPolicyPeople), source, std::nullopt};
  if (people && people->dump().is_array()) fact.value = digest_of_people(*people);
  return fact;
}

bool fits_an_entry(const PolicyText& text) {
  return is_utf8(text.text) && is_utf8(text.base_text) && is_utf8(text.base_name);
}

// Sealed and unredacted: a redacted text would have another hash.
void put_text(Draft& draft, const PolicyText& text) {
  const auto keep = [&](std::string path) {
    draft.exact.push_back({.path = std::move(path), .unredacted = true});
  };
  draft.body["text"] = text.text;
  keep("/text");
  if (text.base_name.empty()) return;
  draft.body["extends"] = json::object{{"name", text.base_name}, {"text", text.base_text}};
  keep("/extends/text");
}

}  // namespace

std::string digest_of_people(const ReviewerBook& people) {
  return "sha256:" + hex(sha256(canonical_json(people.dump())));
}

std::shared_ptr<const Plan> closed_plan() {
  return *PlanBuilder().guard(std::make_shared<DenyAll>()).build();
}

PlanShelf::PlanShelf(RecordLog& records, std::string hash_before)
    : records_(records), hash_before_(std::move(hash_before)), plan_(closed_plan()) {}

Task<void> PlanShelf::load(std::shared_ptr<const Plan> plan, Origin origin) {
  bool with_text = false;
  if (origin.text) {
    SALLYPORT_CO_TRY(const auto kept, records_.fact(kPolicyText, plan->hash()));
    with_text = !kept && fits_an_entry(*origin.text);
  }
  Result<void> written = co_await write(*plan, origin, with_text);
  if (!written && with_text && written.error().code == ErrorCode::Conflict) {
    // Another process has kept the text in the meantime.
    written = co_await write(*plan, origin, false);
  }
  if (!written) co_return written;
  hash_before_ = plan->hash();
  plan_.store(std::move(plan));
  co_return Result<void>{};
}

Task<void> PlanShelf::write(const Plan& plan, const Origin& origin, bool with_text) {
  Draft draft{.kind = Kind::Control,
              .subject = Subject{.policy_hash = plan.hash()},
              .body = {{"control", "policy_loaded"},
                       {"hash", plan.hash()},
                       {"hash_before", name_or_null(hash_before_)},
                       {"source", origin.source},
                       {"who", origin.who},
                       {"generation", origin.generation}}};
  draft.facts.push_back({"policy", "hash", plan.hash()});
  draft.facts.push_back(
      {"policy", "loaded", fmt::format("{} {}", origin.generation, origin.source), true});
  draft.facts.push_back({"policy", "refused", std::nullopt});
  draft.facts.push_back(people_of(plan, origin.source));
  std::vector<Fact> expected;
  if (with_text) {
    put_text(draft, *origin.text);
    draft.facts.push_back({std::string(kPolicyText), plan.hash(), "", true});
    expected.push_back({std::string(kPolicyText), plan.hash(), std::nullopt});
  }
  std::vector<Draft> drafts;
  drafts.push_back(std::move(draft));
  SALLYPORT_CO_TRY(
      [[maybe_unused]] const auto written,
      co_await records_.append(std::move(drafts), Urgency::Announces, std::move(expected)));
  co_return Result<void>{};
}

Task<void> PlanShelf::reject(Origin origin, Error error) {
  std::vector<Draft> drafts;
  drafts.push_back(
      {.kind = Kind::Control,
       .subject = Subject{.policy_hash = hash_before_},
       .body = {{"control", "policy_rejected"},
                {"place", name_or_null(error.where)},
                {"message", error.message},
                {"source", origin.source},
                {"who", origin.who}},
       .facts = {{"policy", "refused", error.where.empty() ? origin.source : error.where, true}}});
  SALLYPORT_CO_TRY([[maybe_unused]] const auto written,
                   co_await records_.append(std::move(drafts), Urgency::Reports));
  co_return Result<void>{};
}

}  // namespace sallyport::core
