#include "trust/standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/json_members.h"
#include "base/object_reader.h"
#include "base/try.h"
#include "core/record/shape_fields.h"

namespace sallyport::trust {

namespace {

std::unexpected<Error> unreadable() {
  return fail(ErrorCode::Corrupt, "the stored standing of an agent cannot be read");
}

Result<std::optional<Autonomy>> tier_from(std::string_view word) {
  if (word.empty()) return std::optional<Autonomy>();
  for (const Autonomy tier :
       {Autonomy::Shadow, Autonomy::Suggest, Autonomy::ActWithApproval, Autonomy::ActAuto}) {
    if (to_string(tier) == word) return std::optional(tier);
  }
  return unreadable();
}

bool promotes(const ControlStatement& statement) {
  return statement.action == "trust.promote";
}

// The origin is the part of the verifier key before the first `+`, and never changes.
Result<std::string> origin_of(core::RecordReader& records) {
  SALLYPORT_TRY(const std::optional<std::string> key, records.fact("ledger", "key"));
  return key.value_or("").substr(0, key.value_or("").find('+'));
}

}  // namespace

void Standing::take(bool promotion, Autonomy to_tier) {
  if (promotion) {
    *this = {.promoted_to = to_tier};
  } else {
    demoted_to = demoted_to ? std::min(*demoted_to, to_tier) : to_tier;
  }
}

Autonomy Standing::effective(Autonomy declared) const {
  const Autonomy tier = promoted_to.value_or(declared);
  return demoted_to ? std::min(tier, *demoted_to) : tier;
}

// `promoted;demoted`.
Result<ControlHistory> ControlHistory::parse_unsigned(std::string_view stored) {
  const std::size_t mark = stored.find(';');
  if (mark == std::string_view::npos) return unreadable();
  ControlHistory history;
  SALLYPORT_TRY(const std::optional<Autonomy> promoted, tier_from(stored.substr(0, mark)));
  SALLYPORT_TRY(history.unproven_demotion_, tier_from(stored.substr(mark + 1)));
  history.unproven_promotion_ = promoted.has_value();
  return history;
}

Result<ControlHistory> ControlHistory::parse(std::string_view stored) {
  if (stored.empty()) return ControlHistory{};
  if (!stored.starts_with('{')) return parse_unsigned(stored);
  const Result<json::value> value = parse_own_json(stored);
  const json::object* const object = value ? value->if_object() : nullptr;
  if (object == nullptr) return unreadable();
  ControlHistory history;
  SALLYPORT_TRY(history.unproven_demotion_, tier_from(text_or_empty(*object, "unproven_demotion")));
  history.unproven_promotion_ = bool_in(*object, "unproven_promotion").value_or(false);
  const json::value* const list = object->if_contains("controls");
  if (list == nullptr || !list->is_array()) return unreadable();
  for (const json::value& item : list->get_array()) {
    ObjectReader in(item, "controls");
    Signed control{.statement = {.action = in.text("action"),
                                 .control_id = in.text("control_id"),
                                 .from_tier = core::autonomy_in(in, "from_tier"),
                                 .to_tier = core::autonomy_in(in, "to_tier"),
                                 .reviewer = in.text("reviewer"),
                                 .signed_at = in.text("signed_at")},
                   .signature = in.text("signature")};
    if (!in.ok()) return unreadable();
    history.controls_.push_back(std::move(control));
  }
  return history;
}

// Agent and ledger are those of the fact: a statement about others does not verify here.
std::string ControlHistory::text() const {
  json::array controls;
  for (const Signed& control : controls_) {
    controls.push_back(json::object{{"action", control.statement.action},
                                    {"control_id", control.statement.control_id},
                                    {"from_tier", to_string(control.statement.from_tier)},
                                    {"reviewer", control.statement.reviewer},
                                    {"signature", control.signature},
                                    {"signed_at", control.statement.signed_at},
                                    {"to_tier", to_string(control.statement.to_tier)}});
  }
  json::object object{{"controls", std::move(controls)}};
  if (unproven_demotion_) object["unproven_demotion"] = to_string(*unproven_demotion_);
  if (unproven_promotion_) object["unproven_promotion"] = true;
  return canonical_json(object);
}

void ControlHistory::add(ControlStatement statement, std::string signature) {
  // A person has looked at the agent again.
  if (promotes(statement)) unproven_demotion_.reset();
  unproven_promotion_ = false;
  controls_.push_back({std::move(statement), std::move(signature)});
  if (controls_.size() > kMost) controls_.erase(controls_.begin());
}

Standing ControlHistory::proven(const std::string& agent, std::string_view ledger,
                                const core::ReviewerBook* people,
                                std::vector<std::string>* ignored) const {
  const auto ignore = [&](std::string why) {
    if (ignored != nullptr) ignored->push_back(std::move(why));
  };
  Standing standing{.demoted_to = unproven_demotion_};
  if (unproven_promotion_) ignore("a promotion that an earlier release kept without a signature");
  std::set<std::string_view> ids;
  for (const Signed& control : controls_) {
    ControlStatement statement = control.statement;
    statement.agent = agent;
    statement.ledger = ledger;
    Result<void> good = check_direction(statement);
    if (good && !ids.insert(control.statement.control_id).second) {
      good = fail(ErrorCode::Unauthenticated, "its control_id was used before");
    }
    if (good && statement.reviewer == agent) {
      good = fail(ErrorCode::Unauthenticated, "an agent cannot change its own tier");
    }
    if (good && people == nullptr) {
      good = fail(ErrorCode::Unauthenticated, "no reviewers are registered");
    }
    if (good) {
      good = people->check_control(statement.reviewer, statement.text(), control.signature);
    }
    if (good) {
      standing.take(promotes(statement), statement.to_tier);
    } else {
      ignore(fmt::format("{} to {} by `{:.80}`: {}", statement.action, to_string(statement.to_tier),
                         statement.reviewer, good.error().message));
    }
  }
  return standing;
}

Result<Standing> standing_of(core::RecordReader& records, const std::string& agent,
                             const core::ReviewerBook* people) {
  SALLYPORT_TRY(const std::optional<std::string> stored, records.fact(kStandingSpace, agent));
  // Nearly all agents.
  if (!stored) return Standing{};
  SALLYPORT_TRY(const ControlHistory history, ControlHistory::parse(*stored));
  SALLYPORT_TRY(const std::string origin, origin_of(records));
  return history.proven(agent, origin, people);
}

}  // namespace sallyport::trust
