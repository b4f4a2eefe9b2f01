// Checks a whole ledger, or an export of it, and says where it first fails (LE-48..LE-51).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/keyed_digest.h"
#include "ledger/proof/note.h"
#include "ledger/store.h"

namespace sallyport::ledger {

struct Fault {
  std::uint64_t sequence = 0;
  std::string check;  // one of LE-49
  std::string detail;
  std::string cause{};  // of LE-73, if the store could not be read
};

struct LedgerReport {
  bool ok = false;
  std::uint64_t tree_size = 0;
  std::string origin;
  std::optional<Fault> first_bad;
  // For an export: openings that are left out and that no `erased` entry of it explains. The
  // entries stay proved without them (LE-37).
  std::optional<std::uint64_t> openings_missing;
  // For an export that is checked without the keys of people: entries that people signed.
  std::uint64_t unjudged = 0;

  json::object to_json() const;
};

// Judges a control record of the trust chain with the keys of people. An error says why no
// authorized person signed it. Callable from any thread. Empty: control records are not judged.
using CheckControl =
    std::function<Result<void>(const json::object& record, const std::string& origin)>;
// True if a trust record changes a tier, or claims to.
bool is_trust_control(const json::object& record);

// Checks what people signed with passkeys, by the keys of people: control entries that add and
// remove one, and answers (CO-21). Called in the order of the log, on one thread.
using CheckPasskeys =
    std::function<Result<void>(const json::object& body, const std::string& origin)>;
// True if the body of an entry of this kind is one of these.
bool is_of_passkey(std::string_view kind, const json::object& body);
// The fault of an invalid one. No value: it names a passkey that was enrolled in an entry whose
// bytes are pruned.
std::optional<Fault> passkey_fault(std::uint64_t sequence, const Error& error, bool pruned);

// Recomputes everything that is stored. Key periods come from the log itself; `pinned` must be one
// of them if it is given. `since` is a checkpoint kept elsewhere. Facts that cannot be derived from
// the log are checked with the `digest` of the data folder, if given.
LedgerReport verify_ledger(LedgerStore& store, const std::optional<VerifierKey>& pinned,
                           const std::optional<std::string>& since, unsigned threads,
                           const KeyedDigest* digest = nullptr, CheckControl control = {},
                           CheckPasskeys passkeys = {});

// A JSON Lines export, offline (LE-64). An entry that no authorized person signed is a fault only
// if the checkpoint over it is good.
LedgerReport verify_export(std::istream& lines, const VerifierKey& key,
                           const CheckControl& control = {}, const CheckPasskeys& passkeys = {});

}  // namespace sallyport::ledger
