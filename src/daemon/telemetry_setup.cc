#include "daemon/telemetry_setup.h"

#include <fmt/format.h>

#include <charconv>

#include "base/encoding.h"
#include "base/lower_case.h"
#include "base/try.h"
#include "machine/environment.h"
#include "terminal/input.h"
#include "workspace/version.h"

namespace sallyport::app {

namespace {

constexpr std::string_view kTraces = "/v1/traces";
constexpr std::string_view kMetrics = "/v1/metrics";

std::string variable_or(const std::string& name, std::string otherwise) {
  return variable_of_this_process(name).value_or(std::move(otherwise));
}

std::string with_traces(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url.ends_with(kTraces) ? url : url.append(kTraces);
}

// The path of metrics beside that of spans; empty: the path of spans has another name.
std::string metrics_path(std::string_view traces) {
  if (!traces.ends_with(kTraces)) return {};
  return std::string(traces.substr(0, traces.size() - kTraces.size())).append(kMetrics);
}

std::chrono::milliseconds metrics_interval() {
  constexpr unsigned kUsual = 60'000;
  const std::string text = variable_or("OTEL_METRIC_EXPORT_INTERVAL", "");
  unsigned value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = bad == std::errc{} && end == text.data() + text.size() && value >= 100;
  return std::chrono::milliseconds(good ? value : kUsual);
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = text[i] == '%' ? from_hex(lower_case(text.substr(i + 1, 2))) : std::nullopt;
    if (byte && byte->size() == 1) {
      out += *byte;
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

Result<std::unique_ptr<telemetry::Exporter>> opened(Gate& gate, const std::string& address,
                                                    std::string service, bool allow_http) {
  SALLYPORT_TRY(net::Url url, net::Url::parse(address));
  if (!url.tls && !url.is_loopback() && !allow_http) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("spans would go to `{}` without encryption; use `https`, or write "
                            "`allow_http: true` in `serve.telemetry`",
                            url.text()));
  }
  std::string metrics = metrics_path(url.target);
  telemetry::Exporter::Settings settings{
      .url = std::move(url),
      .metrics = std::move(metrics),
      .allow_plain = allow_http,
      .headers = otlp_headers(variable_or("OTEL_EXPORTER_OTLP_HEADERS", "")),
      .service = {.name = std::move(service), .version = std::string(version())},
      .between_metrics = metrics_interval()};
  return telemetry::Exporter::open(gate.loop().get_executor(),
                                   {.tracer = gate.tracer(),
                                    .metrics = gate.metrics(),
                                    .clock = gate.workspace().clock(),
                                    .log = [&gate](std::string_view line) { gate.log(line); }},
                                   std::move(settings));
}

}  // namespace

net::HttpHeaders otlp_headers(std::string_view text) {
  net::HttpHeaders headers;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const std::size_t mark = one.find('=');
    if (mark == std::string_view::npos || trimmed(one.substr(0, mark)).empty()) continue;
    headers.emplace_back(trimmed(one.substr(0, mark)), decoded(trimmed(one.substr(mark + 1))));
  }
  return headers;
}

Result<std::unique_ptr<telemetry::Exporter>> exporter_of(const ServeConfig& config, Gate& gate) {
  const std::string service = variable_or("OTEL_SERVICE_NAME", "sallyport");
  if (!config.telemetry) return exporter_of_environment(gate);
  const TelemetryConfig& named = *config.telemetry;
  return opened(gate, with_traces(named.otlp),
                named.service_name.empty() ? service : named.service_name, named.allow_http);
}

std::unique_ptr<telemetry::Exporter> exporter_of_environment(Gate& gate) {
  if (variable_or("OTEL_SDK_DISABLED", "") == "true") return nullptr;
  const auto base = variable_of_this_process("OTEL_EXPORTER_OTLP_ENDPOINT");
  const std::string address =
      variable_or("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", base ? with_traces(*base) : "");
  if (address.empty()) return nullptr;
  Result<std::unique_ptr<telemetry::Exporter>> exporter =
      opened(gate, address, variable_or("OTEL_SERVICE_NAME", "sallyport"), false);
  if (exporter) return std::move(*exporter);
  gate.log(fmt::format("warning: no spans are exported: {}", exporter.error().message));
  return nullptr;
}

}  // namespace sallyport::app
