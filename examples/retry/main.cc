// When to ask a provider again. Three responses are played; a real program sends a request for each
// attempt, and emits the events of each (see the example `events`).
#include <sallyport/engine.h>
#include <sallyport/retry.h>

#include <iostream>
#include <vector>

using namespace sallyport;

namespace {

struct Response {
  std::uint64_t status;
  std::string body;
  std::string retry_after;
};

}  // namespace

int main() {
  const auto engine = EngineBuilder("").open();
  if (!engine) return 1;
  const std::vector<Response> responses = {
      {503, "overloaded", ""}, {429, "slow down, key AKIAIOSFODNN7EXAMPLE", "2"}, {401, "no", ""}};
  const RetrySchedule schedule(RetrySettings{.jitter = 0});

  for (std::uint64_t attempt = 1; attempt <= responses.size(); ++attempt) {
    const Response& response = responses[attempt - 1];
    const auto now =
        std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
    // Secrets in the body are redacted before anyone sees the error.
    const ProviderError error = (*engine)->http_error(response.status, response.body,
                                                      parse_retry_after(response.retry_after, now));
    std::cout << "attempt " << attempt << ": " << text_of(error) << '\n';
    const auto wait = schedule.after(attempt, error);
    if (!wait) {
      const RuntimeError given_up{RuntimeError::Kind::SendRequest, "the request failed", error};
      std::cout << to_string(given_up.category()) << ", " << abort_reason(given_up) << '\n';
      return 0;
    }
    std::cout << "  again in " << wait->count() << " ms\n";
    // wait_for_retry(*wait, deadline, cancel) waits on this thread; here nothing is waited for.
  }
  return 1;
}
