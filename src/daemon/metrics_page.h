// `/metrics`: the counters of the process, for a monitoring system that polls.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/metrics.h"
#include "daemon/login/agent_tokens.h"
#include "ledger/ledger.h"
#include "net/http_server.h"

namespace sallyport::app {

class MetricsPage final : public net::HttpHandler {
 public:
  struct Parts {
    Metrics& metrics;
    ledger::Ledger& ledger;
    const Clock& clock;
  };
  // Without `readers` every client that can connect may read it.
  MetricsPage(Parts parts, std::optional<AgentTokens> readers);

  Async<std::optional<net::ServerResponse>> refuse(net::ServerRequest& head) override;
  Async<void> handle(net::ServerExchange& exchange) override;

 private:
  void look_at_ledger();
  void look_at_approvals();

  Parts parts_;
  std::optional<AgentTokens> readers_;
  MetricNumber& ready_;
  MetricNumbers& unavailable_;
  MetricNumber& pending_;
  MetricNumbers& approvals_;
  std::optional<SteadyTime> counted_at_;
};

}  // namespace sallyport::app
