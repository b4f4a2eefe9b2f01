// Finds the collector of spans and metrics. `sallyport serve` uses the one of its configuration,
// else the one of the standard OpenTelemetry variables. `sallyport mcp` uses the variables.
#pragma once

#include <memory>

#include "app/gate.h"
#include "telemetry/exporter.h"
#include "workspace/config/serve_config.h"

namespace sallyport::app {

// Null: no collector is configured. `InvalidInput`: the configured address is not possible.
Result<std::unique_ptr<telemetry::Exporter>> exporter_of(const ServeConfig& config, Gate& gate);

// Null: the variables name no collector, or an impossible one. The log says so; it is not an error,
// because the variables may be for other programs.
std::unique_ptr<telemetry::Exporter> exporter_of_environment(Gate& gate);

// Parses `OTEL_EXPORTER_OTLP_HEADERS`: `name=value,name=value`, with percent-encoded values.
net::HttpHeaders otlp_headers(std::string_view text);

}  // namespace sallyport::app
