#include "mcp/gateway_meter.h"

namespace sallyport::mcp {

namespace {

double seconds(SteadyTime::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

// The names of OpenTelemetry where there are some: `mcp.server.operation.duration`, in seconds.
GatewayMeter::GatewayMeter(Metrics& metrics)
    : operations_(metrics.histogram("mcp_server_operation_duration_seconds",
                                    "Governed requests of clients, from receipt to answer.",
                                    operation_seconds(), {"mcp_method_name", "error_type"})),
      server_operations_(metrics.histogram("mcp_client_operation_duration_seconds",
                                           "The part of it that the tool server took.",
                                           operation_seconds(), {"mcp_method_name"})),
      decision_(metrics
                    .histogram("sallyport_decision_seconds",
                               "Until a call was let through or refused, where nobody was asked.",
                               quick_seconds())
                    .at({})),
      added_(metrics
                 .histogram("sallyport_added_latency_seconds",
                            "What a call took here beside its tool server, where nobody was asked.",
                            quick_seconds())
                 .at({})),
      restarts_(metrics.counter("sallyport_upstream_restarts_total",
                                "Tool servers that were started, or sessions opened, once more.",
                                {"server"})) {}

void GatewayMeter::ended(const Ended& call) {
  operations_.at({call.method, call.error}).observe(seconds(call.answered - call.received));
  const SteadyTime begin = call.server ? call.server->begin : call.answered;
  const SteadyTime end = call.server ? call.server->end.value_or(call.answered) : call.answered;
  if (call.server) server_operations_.at({call.method}).observe(seconds(end - begin));
  if (call.waited) return;
  decision_.observe(seconds(begin - call.governed));
  added_.observe(seconds((call.answered - call.governed) - (end - begin)));
}

}  // namespace sallyport::mcp
