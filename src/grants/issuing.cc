#include "grants/issuing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/bytes.h"
#include "base/encoding.h"
#include "base/try.h"
#include "grants/constraint.h"
#include "grants/delegation.h"

namespace sallyport::grants {

namespace {

json::object unsigned_token(const NewToken& wanted, const Signer& signer) {
  json::object subject{{"principal", wanted.principal}};
  if (wanted.subject_key) subject["key"] = *wanted.subject_key;
  return {{"schema", kTokenSchema},
          {"id", wanted.id},
          {"issuer", signer.key()},
          {"subject", std::move(subject)},
          {"issued_at", wanted.issued_at},
          {"expires_at", wanted.expires_at},
          {"scope", json::object{{"grants", wanted.grants}}}};
}

Result<void> check_constraints(const json::array& grants) {
  SALLYPORT_TRY(const std::vector<Terms> all, read_terms(grants));
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Constraint& constraint : all[i].constraints) {
      const Condition condition = Condition::of(constraint);
      if (condition.fault().empty()) continue;
      const std::vector<std::string_view> types = constraint_types();
      if (std::ranges::find(types, constraint.type) == types.end()) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("grant {}: constraint `{}` is unknown; use {}", i, constraint.type,
                                fmt::join(types, ", ")));
      }
      return fail(ErrorCode::InvalidInput,
                  fmt::format("grant {}: constraint `{}` would match nothing: {}", i,
                              constraint.type, condition.fault()));
    }
  }
  return {};
}

Result<IssuedToken> signed_token(json::object token, const Signer& signer) {
  token["signature"] = base64(as_bytes(signer.sign(signed_bytes_of(token))));
  IssuedToken issued{.text = canonical_json(token), .token = {}};
  // A token that would be refused when presented is not issued.
  SALLYPORT_TRY(TokenChain chain, read_token(issued.text));
  issued.token = chain.leaf();
  return issued;
}

}  // namespace

Result<IssuedToken> issue(const NewToken& wanted, const Signer& signer) {
  SALLYPORT_CHECK_OK(check_constraints(wanted.grants));
  return signed_token(unsigned_token(wanted, signer), signer);
}

Result<IssuedToken> attenuate(std::string_view parent_text, const NewToken& wanted,
                              const Signer& holder) {
  SALLYPORT_TRY(const TokenChain parents, read_token(parent_text));
  const Token& parent = parents.leaf();
  if (parent.subject_key != holder.key()) {
    return fail(ErrorCode::Conflict,
                parent.subject_key
                    ? fmt::format("the token is delegated with the key `{}`, and this is `{}`",
                                  *parent.subject_key, holder.key())
                    : "the token names no key of its subject, and so cannot be delegated");
  }
  SALLYPORT_CHECK_OK(check_constraints(wanted.grants));
  SALLYPORT_TRY(const std::vector<Terms> terms, read_terms(wanted.grants));
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (const auto why = wider(terms[i], parent.grants)) {
      return fail(ErrorCode::Conflict, fmt::format("grant {} would be wider: {}", i, *why));
    }
  }
  SALLYPORT_TRY(const ParsedJson parsed, parse_json(parent_text));
  json::object link = parsed.value.as_object();
  json::array chain;
  if (json::value* const ancestors = link.if_contains("chain")) {
    chain = std::move(ancestors->as_array());
    link.erase("chain");
  }
  chain.push_back(std::move(link));
  json::object token = unsigned_token(wanted, holder);
  token["parent"] = parent.digest;
  token["chain"] = std::move(chain);
  SALLYPORT_TRY(IssuedToken issued, signed_token(std::move(token), holder));
  SALLYPORT_TRY(const TokenChain whole, read_token(issued.text));
  if (const auto broken = broken_link(whole)) {
    return fail(ErrorCode::Conflict, "the token would be wider: " + *broken);
  }
  return issued;
}

}  // namespace sallyport::grants
