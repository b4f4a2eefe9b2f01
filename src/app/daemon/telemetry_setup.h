// Where spans of `sallyport serve` go: to the collector that the configuration names, else to the
// one of the standard variables of OpenTelemetry.
#pragma once

#include <memory>

#include "app/config/serve_config.h"
#include "app/gate.h"
#include "telemetry/exporter.h"

namespace sallyport::app {

// Null: no collector is configured. `InvalidInput`: the configuration names what cannot be.
// Variables that cannot be are told in the log, since they may be meant for other programs.
Result<std::unique_ptr<telemetry::Exporter>> exporter_of(const ServeConfig& config, Gate& gate);

// Of `OTEL_EXPORTER_OTLP_HEADERS`: `name=value,name=value`, values with percent signs.
net::HttpHeaders otlp_headers(std::string_view text);

}  // namespace sallyport::app
