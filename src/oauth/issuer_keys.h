// The keys of one authorization server, kept while they are fresh and asked for again when a token
// names one that is not among them: never more often than the server can stand.
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
  // After the first one they are asked for again, and stay in use while the issuer does not answer,
  // until the second.
  static constexpr std::chrono::minutes kFresh{10};
  static constexpr std::chrono::minutes kUsable{60};
  // A few times in a row, and then once in this time, however many tokens come.
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

  // Fetches them before a token needs them. False: they cannot be had now.
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
  bool failed_ = false;                     // the last time
  bool busy_ = false;                       // one asks, the others wait for what comes of it
  Bell bell_;
};

}  // namespace sallyport::oauth
