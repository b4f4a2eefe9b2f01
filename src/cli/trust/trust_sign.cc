// Signs a change of a tier that the web console of another machine prepared: the key stays here,
// and what it signed is pasted there.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdio>

#include "base/try.h"
#include "cli/command.h"
#include "people/agent_ancestry.h"
#include "people/approver_key.h"
#include "people/tier_change.h"
#include "terminal/input.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

// Signs a change that another machine asks for, and prints it.
struct TrustSignOptions {
  std::optional<std::filesystem::path> file;
  std::optional<std::filesystem::path> key_file;
  std::optional<std::filesystem::path> passphrase_file;
};

Result<int> trust_sign(const Context& context, const TrustSignOptions& options) {
  constexpr std::size_t kLargestStatement = 64u << 10;
  SALLYPORT_CHECK_OK(refuse_agents(context, "trust sign"));
  const std::filesystem::path from = options.file.value_or("-");
  SALLYPORT_TRY(const std::string text, read_input(from, kLargestStatement));
  SALLYPORT_TRY(const ParsedJson parsed, parse_json(text));
  SALLYPORT_TRY(SignedChange change, signed_change_from(parsed.value, false));
  const trust::ControlStatement& statement = change.statement;
  SALLYPORT_CHECK_OK(trust::check_direction(statement));
  SALLYPORT_TRY(const std::filesystem::path folder, context.data_dir());
  SALLYPORT_TRY(const std::filesystem::path file, find_approver_key(folder, options.key_file));
  SALLYPORT_TRY(const std::string name, approver_name(file));
  if (name != statement.reviewer) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("the statement is for `{:.80}` to sign, and this key is of `{:.80}`",
                            statement.reviewer, name));
  }
  // Prints the statement before it asks for the passphrase.
  fmt::print(stderr, "{} of {}: {} to {}, in the ledger {}\n", statement.action,
             visible(statement.agent), to_string(statement.from_tier), to_string(statement.to_tier),
             visible(statement.ledger));
  SALLYPORT_TRY(const std::string passphrase,
                read_passphrase(options.passphrase_file, fmt::format("passphrase of {}: ", name)));
  SALLYPORT_TRY(const ApproverKey key, ApproverKey::open(file, passphrase));
  change.signature = key.sign(statement.text());
  print_line(visible_json(canonical_json(to_json(change))));
  return 0;
}

const Command kTrustSign("trust sign", "sign a change that the web console prepared", trust_sign,
                         [](Syntax& syntax, TrustSignOptions& options) {
                           syntax.file("file", options.file, "the statement [standard input]");
                           syntax.file("--key-file", options.key_file,
                                       "your approver key [the one in <data-dir>]");
                           syntax.file("--passphrase-file", options.passphrase_file,
                                       "file that holds the passphrase [asked at the terminal]");
                         });

}  // namespace

}  // namespace sallyport::app
