#include "grants/grant_guard.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/cut_text.h"
#include "base/json_members.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/plan/grant_use.h"
#include "grants/token_facts.h"

namespace sallyport::grants {

namespace {

json::object settings_json(const GrantGuard::Settings& settings) {
  json::array issuers(settings.trusted_issuers.begin(), settings.trusted_issuers.end());
  json::array required;
  for (const GrantGuard::Requirement& each : settings.required) {
    required.push_back(
        json::object{{"server", each.server}, {"tool", each.tool}, {"agent", each.agent}});
  }
  return {{"trusted_issuers", std::move(issuers)},
          {"required", std::move(required)},
          {"filters_rows", settings.filters_rows}};
}

// The members of a token that records contain (AU-15). Never its signature (CG-11).
json::object evidence_of(const Token& token) {
  return {{"grant_id", token.id}, {"grant_digest", token.digest}, {"issuer", token.issuer}};
}

// The id that a malformed token claims, if any (CG-15).
json::object claimed_by(const std::string& text) {
  const Result<ParsedJson> parsed = parse_json(text);
  const json::object* const object = parsed ? parsed->value.if_object() : nullptr;
  const std::optional<std::string_view> id = object ? text_in(*object, "id") : std::nullopt;
  if (!id || !parse_uuid(*id)) return {};
  return {{"grant_id", *id}};
}

json::array listed(const std::vector<PassedOver>& passed_over) {
  constexpr std::size_t kLongest = 200;
  json::array list;
  for (const PassedOver& each : passed_over) {
    list.push_back(
        json::object{{"grant", each.index}, {"why", cut_utf8_bytes(each.why, kLongest)}});
  }
  return list;
}

Verdict denied(const Failure& failure, json::object evidence) {
  Verdict verdict = Verdict::deny(std::string(failure.code), std::string(failure.code));
  evidence["check"] = to_string(failure.check);
  evidence["code"] = failure.code;
  evidence["why"] = failure.detail;
  verdict.evidence = std::move(evidence);
  return verdict;
}

// The denial of a call whose token is genuine, with what makes the token known.
Verdict denied(const Failure& failure, json::object evidence, const Examined& token) {
  Verdict verdict = denied(failure, std::move(evidence));
  if (token.grants.empty()) return verdict;  // its delegation is not valid
  verdict.grant = std::make_shared<const core::GrantUse>(core::GrantUse{
      .scope = token.scope, .spending = {.introduces = token.grants.front().spending.introduces}});
  return verdict;
}

// Failures that no other time and no other call can change.
bool counts_as_abuse(const Failure& failure) {
  return failure.check == Check::Form || failure.check == Check::Signature ||
         failure.check == Check::Delegation;
}

std::optional<Autonomy> ceiling_of(const ReadyGrant& grant) {
  std::optional<Autonomy> lowest;
  for (const Condition& condition : grant.conditions) {
    const std::optional<Autonomy> ceiling = condition.ceiling();
    if (ceiling && (!lowest || *ceiling < *lowest)) lowest = ceiling;
  }
  return lowest;
}

}  // namespace

// An examined token, or the failure of its examination.
struct GrantGuard::Found {
  std::shared_ptr<const Examined> token{};
  std::optional<Failure> failure{};
  json::object evidence{};
};

struct GrantGuard::Choice {
  std::optional<std::size_t> index{};
  std::optional<Failure> failure{};
  std::vector<PassedOver> passed_over{};
};

GrantGuard::GrantGuard(Settings settings, core::RecordReader& reader, const Clock& clock)
    : settings_(std::move(settings)),
      reader_(reader),
      clock_(clock),
      cache_(settings_.cached_tokens),
      signatures_(kMostSteps * settings_.cached_tokens),
      failures_(settings_.failures) {
  traits_.name = "grants";
  traits_.stage = core::Stage::Grant;
  traits_.settings = settings_json(settings_);
}

Task<Verdict> GrantGuard::judge(const Call& call, const core::GuardContext& context) const {
  co_return decide(call, context);
}

bool GrantGuard::needs_grant(const Call& call) const {
  return std::ranges::any_of(settings_.required, [&](const Requirement& requirement) {
    return (requirement.server == "*" || requirement.server == call.server) &&
           (requirement.tool == "*" || requirement.tool == call.tool) &&
           (requirement.agent == "*" || requirement.agent == call.agent_id);
  });
}

GrantGuard::Found GrantGuard::find(const Call& call) const {
  if (call.grants.empty()) {
    return {.failure = Failure{"grant_missing", Check::Form, "the call presents no grant"}};
  }
  if (call.grants.size() > 1) {
    return {.failure = Failure{"grant_malformed", Check::Form, "the call presents two grants"}};
  }
  const std::string& text = call.grants.front();
  if (text.size() > kMostBytes) {
    return {.failure = Failure{"grant_malformed", Check::Form, "the token is too large"}};
  }
  const Hash digest = sha256(text);
  if (auto known = cache_.find(digest)) return {.token = std::move(*known)};
  if (failures_.reached(call.agent_id, clock_.steady())) {
    return {.failure = Failure{"grant_rate", Check::Form, "too many tokens failed; try later"}};
  }
  const auto is_signed = [this](const Token& link) { return has_good_signature(link); };
  Examination examination = examine(text, settings_.trusted_issuers, is_signed);
  if (examination.token) {
    // A token with a broken chain is not worth caching.
    if (!examination.token->broken_link) cache_.keep(digest, examination.token);
    return {.token = std::move(examination.token)};
  }
  Found found{.failure = std::move(examination.failure)};
  found.evidence = examination.chain ? evidence_of(examination.chain->leaf()) : claimed_by(text);
  return found;
}

// Caches signatures by link: tokens that a holder delegates to many differ only in their last link.
bool GrantGuard::has_good_signature(const Token& link) const {
  const Hash digest = sha256({link.signature, link.issuer, "\n", link.signed_bytes});
  if (signatures_.find(digest)) return true;
  if (!signed_by_issuer(link)) return false;
  signatures_.keep(digest, true);
  return true;
}

// All checks from signature to subject, in order. They run each time, which also fulfils CG-23.
Result<std::optional<Failure>> GrantGuard::check(const Examined& token, const Call& call,
                                                 core::RecordReader& reader) const {
  if (std::optional<Failure> failure = check_issuer(token.chain, settings_.trusted_issuers)) {
    return failure;
  }
  if (std::optional<Failure> failure = check_time(token.chain, clock_.wall())) return failure;
  const IsRevoked revoked = [&reader](const std::string& id) { return is_revoked(reader, id); };
  SALLYPORT_TRY(std::optional<Failure> failure, check_revocation(token.chain, revoked));
  if (!failure) failure = check_delegation(token);
  if (!failure) failure = check_subject(token.chain, call.agent_id);
  return failure;
}

Result<GrantGuard::Choice> GrantGuard::choose(const Examined& token, const Call& call,
                                              const core::GuardContext& context) const {
  const CallView view{call, context.classification.effect_class, settings_.filters_rows};
  Fitting fits = fitting(token, view);
  Choice choice{.passed_over = std::move(fits.passed_over)};
  if (fits.order.empty()) {
    choice.failure = Failure{"grant_scope", Check::Scope, "no grant of the token fits the call"};
    return choice;
  }
  core::RecordReader& reader = context.facts ? *context.facts : reader_;
  // A call that was held continues with the grant in which it has reserved room.
  SALLYPORT_TRY(const std::vector<std::string> held,
                core::budgets::reserved_by(reader, call.call_id));
  for (const std::size_t index : fits.order) {
    if (!held.empty() && held.front() == counter_key(token.chain.leaf().digest, index)) {
      choice.index = index;
      return choice;
    }
  }
  for (const std::size_t index : fits.order) {
    std::optional<std::string_view> word;
    for (const core::Limit& limit : token.grants[index].spending.limits) {
      SALLYPORT_TRY(word, core::budgets::full(reader, limit, clock_.wall()));
      if (word) break;
    }
    if (!word) {
      choice.index = index;
      choice.failure.reset();
      return choice;
    }
    choice.passed_over.push_back({index, std::string(*word)});
    if (!choice.failure) {
      choice.failure = Failure{*word, Check::Budget, "no grant that fits has room left"};
    }
  }
  return choice;
}

Result<Verdict> GrantGuard::decide(const Call& call, const core::GuardContext& context) const {
  if (!needs_grant(call)) return Verdict::allow();
  Found found = find(call);
  if (found.token) {
    found.evidence = evidence_of(found.token->chain.leaf());
    SALLYPORT_TRY(found.failure,
                  check(*found.token, call, context.facts ? *context.facts : reader_));
  }
  if (found.failure) {
    if (counts_as_abuse(*found.failure)) failures_.note(call.agent_id, clock_.steady());
    const bool genuine = found.token && found.failure->check != Check::Signature;
    return genuine ? denied(*found.failure, std::move(found.evidence), *found.token)
                   : denied(*found.failure, std::move(found.evidence));
  }
  SALLYPORT_TRY(const Choice choice, choose(*found.token, call, context));
  if (!choice.passed_over.empty()) found.evidence["passed_over"] = listed(choice.passed_over);
  if (!choice.index) return denied(*choice.failure, std::move(found.evidence), *found.token);
  Verdict verdict = Verdict::allow();
  found.evidence["matched_grant_index"] = *choice.index;
  verdict.evidence = std::move(found.evidence);
  verdict.grant = std::make_shared<const core::GrantUse>(
      core::GrantUse{.scope = found.token->scope,
                     .index = *choice.index,
                     .ceiling = ceiling_of(found.token->grants[*choice.index]),
                     .spending = found.token->grants[*choice.index].spending});
  return verdict;
}

}  // namespace sallyport::grants
