#include "mcp/gateway_meter.h"

namespace sallyport::mcp {

namespace {

double seconds(SteadyTime::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

// Uses the names of OpenTelemetry if there are any: `mcp.server.operation.duration`, in seconds.
GatewayMeter::GatewayMeter(Metrics& metrics, telemetry::Tracer& tracer)
    : operations_(metrics.histogram("mcp_server_operation_duration_seconds",
                                    "Governed requests of clients, from receipt to answer.",
                                    operation_seconds(), {"mcp_method_name", "error_type"})),
      server_operations_(metrics.histogram("mcp_client_operation_duration_seconds",
                                           "The part of it that the tool server took.",
                                           operation_seconds(), {"mcp_method_name"})),
      decision_(metrics
                    .histogram("sallyport_decision_seconds",
                               "Time until a call was allowed or refused, for calls without a "
                               "question to a person.",
                               quick_seconds())
                    .at({})),
      added_(metrics
                 .histogram("sallyport_added_latency_seconds",
                            "Time of a call without its tool server, for calls without a question "
                            "to a person.",
                            quick_seconds())
                 .at({})),
      restarts_(metrics.counter("sallyport_upstream_restarts_total",
                                "Tool servers that were started, or sessions opened, once more.",
                                {"server"})),
      tracer_(tracer) {}

void GatewayMeter::ended(const Ended& call) {
  operations_.at({call.method, call.error}).observe(seconds(call.answered - call.received));
  const SteadyTime begin = call.server ? call.server->begin : call.answered;
  const SteadyTime end = call.server ? call.server->end.value_or(call.answered) : call.answered;
  if (call.server) server_operations_.at({call.method}).observe(seconds(end - begin));
  if (call.waited) return;
  decision_.observe(seconds(begin - call.governed));
  added_.observe(seconds((call.answered - call.governed) - (end - begin)));
}

// A SERVER span for the request, and below it a CLIENT span for the time of the tool server.
void GatewayMeter::trace(const Ended& call, const Traced& about, const Clock& clock) {
  using telemetry::Span;
  const SteadyTime now = clock.steady();
  const WallTime wall = clock.wall();
  const auto wall_of = [&](SteadyTime time) {
    return wall - std::chrono::duration_cast<WallTime::duration>(now - time);
  };
  std::string name(call.method);
  if (!about.tool.empty()) name.append(" ").append(about.tool);
  const auto describe = [&](Span& span) {
    span.set("mcp.method.name", call.method);
    if (call.method == "tools/call") span.set("gen_ai.operation.name", "execute_tool");
    span.set("gen_ai.tool.name", about.tool);
    span.set("sallyport.server", about.server);
    span.set("sallyport.call_id", about.call);
    span.fail(call.error);
  };
  Span server = tracer_.start(name, Span::Kind::Server, wall_of(call.received),
                              telemetry::TraceContext::parse(about.parent));
  describe(server);
  server.set("mcp.session.id", about.session);
  server.set("jsonrpc.request.id", about.request);
  server.set("sallyport.agent_id", about.agent);
  if (call.server) {
    Span client =
        tracer_.start(name, Span::Kind::Client, wall_of(call.server->begin), server.context);
    describe(client);
    client.set("network.transport", about.local ? "pipe" : "tcp");
    tracer_.end(std::move(client), wall_of(call.server->end.value_or(call.answered)));
  }
  tracer_.end(std::move(server), wall_of(call.answered));
}

}  // namespace sallyport::mcp
