// Makes the spans of an ended request (MP-87): a SERVER span, and below it a CLIENT span for all
// its attempts. They have names, ids and numbers, never content.
#include <fmt/format.h>

#include "proxy/exchange.h"
#include "telemetry/tracer.h"

namespace sallyport::proxy {

namespace {

using telemetry::Span;

// One of few words: a status, or how the request ended.
std::string error_of(const ModelRecord& record) {
  if (record.outcome == Outcome::Completed && record.status < 400) return {};
  if (record.status >= 400) return std::to_string(record.status);
  return std::string(to_string(record.outcome));
}

void set_number(Span& span, std::string key, const std::optional<std::uint64_t>& value) {
  if (value) span.set(std::move(key), static_cast<std::int64_t>(*value));
}

void set_usage(Span& span, const Usage& usage) {
  set_number(span, "gen_ai.usage.input_tokens", usage.input_tokens);
  set_number(span, "gen_ai.usage.output_tokens", usage.output_tokens);
  set_number(span, "gen_ai.usage.cache_read.input_tokens", usage.cache_read_input_tokens);
  set_number(span, "gen_ai.usage.cache_creation.input_tokens", usage.cache_creation_input_tokens);
}

}  // namespace

void ModelExchange::trace() const {
  telemetry::Tracer& tracer = shared_.tracer;
  if (!tracer.on()) return;
  const SteadyTime now = shared_.clock.steady();
  const WallTime wall = shared_.clock.wall();
  const auto wall_of = [&](SteadyTime time) {
    return wall - std::chrono::duration_cast<WallTime::duration>(now - time);
  };
  const net::ServerRequest& request = client_.request();
  const std::string called = fmt::format("{} {}", request.method, record_.route);
  const auto parent = telemetry::TraceContext::parse(request.header("traceparent").value_or(""));
  Span server = tracer.start(called, Span::Kind::Server, wall_of(started_), parent);
  server.set("http.request.method", request.method);
  server.set("http.route", record_.route);
  server.set("http.response.status_code", static_cast<std::int64_t>(record_.status));
  server.set("sallyport.record", record_.request_id);
  server.set("sallyport.agent_id", record_.agent_id);
  server.set("sallyport.outcome", to_string(record_.outcome));
  server.set("gen_ai.conversation.id", record_.session_id);
  server.fail(error_of(record_));
  if (attempted_) {
    const std::string_view operation = route_.operation();
    const std::string name =
        operation.empty() ? called : fmt::format("{} {}", operation, record_.model);
    Span client = tracer.start(name, Span::Kind::Client, wall_of(*attempted_), server.context);
    client.set("gen_ai.provider.name", provider_of(record_.api));
    client.set("gen_ai.operation.name", operation);
    client.set("gen_ai.request.model", record_.model);
    client.set("gen_ai.response.model", response_model_);
    client.set("gen_ai.response.id", record_.response_id);
    if (!record_.stop_reason.empty()) {
      client.set("gen_ai.response.finish_reasons", std::vector<std::string>{record_.stop_reason});
    }
    if (record_.usage) set_usage(client, *record_.usage);
    client.set("gen_ai.conversation.id", record_.session_id);
    client.set("sallyport.upstream", record_.upstream);
    client.set("sallyport.attempts", static_cast<std::int64_t>(record_.attempts));
    client.fail(error_of(record_));
    tracer.end(std::move(client), wall);
  }
  tracer.end(std::move(server), wall);
}

}  // namespace sallyport::proxy
