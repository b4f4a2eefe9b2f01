#include "telemetry/span.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "sallyport/json.h"
#include "telemetry/otlp_json.h"
#include "telemetry/tracer.h"

namespace sallyport::telemetry {
namespace {

constexpr std::string_view kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

// Bytes that count up, so that ids are different and known.
class CountingEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> out) override {
    for (std::uint8_t& byte : out) byte = ++last_;
  }

 private:
  std::uint8_t last_ = 0;
};

WallTime at(int seconds) {
  return WallTime(std::chrono::seconds(1'800'000'000 + seconds));
}

// MP-87 (partly)
TEST(TraceContextTest, ATraceparentIsReadAndWritten) {
  const auto context = TraceContext::parse(kParent);
  ASSERT_TRUE(context);
  EXPECT_TRUE(context->sampled);
  EXPECT_EQ(context->text(), kParent);
  EXPECT_EQ(context->trace_id(), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_FALSE(
      TraceContext::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")->sampled);
  // A later version may have more members.
  EXPECT_TRUE(TraceContext::parse("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x"));
}

TEST(TraceContextTest, WhatIsNoTraceparentIsNone) {
  for (const std::string_view text :
       {"", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
        "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x"}) {
    EXPECT_FALSE(TraceContext::parse(text)) << text;
  }
}

// MP-87 (partly)
TEST(TracerTest, ASpanBelongsToTheTraceOfItsParent) {
  CountingEntropy entropy;
  Metrics metrics;
  Tracer tracer(entropy, metrics);
  tracer.turn_on();
  const auto parent = TraceContext::parse(kParent);
  const Span server = tracer.start("a", Span::Kind::Server, at(0), parent);
  const Span client = tracer.start("b", Span::Kind::Client, at(0), server.context);
  const Span own = tracer.start("c", Span::Kind::Server, at(0), std::nullopt);
  EXPECT_EQ(server.context.trace, parent->trace);
  EXPECT_EQ(server.parent, parent->span);
  EXPECT_EQ(client.context.trace, parent->trace);
  EXPECT_EQ(client.parent, server.context.span);
  EXPECT_NE(client.context.span, server.context.span);
  EXPECT_NE(own.context.trace, parent->trace);
  EXPECT_FALSE(own.parent);
}

TEST(TracerTest, NothingIsKeptThatNobodyWants) {
  CountingEntropy entropy;
  Metrics metrics;
  Tracer tracer(entropy, metrics);
  tracer.end(tracer.start("off", Span::Kind::Server, at(0), std::nullopt), at(1));
  EXPECT_EQ(tracer.waiting(), 0u);
  tracer.turn_on();
  auto parent = *TraceContext::parse(kParent);
  parent.sampled = false;
  tracer.end(tracer.start("not sampled", Span::Kind::Server, at(0), parent), at(1));
  EXPECT_EQ(tracer.waiting(), 0u);
  tracer.end(tracer.start("wanted", Span::Kind::Server, at(0), std::nullopt), at(1));
  EXPECT_EQ(tracer.waiting(), 1u);
}

TEST(TracerTest, SpansBeyondTheLimitAreDroppedAndCounted) {
  CountingEntropy entropy;
  Metrics metrics;
  Tracer tracer(entropy, metrics);
  tracer.turn_on();
  for (std::size_t i = 0; i < Tracer::kMostWaiting + 3; ++i) {
    tracer.end(tracer.start("x", Span::Kind::Internal, at(0), std::nullopt), at(1));
  }
  EXPECT_EQ(tracer.waiting(), Tracer::kMostWaiting);
  EXPECT_NE(metrics.text().find("sallyport_telemetry_spans_total{outcome=\"dropped\"} 3"),
            std::string::npos);
  EXPECT_EQ(tracer.take(10).size(), 10u);
  EXPECT_EQ(tracer.waiting(), Tracer::kMostWaiting - 10);
}

TEST(OtlpJsonTest, SpansAreWrittenAsOtlpHasThem) {
  CountingEntropy entropy;
  Metrics metrics;
  Tracer tracer(entropy, metrics);
  tracer.turn_on();
  Span span =
      tracer.start("tools/call echo", Span::Kind::Server, at(0), TraceContext::parse(kParent));
  span.set("text", "a\"b");
  span.set("nothing", "");
  span.set("long", std::string(5000, 'x'));
  span.set("number", std::int64_t{-7});
  span.set("list", std::vector<std::string>{"a", "b"});
  span.fail("tool_error");
  tracer.end(std::move(span), at(2));
  const json::value document =
      json::parse(otlp_json({.name = "gate", .version = "1.2"}, tracer.take(10)));
  EXPECT_EQ(document.at_pointer("/resourceSpans/0/resource/attributes/0"),
            json::parse(R"({"key":"service.name","value":{"stringValue":"gate"}})"));
  json::object written = document.at_pointer("/resourceSpans/0/scopeSpans/0/spans/0").as_object();
  json::array attributes = written["attributes"].as_array();
  ASSERT_EQ(attributes.size(), 5u);
  EXPECT_EQ(attributes[1].at_pointer("/value/stringValue").as_string().size(), 512u);
  attributes.erase(attributes.begin() + 1);
  EXPECT_EQ(attributes, json::parse(R"([{"key":"text","value":{"stringValue":"a\"b"}},
    {"key":"number","value":{"intValue":"-7"}},
    {"key":"list","value":{"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":"b"}]}}},
    {"key":"error.type","value":{"stringValue":"tool_error"}}])"));
  written.erase("attributes");
  EXPECT_EQ(written, json::parse(R"({"traceId":"0af7651916cd43dd8448eb211c80319c",
    "spanId":"0102030405060708","parentSpanId":"b7ad6b7169203331","name":"tools/call echo","kind":2,
    "startTimeUnixNano":"1800000000000000000","endTimeUnixNano":"1800000002000000000",
    "status":{"code":2}})"));
}

// MP-88
TEST(OtlpJsonTest, MetricsAreWrittenAsOtlpHasThem) {
  Metrics metrics;
  metrics.counter("sallyport_calls_total", "Calls.", {"agent", "server"})
      .at({"a\"\\\n,b=\"c", "files"})
      .add(3);
  metrics.gauge("sallyport_sessions", "Sessions.").at({}).set(2);
  static constexpr auto kBounds = std::to_array<double>({0.25, 1});
  MetricHistogram& durations = metrics
                                   .histogram("mcp_server_operation_duration_seconds", "Requests.",
                                              kBounds, {"mcp_method_name", "error_type"})
                                   .at({"tools/call", ""});
  for (const double value : {0.25, 0.5, 0.75, 5.0}) durations.observe(value);
  const json::value document = json::parse(otlp_json({.version = "1"}, metrics, at(0), at(9)));
  EXPECT_EQ(document.at_pointer("/resourceMetrics/0/scopeMetrics/0/metrics"), json::parse(R"([
    {"name":"sallyport_calls_total","description":"Calls.","unit":"","sum":{"dataPoints":[
      {"attributes":[{"key":"agent","value":{"stringValue":"a\"\\\n,b=\"c"}},{"key":"server","value":{"stringValue":"files"}}],
       "startTimeUnixNano":"1800000000000000000","timeUnixNano":"1800000009000000000","asDouble":3.0}],
      "isMonotonic":true,"aggregationTemporality":2}},
    {"name":"sallyport_sessions","description":"Sessions.","unit":"","gauge":{"dataPoints":[
      {"attributes":[],"startTimeUnixNano":"1800000000000000000","timeUnixNano":"1800000009000000000","asDouble":2.0}]}},
    {"name":"mcp.server.operation.duration","description":"Requests.","unit":"s","histogram":{"dataPoints":[
      {"attributes":[{"key":"mcp.method.name","value":{"stringValue":"tools/call"}}],
       "startTimeUnixNano":"1800000000000000000","timeUnixNano":"1800000009000000000",
       "count":"4","sum":6.5,"bucketCounts":["1","2","1"],"explicitBounds":[0.25,1.0]}],
      "aggregationTemporality":2}}])"));
}

}  // namespace
}  // namespace sallyport::telemetry
