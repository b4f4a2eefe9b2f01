// Starts spans and queues ended spans for the exporter.
//
//   telemetry::Span span = tracer.start("tools/call echo", telemetry::Span::Kind::Server, begin,
//   parent); span.set("gen_ai.tool.name", "echo"); tracer.end(std::move(span), clock.wall());
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/entropy.h"
#include "base/metrics.h"
#include "telemetry/span.h"

namespace sallyport::telemetry {

// Use it on a context with one thread. Before `turn_on` it costs nothing: spans are not sampled,
// and are dropped when they end.
class Tracer {
 public:
  static constexpr std::size_t kMostWaiting = 4096;  // more spans are dropped

  // Both must outlive it.
  Tracer(Entropy& entropy, Metrics& metrics);
  Tracer(const Tracer&) = delete;

  bool on() const { return on_; }
  void turn_on();

  // Starts a span below its parent, or a new trace if there is no parent. A span of an unsampled
  // parent is not sampled.
  Span start(std::string name, Span::Kind kind, WallTime begin,
             const std::optional<TraceContext>& parent) const;
  void end(Span span, WallTime at);

  // For the exporter: takes the oldest spans, and counts what became of them.
  std::vector<Span> take(std::size_t most);
  std::size_t waiting() const { return waiting_.size(); }
  void sent(std::size_t count);
  void dropped(std::size_t count);

 private:
  Entropy& entropy_;
  MetricNumbers& spans_;
  bool on_ = false;
  std::deque<Span> waiting_;
};

}  // namespace sallyport::telemetry
