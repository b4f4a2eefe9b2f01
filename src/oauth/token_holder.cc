#include "oauth/token_holder.h"

#include <fmt/format.h>

#include "base/try.h"
#include "base/turn.h"
#include "base/visible_text.h"

namespace sallyport::oauth {

namespace {

using namespace std::chrono_literals;

constexpr auto kSoon = 30s;        // before it expires
constexpr auto kOthersTurn = 30s;  // longer than a renewal takes
// The most logins for a server that keeps asking.
constexpr std::size_t kLogins = 3;
constexpr auto kLoginsWithin = 10min;
constexpr auto kAfterFailure = 60s;

// A scope comes from a server, and a person copies it into a shell.
bool may_stand_in_shell(std::string_view scope) {
  constexpr std::string_view kHarmless =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .:/_-";
  return scope.size() < 1000 && scope.find_first_not_of(kHarmless) == std::string_view::npos;
}

}  // namespace

TokenHolder::TokenHolder(Settings settings) : settings_(std::move(settings)) {
  read_again("");
}

std::string TokenHolder::token() const {
  return account_ ? account_->tokens.access : std::string();
}

// Another process of ours may have renewed it. True: the stored token is another one.
bool TokenHolder::read_again(const std::string& refused) {
  if (settings_.application.client_credentials) return false;
  Result<std::optional<Account>> stored = settings_.vault->load();
  if (!stored || !*stored || (*stored)->tokens.access == refused) return false;
  const Application& application = settings_.application;
  const bool ours = (*stored)->server == application.server.text() &&
                    (application.client_id.empty() || !(*stored)->client.redirect_uri.empty() ||
                     (*stored)->client.id == application.client_id);
  if (!ours) return false;
  account_ = std::move(**stored);
  return true;
}

Result<void> TokenHolder::keep(Account account) {
  account_ = std::move(account);
  if (!settings_.application.client_credentials) return settings_.vault->save(*account_);
  if (issuer_known_) return {};
  SALLYPORT_CHECK_OK(settings_.vault->save(binding_of(*account_)));
  issuer_known_ = true;
  return {};
}

Async<void> TokenHolder::renew_if_expiring() {
  if (!account_ || !account_->tokens.expires || busy_) co_return;
  if (settings_.clock.wall() + kSoon < *account_->tokens.expires) co_return;
  const std::string old = token();
  const Turn turn(busy_, bell_);
  if (read_again(old)) co_return;
  // If this fails, the server refuses the old token.
  if (settings_.application.client_credentials) {
    (void)co_await log_in_as_client({});
  } else if (!account_->tokens.refresh.empty()) {
    (void)co_await refresh();
  }
}

Task<void> TokenHolder::renew(Refusal refusal) {
  const auto end = settings_.clock.steady() + settings_.patience + 30s;
  while (busy_ && settings_.clock.steady() < end) co_await bell_.wait(Turn::kOver, 1s, {});
  if (token() != refusal.token) co_return Result<void>{};
  if (busy_) co_return fail(ErrorCode::Deadline, "the login takes too long");
  const Turn turn(busy_, bell_);
  co_return co_await replace_refused(refusal);
}

Task<void> TokenHolder::replace_refused(const Refusal& refusal) {
  const bool more = refusal.challenge.wants_more_scope();
  if (read_again(refusal.token)) co_return Result<void>{};
  if (more) {
    SALLYPORT_CO_CHECK_OK(check_scope(refusal.challenge));
  }
  if (settings_.application.client_credentials)
    co_return co_await log_in_as_client(refusal.challenge);
  if (!more && account_ && !account_->tokens.refresh.empty()) {
    const Result<void> refreshed = co_await refresh();
    if (refreshed) co_return Result<void>{};
    // A refused refresh token is not tried again. An unavailable server may return.
    if (refreshed.error().code != ErrorCode::Unauthenticated) co_return refreshed;
    account_->tokens.refresh.clear();
  }
  if (settings_.open_page) co_return co_await ask_person(refusal);
  co_return needs_person(refusal.challenge);
}

std::unexpected<Error> TokenHolder::needs_person(const Challenge& challenge) const {
  const bool more = challenge.wants_more_scope();
  const std::string scope = joined_scopes(account_ ? account_->scope : "", challenge.scope);
  // A server that names no metadata may expect a token that was issued by hand.
  const bool by_hand = !more && challenge.resource_metadata.empty();
  return fail(
      ErrorCode::Unauthenticated,
      fmt::format("`{}` {}; run `{}{}` once, then try again{}", settings_.application.server.text(),
                  more ? "wants more rights" : "asks for a login", settings_.login_command,
                  more && may_stand_in_shell(scope) ? " --scope '" + scope + '\'' : "",
                  by_hand ? "; or, if you have a token, name the variable that holds it "
                            "with `bearer_env` (`--bearer-env`)"
                          : ""),
      {}, "login_needed");
}

// The same request again would give the same token.
Result<void> TokenHolder::check_scope(const Challenge& challenge) const {
  if (!account_ || joined_scopes(account_->scope, challenge.scope) != account_->scope) return {};
  return fail(
      ErrorCode::Unauthenticated,
      fmt::format("`{}` refuses because of missing rights (`{}`) that were already requested",
                  settings_.application.server.text(), visible(challenge.scope.substr(0, 500))));
}

// Also succeeds if another process has renewed the token first.
Task<void> TokenHolder::refresh() {
  const std::string old = token();
  std::unique_ptr<Vault::Lock> lock = settings_.vault->try_lock();
  for (const auto end = settings_.clock.steady() + kOthersTurn; !lock;) {
    if (settings_.clock.steady() >= end) {
      co_return fail(ErrorCode::Deadline, "another process renews the token and takes too long");
    }
    co_await bell_.wait("lock", 50ms, {});
    lock = settings_.vault->try_lock();
  }
  if (read_again(old)) co_return Result<void>{};
  co_return co_await request_refresh();
}

Task<void> TokenHolder::request_refresh() {
  Account account = *account_;
  Fields fields{{"grant_type", "refresh_token"}, {"refresh_token", account.tokens.refresh}};
  SALLYPORT_CO_TRY(Tokens tokens,
                   co_await request_tokens(settings_.application, account, std::move(fields),
                                           settings_.clock, settings_.entropy));
  if (tokens.refresh.empty()) tokens.refresh = account.tokens.refresh;
  account.tokens = std::move(tokens);
  co_return keep(std::move(account));
}

Task<void> TokenHolder::log_in_as_client(Challenge challenge) {
  Login login{settings_.application, settings_.clock, settings_.entropy, {}, account_};
  if (!login.before) {
    SALLYPORT_CO_TRY(login.before, settings_.vault->load());
  }
  SALLYPORT_CO_TRY(Account account, co_await log_in_client(std::move(login), std::move(challenge)));
  co_return keep(std::move(account));
}

Task<void> TokenHolder::ask_person(const Refusal& refusal) {
  const SteadyTime now = settings_.clock.steady();
  while (!logins_.empty() && logins_.front() + kLoginsWithin < now) logins_.pop_front();
  if (failure_ && !logins_.empty() && now < logins_.back() + kAfterFailure) {
    co_return std::unexpected(*failure_);
  }
  if (logins_.size() >= kLogins) {
    co_return fail(ErrorCode::Exhausted,
                   fmt::format("`{}` asked for {} logins within {} minutes; try again later",
                               settings_.application.server.text(), kLogins,
                               std::chrono::minutes(kLoginsWithin).count()));
  }
  logins_.push_back(now);
  Person person{.show =
                    [&](const std::string& url) {
                      refusal.show(fmt::format("`{}` asks for a login; open this page: {}",
                                               settings_.application.server.text(), url));
                      settings_.open_page(url);
                    },
                .patience = settings_.patience};
  Login login{settings_.application, settings_.clock, settings_.entropy, std::move(person),
              account_};
  Result<Account> account = co_await log_in(std::move(login), refusal.challenge);
  if (!account) {
    logins_.back() = settings_.clock.steady();
    failure_ = account.error();
    co_return std::unexpected(account.error());
  }
  failure_.reset();
  co_return keep(std::move(*account));
}

}  // namespace sallyport::oauth
