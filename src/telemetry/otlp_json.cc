#include "telemetry/otlp_json.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <utility>

#include "base/encoding.h"
#include "sallyport/json.h"

namespace sallyport::telemetry {

namespace {

struct Encoded {
  json::object operator()(const std::string& value) const { return {{"stringValue", value}}; }
  // The JSON of protocol buffers encodes 64-bit numbers as strings.
  json::object operator()(std::int64_t value) const {
    return {{"intValue", std::to_string(value)}};
  }
  json::object operator()(double value) const { return {{"doubleValue", value}}; }
  json::object operator()(bool value) const { return {{"boolValue", value}}; }
  json::object operator()(const std::vector<std::string>& values) const {
    json::array items;
    for (const std::string& value : values) items.push_back((*this)(value));
    return {{"arrayValue", json::object{{"values", std::move(items)}}}};
  }
};

json::object attribute(std::string_view key, const Span::Value& value) {
  return {{"key", key}, {"value", std::visit(Encoded{}, value)}};
}

std::string nanoseconds(WallTime time) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

json::object encoded(const Span& span) {
  json::object out{{"traceId", hex(span.context.trace)},
                   {"spanId", hex(span.context.span)},
                   {"name", span.name},
                   {"kind", static_cast<int>(span.kind)},
                   {"startTimeUnixNano", nanoseconds(span.begin)},
                   {"endTimeUnixNano", nanoseconds(span.end)}};
  if (span.parent) out["parentSpanId"] = hex(*span.parent);
  json::array attributes;
  for (const auto& [key, value] : span.attributes) attributes.push_back(attribute(key, value));
  out["attributes"] = std::move(attributes);
  constexpr int kError = 2;
  if (span.failed) out["status"] = json::object{{"code", kError}};
  return out;
}

// Names of Prometheus and their counterparts in OpenTelemetry.
struct Name {
  std::string_view ours;
  std::string_view theirs;
};
constexpr auto kNames = std::to_array<Name>({
    {"mcp_server_operation_duration_seconds", "mcp.server.operation.duration"},
    {"mcp_client_operation_duration_seconds", "mcp.client.operation.duration"},
    {"gen_ai_client_operation_duration_seconds", "gen_ai.client.operation.duration"},
    {"gen_ai_client_operation_time_to_first_chunk_seconds",
     "gen_ai.client.operation.time_to_first_chunk"},
    {"gen_ai_client_inference_duration_seconds", "gen_ai.client.inference.duration"},
    {"gen_ai_client_inference_time_to_first_chunk_seconds",
     "gen_ai.client.inference.time_to_first_chunk"},
    {"gen_ai_client_inference_usage_input_tokens_total",
     "gen_ai.client.inference.usage.input_tokens"},
    {"gen_ai_client_inference_usage_output_tokens_total",
     "gen_ai.client.inference.usage.output_tokens"},
    {"gen_ai_client_inference_usage_cache_read_input_tokens_total",
     "gen_ai.client.inference.usage.cache_read.input_tokens"},
    {"gen_ai_client_inference_usage_cache_write_input_tokens_total",
     "gen_ai.client.inference.usage.cache_write.input_tokens"},
    {"gen_ai_client_inference_usage_reasoning_output_tokens_total",
     "gen_ai.client.inference.usage.reasoning.output_tokens"},
    {"gen_ai_client_token_usage", "gen_ai.client.token.usage"},
    {"mcp_method_name", "mcp.method.name"},
    {"error_type", "error.type"},
    {"gen_ai_provider_name", "gen_ai.provider.name"},
    {"gen_ai_operation_name", "gen_ai.operation.name"},
    {"gen_ai_request_model", "gen_ai.request.model"},
    {"gen_ai_response_model", "gen_ai.response.model"},
    {"gen_ai_token_type", "gen_ai.token.type"},
});

std::string_view their_name(std::string_view ours) {
  const auto found = std::ranges::find(kNames, ours, &Name::ours);
  return found == kNames.end() ? ours : found->theirs;
}

std::string_view unit_of(std::string_view name) {
  const bool tokens = name.starts_with("gen_ai_client_token_usage") ||
                      name.starts_with("gen_ai_client_inference_usage_");
  if (tokens) return "{token}";
  if (name.ends_with("_bytes")) return "By";
  return name.ends_with("_seconds") ? "s" : "";
}

// Parses `a="b",c="d"`, in which quotes, backslashes and line ends are escaped.
json::array attributes_of(std::string_view labels) {
  json::array out;
  while (!labels.empty()) {
    const std::size_t mark = labels.find("=\"");
    if (mark == std::string_view::npos) break;
    const std::string_view name = labels.substr(0, mark);
    std::string value;
    std::size_t at = mark + 2;
    for (; at < labels.size() && labels[at] != '"'; ++at) {
      const bool escaped = labels[at] == '\\' && at + 1 < labels.size();
      if (escaped) ++at;
      value += escaped && labels[at] == 'n' ? '\n' : labels[at];
    }
    if (!value.empty()) out.push_back(attribute(their_name(name), value));
    labels.remove_prefix(std::min(at + 2, labels.size()));
  }
  return out;
}

json::object point_of(const Metrics::Reading& reading, WallTime since, WallTime now) {
  json::object point{{"attributes", attributes_of(reading.labels)},
                     {"startTimeUnixNano", nanoseconds(since)},
                     {"timeUnixNano", nanoseconds(now)}};
  if (reading.number != nullptr) {
    point["asDouble"] = reading.number->value();
    return point;
  }
  const MetricHistogram::Read read = reading.histogram->read();
  json::array counts;
  std::uint64_t before = 0;
  for (const std::uint64_t up_to : read.up_to) {
    counts.emplace_back(std::to_string(up_to - std::exchange(before, up_to)));
  }
  const auto bounds = reading.histogram->bounds();
  point["count"] = std::to_string(read.up_to.back());
  point["sum"] = read.sum;
  point["bucketCounts"] = std::move(counts);
  point["explicitBounds"] = json::array(bounds.begin(), bounds.end());
  return point;
}

// The metric without data points.
json::object metric_of(const Metrics::Reading& reading) {
  constexpr int kCumulative = 2;
  json::object data{{"dataPoints", json::array{}}};
  std::string_view kind = "gauge";
  if (reading.type == "counter") {
    kind = "sum";
    data["isMonotonic"] = true;
  } else if (reading.type == "histogram") {
    kind = "histogram";
  }
  if (kind != "gauge") data["aggregationTemporality"] = kCumulative;
  return {{"name", their_name(reading.name)},
          {"description", reading.help},
          {"unit", unit_of(reading.name)},
          {kind, std::move(data)}};
}

json::array& points_of(json::object& metric) {
  for (const std::string_view kind : {"sum", "gauge", "histogram"}) {
    if (json::value* const data = metric.if_contains(kind)) {
      return data->as_object()["dataPoints"].as_array();
    }
  }
  return metric["dataPoints"].emplace_array();
}

json::object scope_of(const Service& service) {
  return {{"name", "sallyport"}, {"version", service.version}};
}

std::string enveloped(const Service& service, std::string_view outer, std::string_view inner,
                      json::object scoped) {
  json::array about{attribute("service.name", service.name),
                    attribute("service.version", service.version)};
  json::object group{{"resource", json::object{{"attributes", std::move(about)}}},
                     {inner, json::array{std::move(scoped)}}};
  return json::serialize(json::object{{outer, json::array{std::move(group)}}});
}

}  // namespace

std::string otlp_json(const Service& service, std::span<const Span> spans) {
  json::array list;
  for (const Span& span : spans) list.push_back(encoded(span));
  return enveloped(service, "resourceSpans", "scopeSpans",
                   json::object{{"scope", scope_of(service)}, {"spans", std::move(list)}});
}

std::string otlp_json(const Service& service, const Metrics& metrics, WallTime since,
                      WallTime now) {
  json::array list;
  std::string_view last;
  metrics.read([&](const Metrics::Reading& reading) {
    if (reading.name != last) list.push_back(metric_of(reading));
    last = reading.name;
    points_of(list.back().as_object()).push_back(point_of(reading, since, now));
  });
  return enveloped(service, "resourceMetrics", "scopeMetrics",
                   json::object{{"scope", scope_of(service)}, {"metrics", std::move(list)}});
}

}  // namespace sallyport::telemetry
