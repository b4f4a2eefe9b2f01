// Spans in the JSON encoding of OTLP, as `POST /v1/traces` takes them.
#pragma once

#include <span>
#include <string>

#include "telemetry/span.h"

namespace sallyport::telemetry {

// Who tells.
struct Service {
  std::string name = "sallyport";
  std::string version{};
};

std::string otlp_json(const Service& service, std::span<const Span> spans);

}  // namespace sallyport::telemetry
