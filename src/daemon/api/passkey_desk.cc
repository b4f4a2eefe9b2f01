#include "daemon/api/passkey_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "api/sessions.h"
#include "base/base64url.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/vote_check.h"
#include "ledger/write/committer.h"
#include "net/url.h"
#include "trust/trust_record.h"

namespace sallyport::app {

namespace {

Hash digest_of(std::string_view purpose, std::string_view challenge) {
  return sha256({purpose, "\n", challenge});
}

// Without letters and digits that look alike.
std::string fresh_code(Entropy& entropy) {
  constexpr std::string_view kLetters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
  static_assert(kLetters.size() == 32);
  std::array<std::uint8_t, 8> bytes{};
  entropy.fill(bytes);
  std::string code;
  for (const std::uint8_t byte : bytes) code += kLetters[byte % kLetters.size()];
  return code;
}

// As a person types it.
std::string code_of(std::string_view typed) {
  std::string code;
  for (const char c : typed) {
    if (c == '-' || c == ' ') continue;
    code += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return code;
}

core::Fact fact_of(const trust::Enrolment& enrolment) {
  return {std::string(core::kPasskeySpace), enrolment.credential_id, enrolment.text()};
}

// The challenge that a client claims to have. The caller checks that we issued it.
std::string challenge_in(std::string_view client_data) {
  constexpr std::size_t kLongest = 4096;
  const Result<ParsedJson> parsed = parse_json(client_data, {.bytes = kLongest});
  const json::object* const object = parsed ? parsed->value.if_object() : nullptr;
  const auto text = object ? text_in(*object, "challenge") : std::nullopt;
  return from_base64url(text.value_or("=")).value_or("");
}

std::unexpected<Error> stale() {
  return fail(ErrorCode::Unauthenticated,
              "this challenge was used, is older than five minutes or was never issued; try again",
              {}, "webauthn_challenge");
}

}  // namespace

std::string rp_id_of(std::string_view origin) {
  const Result<net::Url> url = net::Url::parse(origin);
  return url ? url->host : std::string();
}

core::Draft passkey_added(const trust::Enrolment& enrolment) {
  core::Draft draft = ledger::control("passkey_added", {{"who", enrolment.reviewer},
                                                        {"statement", enrolment.statement()},
                                                        {"signature", enrolment.signature}});
  draft.facts.push_back(fact_of(enrolment));
  return draft;
}

core::Draft passkey_removed(trust::Enrolment enrolment, const std::string& who,
                            const std::string& at) {
  core::Draft draft = ledger::control(
      "passkey_removed",
      {{"who", who}, {"reviewer", enrolment.reviewer}, {"credential_id", enrolment.credential_id}});
  enrolment.removed_at = at;
  draft.facts.push_back(fact_of(enrolment));
  return draft;
}

std::string PasskeyDesk::challenge(std::string_view purpose) {
  const SteadyTime now = parts_.clock.steady();
  std::erase_if(challenges_, [&](const auto& pair) { return now - pair.second >= kGood; });
  if (challenges_.size() >= kMostOpen) {
    challenges_.erase(
        std::ranges::min_element(challenges_, {}, [](const auto& pair) { return pair.second; }));
  }
  const std::string fresh = *from_base64url(api::fresh_secret(parts_.entropy));
  challenges_.emplace(digest_of(purpose, fresh), now);
  return fresh;
}

bool PasskeyDesk::take(std::string_view purpose, std::string_view challenge) {
  const auto found = challenges_.find(digest_of(purpose, challenge));
  if (found == challenges_.end()) return false;
  const bool fresh = parts_.clock.steady() - found->second < kGood;
  challenges_.erase(found);
  return fresh;
}

Result<const trust::Reviewer*> PasskeyDesk::keyed(const policy::ReviewerFile::List& people,
                                                  const std::string& name) const {
  const trust::Reviewer* const person = people->find(name);
  if (person != nullptr && person->key) return person;
  return fail(ErrorCode::Unauthenticated,
              fmt::format("`{:.80}` has no registered key that could vouch for another one; "
                          "`sallyport approvals init` makes one",
                          name),
              {}, "no_key");
}

Result<std::vector<trust::Enrolment>> PasskeyDesk::all() const {
  SALLYPORT_TRY(const std::vector<std::string> texts, core::enrolled_keys(parts_.records));
  return trust::enrolments_in(texts);
}

Result<std::vector<trust::Enrolment>> PasskeyDesk::of(const std::string& person) const {
  SALLYPORT_TRY(std::vector<trust::Enrolment> every, all());
  std::erase_if(every, [&](const trust::Enrolment& one) { return one.reviewer != person; });
  std::ranges::sort(every, {},
                    [](const auto& one) { return std::pair(one.at, one.credential_id); });
  return every;
}

Result<PasskeyDesk::Offer> PasskeyDesk::keep(trust::Enrolment enrolment) {
  SALLYPORT_TRY(const std::vector<trust::Enrolment> every, all());
  if (trust::find_enrolment(every, enrolment.credential_id) != nullptr) {
    return fail(ErrorCode::Conflict, "this key is or was enrolled already", {}, "enrolled");
  }
  const auto own = [&](const trust::Enrolment& one) { return one.reviewer == enrolment.reviewer; };
  const auto ever = std::ranges::count_if(every, own);
  const auto now = std::ranges::count_if(
      every, [&](const trust::Enrolment& one) { return own(one) && one.counts(); });
  if (static_cast<std::size_t>(now) >= kMostKeys || static_cast<std::size_t>(ever) >= kMostEver) {
    return fail(ErrorCode::InvalidInput, "one person has at most 16 keys; remove one first");
  }
  const SteadyTime time = parts_.clock.steady();
  std::erase_if(pending_, [&](const auto& pair) { return time - pair.second.made >= kGood; });
  if (pending_.size() >= kMostOpen) {
    pending_.erase(
        std::ranges::min_element(pending_, {}, [](const auto& pair) { return pair.second.made; }));
  }
  std::string code = fresh_code(parts_.entropy);
  pending_.insert_or_assign(code, Pending{enrolment, time});
  return Offer{std::move(code), std::move(enrolment)};
}

Result<PasskeyDesk::Offer> PasskeyDesk::offer_passkey(const std::string& person,
                                                      const std::string& origin,
                                                      std::string_view client_data,
                                                      std::string_view authenticator_data) {
  SALLYPORT_TRY(const policy::ReviewerFile::List people, parts_.people.now());
  SALLYPORT_CHECK_OK(keyed(people, person));
  const trust::Ceremony asked{challenge_in(client_data), origin, rp_id_of(origin)};
  if (!take("enrol\n" + person, asked.challenge)) return stale();
  SALLYPORT_TRY(const trust::NewCredential made,
                trust::new_credential(client_data, authenticator_data, asked));
  return keep({.reviewer = person,
               .credential_id = base64url(made.id),
               .public_key = base64url(made.key.spki),
               .alg = made.key.alg,
               .rp_id = asked.rp_id,
               .origin = origin,
               .ledger = parts_.ledger,
               .at = trust::whole_seconds(parts_.clock.wall())});
}

Result<PasskeyDesk::Offer> PasskeyDesk::offer_browser_key(const std::string& person,
                                                          const std::string& origin,
                                                          std::string_view spki) {
  SALLYPORT_TRY(const policy::ReviewerFile::List people, parts_.people.now());
  SALLYPORT_CHECK_OK(keyed(people, person));
  if (!trust::ed25519_in(spki)) {
    return fail(ErrorCode::InvalidInput, "`public_key` is the SPKI of an Ed25519 key",
                "public_key");
  }
  return keep({.reviewer = person,
               .credential_id = base64url(text_of(sha256(spki))),
               .public_key = base64url(spki),
               .alg = "EdDSA",
               .origin = origin,
               .ledger = parts_.ledger,
               .at = trust::whole_seconds(parts_.clock.wall())});
}

Result<trust::Enrolment> PasskeyDesk::offered(std::string_view code) const {
  const auto found = pending_.find(code_of(code));
  const bool good = found != pending_.end() && parts_.clock.steady() - found->second.made < kGood;
  if (good) return found->second.enrolment;
  return fail(ErrorCode::NotFound,
              "no key waits under this code; it is good for five minutes and once");
}

Task<trust::Enrolment> PasskeyDesk::accept(std::string code, std::string signature) {
  SALLYPORT_CO_TRY(trust::Enrolment enrolment, offered(code));
  SALLYPORT_CO_TRY(const policy::ReviewerFile::List people, parts_.people.now());
  SALLYPORT_CO_TRY(const trust::Reviewer* const person, keyed(people, enrolment.reviewer));
  SALLYPORT_CO_TRY(const std::vector<trust::Enrolment> every, all());
  // A removed passkey vouches only for keys that were enrolled while it was active.
  if (signature.starts_with(trust::Assertion::kMark)) {
    SALLYPORT_CO_CHECK_OK(
        trust::check_passkey(*person, enrolment.statement_text(), signature, every));
  }
  enrolment.signature = std::move(signature);
  SALLYPORT_CO_CHECK_OK(trust::check_enrolment(enrolment, every, *person->key));
  pending_.erase(code_of(code));
  std::vector<core::Draft> drafts;
  drafts.push_back(passkey_added(enrolment));
  SALLYPORT_CO_CHECK_OK(co_await parts_.records.append(std::move(drafts), core::Urgency::Reports));
  co_return enrolment;
}

Task<void> PasskeyDesk::remove(std::string person, std::string credential_id, std::string who) {
  SALLYPORT_CO_TRY(const std::vector<trust::Enrolment> own, of(person));
  const trust::Enrolment* const enrolment = trust::find_enrolment(own, credential_id);
  if (enrolment == nullptr || !enrolment->counts()) {
    co_return fail(ErrorCode::NotFound, "you have no such key");
  }
  std::vector<core::Draft> drafts;
  drafts.push_back(passkey_removed(*enrolment, who, trust::whole_seconds(parts_.clock.wall())));
  std::vector<core::Fact> expected;
  expected.push_back(fact_of(*enrolment));
  SALLYPORT_CO_CHECK_OK(co_await parts_.records.append(std::move(drafts), core::Urgency::Reports,
                                                       std::move(expected)));
  co_return Result<void>{};
}

Result<PasskeyDesk::Signer> PasskeyDesk::signer_of_login(const std::string& origin,
                                                         std::string_view signature) {
  SALLYPORT_TRY(const trust::Assertion assertion, trust::Assertion::parse(signature));
  const std::string challenge = challenge_in(assertion.client_data);
  if (!take("sign in", challenge)) return stale();
  SALLYPORT_TRY(const std::vector<trust::Enrolment> every, all());
  const trust::Enrolment* const enrolment =
      trust::find_enrolment(every, base64url(assertion.credential_id));
  SALLYPORT_TRY(const policy::ReviewerFile::List people, parts_.people.now());
  const trust::Reviewer* const person = enrolment ? people->find(enrolment->reviewer) : nullptr;
  const bool known = person != nullptr && person->key && enrolment->is_passkey() &&
                     enrolment->counts() && trust::check_enrolment(*enrolment, every, *person->key);
  if (!known) {
    return fail(ErrorCode::Unauthenticated, "this passkey is not enrolled here", {},
                "passkey_unknown");
  }
  // On the page where it was enrolled, and nowhere else.
  if (enrolment->origin != origin) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("this passkey was enrolled on `{:.120}`", enrolment->origin), {},
                "webauthn_origin");
  }
  SALLYPORT_CHECK_OK(trust::check_assertion(assertion, enrolment->key(),
                                            {challenge, enrolment->origin, enrolment->rp_id}));
  return Signer{person->name, passkey_login(enrolment->credential_id, *person)};
}

}  // namespace sallyport::app
