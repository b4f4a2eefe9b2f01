#include "grants/token_facts.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::grants {

namespace {

constexpr std::string_view kTokens = "grant";
constexpr std::string_view kRevoked = "grant_revoked";

Result<KnownToken> read(const std::string& id, std::string_view stored) {
  SALLYPORT_TRY(const json::value value, parse_own_json(stored));
  if (!value.is_object()) return fail(ErrorCode::Corrupt, "a known grant cannot be read");
  const json::object& object = value.get_object();
  const auto text = [&](std::string_view name) { return text_or_empty(object, name); };
  return KnownToken{.id = id,
                    .digest = text("digest"),
                    .issuer = text("issuer"),
                    .principal = text("principal"),
                    .issued_at = number_in(object, "issued_at").value_or(0),
                    .expires_at = number_in(object, "expires_at").value_or(0),
                    .grants = number_in(object, "grants").value_or(0),
                    .origin = text("origin"),
                    .parent = text("parent")};
}

}  // namespace

core::Fact token_fact(const Token& token, std::string_view origin) {
  json::object known{{"digest", token.digest},
                     {"issuer", token.issuer},
                     {"principal", token.principal},
                     {"issued_at", token.issued_at},
                     {"expires_at", token.expires_at},
                     {"grants", token.grants.size()},
                     {"origin", origin}};
  if (token.parent) known["parent"] = *token.parent;
  return {std::string(kTokens), token.id, canonical_json(known)};
}

Result<std::optional<KnownToken>> known_token(core::RecordReader& reader, const std::string& id) {
  SALLYPORT_TRY(const std::optional<std::string> stored, reader.fact(kTokens, id));
  if (!stored) return std::nullopt;
  SALLYPORT_TRY(KnownToken known, read(id, *stored));
  return known;
}

Result<std::vector<KnownToken>> known_tokens(core::RecordReader& reader) {
  SALLYPORT_TRY(const std::vector<core::Fact> facts, reader.facts(kTokens));
  std::vector<KnownToken> tokens;
  for (const core::Fact& fact : facts) {
    SALLYPORT_TRY(KnownToken known, read(fact.key, *fact.value));
    tokens.push_back(std::move(known));
  }
  return tokens;
}

core::Fact revoked_fact(const std::string& id) {
  return {std::string(kRevoked), id, "revoked", true};
}

Result<bool> is_revoked(core::RecordReader& reader, const std::string& id) {
  SALLYPORT_TRY(const std::optional<std::string> stored, reader.fact(kRevoked, id));
  return stored.has_value();
}

std::string counter_key(std::string_view digest, std::uint64_t index) {
  return fmt::format("{}/{}", digest, index);
}

}  // namespace sallyport::grants
