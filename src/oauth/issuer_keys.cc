#include "oauth/issuer_keys.h"

#include <fmt/format.h>

#include "base/turn.h"

namespace sallyport::oauth {

namespace {

// Longer than a source takes.
constexpr std::chrono::seconds kOthersFetch{15};

}  // namespace

Task<void> IssuerKeys::verify(JsonWebToken token) {
  const bool known = younger_than(kUsable) && find(token) != nullptr;
  // Known keys stay in use while another caller fetches newer ones.
  if (!known || (!younger_than(kFresh) && !busy_)) co_await refresh();
  const VerifyKey* const key = younger_than(kUsable) ? find(token) : nullptr;
  if (key == nullptr && (failed_ || !younger_than(kUsable))) {
    co_return fail(ErrorCode::Unavailable, "the token's keys cannot be fetched; try again later");
  }
  if (key == nullptr) {
    co_return fail(ErrorCode::Unauthenticated, "the token is signed with a key that is not known");
  }
  if (!key->verifies(token.algorithm, token.signed_text, token.signature)) {
    co_return fail(ErrorCode::Unauthenticated, "the signature of the token is wrong");
  }
  co_return Result<void>{};
}

Async<bool> IssuerKeys::warm_up() {
  co_await refresh();
  co_return !failed_;
}

bool IssuerKeys::younger_than(std::chrono::minutes age) const {
  return keys_ != nullptr && settings_.clock.steady() < fetched_at_ + age;
}

const VerifyKey* IssuerKeys::find(const JsonWebToken& token) const {
  return keys_ ? keys_->find(token.algorithm, token.key_id) : nullptr;
}

// A leaky bucket: each fetch delays the next one, and a short burst is allowed.
bool IssuerKeys::may_fetch() {
  const SteadyTime now = settings_.clock.steady();
  const SteadyTime due = std::max(next_fetch_.value_or(now), now);
  if (due > now + (kFetchesInARow - 1) * kBetweenFetches) return false;
  next_fetch_ = due + kBetweenFetches;
  return true;
}

Async<void> IssuerKeys::refresh() {
  if (busy_) {
    const SteadyTime end = settings_.clock.steady() + kOthersFetch;
    while (busy_ && settings_.clock.steady() < end) {
      co_await bell_.wait(Turn::kOver, std::chrono::seconds(1), {});
    }
    co_return;
  }
  if (!may_fetch()) co_return;
  const Turn turn(busy_, bell_);
  co_await fetch();
}

Async<void> IssuerKeys::fetch() {
  Result<std::string> text = co_await settings_.source();
  Result<KeySet> keys = text ? KeySet::read(*text) : std::unexpected(text.error());
  failed_ = !keys;
  if (!keys) {
    settings_.log(fmt::format("warning: the keys of `{}` cannot be had: {}", settings_.issuer,
                              keys.error().message));
    co_return;
  }
  if (keys->size() == 0) {
    settings_.log(
        fmt::format("warning: `{}` has no key that tokens are checked with: RSA, EC of "
                    "P-256 or Ed25519",
                    settings_.issuer));
  }
  keys_ = std::make_shared<const KeySet>(std::move(*keys));
  fetched_at_ = settings_.clock.steady();
}

}  // namespace sallyport::oauth
