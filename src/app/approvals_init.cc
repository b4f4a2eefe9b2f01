// Makes the key with which a person answers, and says how it is registered.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "app/approver_key.h"
#include "app/commands.h"
#include "app/governed_process.h"
#include "app/output.h"
#include "base/try.h"
#include "ledger/private_file.h"

namespace sallyport::app {

namespace {

// `user:` and the name that the system knows.
std::string usual_name() {
  const std::string who = who_runs_this();
  return "user:" + who.substr(who.find(':') + 1);
}

}  // namespace

Result<int> approvals_init(const Context& context, const ApprovalsInitOptions& options) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "approvals init"));
  const std::string name = options.name.value_or(usual_name());
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  const std::filesystem::path& folder = place.data_dir;
  const std::filesystem::path file = options.key_file.value_or(approver_key_file(folder, name));
  SALLYPORT_TRY(const std::string passphrase,
                read_passphrase(options.passphrase_file,
                                fmt::format("passphrase for {} (8 bytes or more): ", name)));
  if (!options.passphrase_file) {
    SALLYPORT_TRY(const std::string again, read_passphrase({}, "once more: "));
    if (again != passphrase) return fail(ErrorCode::InvalidInput, "the two passphrases differ");
  }
  if (!options.key_file) SALLYPORT_CHECK_OK(ledger::make_private_folder(folder));
  SystemEntropy entropy;
  SALLYPORT_TRY(const ApproverKey key, ApproverKey::create(file, name, passphrase, entropy));
  const std::string text = trust::key_text(key.key());
  if (context.json()) {
    say(visible_json(
        canonical_json(json::object{{"name", name}, {"key", text}, {"file", file.string()}})));
    return 0;
  }
  say(fmt::format("the key of {} is in {}, sealed with your passphrase", visible(name),
                  visible(file.string())));
  say(fmt::format("these lines register it, in {} or under `approvals:` of a policy:",
                  visible(place.reviewers_file().string())));
  say("reviewers:");
  say(fmt::format("  - {{name: \"{}\", key: \"{}\", roles: [approver, controller]}}", visible(name),
                  text));
  return 0;
}

}  // namespace sallyport::app
