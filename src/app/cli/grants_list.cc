// The tokens that were issued or seen, as the ledger knows them (CG-63).
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "app/cli/grants_commands.h"
#include "app/output.h"
#include "base/try.h"
#include "core/plan/budgets.h"
#include "grants/token_facts.h"
#include "ledger/store_reader.h"

namespace sallyport::app {

namespace {

std::string time_text(std::uint64_t second) {
  constexpr std::uint64_t kLast = 253402300799;
  return rfc3339(WallTime(std::chrono::seconds(std::min(second, kLast)))).substr(0, 19) + "Z";
}

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

Result<int> grants_list(const Context& context) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader reader(workspace->store());
  SALLYPORT_TRY(std::vector<grants::KnownToken> tokens, grants::known_tokens(reader));
  std::ranges::sort(tokens, {}, [](const grants::KnownToken& token) {
    return std::pair(token.issued_at, token.id);
  });
  if (tokens.empty() && !context.json()) say("no grants");
  for (const grants::KnownToken& token : tokens) {
    SALLYPORT_TRY(const std::string state, state_of(reader, token, workspace->clock().wall()));
    SALLYPORT_TRY(const core::budgets::Count count, spent(reader, token));
    say(context.json() ? visible_json(canonical_json(json::object{{"grant_id", token.id},
                                                                  {"grant_digest", token.digest},
                                                                  {"issuer", token.issuer},
                                                                  {"principal", token.principal},
                                                                  {"issued_at", token.issued_at},
                                                                  {"expires_at", token.expires_at},
                                                                  {"grants", token.grants},
                                                                  {"origin", token.origin},
                                                                  {"uses", count.used},
                                                                  {"holds", count.held},
                                                                  {"state", state}}))
                       : fmt::format("{}  {}  {} until {}, {}, {} uses, {} holds", token.id,
                                     visible(token.principal), state, time_text(token.expires_at),
                                     token.origin, count.used, count.held));
  }
  return 0;
}

}  // namespace sallyport::app
