// Converts what people type to filters of the ledger. Malformed input is `InvalidInput`, and so
// exit code 64, never an empty answer (LE-82).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ledger/maintenance.h"
#include "ledger/read/query.h"

namespace sallyport::app {

// As people type them. `filter_from` converts them.
struct FilterOptions {
  std::optional<std::string> call;
  std::optional<std::string> session;
  std::optional<std::string> run;
  std::optional<std::string> agent;
  std::optional<std::string> server;
  std::optional<std::string> tool;
  std::optional<std::string> outcome;
  std::optional<std::string> kind;
  std::optional<std::string> topic;
  std::optional<std::string> tool_call;
  std::optional<std::string> approval;
  std::optional<std::string> event_type;
  std::optional<std::string> terminal;
  std::optional<std::string> since;
  std::optional<std::string> until;
  std::optional<std::string> after;

  bool operator==(const FilterOptions&) const = default;
};

// The selection of `erase` and `hold`.
struct SelectionOptions {
  std::optional<std::string> call;
  std::optional<std::string> session;
  std::optional<std::string> agent;
  std::optional<std::string> kind;
  std::optional<std::string> since;
  std::optional<std::string> until;
  std::optional<std::string> path;
};

// The source of a filter. It decides how messages spell its name.
enum class Spelling {
  Option,  // `--since`, of a command
  Member,  // `since`, of a query or a body over HTTP
};
Result<ledger::Filter> filter_from(const FilterOptions& options,
                                   Spelling spelling = Spelling::Option);

// `InvalidInput` when nothing at all is selected.
// `more`: the last options of the command that select, for the message when none is given.
Result<ledger::Selection> selection_from(const SelectionOptions& options,
                                         std::string_view more = "--since or --until");

// A whole number up to 2^53-1; `what` names it in the message.
Result<std::uint64_t> count_from(const std::string& text, std::string_view what);
// The same, and at least 1.
Result<std::uint64_t> limit_from(const std::string& text, std::string_view what,
                                 std::uint64_t most = (1ull << 53) - 1);

// One entry by id or sequence, or a call: what ID|CALL|SEQUENCE can be.
struct Target {
  std::optional<std::uint64_t> sequence;
  std::optional<std::string> id;  // may also be the id of a call: both are UUIDs
  std::string text;
};
Result<Target> target_from(const std::string& text);

// An entry where sequence or id name one, else no value: then it can only be a call.
Result<std::optional<ledger::StoredEntry>> find_target(ledger::ReadView& view,
                                                       const Target& target);

// The error if nothing was found. Calls of other programs may have any name, so a text that is not
// a UUID is known to be malformed only now.
Error nothing_found(const FilterOptions& options);
Error nothing_found(const Target& target);

// The text itself, or a file that holds it. `InvalidInput` when it is neither.
Result<ledger::VerifierKey> key_from(const std::string& text);

// `InvalidInput` when it is empty or only blanks.
Result<void> check_reason(const std::string& reason);

}  // namespace sallyport::app
