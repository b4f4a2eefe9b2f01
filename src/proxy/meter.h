// What the proxy counts (MP-88).
#pragma once

#include <string_view>

#include "base/metrics.h"
#include "proxy/record.h"

namespace sallyport::proxy {

class Meter {
 public:
  explicit Meter(Metrics& metrics);

  void ended(const ModelRecord& record);
  void ungoverned(std::string_view route) { ungoverned_.at({route}).add(); }
  void circuit(std::string_view upstream, bool open) { circuits_.at({upstream}).set(open ? 1 : 0); }

 private:
  MetricNumbers& requests_;
  MetricHistograms& duration_;
  MetricHistograms& first_chunk_;
  MetricHistograms& added_;
  MetricNumbers& tokens_;
  MetricNumbers& ungoverned_;
  MetricNumbers& unknown_;
  MetricNumbers& bypassed_;
  MetricNumbers& circuits_;
  MetricNumbers& held_;

 public:
  void added(double seconds) { added_.at({}).observe(seconds); }
};

}  // namespace sallyport::proxy
