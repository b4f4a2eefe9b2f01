#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/bench.h"

namespace sallyport::bench {

void Report::section(const std::string& title) {
  fmt::print("\n{}\n", title);
}

void Report::row(const std::string& what, const std::string& value, const std::string& beside) {
  fmt::print("  {:<52} {:>18}   {}\n", what, value, beside);
  std::fflush(stdout);
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double processor_seconds_of(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  long total = 0;
  long resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

}  // namespace sallyport::bench

namespace {

using namespace sallyport::bench;

constexpr std::pair<std::string_view, void (*)(Report&, bool)> kSections[] = {
    {"appends", measure_appends},       {"governor", measure_governor},
    {"calls", measure_calls},           {"redaction", measure_redaction},
    {"sanitizer", measure_sanitizer},   {"verification", measure_verification},
    {"growth", measure_growth},         {"match", measure_match},
    {"guardrails", measure_guardrails}, {"deltas", measure_deltas},
    {"grants", measure_grants},         {"rules", measure_rules},
    {"approve", measure_approve},       {"agents", measure_agents},
    {"cluster", measure_cluster}};

int refuse(std::string_view word) {
  fmt::print(stderr, "sallyport_bench: `{}` is no section; there are", word);
  for (const auto& [name, measure] : kSections) fmt::print(stderr, " {}", name);
  fmt::print(stderr, "\n");
  return 64;
}

}  // namespace

// sallyport_bench [--quick] [SECTION...]
// sallyport_bench --calls N [bare|guards|hooks|memory|disk [read_file|write_file [CALLERS]]]
// sallyport_bench --deltas N API [armed]
int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() >= 2 && words[0] == "--calls") {
    run_calls(std::stoul(words[1]), words.size() > 2 ? words[2] : "bare",
              words.size() > 3 ? words[3] : "read_file",
              words.size() > 4 ? std::stoul(words[4]) : 1);
    return 0;
  }
  if (words.size() >= 3 && words[0] == "--deltas") {
    run_deltas(std::stoul(words[1]), words[2], words.size() > 3);
    return 0;
  }
  const bool quick = std::erase(words, "--quick") > 0;
  for (const std::string& word : words) {
    const auto named = [&](const auto& section) { return section.first == word; };
    if (std::ranges::none_of(kSections, named)) return refuse(word);
  }
  fmt::print("sallyport benchmarks{}; durable writes on unless a line says otherwise\n",
             quick ? " (quick)" : "");
  Report report;
  for (const auto& [name, measure] : kSections) {
    const bool wanted = words.empty() || std::ranges::find(words, name) != words.end();
    if (wanted) measure(report, quick);
  }
  return 0;
}
