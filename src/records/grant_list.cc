#include "records/grant_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "base/uuid.h"
#include "ledger/entry/entry.h"
#include "records/selection.h"

namespace sallyport::app {

namespace {

Result<std::string> state_of(core::RecordReader& reader, const grants::KnownToken& token,
                             WallTime now) {
  SALLYPORT_TRY(const bool revoked, grants::is_revoked(reader, token.id));
  if (revoked) return "revoked";
  const auto second = static_cast<std::uint64_t>(
      std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count());
  if (second >= token.expires_at) return "expired";
  return second < token.issued_at ? "not yet valid" : "valid";
}

Result<core::budgets::Count> spent(core::RecordReader& reader, const grants::KnownToken& token) {
  core::budgets::Count all;
  for (std::uint64_t i = 0; i < token.grants; ++i) {
    SALLYPORT_TRY(const core::budgets::Count one,
                  core::budgets::count(reader, grants::counter_key(token.digest, i)));
    all.used += one.used;
    all.held += one.held;
  }
  return all;
}

}  // namespace

json::object to_json(const GrantRow& row) {
  const grants::KnownToken& token = row.token;
  return {{"grant_id", token.id},
          {"grant_digest", token.digest},
          {"parent", token.parent.empty() ? json::value() : json::value(token.parent)},
          {"issuer", token.issuer},
          {"principal", token.principal},
          {"issued_at", token.issued_at},
          {"expires_at", token.expires_at},
          {"grants", token.grants},
          {"origin", token.origin},
          {"uses", row.count.used},
          {"holds", row.count.held},
          {"state", row.state}};
}

Result<std::vector<GrantRow>> grant_rows(core::RecordReader& reader, WallTime now) {
  SALLYPORT_TRY(std::vector<grants::KnownToken> tokens, grants::known_tokens(reader));
  std::ranges::sort(tokens, {}, [](const grants::KnownToken& token) {
    return std::pair(token.issued_at, token.id);
  });
  std::vector<GrantRow> rows;
  for (grants::KnownToken& token : tokens) {
    GrantRow row{.token = std::move(token)};
    SALLYPORT_TRY(row.state, state_of(reader, row.token, now));
    SALLYPORT_TRY(row.count, spent(reader, row.token));
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<Revocation> revocation(core::RecordReader& reader, const std::string& id,
                              const std::string& who, const std::string& reason) {
  SALLYPORT_CHECK_OK(check_reason(reason));
  if (!parse_uuid(id)) {
    return fail(
        ErrorCode::NotFound,
        fmt::format("`{}` is not an id of a grant, which is a UUID in lower case; `sallyport "
                    "grants list` shows the grants that were issued or seen here",
                    id));
  }
  SALLYPORT_TRY(const auto known, grants::known_token(reader, id));
  SALLYPORT_TRY(const bool revoked, grants::is_revoked(reader, id));
  if (revoked) return fail(ErrorCode::Conflict, fmt::format("grant `{}` is already revoked", id));
  json::object details{{"who", who}, {"grant_id", id}, {"reason", reason}};
  if (known) details["grant_digest"] = known->digest;
  Revocation revocation{.draft = ledger::control("grant_revoked", std::move(details)),
                        .known = known.has_value()};
  revocation.draft.facts.push_back(grants::revoked_fact(id));
  return revocation;
}

}  // namespace sallyport::app
