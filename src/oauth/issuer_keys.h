// The keys of one authorization server, cached while they are fresh. If a token names an unknown
// key, they are fetched again, at a limited rate.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/bell.h"
#include "base/clock.h"
#include "oauth/json_web_token.h"
#include "oauth/key_source.h"

namespace sallyport::oauth {

// On a strand, or on a context with one thread.
class IssuerKeys {
 public:
  // After `kFresh` they are fetched again. If the issuer does not answer, they stay in use until
  // `kUsable`.
  static constexpr std::chrono::minutes kFresh{10};
  static constexpr std::chrono::minutes kUsable{60};
  // A few fetches in a row, and then one in this time, for any number of tokens.
  static constexpr std::chrono::seconds kBetweenFetches{30};
  static constexpr int kFetchesInARow = 4;

  struct Settings {
    const Clock& clock;
    KeySource source;
    std::function<void(std::string_view)> log;  // receives the reason if keys cannot be fetched
    std::string issuer{};                       // for people
  };
  explicit IssuerKeys(Settings settings) : settings_(std::move(settings)) {}

  // Checks the signature with these keys. `Unauthenticated`: none of them signed it. `Unavailable`:
  // it cannot be checked now.
  Task<void> verify(JsonWebToken token);

  // Fetches them before a token needs them. False: they cannot be fetched now.
  Async<bool> warm_up();

 private:
  using Keys = std::shared_ptr<const KeySet>;

  bool younger_than(std::chrono::minutes age) const;
  const VerifyKey* find(const JsonWebToken& token) const;
  bool may_fetch();
  Async<void> refresh();
  Async<void> fetch();

  Settings settings_;
  Keys keys_;
  SteadyTime fetched_at_{};
  std::optional<SteadyTime> next_fetch_{};  // when the next fetch would be due without a burst
  bool failed_ = false;                     // the last fetch did
  bool busy_ = false;                       // one caller fetches, the others wait
  Bell bell_;
};

}  // namespace sallyport::oauth
