// Metrics of gateways that are not counted from records. All gateways share one meter.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"
#include "mcp/call/forwarded_call.h"
#include "telemetry/tracer.h"

namespace sallyport::mcp {

class GatewayMeter {
 public:
  // Both must outlive it.
  GatewayMeter(Metrics& metrics, telemetry::Tracer& tracer);

  // One request that was governed.
  struct Ended {
    std::string_view method{};
    std::string_view error{};  // empty: none
    SteadyTime received{};     // by us
    SteadyTime governed{};     // handed to the Governor
    SteadyTime answered{};
    std::optional<ForwardedCall::Span> server{};
    bool waited = false;  // for a person; its times are not observed
  };
  void ended(const Ended& call);

  // Further attributes of its spans: names and ids, no content.
  struct Traced {
    std::string_view tool{};  // empty: none that the server has
    std::string_view server{};
    std::string_view agent{};
    std::string_view session{};
    std::string_view request{};  // its id, JSON text
    std::string_view call{};     // its id in the ledger
    std::string_view parent{};   // the `traceparent` of the client
    bool local = false;          // the server is a program that we started
  };
  bool traces() const { return tracer_.on(); }
  void trace(const Ended& call, const Traced& about, const Clock& clock);

  // Counts a start if it is not the first. The counter begins at zero, so that an alert sees the
  // first restart, too.
  void server_started(std::string_view server, bool again) {
    restarts_.at({server}).add(again ? 1 : 0);
  }

 private:
  MetricHistograms& operations_;
  MetricHistograms& server_operations_;
  MetricHistogram& decision_;
  MetricHistogram& added_;
  MetricNumbers& restarts_;
  telemetry::Tracer& tracer_;
};

}  // namespace sallyport::mcp
