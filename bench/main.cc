#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
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

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  long total = 0;
  long resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

}  // namespace sallyport::bench

int main(int argc, char** argv) {
  using namespace sallyport::bench;
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  Report report;
  fmt::print("sallyport benchmarks{}; durable writes on unless a line says otherwise\n",
             quick ? " (quick)" : "");
  measure_appends(report, quick);
  measure_governor(report, quick);
  measure_redaction(report, quick);
  measure_verification(report, quick);
  measure_growth(report, quick);
  return 0;
}
