// What gateways count about themselves, beside what their records say. One for all of them.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"
#include "mcp/forwarded_call.h"

namespace sallyport::mcp {

class GatewayMeter {
 public:
  // `metrics` must outlive it.
  explicit GatewayMeter(Metrics& metrics);

  // One request that was governed.
  struct Ended {
    std::string_view method{};
    std::string_view error{};  // empty: none
    SteadyTime received{};     // by us
    SteadyTime governed{};     // handed to the Governor
    SteadyTime answered{};
    std::optional<ForwardedCall::Span> server{};
    bool waited = false;  // for a person, whose time is not ours
  };
  void ended(const Ended& call);

  void server_started_again(std::string_view server) { restarts_.at({server}).add(); }
  // So that it is there, at zero, before anything happens.
  void knows(std::string_view server) { restarts_.at({server}); }

 private:
  MetricHistograms& operations_;
  MetricHistograms& server_operations_;
  MetricHistogram& decision_;
  MetricHistogram& added_;
  MetricNumbers& restarts_;
};

}  // namespace sallyport::mcp
