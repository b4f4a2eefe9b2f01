#include "people/login.h"

#include <fmt/format.h>
#include <sodium.h>

#include <charconv>

#include "base/try.h"
#include "core/approval/reply_check.h"
#include "ledger/secret/private_file.h"
#include "people/agent_ancestry.h"
#include "people/registered_reviewers.h"
#include "terminal/input.h"
#include "trust/approver_book.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kShortestToken = 16;

// The entry of that name with the role; of several the one that `fits`.
template <class Fits>
Result<const trust::Reviewer*> registered(const trust::Reviewers& people, const std::string& name,
                                          std::string_view role, Fits fits) {
  const trust::Reviewer* found = nullptr;
  for (const trust::Reviewer& person : people.people) {
    if (person.name != name || !person.has_role(role)) continue;
    if (found == nullptr || fits(person)) found = &person;
  }
  if (found != nullptr) return found;
  return fail(ErrorCode::Unauthenticated,
              fmt::format("`{:.80}` is not registered as {}; reviewers.yaml of the data folder "
                          "decides if it names anyone, else the policy of the gate. Add the lines "
                          "that `sallyport approvals init` printed to it, or name the policy that "
                          "registers you with `--reviewers`",
                          name, role));
}

Result<std::string> passphrase_of(const LoginOptions& options, const std::string& name) {
  if (!options.passphrase_fd) {
    return read_passphrase(options.passphrase_file, fmt::format("passphrase of {}: ", name));
  }
  int descriptor = -1;
  const std::string& text = *options.passphrase_fd;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), descriptor);
  if (error != std::errc() || end != text.data() + text.size() || descriptor < 0) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{:.40}` is not a descriptor", text),
                "--passphrase-fd");
  }
  return read_passphrase(descriptor);
}

Result<Login> by_key(const Context& context, const LoginOptions& options,
                     const trust::Reviewers& people, std::string_view role) {
  SALLYPORT_TRY(const std::filesystem::path folder, context.data_dir());
  SALLYPORT_TRY(const std::filesystem::path file, find_approver_key(folder, options.key_file));
  SALLYPORT_TRY(const std::string name, approver_name(file));
  // Before a passphrase is asked for in vain.
  SALLYPORT_CHECK_OK(registered(people, name, role, [](const auto&) { return true; }));
  SALLYPORT_TRY(const std::string passphrase, passphrase_of(options, name));
  SALLYPORT_TRY(ApproverKey key, ApproverKey::open(file, passphrase));
  SALLYPORT_TRY(
      const trust::Reviewer* const person,
      registered(people, name, role, [&](const auto& one) { return one.key == key.key(); }));
  if (person->key != key.key()) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("another key is registered for `{:.80}`", name));
  }
  return Login{.name = name, .door = "cli:key", .known_by = {}, .key = std::move(key), .rules = {}};
}

Result<Login> by_token(const LoginOptions& options, const trust::Reviewers& people,
                       std::string_view role) {
  if (!options.name) {
    return fail(ErrorCode::InvalidInput, "a token needs the name of its person; give --name",
                "--name");
  }
  SALLYPORT_TRY(const trust::Reviewer* const person,
                registered(people, *options.name, role, [](const auto&) { return false; }));
  SALLYPORT_CHECK_OK(refuse_folder(*options.token_file));
  SALLYPORT_TRY(const std::optional<std::string> text,
                ledger::read_private_file(*options.token_file));
  if (!text) {
    return fail(ErrorCode::NotFound,
                fmt::format("cannot read `{}`: no such file", options.token_file->string()),
                options.token_file->string());
  }
  const std::string token = text->substr(0, text->find('\n'));
  const std::string digest = trust::token_digest(token);
  // If a key is registered, a token would bypass it.
  const bool good = token.size() >= kShortestToken && !person->key && person->token &&
                    person->token->size() == digest.size() &&
                    sodium_memcmp(person->token->data(), digest.data(), digest.size()) == 0;
  if (!good) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("that is not the token of `{:.80}`", *options.name));
  }
  return Login{.name = *options.name,
               .door = "cli:token",
               .known_by = "token",
               .key = std::nullopt,
               .rules = {}};
}

Result<Login> find_person(const Context& context, const LoginOptions& options,
                          const trust::Reviewers& people, std::string_view role) {
  SALLYPORT_TRY(Login login, options.token_file ? by_token(options, people, role)
                                                : by_key(context, options, people, role));
  // If a name has several entries, the one that was used counts.
  trust::Reviewers found = people;
  std::erase_if(found.people, [&](const trust::Reviewer& one) {
    return login.key && one.name == login.name && one.key != login.key->key();
  });
  const auto book = std::make_shared<const trust::ApproverBook>(std::move(found));
  login.known_by = core::shown_credential(book->credential(login.name));
  auto rules = std::make_shared<core::ApprovalRules>();
  rules->people = book;
  login.rules = std::move(rules);
  return login;
}

Result<Login> log_in_among(const Context& context, const LoginOptions& options,
                           const Result<trust::Reviewers>& people, std::string_view command,
                           std::string_view role) {
  Result<Login> login = people ? find_person(context, options, *people, role)
                               : Result<Login>(std::unexpected(people.error()));
  if (!login) record_refusal(context, command, login.error());
  return login;
}

}  // namespace

void record_refusal(const Context& context, std::string_view command, const Error& error) {
  if (error.code != ErrorCode::Unauthenticated) return;
  const Result<Workspace::Place> place = context.place();
  if (!place || !place->has_ledger()) return;
  const Result<std::unique_ptr<Workspace>> workspace = context.open_maintaining();
  if (!workspace) return;
  (void)(*workspace)
      ->ledger()
      .transact([&](ledger::WriteView&) -> Result<std::vector<core::Draft>> {
        return std::vector{ledger::control(
            "refused_control",
            {{"who", running_user()}, {"what", command}, {"cause", error.message}})};
      });
}

Result<Login> log_in(const Context& context, const LoginOptions& options, std::string_view command,
                     std::string_view role) {
  SALLYPORT_CHECK_OK(refuse_agents(context, command));
  return log_in_among(context, options, registered_reviewers(context, options.reviewers), command,
                      role);
}

Result<Person> authorize_change(const Context& context, const LoginOptions& options,
                                std::string_view command, std::string_view role) {
  SALLYPORT_CHECK_OK(refuse_agents(context, command));
  SALLYPORT_TRY(const trust::Reviewers people, registered_reviewers(context));
  if (people.people.empty()) return Person{running_user()};
  SALLYPORT_TRY(const Login login, log_in_among(context, options, people, command, role));
  return Person{fmt::format("{} ({})", login.name, login.known_by)};
}

}  // namespace sallyport::app
