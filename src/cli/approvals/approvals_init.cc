// Makes the key with which a person answers, and registers it or says how that is done.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/lower_case.h"
#include "base/try.h"
#include "cli/command.h"
#include "ledger/secret/private_file.h"
#include "people/agent_ancestry.h"
#include "people/approver_key.h"
#include "policy/reviewer_file.h"
#include "terminal/input.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct ApprovalsInitOptions {
  std::optional<std::string> name;
  std::optional<std::filesystem::path> key_file;
  std::optional<std::filesystem::path> passphrase_file;
  bool register_it = false;  // in the list of the data folder
};

// `user:` and the name that the system knows.
std::string usual_name() {
  const std::string who = running_user();
  return "user:" + who.substr(who.find(':') + 1);
}

// A new one, or the one that an earlier run made and that is not registered yet.
Result<ApproverKey> key_in(const std::filesystem::path& file, const std::string& name,
                           const ApprovalsInitOptions& options) {
  std::error_code code;
  if (options.register_it && std::filesystem::exists(file, code)) {
    SALLYPORT_TRY(
        const std::string passphrase,
        read_passphrase(options.passphrase_file, fmt::format("passphrase of {}: ", visible(name))));
    return ApproverKey::open(file, passphrase);
  }
  SALLYPORT_TRY(const std::string passphrase,
                read_passphrase(options.passphrase_file,
                                fmt::format("passphrase for {} (8 bytes or more): ", name)));
  if (!options.passphrase_file) {
    SALLYPORT_TRY(const std::string again, read_passphrase({}, "once more: "));
    if (again != passphrase) return fail(ErrorCode::InvalidInput, "the two passphrases differ");
  }
  SystemEntropy entropy;
  return ApproverKey::create(file, name, passphrase, entropy);
}

Result<trust::Reviewers> list_in(const std::filesystem::path& file) {
  std::error_code code;
  if (!std::filesystem::exists(file, code)) return trust::Reviewers{};
  return policy::read_reviewers(file);
}

Result<void> check_free(const std::filesystem::path& file, const std::string& name) {
  SALLYPORT_TRY(const trust::Reviewers people, list_in(file));
  const auto same = std::ranges::find(people.people, lower_case(name),
                                      [](const auto& person) { return lower_case(person.name); });
  if (same == people.people.end()) return {};
  return fail(ErrorCode::Conflict,
              same->name == name
                  ? fmt::format("`{:.80}` is registered already; choose another with --name", name)
                  : fmt::format("`{:.80}` differs from `{:.80}` only in capital letters; choose "
                                "another name with --name",
                                name, same->name),
              file.string());
}

// One more line at the end of the list. The file is replaced by one that was read back and has
// that person, or stays as it is.
Result<void> register_person(const std::filesystem::path& named, const std::string& name,
                             const std::string& line) {
  std::error_code code;
  const bool there = std::filesystem::exists(named, code);
  const std::filesystem::path file = there ? std::filesystem::canonical(named, code) : named;
  std::string text = "reviewers:\n";
  if (there) {
    constexpr std::size_t kLongestList = 8u << 20;
    SALLYPORT_TRY(text, read_input(file.string(), kLongestList));
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  SALLYPORT_TRY(const trust::Reviewers before, list_in(file));
  if (there && before.people.empty() && text.find("reviewers:") == std::string::npos) {
    text += "reviewers:\n";
  }
  const std::filesystem::path next = file.string() + ".next";
  SALLYPORT_CHECK_OK(write_output(next, text + line + "\n"));
  const Result<trust::Reviewers> after = policy::read_reviewers(next);
  const bool good =
      after && after->people.size() == before.people.size() + 1 && after->find(name) != nullptr;
  if (good && there) {
    std::filesystem::permissions(next, std::filesystem::status(file, code).permissions(), code);
  }
  if (good) std::filesystem::rename(next, file, code);
  if (good && !code) return {};
  std::error_code ignored;
  std::filesystem::remove(next, ignored);
  return fail(ErrorCode::Unavailable,
              fmt::format("the line cannot be added; add it to the list by hand: {}", line),
              file.string());
}

Result<int> approvals_init(const Context& context, const ApprovalsInitOptions& options) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "approvals init"));
  const std::string name = options.name.value_or(usual_name());
  if (visible(name) != name || trimmed(name).empty()) {
    return fail(ErrorCode::InvalidInput, "a name has only characters that can be seen", "--name");
  }
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  const std::filesystem::path& folder = place.data_dir;
  const std::filesystem::path file = options.key_file.value_or(approver_key_file(folder, name));
  const std::filesystem::path list = place.reviewers_file();
  if (options.register_it) SALLYPORT_CHECK_OK(check_free(list, name));
  if (!options.key_file || options.register_it) {
    SALLYPORT_CHECK_OK(ledger::make_private_folder(folder));
  }
  SALLYPORT_TRY(const ApproverKey key, key_in(file, name, options));
  const std::string text = trust::key_text(key.key());
  const std::string line = fmt::format(
      "  - {{name: \"{}\", key: \"{}\", roles: [approver, controller]}}", visible(name), text);
  if (options.register_it) SALLYPORT_CHECK_OK(register_person(list, name, line));
  if (context.json()) {
    json::object shown{{"name", name}, {"key", text}, {"file", file.string()}};
    if (options.register_it) shown["registered_in"] = list.string();
    print_line(visible_json(canonical_json(shown)));
    return 0;
  }
  print_line(fmt::format("the key of {} is in {}, sealed with your passphrase", visible(name),
                         visible(file.string())));
  if (options.register_it) {
    print_line(fmt::format("it is registered in {}", visible(list.string())));
    print_line("next: `sallyport approvals watch` shows what waits and takes your answers");
    return 0;
  }
  print_line(
      fmt::format("these lines register it, in {} or under `approvals:` of a policy; with "
                  "--register this command adds them to the file:",
                  visible(list.string())));
  print_line("reviewers:");
  print_line(line);
  return 0;
}

const Command kApprovalsInit("approvals init", "create the key that signs your answers",
                             approvals_init, [](Syntax& syntax, ApprovalsInitOptions& options) {
                               syntax.text("--name", options.name, "your name [user:LOGIN]",
                                           "NAME");
                               syntax.file("--key-file", options.key_file,
                                           "where to write the key [<data-dir>/approvers]");
                               syntax.file("--passphrase-file", options.passphrase_file,
                                           "file that holds the passphrase [asked at the "
                                           "terminal]");
                               syntax.flag("--register", options.register_it,
                                           "add the key to the reviewers of this data folder");
                             });

}  // namespace

}  // namespace sallyport::app
