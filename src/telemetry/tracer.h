// Where spans begin, and where they wait to be exported.
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

// On a context with one thread. Until `turn_on` it costs nothing: spans are not sampled, and go
// when they end.
class Tracer {
 public:
  static constexpr std::size_t kMostWaiting = 4096;  // spans; those beyond are dropped

  // Both must outlive it.
  Tracer(Entropy& entropy, Metrics& metrics);
  Tracer(const Tracer&) = delete;

  bool on() const { return on_; }
  void turn_on();

  // Below its parent where there is one, else of a trace of its own. One whose parent is not
  // sampled is not sampled either.
  Span start(std::string name, Span::Kind kind, WallTime begin,
             const std::optional<TraceContext>& parent) const;
  void end(Span span, WallTime at);

  // For the exporter: the oldest ones, and what became of them.
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
