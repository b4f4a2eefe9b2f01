// Where spans and metrics go: those of `sallyport serve` to the collector that the configuration
// names, else to the one of the standard variables of OpenTelemetry, as those of `sallyport mcp`.
#pragma once

#include <memory>

#include "app/config/serve_config.h"
#include "app/gate.h"
#include "telemetry/exporter.h"

namespace sallyport::app {

// Null: no collector is configured. `InvalidInput`: the configuration names what cannot be.
Result<std::unique_ptr<telemetry::Exporter>> exporter_of(const ServeConfig& config, Gate& gate);

// Null: the variables name no collector, or one that cannot be. That is told in the log and no
// error, since they may be meant for other programs.
std::unique_ptr<telemetry::Exporter> exporter_of_environment(Gate& gate);

// Of `OTEL_EXPORTER_OTLP_HEADERS`: `name=value,name=value`, values with percent signs.
net::HttpHeaders otlp_headers(std::string_view text);

}  // namespace sallyport::app
