#include "trust/enrolments.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/base64url.h"
#include "base/digest.h"
#include "base/json_members.h"
#include "base/object_reader.h"
#include "base/try.h"

namespace sallyport::trust {

namespace {

constexpr std::string_view kPasskeySchema = "sallyport.passkey.v1";
constexpr std::string_view kBrowserSchema = "sallyport.browser_key.v1";
constexpr int kLongestChain = 16;

std::unexpected<Error> unknown(std::string_view cause, std::string message) {
  return fail(ErrorCode::Unauthenticated, std::move(message), {}, std::string(cause));
}

Result<void> check_signed(const Enrolment& passkey, std::string_view statement,
                          const Assertion& assertion) {
  const Ceremony asked{.challenge = std::string(text_of(sha256(statement))),
                       .origin = passkey.origin,
                       .rp_id = passkey.rp_id};
  return check_assertion(assertion, passkey.key(), asked);
}

Result<void> check_chain(const Enrolment& enrolment, std::span<const Enrolment> all,
                         const PublicKey& key, int left) {
  const std::string statement = enrolment.statement_text();
  if (!enrolment.signature.starts_with(Assertion::kMark)) {
    if (is_signature_of(statement, enrolment.signature, key)) return {};
    return unknown("passkey_unknown", fmt::format("the registered key of `{:.80}` did not sign for "
                                                  "this passkey",
                                                  enrolment.reviewer));
  }
  SALLYPORT_TRY(const Assertion assertion, Assertion::parse(enrolment.signature));
  const Enrolment* const signer = find_enrolment(all, base64url(assertion.credential_id));
  const bool usable = signer != nullptr && signer != &enrolment && signer->is_passkey() &&
                      signer->reviewer == enrolment.reviewer && left > 0;
  if (!usable) {
    return unknown("passkey_unknown", "no passkey of the same person signed for this one");
  }
  SALLYPORT_CHECK_OK(check_signed(*signer, statement, assertion));
  return check_chain(*signer, all, key, left - 1);
}

}  // namespace

CredentialKey Enrolment::key() const {
  return {alg, from_base64url(public_key).value_or("")};
}

json::object Enrolment::statement() const {
  json::object members{{"schema", is_passkey() ? kPasskeySchema : kBrowserSchema},
                       {"reviewer", reviewer},
                       {"credential_id", credential_id},
                       {"public_key", public_key},
                       {"alg", alg},
                       {"origin", origin},
                       {"ledger", ledger},
                       {"at", at}};
  if (is_passkey()) members["rp_id"] = rp_id;
  return members;
}

std::string Enrolment::statement_text() const {
  return canonical_json(statement());
}

std::string Enrolment::text() const {
  return canonical_json(json::object{
      {"statement", statement()}, {"signature", signature}, {"removed_at", removed_at}});
}

Result<Enrolment> Enrolment::from_statement(const json::object& statement) {
  ObjectReader in(statement, "statement");
  const bool passkey = in.word("schema", {kPasskeySchema, kBrowserSchema}) == kPasskeySchema;
  Enrolment read{.reviewer = in.text("reviewer"),
                 .credential_id = in.text("credential_id"),
                 .public_key = in.text("public_key"),
                 .alg = in.word("alg", {"ES256", "EdDSA"}),
                 .rp_id = passkey ? in.text("rp_id") : "",
                 .origin = in.text("origin"),
                 .ledger = in.text("ledger"),
                 .at = in.time("at")};
  if (in.ok() && passkey && read.rp_id.empty()) in.refuse("rp_id", "is empty");
  if (!in.ok()) return std::unexpected(in.error());
  if (read.statement() == statement) return read;
  return fail(ErrorCode::InvalidInput, "the statement has other members than it may have");
}

Result<Enrolment> Enrolment::parse(std::string_view text) {
  SALLYPORT_TRY(const json::value value, parse_own_json(text));
  const json::object* const object = value.if_object();
  const json::object* const statement = object ? object_in(*object, "statement") : nullptr;
  if (statement == nullptr) return fail(ErrorCode::Corrupt, "an enrolment has no statement");
  SALLYPORT_TRY(Enrolment read, from_statement(*statement));
  read.signature = text_or_empty(*object, "signature");
  read.removed_at = text_or_empty(*object, "removed_at");
  return read;
}

std::vector<Enrolment> enrolments_in(std::span<const std::string> texts) {
  std::vector<Enrolment> all;
  for (const std::string& text : texts) {
    if (Result<Enrolment> item = Enrolment::parse(text)) all.push_back(std::move(*item));
  }
  return all;
}

const Enrolment* find_enrolment(std::span<const Enrolment> all, std::string_view credential_id) {
  const auto found = std::ranges::find(all, credential_id, &Enrolment::credential_id);
  return found == all.end() ? nullptr : &*found;
}

Result<void> check_enrolment(const Enrolment& enrolment, std::span<const Enrolment> all,
                             const PublicKey& key) {
  return check_chain(enrolment, all, key, kLongestChain);
}

Result<void> check_passkey(const Reviewer& person, std::string_view statement,
                           std::string_view signature, std::span<const Enrolment> all) {
  SALLYPORT_TRY(const Assertion assertion, Assertion::parse(signature));
  const Enrolment* const passkey = find_enrolment(all, base64url(assertion.credential_id));
  const bool own = passkey != nullptr && passkey->is_passkey() && passkey->reviewer == person.name;
  if (!own || !person.key) {
    return unknown("passkey_unknown",
                   fmt::format("`{:.80}` has enrolled no such passkey", person.name));
  }
  if (!passkey->counts()) return unknown("passkey_removed", "this passkey was removed");
  SALLYPORT_CHECK_OK(check_signed(*passkey, statement, assertion));
  return check_enrolment(*passkey, all, *person.key);
}

bool is_of_browser_key(const Reviewer& person, std::string_view statement,
                       std::string_view signature, std::span<const Enrolment> all) {
  return person.key && std::ranges::any_of(all, [&](const Enrolment& item) {
           if (item.is_passkey() || item.reviewer != person.name || !item.counts()) return false;
           const std::optional<std::string> bytes = ed25519_in(item.key().spki);
           if (!bytes) return false;
           PublicKey key{};
           std::ranges::copy(*bytes, key.begin());
           return is_signature_of(statement, signature, key) &&
                  check_enrolment(item, all, *person.key).has_value();
         });
}

}  // namespace sallyport::trust
