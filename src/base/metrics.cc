#include "base/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/cut_text.h"

namespace sallyport {

namespace {

constexpr std::size_t kLongestLabel = 128;

void append_label(std::string& out, std::string_view name, std::string_view value) {
  if (!out.empty()) out += ',';
  out.append(name).append("=\"");
  for (const char c : cut_utf8_bytes(value, kLongestLabel)) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string number_text(double value) {
  if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
  return std::isnan(value) ? "NaN" : fmt::format("{}", value);
}

void append_sample(std::string& out, std::string_view name, std::string_view labels, double value) {
  out.append(name);
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out.append(" ").append(number_text(value)).append("\n");
}

void append_histogram(std::string& out, const std::string& name, const std::string& labels,
                      const MetricHistogram& histogram) {
  const MetricHistogram::Read read = histogram.read();
  for (std::size_t i = 0; i < read.up_to.size(); ++i) {
    std::string bucket = labels;
    const bool last = i == histogram.bounds().size();
    append_label(bucket, "le", last ? "+Inf" : number_text(histogram.bounds()[i]));
    append_sample(out, name + "_bucket", bucket, static_cast<double>(read.up_to[i]));
  }
  append_sample(out, name + "_sum", labels, read.sum);
  append_sample(out, name + "_count", labels, static_cast<double>(read.up_to.back()));
}

}  // namespace

MetricHistogram::MetricHistogram(std::span<const double> bounds)
    : bounds_(bounds), counts_(bounds.size() + 1) {}

void MetricHistogram::observe(double value) {
  const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  counts_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

MetricHistogram::Read MetricHistogram::read() const {
  Read read{.up_to = {}, .sum = sum_.load(std::memory_order_relaxed)};
  std::uint64_t total = 0;
  for (const auto& count : counts_) {
    total += count.load(std::memory_order_relaxed);
    read.up_to.push_back(total);
  }
  return read;
}

template <class Series>
Series& MetricFamily<Series>::at(std::initializer_list<std::string_view> values) {
  const auto text = [&](auto value_of) {
    std::string out;
    for (std::size_t i = 0; i < labels_.size(); ++i) append_label(out, labels_[i], value_of(i));
    return out;
  };
  const std::string wanted = text(
      [&](std::size_t i) { return i < values.size() ? values.begin()[i] : std::string_view(); });
  return series_.with([&](auto& series) -> std::reference_wrapper<Series> {
    auto found = series.find(wanted);
    if (found == series.end() && series.size() >= kMostSeries) {
      found = series.try_emplace(text([](std::size_t) { return std::string_view("other"); })).first;
    } else if (found == series.end()) {
      found = series.try_emplace(wanted).first;
    }
    if (!found->second) found->second = make_();
    return *found->second;
  });
}

template class MetricFamily<MetricNumber>;
template class MetricFamily<MetricHistogram>;

Metrics::Family& Metrics::family(std::string name, std::string help, std::string_view type) {
  const auto found = std::ranges::find(families_, name, &Family::name);
  if (found != families_.end()) return *found;
  return families_.emplace_back(Family{std::move(name), std::move(help), type});
}

namespace {

std::unique_ptr<MetricNumbers> numbers(std::vector<std::string> labels) {
  const bool plain = labels.empty();
  auto made = std::make_unique<MetricNumbers>(std::move(labels),
                                              [] { return std::make_unique<MetricNumber>(); });
  // A metric without labels exists from the start.
  if (plain) made->at({});
  return made;
}

}  // namespace

MetricNumbers& Metrics::counter(std::string name, std::string help, Labels labels) {
  Family& made = family(std::move(name), std::move(help), "counter");
  if (!made.numbers) made.numbers = numbers(std::move(labels));
  return *made.numbers;
}

MetricNumbers& Metrics::gauge(std::string name, std::string help, Labels labels) {
  Family& made = family(std::move(name), std::move(help), "gauge");
  if (!made.numbers) made.numbers = numbers(std::move(labels));
  return *made.numbers;
}

MetricHistograms& Metrics::histogram(std::string name, std::string help,
                                     std::span<const double> bounds, Labels labels) {
  Family& made = family(std::move(name), std::move(help), "histogram");
  if (made.histograms) return *made.histograms;
  const bool plain = labels.empty();
  made.histograms = std::make_unique<MetricHistograms>(
      std::move(labels), [bounds] { return std::make_unique<MetricHistogram>(bounds); });
  if (plain) made.histograms->at({});
  return *made.histograms;
}

void Metrics::read(const std::function<void(const Reading&)>& take) const {
  for (const std::function<void()>& look : looks_) look();
  for (const Family& family : families_) {
    Reading reading{.name = family.name, .help = family.help, .type = family.type, .labels = {}};
    const auto take_all = [&](const auto& all) {
      for (const auto& [labels, series] : all) {
        reading.labels = labels;
        if constexpr (requires { series->value(); }) {
          reading.number = series.get();
        } else {
          reading.histogram = series.get();
        }
        take(reading);
      }
    };
    if (family.numbers) family.numbers->series_.with(take_all);
    if (family.histograms) family.histograms->series_.with(take_all);
  }
}

std::string Metrics::text() const {
  for (const std::function<void()>& look : looks_) look();
  std::string out;
  for (const Family& family : families_) {
    out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", family.name, family.help, family.name,
                       family.type);
    if (family.numbers) {
      family.numbers->series_.with([&](const auto& all) {
        for (const auto& [key, each] : all) append_sample(out, family.name, key, each->value());
      });
    }
    if (family.histograms) {
      family.histograms->series_.with([&](const auto& all) {
        for (const auto& [labels, each] : all) append_histogram(out, family.name, labels, *each);
      });
    }
  }
  return out;
}

std::span<const double> quick_seconds() {
  static constexpr auto kBounds =
      std::to_array<double>({0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                             0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10});
  return kBounds;
}

std::span<const double> operation_seconds() {
  static constexpr auto kBounds =
      std::to_array<double>({0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300});
  return kBounds;
}

}  // namespace sallyport
