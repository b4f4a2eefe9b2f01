// The metrics of the proxy (MP-88).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "proxy/record.h"

namespace sallyport::proxy {

// The name of the provider of an API in OpenTelemetry. The upstream has a label of its own.
std::string_view provider_of(std::string_view api);

class Meter {
 public:
  // `latest`: durations and tokens under the newer names of OpenTelemetry,
  // `gen_ai.client.inference.*`, instead of the older ones.
  Meter(Metrics& metrics, bool latest);

  // `operation`: the name in OpenTelemetry; empty: it has none.
  void ended(const ModelRecord& record, std::string_view operation);
  void ungoverned(std::string_view route) { ungoverned_.at({route}).add(); }
  void circuit(std::string_view upstream, bool open) { circuits_.at({upstream}).set(open ? 1 : 0); }
  void added(double seconds) { added_.at({}).observe(seconds); }

 private:
  void count_tokens(const ModelRecord& record, std::string_view operation, std::string_view kind,
                    const std::optional<std::uint64_t>& count);

  MetricNumbers& requests_;
  MetricHistograms& duration_;
  MetricHistograms& first_chunk_;
  MetricHistograms& added_;
  MetricHistograms* tokens_ = nullptr;                               // the older name
  std::map<std::string, MetricNumbers*, std::less<>> newer_tokens_;  // by kind
  MetricNumbers& ungoverned_;
  MetricNumbers& unknown_;
  MetricNumbers& bypassed_;
  MetricNumbers& circuits_;
  MetricNumbers& held_;
};

}  // namespace sallyport::proxy
