#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>

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

// sallyport_bench --calls N [memory|disk [read_file|write_file]]
// sallyport_bench [--quick]
// [appends|governor|calls|redaction|sanitizer|verification|growth|match|grants|approve
// ...]
int main(int argc, char** argv) {
  using namespace sallyport::bench;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool quick = std::ranges::find(words, "--quick") != words.end();
  const std::pair<const char*, void (*)(Report&, bool)> sections[] = {
      {"appends", measure_appends},       {"governor", measure_governor},
      {"calls", measure_calls},           {"redaction", measure_redaction},
      {"sanitizer", measure_sanitizer},   {"verification", measure_verification},
      {"growth", measure_growth},         {"match", measure_match},
      {"guardrails", measure_guardrails}, {"grants", measure_grants},
      {"approve", measure_approve}};
  if (words.size() >= 2 && words[0] == "--calls") {
    run_calls(std::stoul(words[1]), words.size() > 2 ? words[2] : "",
              words.size() > 3 ? words[3] : "read_file");
    return 0;
  }
  const bool all = words.size() == (quick ? 1u : 0u);
  fmt::print("sallyport benchmarks{}; durable writes on unless a line says otherwise\n",
             quick ? " (quick)" : "");
  Report report;
  for (const auto& [name, measure] : sections) {
    if (all || std::ranges::find(words, name) != words.end()) measure(report, quick);
  }
  return 0;
}
