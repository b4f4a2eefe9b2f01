#include "proxy/meter.h"

namespace sallyport::proxy {

Meter::Meter(Metrics& metrics)
    : requests_(metrics.counter("sallyport_model_requests_total",
                                "Requests to models that have ended.",
                                {"api", "upstream", "outcome"})),
      duration_(metrics.histogram("gen_ai_client_operation_duration_seconds",
                                  "How long requests to models took.", operation_seconds(),
                                  {"gen_ai_provider_name", "gen_ai_request_model"})),
      first_chunk_(metrics.histogram("gen_ai_client_operation_time_to_first_chunk_seconds",
                                     "Until the first byte of an answer left.", operation_seconds(),
                                     {"gen_ai_provider_name", "gen_ai_request_model"})),
      added_(metrics.histogram("sallyport_model_added_seconds",
                               "Time that requests spend here before they go upstream.",
                               quick_seconds())),
      tokens_(
          metrics.counter("gen_ai_client_token_usage_total", "Tokens that providers reported.",
                          {"gen_ai_provider_name", "gen_ai_request_model", "gen_ai_token_type"})),
      ungoverned_(metrics.counter("sallyport_model_ungoverned_total",
                                  "Requests that passed without checks.", {"route"})),
      unknown_(metrics.counter("sallyport_model_unknown_total",
                               "Types of events and items that the proxy does not know.",
                               {"type"})),
      bypassed_(metrics.counter("sallyport_model_bypassed_calls_total",
                                "Results of tool calls that no door has seen.")),
      circuits_(metrics.gauge("sallyport_model_circuit_open",
                              "1 while an upstream gets no requests.", {"upstream"})),
      held_(metrics.gauge("sallyport_model_held_bytes",
                          "Most bytes of an answer that waited for a check, of the last one.")) {}

void Meter::ended(const ModelRecord& record) {
  requests_.at({record.api, record.upstream, to_string(record.outcome)}).add();
  for (const std::string& type : record.unknown) unknown_.at({type}).add();
  for (const RecordedCall& call : record.calls) {
    if (call.verdict == "bypassed") bypassed_.at({}).add();
  }
  if (record.upstream.empty()) return;
  held_.at({}).set(static_cast<double>(record.held_max));
  duration_.at({record.upstream, record.upstream_model})
      .observe(static_cast<double>(record.duration_ms) / 1e3);
  if (record.first_byte_ms) {
    first_chunk_.at({record.upstream, record.upstream_model})
        .observe(static_cast<double>(*record.first_byte_ms) / 1e3);
  }
  if (!record.usage) return;
  if (record.usage->input_tokens) {
    tokens_.at({record.upstream, record.upstream_model, "input"})
        .add(static_cast<double>(*record.usage->input_tokens));
  }
  if (record.usage->output_tokens) {
    tokens_.at({record.upstream, record.upstream_model, "output"})
        .add(static_cast<double>(*record.usage->output_tokens));
  }
}

}  // namespace sallyport::proxy
