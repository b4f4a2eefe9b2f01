// Metrics of a running process, and the text format of Prometheus for them.
//
//   Metrics metrics;
//   auto& calls = metrics.counter("sallyport_calls_total", "calls that have ended", {"outcome"});
//   calls.at({"completed"}).add();
//   metrics.text();   // # HELP ..., # TYPE ..., sallyport_calls_total{outcome="completed"} 1
//
// Any thread may count and read. All families must exist before the threads start.
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

// The value of a counter, which only rises, or of a gauge.
class MetricNumber {
 public:
  void add(double more = 1) { value_.fetch_add(more, std::memory_order_relaxed); }
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// Counts observed values, such as durations, by upper bounds.
class MetricHistogram {
 public:
  explicit MetricHistogram(std::span<const double> bounds);

  void observe(double value);
  // `up_to[i]` counts the values up to bound i. The last one counts all values.
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

// All series of one name, by the values of their labels. The values come from outside, so their
// number is limited: beyond the limit, values count under `other`.
template <class Series>
class MetricFamily {
 public:
  using Make = std::function<std::unique_ptr<Series>()>;
  MetricFamily(std::vector<std::string> labels, Make make)
      : labels_(std::move(labels)), make_(std::move(make)) {}

  // `values` has one value for each label. The reference is valid as long as the family.
  Series& at(std::initializer_list<std::string_view> values);

 private:
  friend class Metrics;
  static constexpr std::size_t kMostSeries = 500;

  std::vector<std::string> labels_;
  Make make_;
  // By the labels, as written in the output.
  Guarded<std::map<std::string, std::unique_ptr<Series>, std::less<>>> series_;
};

using MetricNumbers = MetricFamily<MetricNumber>;
using MetricHistograms = MetricFamily<MetricHistogram>;

class Metrics {
 public:
  Metrics() = default;
  Metrics(const Metrics&) = delete;

  using Labels = std::vector<std::string>;
  // A second call with the same name returns the same family.
  MetricNumbers& counter(std::string name, std::string help, Labels labels = {});
  MetricNumbers& gauge(std::string name, std::string help, Labels labels = {});
  // `bounds` are in rising order and must outlive this object.
  MetricHistograms& histogram(std::string name, std::string help, std::span<const double> bounds,
                              Labels labels = {});

  // Called before each reading, to set values that are looked up and not counted.
  void before_reading(std::function<void()> look) { looks_.push_back(std::move(look)); }

  // The current state of one series; either `number` or `histogram` is set.
  struct Reading {
    std::string_view name;
    std::string_view help;
    std::string_view type;    // `counter`, `gauge`, `histogram`
    std::string_view labels;  // as `text` writes them
    const MetricNumber* number = nullptr;
    const MetricHistogram* histogram = nullptr;
  };
  // Series of one name follow each other.
  void read(const std::function<void(const Reading&)>& take) const;

  // The text format, version 0.0.4.
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

// Bucket bounds in seconds: for work inside one machine, and those of OpenTelemetry for MCP.
std::span<const double> quick_seconds();
std::span<const double> operation_seconds();

}  // namespace sallyport
