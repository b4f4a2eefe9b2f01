#include "daemon/metrics_page.h"

#include <array>

#include "core/approval/live_questions.h"
#include "workspace/version.h"

namespace sallyport::app {

namespace {

using net::ServerRequest;
using net::ServerResponse;

constexpr std::chrono::seconds kBetweenCounts{1};

constexpr auto kCauses = std::to_array<std::string_view>(
    {"no_space", "read_only", "busy", "io", "not_owner", "corrupt"});
constexpr auto kStates = std::to_array<core::ApprovalStatus>(
    {core::ApprovalStatus::Pending, core::ApprovalStatus::Approved, core::ApprovalStatus::Denied,
     core::ApprovalStatus::Expired, core::ApprovalStatus::Cancelled,
     core::ApprovalStatus::Invalidated, core::ApprovalStatus::Used});

}  // namespace

MetricsPage::MetricsPage(Parts parts, std::optional<AgentTokens> readers)
    : parts_(parts),
      readers_(std::move(readers)),
      ready_(parts_.metrics
                 .gauge("sallyport_ledger_ready", "1 while calls can be recorded, and so can run.")
                 .at({})),
      unavailable_(parts_.metrics.gauge("sallyport_ledger_unavailable",
                                        "1 for the cause that keeps the ledger from writing.",
                                        {"cause"})),
      pending_(
          parts_.metrics.gauge("sallyport_approvals_pending", "Questions that wait for a person.")
              .at({})),
      approvals_(parts_.metrics.gauge("sallyport_approvals",
                                      "Questions in the ledger, of all processes, by their state.",
                                      {"state"})) {
  parts_.metrics.gauge("sallyport_build_info", "The program that runs.", {"version"})
      .at({version()})
      .set(1);
  parts_.metrics.gauge("process_start_time_seconds", "When it was started, since 1970.")
      .at({})
      .set(std::chrono::duration<double>(parts_.clock.wall().time_since_epoch()).count());
  parts_.metrics.before_reading([this] {
    look_at_ledger();
    look_at_approvals();
  });
}

void MetricsPage::look_at_ledger() {
  const Result<void> ready = parts_.ledger.ready();
  ready_.set(ready ? 1 : 0);
  for (const std::string_view cause : kCauses) {
    unavailable_.at({cause}).set(!ready && ready.error().cause == cause ? 1 : 0);
  }
}

// Other processes answer questions too, so the ledger is read, but only once in a while.
void MetricsPage::look_at_approvals() {
  const SteadyTime now = parts_.clock.steady();
  if (counted_at_ && now - *counted_at_ < kBetweenCounts) return;
  const auto counts = core::live_questions::counts(parts_.ledger, parts_.clock.wall());
  if (!counts) return;
  counted_at_ = now;
  for (const core::ApprovalStatus status : kStates) {
    const auto found = counts->find(status);
    const double count = found == counts->end() ? 0 : static_cast<double>(found->second);
    approvals_.at({to_string(status)}).set(count);
    if (status == core::ApprovalStatus::Pending) pending_.set(count);
  }
}

Async<std::optional<ServerResponse>> MetricsPage::refuse(ServerRequest& head) {
  if (head.method != "GET" && head.method != "HEAD") {
    ServerResponse response = ServerResponse::text(405, "only GET is allowed here\n");
    response.headers.emplace_back("allow", "GET, HEAD");
    co_return response;
  }
  if (!readers_ || readers_->agent_of(head)) co_return std::nullopt;
  ServerResponse response = ServerResponse::text(401, "the token for metrics is missing\n");
  response.headers.emplace_back("www-authenticate", "Bearer");
  co_return response;
}

Async<void> MetricsPage::handle(net::ServerExchange& exchange) {
  ServerResponse response{.status = 200, .body = parts_.metrics.text()};
  response.headers.emplace_back("content-type", std::string(Metrics::kContentType));
  response.headers.emplace_back("cache-control", "no-store");
  co_await exchange.respond(std::move(response));
}

}  // namespace sallyport::app
