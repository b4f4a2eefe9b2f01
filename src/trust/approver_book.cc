#include "trust/approver_book.h"

#include <fmt/format.h>
#include <sodium.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"

namespace sallyport::trust {

bool is_signature_of(std::string_view message, std::string_view signature, const PublicKey& key) {
  constexpr std::string_view kPrefix = "ed25519:";
  if (!signature.starts_with(kPrefix)) return false;
  const auto bytes = from_base64(signature.substr(kPrefix.size()));
  return bytes && bytes->size() == crypto_sign_BYTES &&
         crypto_sign_ed25519_verify_detached(as_bytes(*bytes).data(), as_bytes(message).data(),
                                             message.size(), key.data()) == 0;
}

std::string token_digest(std::string_view token) {
  return "sha256:" + hex(sha256(token));
}

Result<void> ApproverBook::check(const std::string& reviewer, std::string_view statement,
                                 std::string_view signature) const {
  const Reviewer* const person = people_.find(reviewer);
  if (person == nullptr || !person->has_role("approver")) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("`{:.80}` is not registered as approver", reviewer));
  }
  const bool good = person->key ? is_signature_of(statement, signature, *person->key)
                                : person->token.has_value() || person->client.has_value();
  if (good) return {};
  return fail(ErrorCode::Unauthenticated,
              fmt::format("the answer is not signed by the key of `{:.80}`", reviewer));
}

json::value ApproverBook::dump() const {
  json::array people;
  for (const Reviewer& person : people_.people) {
    json::object one{{"name", person.name},
                     {"key", person.key ? json::value(key_text(*person.key)) : json::value()},
                     {"token", person.token ? json::value(*person.token) : json::value()},
                     {"roles", json::value_from(person.roles)}};
    if (person.client) one["client"] = *person.client;
    people.push_back(std::move(one));
  }
  return people;
}

}  // namespace sallyport::trust
