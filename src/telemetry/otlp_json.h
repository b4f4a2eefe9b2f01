// Spans and metrics in the JSON encoding of OTLP, as `POST /v1/traces` and `POST /v1/metrics` take
// them.
#pragma once

#include <span>
#include <string>

#include "base/metrics.h"
#include "telemetry/span.h"

namespace sallyport::telemetry {

// The service that reports.
struct Service {
  std::string name = "sallyport";
  std::string version{};
};

std::string otlp_json(const Service& service, std::span<const Span> spans);

// The metrics between the two times, under the names of OpenTelemetry if it defines one.
std::string otlp_json(const Service& service, const Metrics& metrics, WallTime since, WallTime now);

}  // namespace sallyport::telemetry
