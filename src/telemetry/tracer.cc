#include "telemetry/tracer.h"

#include <algorithm>
#include <iterator>

#include "base/cut_text.h"

namespace sallyport::telemetry {

namespace {

constexpr std::size_t kLongestSpanName = 256;

}  // namespace

Tracer::Tracer(Entropy& entropy, Metrics& metrics)
    : entropy_(entropy),
      spans_(metrics.counter("sallyport_telemetry_spans_total",
                             "Spans that the collector took, or that were dropped.", {"outcome"})) {
}

void Tracer::turn_on() {
  on_ = true;
  spans_.at({"sent"});
  spans_.at({"dropped"});
}

Span Tracer::start(std::string name, Span::Kind kind, WallTime begin,
                   const std::optional<TraceContext>& parent) const {
  Span span{.name = cut_utf8_bytes(readable(name), kLongestSpanName), .kind = kind, .begin = begin};
  span.context.sampled = on_ && (!parent || parent->sampled);
  if (!span.context.sampled) return span;
  entropy_.fill(span.context.span);
  if (parent) {
    span.context.trace = parent->trace;
    span.parent = parent->span;
  } else {
    entropy_.fill(span.context.trace);
  }
  return span;
}

void Tracer::end(Span span, WallTime at) {
  if (!span.context.sampled) return;
  if (waiting_.size() >= kMostWaiting) return dropped(1);
  span.end = std::max(at, span.begin);
  waiting_.push_back(std::move(span));
}

std::vector<Span> Tracer::take(std::size_t most) {
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(most, waiting_.size()));
  std::vector<Span> taken(std::move_iterator(waiting_.begin()), std::move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  return taken;
}

void Tracer::sent(std::size_t count) {
  spans_.at({"sent"}).add(static_cast<double>(count));
}

void Tracer::dropped(std::size_t count) {
  spans_.at({"dropped"}).add(static_cast<double>(count));
}

}  // namespace sallyport::telemetry
