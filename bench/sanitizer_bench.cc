#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstring>

#include "base/clock.h"
#include "base/try.h"
#include "bench/bench.h"
#include "guards/detect/detectors.h"
#include "guards/redact/output_sanitizer.h"

namespace sallyport::bench {

namespace {

// 1 MiB of typical results of an issue tracker search. Every `secret_every`th row holds a secret.
std::string rows_text(std::size_t secret_every) {
  std::string text = "[";
  for (std::size_t i = 0; text.size() < (1u << 20); ++i) {
    const bool secret = secret_every > 0 && i % secret_every == 0;
    text += fmt::format(
        R"({}{{"id":{},"title":"Report {} does not open on the second page","state":"open",)"
        R"("author":{{"login":"user{}","site":"https://example.org/u/{}"}},"labels":["bug","ui"],)"
        R"("created_at":"2026-03-01T12:00:{:02}Z","comments":{},"body":"Steps: open the list, )"
        R"(choose {} and press the button. Expected a page, got an empty one.{}"}})",
        i == 0 ? "" : ",", 1000 + i, i, i % 50, i % 50, i % 60, i % 7, i,
        secret ? " key AKIAIOSFODNN7EXAMPLE" : "");
  }
  return text + "]";
}

std::string rate(std::size_t bytes, int turns, double seconds) {
  return fmt::format("{:.0f} MB/s", static_cast<double>(bytes) * turns / seconds / 1e6);
}

}  // namespace

void measure_sanitizer(Report& report, bool quick) {
  report.section("output sanitizer over 1 MiB of JSON (all default detectors, one pass)");
  guards::SanitizerSettings settings;
  settings.detectors = guards::default_detectors();
  const SystemClock clock;
  const auto guard = guards::OutputSanitizer::build(settings, "key", clock);
  const auto detectors = guards::Detectors::build();
  SALLYPORT_INVARIANT(guard.has_value() && detectors.has_value());
  const int turns = quick ? 3 : 100;
  const std::string clean = rows_text(0);
  const std::string dirty = rows_text(100);
  std::string copy(clean.size(), ' ');
  const double copying = seconds_of([&] {
    for (int i = 0; i < turns; ++i) std::memcpy(copy.data(), clean.data(), clean.size());
  });
  report.row("memcpy of the same bytes", rate(clean.size(), turns, copying));
  const double parsing = seconds_of([&] {
    for (int i = 0; i < turns; ++i) SALLYPORT_INVARIANT(parse_json(clean).has_value());
  });
  report.row("plain parse of the same bytes", rate(clean.size(), turns, parsing));
  const double scanning = seconds_of([&] {
    for (int i = 0; i < turns; ++i) SALLYPORT_INVARIANT((*detectors)->scan(clean).empty());
  });
  report.row("detectors alone over the raw bytes", rate(clean.size(), turns, scanning));
  for (const auto& [what, text] : {std::pair{"sanitizer, clean", &clean},
                                   std::pair{"sanitizer, a secret in each 100th row", &dirty}}) {
    const Envelope envelope = Envelope::of(parse_json(*text).value().value);
    const Verdict::Kind wanted = text == &clean ? Verdict::Kind::Allow : Verdict::Kind::Rewrite;
    const double seconds = seconds_of([&] {
      for (int i = 0; i < turns; ++i) {
        SALLYPORT_INVARIANT((*guard)->sanitize(envelope).kind == wanted);
      }
    });
    report.row(what, rate(text->size(), turns, seconds),
               fmt::format("{:.2f} of the detectors alone; goal 200 MB/s", scanning / seconds));
  }
}

}  // namespace sallyport::bench
