// Spans and metrics in the JSON encoding of OTLP, as `POST /v1/traces` and `POST /v1/metrics` take
// them.
#pragma once

#include <span>
#include <string>

#include "base/metrics.h"
#include "telemetry/span.h"

namespace sallyport::telemetry {

// Who tells.
struct Service {
  std::string name = "sallyport";
  std::string version{};
};

std::string otlp_json(const Service& service, std::span<const Span> spans);

// All that was counted between the two times, under the names of OpenTelemetry where it has some.
std::string otlp_json(const Service& service, const Metrics& metrics, WallTime since, WallTime now);

}  // namespace sallyport::telemetry
