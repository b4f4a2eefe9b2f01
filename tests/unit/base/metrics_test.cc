#include "base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace sallyport {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(MetricsTest, NumbersAreWrittenUnderTheirNamesWithTheirLabels) {
  Metrics metrics;
  MetricNumbers& calls = metrics.counter("calls_total", "Calls.", {"outcome", "server"});
  calls.at({"completed", "files"}).add();
  calls.at({"completed", "files"}).add(2);
  metrics.gauge("open", "Open.").at({}).set(-1.5);
  EXPECT_EQ(metrics.text(),
            "# HELP calls_total Calls.\n# TYPE calls_total counter\n"
            "calls_total{outcome=\"completed\",server=\"files\"} 3\n"
            "# HELP open Open.\n# TYPE open gauge\nopen -1.5\n");
}

TEST(MetricsTest, LabelsFromOutsideCannotBreakTheText) {
  Metrics metrics;
  metrics.counter("c_total", "C.", {"a"}).at({"x\"} 1\nc_total{a=\\"}).add();
  EXPECT_THAT(metrics.text(), HasSubstr("c_total{a=\"x\\\"} 1\\nc_total{a=\\\\\"} 1\n"));
  metrics.counter("d_total", "D.", {"a"}).at({std::string(1000, 'x')}).add();
  EXPECT_THAT(metrics.text(), Not(HasSubstr(std::string(129, 'x'))));
}

TEST(MetricsTest, ThereIsAnEndToWhatLabelsCanMake) {
  Metrics metrics;
  MetricNumbers& calls = metrics.counter("calls_total", "Calls.", {"agent"});
  for (int i = 0; i < 10'000; ++i) calls.at({std::to_string(i)}).add();
  const std::string text = metrics.text();
  EXPECT_LT(std::ranges::count(text, '\n'), 510);
  EXPECT_THAT(text, HasSubstr("calls_total{agent=\"other\"} 9500\n"));
}

TEST(MetricsTest, AHistogramCountsUpToEachBoundAndTheBoundItself) {
  static constexpr std::array<double, 2> kBounds{0.1, 1};
  Metrics metrics;
  MetricHistogram& seconds = metrics.histogram("s", "S.", kBounds).at({});
  for (const double value : {0.05, 0.1, 0.5, 7.0}) seconds.observe(value);
  EXPECT_THAT(metrics.text(), HasSubstr("s_bucket{le=\"0.1\"} 2\ns_bucket{le=\"1\"} 3\n"
                                        "s_bucket{le=\"+Inf\"} 4\ns_sum 7.65\ns_count 4\n"));
}

TEST(MetricsTest, ThreadsThatCountAtOnceLoseNothing) {
  Metrics metrics;
  MetricNumbers& calls = metrics.counter("calls_total", "Calls.", {"n"});
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 10'000; ++j) calls.at({std::to_string(j % 3)}).add();
    });
  }
  threads.clear();
  EXPECT_EQ(calls.at({"0"}).value() + calls.at({"1"}).value() + calls.at({"2"}).value(), 40'000);
}

}  // namespace
}  // namespace sallyport
