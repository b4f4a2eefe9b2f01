// From a file of one machine to a database that several share, and the tables that it needs there.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "base/visible_text.h"
#include "cli/common_options.h"
#include "ledger/copy_ledger.h"
#include "ledger/member/instance_lock.h"
#include "ledger/proof/verify.h"
#include "ledger/read/look_at.h"
#include "ledger/secret/key_folder.h"
#include "people/login.h"
#include "store/open_store.h"
#include "store/tables_sql.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct MoveOptions {
  std::string to;  // the address of a database
  std::optional<std::string> log;
  std::vector<std::string> plain_hosts;
  LoginOptions login{};
};

struct TablesOptions {
  std::string gateway;  // roles of the database
  std::optional<std::string> keeper;
};

// The last entry of the file; written once, also where copying has to be done again.
Result<void> print_moved(const Workspace::Place& place, const std::string& to,
                         const std::string& who) {
  {
    SALLYPORT_TRY(const std::unique_ptr<Workspace> reading, Workspace::open_reading(place));
    SALLYPORT_TRY(const std::optional<std::string> before,
                  ledger::look_at(reading->store(), ledger::moved_to));
    if (before && *before == to) return {};
    if (before) {
      return fail(ErrorCode::Conflict, fmt::format("this ledger was moved to {} before", *before));
    }
  }
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace,
                Workspace::open_writing(place, {.role = "maintenance", .announced = false}));
  SALLYPORT_CHECK_OK(
      workspace->ledger().transact([&](ledger::WriteView&) -> Result<std::vector<core::Draft>> {
        return std::vector{ledger::moved(to, who)};
      }));
  return {};
}

Result<void> check_copy(const KeyedDigest& digest, ledger::LedgerStore& copy) {
  const ledger::LedgerReport report = ledger::verify_ledger(copy, {}, {}, 1, &digest);
  if (report.ok) return {};
  return fail(ErrorCode::Corrupt,
              fmt::format("the copy does not verify: {}",
                          report.first_bad ? report.first_bad->detail : "unreadable"));
}

// The library of the database takes more, and an empty text as an address of its own.
Result<void> check_address(const std::string& url) {
  if (url.starts_with("postgresql://") || url.starts_with("postgres://")) return {};
  // The text is not repeated: it may hold a password.
  return fail(ErrorCode::InvalidInput,
              "--to is not an address of a database; write postgresql://user@host/database");
}

// PostgreSQL would cut a longer name.
Result<void> check_role(std::string_view option, const std::string& role) {
  constexpr std::size_t kLongest = 63;
  if (!role.empty() && role.size() <= kLongest && visible(role) == role) return {};
  return fail(ErrorCode::InvalidInput,
              fmt::format("{} is `{:.80}`; name a role of the database, 1 to 63 bytes of "
                          "characters that can be seen",
                          option, role));
}

Result<int> ledger_move(const Context& context, const MoveOptions& options) {
  SALLYPORT_CHECK_OK(check_address(options.to));
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  if (place.config.ledger.shared) {
    return fail(ErrorCode::InvalidInput,
                "the configuration names a shared log already; move from a folder without one");
  }
  if (!place.has_ledger()) {
    return fail(ErrorCode::NotFound, "there is no ledger to move", place.data_dir.string());
  }
  SALLYPORT_TRY(const Person person, authorize_change(context, options.login, "ledger move"));
  const std::size_t living = ledger::InstanceLock::count_living(place.data_dir);
  if (living > 0) {
    return fail(ErrorCode::Conflict,
                fmt::format("{} processes write this ledger; stop them first", living));
  }
  store::SharedLog shared{.url = options.to};
  if (options.log) shared.name = *options.log;
  for (const std::string& host : options.plain_hosts) shared.plain_hosts.insert(host);
  SALLYPORT_TRY(const std::unique_ptr<ledger::LedgerStore> copy,
                store::open_store({.shared = shared}));
  SALLYPORT_TRY(const std::optional<std::string> secret,
                ledger::KeyFolder::kept_digest_key(place.data_dir));
  if (!secret) return fail(ErrorCode::NotFound, "keys/digest.key is not there; restore it");
  copy->check_seals_with(std::make_shared<const KeyedDigest>(*secret));
  SALLYPORT_CHECK_OK(print_moved(place, copy->name(), person.who));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> from, Workspace::open_reading(place));
  SALLYPORT_TRY(const std::uint64_t size, ledger::copy_ledger(from->store(), *copy));
  SALLYPORT_CHECK_OK(check_copy(KeyedDigest(*secret), *copy));
  print_line(
      context.json()
          ? canonical_json(json::object{{"moved", true}, {"size", size}, {"to", copy->name()}})
          : fmt::format("{} entries are now in {}, and verify there; name it under ledger.store. "
                        "Nothing more is written to {}",
                        size, copy->name(), place.ledger_file().string()));
  return 0;
}

Result<int> ledger_tables(const Context&, const TablesOptions& options) {
  SALLYPORT_CHECK_OK(check_role("--gateway", options.gateway));
  if (options.keeper) SALLYPORT_CHECK_OK(check_role("--keeper", *options.keeper));
  print_line(store::tables_sql(options.gateway, options.keeper.value_or("")));
  return 0;
}

const Command kLedgerMove(
    "ledger move", "move the ledger into a database that several gateways share", ledger_move,
    [](Syntax& syntax, MoveOptions& options) {
      syntax
          .text("--to", options.to, "address of the database, postgresql://user@host/database",
                "URL")
          .required();
      syntax.text("--log", options.log, "name of the log in the database [main]", "NAME");
      syntax.texts("--allow-plain-host", options.plain_hosts,
                   "a host that may be reached without verified TLS; may be repeated", "HOST");
      person_options(syntax, options.login);
    });

const Command kLedgerTables(
    "ledger tables", "print the SQL that a database for shared logs needs", ledger_tables,
    [](Syntax& syntax, TablesOptions& options) {
      syntax.text("--gateway", options.gateway, "the role that appends", "ROLE").required();
      syntax.text("--keeper", options.keeper, "the role that erases and prunes [none]", "ROLE");
    });

}  // namespace

}  // namespace sallyport::app
