#include "app/login.h"

#include <fmt/format.h>
#include <sodium.h>

#include <charconv>

#include "app/registered_reviewers.h"
#include "base/try.h"
#include "ledger/private_file.h"
#include "trust/approver_book.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kShortestToken = 16;

Result<const trust::Reviewer*> approver(const trust::Reviewers& people, const std::string& name) {
  const trust::Reviewer* const person = people.find(name);
  if (person == nullptr || !person->has_role("approver")) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("`{:.80}` is not registered as approver; the lines that `sallyport "
                            "approvals init` printed belong in reviewers.yaml of the data folder, "
                            "or in a file that --reviewers names",
                            name));
  }
  return person;
}

Result<std::string> passphrase_of(const LoginOptions& options, const std::string& name) {
  if (!options.passphrase_fd) {
    return read_passphrase(options.passphrase_file, fmt::format("passphrase of {}: ", name));
  }
  int descriptor = -1;
  const std::string& text = *options.passphrase_fd;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), descriptor);
  if (error != std::errc() || end != text.data() + text.size() || descriptor < 0) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{:.40}` is no descriptor", text),
                "--passphrase-fd");
  }
  return read_passphrase(descriptor);
}

Result<Login> by_key(const Context& context, const LoginOptions& options,
                     const trust::Reviewers& people) {
  SALLYPORT_TRY(const std::filesystem::path folder, context.data_dir());
  SALLYPORT_TRY(const std::filesystem::path file, find_approver_key(folder, options.key_file));
  SALLYPORT_TRY(const std::string name, approver_name(file));
  SALLYPORT_TRY(const trust::Reviewer* const person, approver(people, name));
  SALLYPORT_TRY(const std::string passphrase, passphrase_of(options, name));
  SALLYPORT_TRY(ApproverKey key, ApproverKey::open(file, passphrase));
  if (person->key != key.key()) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("another key is registered for `{:.80}`", name));
  }
  return Login{.name = name, .door = "cli:key", .key = std::move(key)};
}

Result<Login> by_token(const LoginOptions& options, const trust::Reviewers& people) {
  if (!options.name) {
    return fail(ErrorCode::InvalidInput, "whose token is it? name the person", "--name");
  }
  SALLYPORT_TRY(const trust::Reviewer* const person, approver(people, *options.name));
  SALLYPORT_TRY(const std::optional<std::string> text,
                ledger::read_private_file(*options.token_file));
  if (!text) {
    return fail(ErrorCode::NotFound, "there is no such file", options.token_file->string());
  }
  const std::string token = text->substr(0, text->find('\n'));
  const std::string digest = trust::token_digest(token);
  // Where a key is registered a token would be the weaker way around it.
  const bool good = token.size() >= kShortestToken && !person->key && person->token &&
                    person->token->size() == digest.size() &&
                    sodium_memcmp(person->token->data(), digest.data(), digest.size()) == 0;
  if (!good) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("that is not the token of `{:.80}`", *options.name));
  }
  return Login{.name = *options.name, .door = "cli:token", .key = std::nullopt};
}

}  // namespace

Result<Login> log_in(const Context& context, const LoginOptions& options) {
  SALLYPORT_TRY(const trust::Reviewers people, registered_reviewers(context, options.reviewers));
  return options.token_file ? by_token(options, people) : by_key(context, options, people);
}

}  // namespace sallyport::app
