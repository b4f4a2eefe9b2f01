#include "ledger/read/stored_entry.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "ledger/entry/entry.h"
#include "ledger/entry/entry_reader.h"
#include "ledger/proof/merkle.h"
#include "ledger/write/seals.h"

namespace sallyport::ledger {

namespace {

Result<void> check_commitments(const std::vector<Opening>& openings, const EntryReader& reader) {
  for (const Opening& opening : openings) {
    const auto commitment = reader.commitment(opening.path);
    if (!commitment) {
      return fail(ErrorCode::Corrupt,
                  fmt::format("an opening points at no sealed field at `{}`", opening.path));
    }
    if (opening.state == OpeningState::Open &&
        seal_digest(opening.form, opening.salt, opening.value) != *commitment) {
      return fail(ErrorCode::Corrupt,
                  "an opening does not match its commitment at " + opening.path);
    }
  }
  if (openings.size() == reader.sealed_fields()) return {};
  return fail(ErrorCode::Corrupt, fmt::format("{} openings are kept of {} sealed fields",
                                              openings.size(), reader.sealed_fields()));
}

}  // namespace

Result<void> check_leaf(const StoredEntry& stored) {
  if (!stored.bytes || leaf_hash(*stored.bytes) == stored.leaf) return {};
  return ledger_damaged(fmt::format("entry {} does not have its hash", stored.sequence));
}

Result<std::vector<Opening>> openings_of(const StoredEntry& stored) {
  thread_local EntryReader reader;
  Result<std::vector<Opening>> openings = unpack_openings(stored.openings);
  Result<void> good = openings ? Result<void>{} : std::unexpected(openings.error());
  if (good && stored.bytes) good = reader.read(*stored.bytes);
  if (good && stored.bytes) good = check_commitments(*openings, reader);
  if (good && stored.secret != nullptr && !Seals(*stored.secret).holds(stored)) {
    good = fail(ErrorCode::Corrupt, "the data stored with it differs from its seal");
  }
  if (good) return openings;
  return ledger_damaged(fmt::format("entry {}: {}", stored.sequence, good.error().message));
}

Result<json::object> opened_entry(const StoredEntry& stored) {
  SALLYPORT_TRY(const std::vector<Opening> openings, openings_of(stored));
  SALLYPORT_TRY(json::value entry, parse_own_json(*stored.bytes));
  json::value body = opened_body(entry, openings);
  entry.get_object()["body"] = std::move(body);
  return std::move(entry.get_object());
}

}  // namespace sallyport::ledger
