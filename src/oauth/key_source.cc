#include "oauth/key_source.h"

#include <fmt/format.h>

#include "base/race.h"
#include "base/try.h"
#include "oauth/discovery.h"
#include "oauth/exchange.h"

namespace sallyport::oauth {

namespace {

// The limit for all requests until the keys arrive, because a request of an agent waits for them.
constexpr std::chrono::seconds kKeysPatience{10};

Task<std::string> keys_from(Destination place) {
  SALLYPORT_CO_TRY(Response answer, co_await get_json(place));
  if (answer.status == 200) co_return std::move(answer.body);
  co_return fail(ErrorCode::Unavailable,
                 fmt::format("`{}` answers with HTTP {}", place.url.text(), answer.status));
}

Task<std::string> keys_of(std::string issuer) {
  SALLYPORT_CO_TRY(const net::Url url, net::Url::parse(issuer));
  SALLYPORT_CO_TRY(const std::optional<ServerMetadata> server,
                   co_await describe_authority(issuer, url, false));
  if (!server || server->jwks_uri.empty()) {
    co_return fail(ErrorCode::NotFound,
                   fmt::format("`{}` does not say where its keys are (`jwks_uri`); name the place "
                               "in the configuration",
                               issuer));
  }
  SALLYPORT_CO_TRY(Destination place, reachable(server->jwks_uri, url, false));
  co_return co_await keys_from(std::move(place));
}

Task<std::string> in_time(Task<std::string> work) {
  Raced<Result<std::string>> raced =
      co_await race(std::move(work), std::chrono::steady_clock::now() + kKeysPatience, {});
  if (raced.finish == Finish::Worked) co_return std::move(*raced.value);
  co_return fail(ErrorCode::Deadline, "the keys did not arrive in time");
}

}  // namespace

KeySource keys_at(net::Url place) {
  return [to = Destination{std::move(place)}] { return in_time(keys_from(to)); };
}

KeySource keys_described_by(std::string issuer) {
  return [issuer = std::move(issuer)] { return in_time(keys_of(issuer)); };
}

}  // namespace sallyport::oauth
