#include "grants/token.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "base/uuid.h"

namespace sallyport::grants {

namespace {

constexpr std::size_t kLongestName = 512;
constexpr std::string_view kTokenKeyPrefix = "ed25519:";
constexpr std::string_view kDigestPrefix = "sha256:";

std::unexpected<Error> malformed(std::string_view where, std::string_view problem) {
  return fail(ErrorCode::InvalidInput, fmt::format("`{}` {}", where, problem), std::string(where));
}

Result<void> only(const json::object& object, std::initializer_list<std::string_view> known,
                  std::string_view where) {
  for (const auto& member : object) {
    const std::string_view name = member.key();
    if (std::ranges::find(known, name) == known.end()) {
      return malformed(fmt::format("{}{}{:.60}", where, where.empty() ? "" : ".", name),
                       "is not a member of a grant token");
    }
  }
  return {};
}

// A required text whose length fits into records.
Result<std::string> name_in(const json::object& object, std::string_view name,
                            std::string_view where) {
  const std::optional<std::string_view> text = text_in(object, name);
  if (!text || text->empty() || text->size() > kLongestName) {
    return malformed(fmt::format("{}{}{}", where, where.empty() ? "" : ".", name),
                     fmt::format("must be a text of 1 to {} bytes", kLongestName));
  }
  return std::string(*text);
}

Result<std::uint64_t> whole_in(const json::object& object, std::string_view name,
                               std::string_view where) {
  const std::optional<std::uint64_t> number = number_in(object, name);
  if (!number) {
    return malformed(fmt::format("{}{}{}", where, where.empty() ? "" : ".", name),
                     "must be a whole number that is not negative");
  }
  return *number;
}

Result<std::optional<std::uint64_t>> optional_whole_in(const json::object& object,
                                                       std::string_view name,
                                                       std::string_view where) {
  if (!object.contains(name)) return std::nullopt;
  SALLYPORT_TRY(const std::uint64_t number, whole_in(object, name, where));
  return number;
}

Result<Operations> read_operations(const json::object& object, std::string_view where) {
  const json::value* const list = object.if_contains("operations");
  if (list == nullptr || !list->is_array() || list->get_array().empty()) {
    return malformed(fmt::format("{}.operations", where), "must be a list that is not empty");
  }
  Operations operations;
  for (const json::value& each : list->get_array()) {
    const std::string_view word = each.is_string() ? std::string_view(each.get_string()) : "";
    if (word == "invoke") {
      operations.invoke = true;
    } else if (word == "read_result") {
      operations.read_result = true;
    } else if (word == "delegate") {
      operations.delegate = true;
    } else {
      return malformed(fmt::format("{}.operations", where),
                       "may hold `invoke`, `read_result` and `delegate`");
    }
  }
  return operations;
}

Result<std::vector<Constraint>> read_constraints(const json::object& object,
                                                 std::string_view where) {
  std::vector<Constraint> constraints;
  const json::value* const list = object.if_contains("constraints");
  if (list == nullptr) return constraints;
  if (!list->is_array()) return malformed(fmt::format("{}.constraints", where), "must be a list");
  for (const json::value& each : list->get_array()) {
    const std::string place = fmt::format("{}.constraints/{}", where, constraints.size());
    if (!each.is_object()) return malformed(place, "must be an object");
    SALLYPORT_CHECK_OK(only(each.get_object(), {"type", "value"}, place));
    SALLYPORT_TRY(std::string type, name_in(each.get_object(), "type", place));
    const json::value* const value = each.get_object().if_contains("value");
    if (value == nullptr) return malformed(place + ".value", "is missing");
    constraints.push_back({std::move(type), *value});
  }
  return constraints;
}

Result<std::optional<core::Rate>> read_rate(const json::object& object, std::string_view where) {
  const json::value* const value = object.if_contains("rate");
  if (value == nullptr) return std::nullopt;
  const std::string place = fmt::format("{}.rate", where);
  if (!value->is_object()) return malformed(place, "must be an object");
  SALLYPORT_CHECK_OK(only(value->get_object(), {"max", "per_seconds"}, place));
  core::Rate rate;
  SALLYPORT_TRY(rate.max, whole_in(value->get_object(), "max", place));
  SALLYPORT_TRY(rate.per_seconds, whole_in(value->get_object(), "per_seconds", place));
  if (rate.per_seconds == 0) return malformed(place + ".per_seconds", "must be at least 1");
  return rate;
}

Result<Terms> read_one(const json::value& value, std::string_view where) {
  if (!value.is_object()) return malformed(where, "must be an object");
  const json::object& object = value.get_object();
  SALLYPORT_CHECK_OK(only(
      object, {"server", "tool", "operations", "constraints", "max_invocations", "rate", "from"},
      where));
  Terms terms;
  SALLYPORT_TRY(terms.server, name_in(object, "server", where));
  SALLYPORT_TRY(terms.tool, name_in(object, "tool", where));
  SALLYPORT_TRY(terms.operations, read_operations(object, where));
  SALLYPORT_TRY(terms.constraints, read_constraints(object, where));
  SALLYPORT_TRY(terms.max_invocations, optional_whole_in(object, "max_invocations", where));
  SALLYPORT_TRY(terms.rate, read_rate(object, where));
  SALLYPORT_TRY(terms.from, optional_whole_in(object, "from", where));
  return terms;
}

Result<std::vector<Terms>> read_scope(const json::object& token) {
  const json::object* const scope = object_in(token, "scope");
  if (scope == nullptr) return malformed("scope", "must be an object");
  SALLYPORT_CHECK_OK(only(*scope, {"grants"}, "scope"));
  const json::value* const grants = scope->if_contains("grants");
  if (grants == nullptr || !grants->is_array()) return malformed("scope.grants", "must be a list");
  return read_terms(grants->get_array());
}

Result<void> read_subject(const json::object& object, Token& token) {
  const json::object* const subject = object_in(object, "subject");
  if (subject == nullptr) return malformed("subject", "must be an object");
  SALLYPORT_CHECK_OK(only(*subject, {"principal", "key"}, "subject"));
  SALLYPORT_TRY(token.principal, name_in(*subject, "principal", "subject"));
  if (!subject->contains("key")) return {};
  const std::optional<std::string_view> key = text_in(*subject, "key");
  if (!key || !is_key(*key)) {
    return malformed("subject.key", "must be `ed25519:` and 64 lower-case hex digits");
  }
  token.subject_key = std::string(*key);
  return {};
}

Result<void> read_times(const json::object& object, Token& token) {
  SALLYPORT_TRY(token.issued_at, whole_in(object, "issued_at", ""));
  SALLYPORT_TRY(token.expires_at, whole_in(object, "expires_at", ""));
  if (token.expires_at <= token.issued_at) {
    return malformed("expires_at", "must be later than `issued_at`");
  }
  return {};
}

Result<void> read_parent(const json::object& object, Token& token) {
  if (!object.contains("parent")) return {};
  const std::optional<std::string_view> parent = text_in(object, "parent");
  const bool well_formed = parent && parent->starts_with(kDigestPrefix) &&
                           parent->size() == kDigestPrefix.size() + 64 &&
                           from_hex(parent->substr(kDigestPrefix.size()));
  if (!well_formed) return malformed("parent", "must be `sha256:` and 64 lower-case hex digits");
  token.parent = std::string(*parent);
  return {};
}

// Reads one link without its chain.
Result<Token> read_link(const json::object& object) {
  if (text_in(object, "schema") != kTokenSchema) {
    return malformed("schema", fmt::format("must be `{}`", kTokenSchema));
  }
  Token token;
  const std::optional<std::string_view> id = text_in(object, "id");
  if (!id || !parse_uuid(*id)) return malformed("id", "must be a UUID in lower case");
  token.id = std::string(*id);
  const std::optional<std::string_view> issuer = text_in(object, "issuer");
  if (!issuer || !is_key(*issuer)) {
    return malformed("issuer", "must be `ed25519:` and 64 lower-case hex digits");
  }
  token.issuer = std::string(*issuer);
  SALLYPORT_CHECK_OK(read_subject(object, token));
  SALLYPORT_CHECK_OK(read_times(object, token));
  SALLYPORT_TRY(token.grants, read_scope(object));
  SALLYPORT_CHECK_OK(read_parent(object, token));
  const std::optional<std::string_view> signature = text_in(object, "signature");
  std::optional<std::string> bytes = signature ? from_base64(*signature) : std::nullopt;
  if (!bytes || bytes->size() != 64) {
    return malformed("signature", "must be canonical base64 of 64 bytes");
  }
  token.signature = std::move(*bytes);
  token.signed_bytes = signed_bytes_of(object);
  token.digest = digest_of(object);
  return token;
}

json::object without(const json::object& token, std::initializer_list<std::string_view> names) {
  json::object rest;
  for (const auto& member : token) {
    if (std::ranges::find(names, std::string_view(member.key())) != names.end()) continue;
    rest.emplace(member.key(), member.value());
  }
  return rest;
}

}  // namespace

bool is_key(std::string_view text) {
  return text.starts_with(kTokenKeyPrefix) && text.size() == kTokenKeyPrefix.size() + 64 &&
         from_hex(text.substr(kTokenKeyPrefix.size())).has_value();
}

std::string signed_bytes_of(const json::object& token) {
  return canonical_json(without(token, {"signature", "chain"}));
}

std::string digest_of(const json::object& token) {
  return std::string(kDigestPrefix) + hex(sha256(canonical_json(without(token, {"chain"}))));
}

Result<std::vector<Terms>> read_terms(const json::array& grants) {
  if (grants.empty()) return malformed("scope.grants", "is empty");
  if (grants.size() > kMostGrants) {
    return malformed("scope.grants", fmt::format("has over {} grants", kMostGrants));
  }
  std::vector<Terms> all;
  for (const json::value& each : grants) {
    SALLYPORT_TRY(Terms terms, read_one(each, fmt::format("scope.grants/{}", all.size())));
    all.push_back(std::move(terms));
  }
  return all;
}

Result<TokenChain> read_token(std::string_view text) {
  if (text.size() > kMostBytes) {
    return malformed("token", fmt::format("is over {} bytes", kMostBytes));
  }
  SALLYPORT_TRY(const ParsedJson parsed, parse_json(text, {.bytes = kMostBytes}));
  if (!parsed.exact) return malformed("token", "holds a number that has no exact form");
  if (!parsed.value.is_object()) return malformed("token", "must be an object");
  const json::object& object = parsed.value.get_object();
  TokenChain chain;
  const auto add = [&](const json::object& link, std::string_view more) -> Result<void> {
    SALLYPORT_CHECK_OK(only(link,
                            {"schema", "id", "issuer", "subject", "issued_at", "expires_at",
                             "scope", "signature", "parent", more},
                            ""));
    SALLYPORT_TRY(Token token, read_link(link));
    chain.links.push_back(std::move(token));
    return {};
  };
  const json::value* const ancestors = object.if_contains("chain");
  if ((ancestors != nullptr) != object.contains("parent")) {
    return malformed(ancestors ? "parent" : "chain", "is missing: a delegated token has both");
  }
  if (ancestors != nullptr) {
    if (!ancestors->is_array()) return malformed("chain", "must be a list");
    if (ancestors->get_array().size() > kMostSteps) {
      return malformed("chain", fmt::format("has over {} steps", kMostSteps));
    }
    for (const json::value& link : ancestors->get_array()) {
      if (!link.is_object()) return malformed("chain", "must hold tokens");
      SALLYPORT_CHECK_OK(add(link.get_object(), "parent"));
    }
  }
  SALLYPORT_CHECK_OK(add(object, "chain"));
  return chain;
}

}  // namespace sallyport::grants
