#include "proxy/meter.h"

#include <fmt/format.h>

#include <array>

namespace sallyport::proxy {

namespace {

const Metrics::Labels kModel{"gen_ai_operation_name", "gen_ai_provider_name",
                             "gen_ai_request_model"};
// The histogram bounds that OpenTelemetry defines for tokens.
constexpr auto kTokens = std::to_array<double>(
    {1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864});

}  // namespace

std::string_view provider_of(std::string_view api) {
  return api == "anthropic_messages" ? "anthropic" : "openai";
}

Meter::Meter(Metrics& metrics, bool latest)
    : requests_(metrics.counter("sallyport_model_requests_total",
                                "Requests to models that have ended.",
                                {"api", "upstream", "outcome"})),
      duration_(metrics.histogram(latest ? "gen_ai_client_inference_duration_seconds"
                                         : "gen_ai_client_operation_duration_seconds",
                                  "How long requests to models took.", operation_seconds(),
                                  kModel)),
      first_chunk_(metrics.histogram(latest ? "gen_ai_client_inference_time_to_first_chunk_seconds"
                                            : "gen_ai_client_operation_time_to_first_chunk_seconds",
                                     "Until the first byte of an answer left.", operation_seconds(),
                                     kModel)),
      added_(metrics.histogram("sallyport_model_added_seconds",
                               "Time that requests spend here before they go upstream.",
                               quick_seconds())),
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
                          "Most bytes of an answer that waited for a check, of the last one.")) {
  if (!latest) {
    Metrics::Labels labels = kModel;
    labels.emplace_back("gen_ai_token_type");
    tokens_ = &metrics.histogram("gen_ai_client_token_usage", "Tokens that providers reported.",
                                 kTokens, std::move(labels));
    return;
  }
  for (const char* const kind :
       {"input", "output", "cache_read_input", "cache_write_input", "reasoning_output"}) {
    newer_tokens_[kind] =
        &metrics.counter(fmt::format("gen_ai_client_inference_usage_{}_tokens_total", kind),
                         "Tokens that providers reported.", kModel);
  }
}

void Meter::count_tokens(const ModelRecord& record, std::string_view operation,
                         std::string_view kind, const std::optional<std::uint64_t>& count) {
  if (!count) return;
  const auto more = static_cast<double>(*count);
  const std::string_view provider = provider_of(record.api);
  const auto newer = newer_tokens_.find(kind);
  if (newer != newer_tokens_.end()) {
    newer->second->at({operation, provider, record.upstream_model}).add(more);
  } else if (tokens_ != nullptr && (kind == "input" || kind == "output")) {
    tokens_->at({operation, provider, record.upstream_model, kind}).observe(more);
  }
}

void Meter::ended(const ModelRecord& record, std::string_view operation) {
  requests_.at({record.api, record.upstream, to_string(record.outcome)}).add();
  for (const std::string& type : record.unknown) unknown_.at({type}).add();
  for (const RecordedCall& call : record.calls) {
    if (call.verdict == "bypassed") bypassed_.at({}).add();
  }
  if (record.upstream.empty()) return;
  held_.at({}).set(static_cast<double>(record.held_max));
  const std::string_view provider = provider_of(record.api);
  duration_.at({operation, provider, record.upstream_model})
      .observe(static_cast<double>(record.duration_ms) / 1e3);
  if (record.first_byte_ms) {
    first_chunk_.at({operation, provider, record.upstream_model})
        .observe(static_cast<double>(*record.first_byte_ms) / 1e3);
  }
  if (!record.usage) return;
  count_tokens(record, operation, "input", record.usage->input_tokens);
  count_tokens(record, operation, "output", record.usage->output_tokens);
  count_tokens(record, operation, "cache_read_input", record.usage->cache_read_input_tokens);
  count_tokens(record, operation, "cache_write_input", record.usage->cache_creation_input_tokens);
  count_tokens(record, operation, "reasoning_output", record.usage->reasoning_tokens);
}

}  // namespace sallyport::proxy
