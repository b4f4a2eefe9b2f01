#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "bench/bench.h"
#include "bench/bench_ledger.h"
#include "guards/detect/detectors.h"
#include "guards/redact/storage_redactor.h"

namespace sallyport::bench {

void measure_redaction(Report& report, bool quick) {
  report.section("redaction before the durable write (all default detectors, one pass)");
  const auto detectors = guards::Detectors::build();
  SALLYPORT_INVARIANT(detectors.has_value());
  const guards::StorageRedactor redactor(*detectors);
  std::string prose;
  while (prose.size() < (1u << 20)) {
    prose +=
        R"({"level":"info","message":"user 42 opened /srv/data/report.txt in 12 ms","trace":"a1b2c3"} )";
  }
  const int turns = quick ? 5 : 50;
  const double long_text = seconds_of([&] {
    for (int i = 0; i < turns; ++i) SALLYPORT_INVARIANT((*detectors)->scan(prose).empty());
  });
  report.row("1 MiB of log text", fmt::format("{:.0f} MB/s", static_cast<double>(prose.size()) *
                                                                 turns / long_text / 1e6));
  const std::string word = "/srv/data/report.txt";
  const int words = quick ? 20000 : 1'000'000;
  const double short_text = seconds_of([&] {
    for (int i = 0; i < words; ++i) SALLYPORT_INVARIANT((*detectors)->scan(word).empty());
  });
  report.row("one short string", fmt::format("{:.0f} ns", short_text / words * 1e9));
  const std::size_t count = quick ? 10240 : 128000;
  BenchLedger plain(Keep::OnDisk);
  BenchLedger redacting(Keep::OnDisk, &redactor);
  const double without = static_cast<double>(count) / plain.append(count, 256);
  const double with = static_cast<double>(count) / redacting.append(count, 256);
  report.row("durable appends with redaction, 256 callers", fmt::format("{:.0f}/s", with),
             fmt::format("{:.2f} of {:.0f}/s without", with / without, without));
}

}  // namespace sallyport::bench
