// Metrics of gateways beside those that their records give. All gateways share one.
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
    bool waited = false;  // for a person, whose time is not ours
  };
  void ended(const Ended& call);

  // What spans say of it beside that: names and ids, no content.
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

  void server_started_again(std::string_view server) { restarts_.at({server}).add(); }
  // Creates the metric at zero before anything happens.
  void knows(std::string_view server) { restarts_.at({server}); }

 private:
  MetricHistograms& operations_;
  MetricHistograms& server_operations_;
  MetricHistogram& decision_;
  MetricHistogram& added_;
  MetricNumbers& restarts_;
  telemetry::Tracer& tracer_;
};

}  // namespace sallyport::mcp
