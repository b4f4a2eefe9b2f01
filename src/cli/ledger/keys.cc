// Verifier keys and the rotation of the signing key. No private key is ever printed (LE-28).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "cli/common_options.h"
#include "ledger/proof/key_history.h"
#include "ledger/read/look_at.h"
#include "ledger/read/query.h"
#include "people/login.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct RotateOptions {
  bool compromised = false;
  LoginOptions login;
};

// The entry of the rotation to this key.
Result<std::optional<std::uint64_t>> rotation_to(ledger::LedgerStore& store,
                                                 const ledger::VerifierKey& key) {
  // Other processes may have written since, but hardly a hundred control entries.
  constexpr std::size_t kNewest = 100;
  const ledger::Filter controls{.facets = {{ledger::Facet::Kind, "control"}}};
  SALLYPORT_TRY(const std::vector<ledger::StoredEntry> newest,
                ledger::look_at(store, [&](ledger::ReadView& view) {
                  return ledger::newest_entries(view, controls, kNewest);
                }));
  std::optional<std::uint64_t> found;
  for (const ledger::StoredEntry& stored : newest) {
    SALLYPORT_TRY(const json::value entry, parse_own_json(*stored.bytes));
    const json::object* const body = object_in(entry.get_object(), "body");
    if (body != nullptr && text_in(*body, "new") == key.text()) found = stored.sequence;
  }
  return found;
}

Result<int> keys_show(const Context& context) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  SALLYPORT_TRY(const std::vector<ledger::KeyPeriod> periods,
                ledger::look_at(workspace->store(), ledger::key_history));
  if (periods.empty()) return fail(ErrorCode::NotFound, "this ledger names no key yet");
  for (const ledger::KeyPeriod& period : periods) {
    if (context.json()) {
      json::object object{{"key", period.key.text()},
                          {"first_size", period.first_size},
                          {"current", !period.last_size.has_value()},
                          {"compromised", period.compromised}};
      if (period.last_size) object["last_size"] = *period.last_size;
      print_line(canonical_json(object));
      continue;
    }
    const std::string sizes =
        period.last_size ? fmt::format("sizes {} to {}", period.first_size, *period.last_size)
                         : fmt::format("from size {} on", period.first_size);
    print_line(fmt::format("{}  {}{}", visible(period.key.text()), sizes,
                           period.compromised ? ", compromised" : ""));
  }
  return 0;
}

Result<int> keys_rotate(const Context& context, const RotateOptions& options) {
  SALLYPORT_TRY(const Person person, authorize_change(context, options.login, "keys rotate"));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  SALLYPORT_TRY(const ledger::VerifierKey key,
                workspace->ledger().rotate_key(options.compromised, person.who));
  SALLYPORT_TRY(const std::optional<std::uint64_t> sequence, rotation_to(workspace->store(), key));
  if (context.json()) {
    json::object object{{"key", key.text()}, {"compromised", options.compromised}};
    if (sequence) object["sequence"] = *sequence;
    print_line(canonical_json(object));
    return 0;
  }
  print_line(fmt::format("now signing with {}", visible(key.text())));
  if (options.compromised) {
    print_line("distribute the new key another way: verifiers do not accept it from the old key");
  } else if (sequence) {
    print_line(
        fmt::format("Verifiers that pinned the old key accept the new one with this receipt:\n"
                    "  sallyport ledger receipt {} --out rotation.json",
                    *sequence));
  }
  return 0;
}

const Command kKeysShow("keys show", "print verifier keys and the sizes they signed", keys_show);

const Command kKeysRotate("keys rotate", "sign with a new key from now on", keys_rotate,
                          [](Syntax& syntax, RotateOptions& options) {
                            syntax.flag(
                                "--compromised", options.compromised,
                                "the old key leaked: the new key inherits no trust from it");
                            person_options(syntax, options.login);
                          });

}  // namespace

}  // namespace sallyport::app
