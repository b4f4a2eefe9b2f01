#include "telemetry/otlp_json.h"

#include <boost/json.hpp>

#include "base/encoding.h"
#include "sallyport/json.h"

namespace sallyport::telemetry {

namespace {

struct Encoded {
  json::object operator()(const std::string& value) const { return {{"stringValue", value}}; }
  // Numbers of 64 bits are texts in the JSON of protocol buffers.
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

}  // namespace

std::string otlp_json(const Service& service, std::span<const Span> spans) {
  json::array list;
  for (const Span& span : spans) list.push_back(encoded(span));
  const json::object scope{{"name", "sallyport"}, {"version", service.version}};
  json::array about{attribute("service.name", service.name),
                    attribute("service.version", service.version)};
  json::object group{
      {"resource", json::object{{"attributes", std::move(about)}}},
      {"scopeSpans", json::array{json::object{{"scope", scope}, {"spans", std::move(list)}}}}};
  return json::serialize(json::object{{"resourceSpans", json::array{std::move(group)}}});
}

}  // namespace sallyport::telemetry
