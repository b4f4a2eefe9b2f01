// Numbers about a running process, and the text format in which Prometheus reads them.
//
//   Metrics metrics;
//   auto& calls = metrics.counter("sallyport_calls_total", "calls that have ended", {"outcome"});
//   calls.at({"completed"}).add();
//   metrics.text();   // # HELP ..., # TYPE ..., sallyport_calls_total{outcome="completed"} 1
//
// Any thread may count and read. Families are made before the threads are.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/guarded.h"

namespace sallyport {

// One number: of a counter, which only rises, or of a gauge.
class MetricNumber {
 public:
  void add(double more = 1) { value_.fetch_add(more, std::memory_order_relaxed); }
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// How often something took up to how long.
class MetricHistogram {
 public:
  explicit MetricHistogram(std::span<const double> bounds);

  void observe(double value);
  // With the upper bound of each bucket; the last one has none.
  struct Read {
    std::vector<std::uint64_t> up_to;
    double sum = 0;
  };
  Read read() const;
  std::span<const double> bounds() const { return bounds_; }

 private:
  std::span<const double> bounds_;
  std::vector<std::atomic<std::uint64_t>> counts_;
  std::atomic<double> sum_{0};
};

// Series of one name, told apart by the values of their labels. Those values come from outside, so
// there is an end to them: what is one too many counts under `other`.
template <class Series>
class MetricFamily {
 public:
  using Make = std::function<std::unique_ptr<Series>()>;
  MetricFamily(std::vector<std::string> labels, Make make)
      : labels_(std::move(labels)), make_(std::move(make)) {}

  // As many values as there are labels. The reference is good as long as the family.
  Series& at(std::initializer_list<std::string_view> values);

 private:
  friend class Metrics;
  static constexpr std::size_t kMostSeries = 500;

  std::vector<std::string> labels_;
  Make make_;
  // By the labels as they are written.
  Guarded<std::map<std::string, std::unique_ptr<Series>, std::less<>>> series_;
};

using MetricNumbers = MetricFamily<MetricNumber>;
using MetricHistograms = MetricFamily<MetricHistogram>;

class Metrics {
 public:
  Metrics() = default;
  Metrics(const Metrics&) = delete;

  using Labels = std::vector<std::string>;
  // A name that is known already gives the same family.
  MetricNumbers& counter(std::string name, std::string help, Labels labels = {});
  MetricNumbers& gauge(std::string name, std::string help, Labels labels = {});
  // `bounds` rise and outlive it.
  MetricHistograms& histogram(std::string name, std::string help, std::span<const double> bounds,
                              Labels labels = {});

  // Asked before each reading: sets what is looked up rather than counted.
  void before_reading(std::function<void()> look) { looks_.push_back(std::move(look)); }

  // One series as it is now: `number`, or `histogram`.
  struct Reading {
    std::string_view name;
    std::string_view help;
    std::string_view type;    // `counter`, `gauge`, `histogram`
    std::string_view labels;  // as `text` writes them
    const MetricNumber* number = nullptr;
    const MetricHistogram* histogram = nullptr;
  };
  // Those of one name follow each other.
  void read(const std::function<void(const Reading&)>& tell) const;

  // Of the version 0.0.4.
  std::string text() const;
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct Family {
    std::string name;
    std::string help;
    std::string_view type;
    std::unique_ptr<MetricNumbers> numbers{};
    std::unique_ptr<MetricHistograms> histograms{};
  };
  Family& family(std::string name, std::string help, std::string_view type);

  std::deque<Family> families_;
  std::vector<std::function<void()>> looks_;
};

// Seconds: of what happens inside one machine, and the buckets of OpenTelemetry for MCP.
std::span<const double> quick_seconds();
std::span<const double> operation_seconds();

}  // namespace sallyport
