#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/entropy.h"
#include "base/try.h"
#include "bench/bench.h"
#include "bench/evasion_corpus.h"
#include "guardrails/check/guardrails.h"
#include "guardrails/document/gallery.h"
#include "guardrails/stream/gate.h"
#include "machine/pattern_files.h"

namespace sallyport::bench {

namespace {

using guardrails::Guardrails;
using guardrails::Stage;
using Compiled = std::shared_ptr<const Guardrails>;

constexpr std::size_t kDelta = 4;

json::object check(const char* stage, std::size_t patterns, bool views) {
  json::array list;
  for (std::size_t i = 0; i < patterns; ++i) {
    list.push_back(json::value(
        fmt::format("(?i)project {}nightingale{}", static_cast<char>('a' + i % 26), i * 7919)));
  }
  json::object one{{"type", "regex"}, {"stage", stage}, {"patterns", std::move(list)}};
  if (views) one["views"] = json::array{"strip", "nfkc", "confusables", "percent", "base64"};
  return one;
}

std::string document(const char* stage, std::size_t checks, bool views) {
  json::array list;
  for (std::size_t i = 0; i < checks; ++i) list.push_back(check(stage, 64, views));
  return json::serialize(json::object{{"checks", std::move(list)}});
}

Compiled compiled(std::string_view text, const guardrails::PatternStore* store = nullptr) {
  auto read = guardrails::read_document(text);
  SALLYPORT_INVARIANT(read.has_value());
  auto done = Guardrails::compile(std::move(*read), 1, store);
  SALLYPORT_INVARIANT(done.has_value());
  return std::move(*done);
}

std::string prose(std::size_t bytes) {
  constexpr std::string_view kSentence =
      "The project plan names user42, 2026-11 and the previous lines; ignore empty fields. Sky. ";
  std::string text;
  while (text.size() < bytes) text += kSentence;
  text.resize(bytes);
  return text;
}

double stream_through(const Guardrails& guardrails, std::string_view text,
                      std::size_t* state = nullptr) {
  const auto gate = guardrails.arm(Stage::Output, std::nullopt);
  const double seconds = seconds_of([&] {
    for (std::size_t at = 0; at < text.size(); at += kDelta) {
      SALLYPORT_INVARIANT(!gate->push(text.substr(at, kDelta))->block);
    }
  });
  if (state != nullptr) *state = gate->state_bytes();
  return seconds;
}

void measure_gate(Report& report, bool views) {
  const Compiled guardrails = compiled(document("output", 1, views));
  const std::string text = prose(64 << 10);
  stream_through(*guardrails, prose(128 << 10));
  double best = 1e9;
  std::size_t state = 0;
  for (int i = 0; i < 5; ++i) best = std::min(best, stream_through(*guardrails, text, &state));
  report.row(views ? "64 patterns with five views, 64 KiB in 4-byte deltas"
                   : "64 patterns, 64 KiB in 4-byte deltas",
             fmt::format("{:.2f} us a delta", best / (64 << 10) * kDelta * 1e6),
             views ? "" : "goal: at most 3 us");
  report.row("  state of a stream besides held text", fmt::format("{} bytes", state),
             views ? "" : "goal: at most 4096");
}

void measure_results(Report& report, bool quick) {
  const Compiled guardrails = compiled(document("tool_output", 1, false));
  const std::string text = prose(quick ? 1 << 20 : 10 << 20);
  const auto look = [&](std::string_view part) {
    return guardrails->evaluate({.stage = Stage::ToolOutput, .text = part});
  };
  look(std::string_view(text).substr(0, 256 << 10));
  const double seconds = seconds_of([&] { SALLYPORT_INVARIANT(look(text).hits.empty()); });
  report.row("checks of a tool's result of 10 MiB, 64 patterns",
             fmt::format("{:.0f} MB/s", static_cast<double>(text.size()) / seconds / 1e6));
}

// Handles files as they are in a data folder: read, authenticated, restored.
class Cache {
 public:
  Cache() {
    std::string folder =
        (std::filesystem::temp_directory_path() / "sallyport_bench.XXXXXX").string();
    SALLYPORT_INVARIANT(::mkdtemp(folder.data()) != nullptr);
    folder_ = folder;
  }
  ~Cache() {
    std::error_code code;
    std::filesystem::remove_all(folder_, code);
  }
  app::PatternFiles files() { return {folder_ / "cache", entropy_}; }

 private:
  std::filesystem::path folder_;
  SystemEntropy entropy_;
};

// GR-83
void measure_loading(Report& report) {
  const std::string text = document("output", 64, false);
  const auto best_of = [&](const guardrails::PatternStore* store) {
    double best = 1e9;
    for (int i = 0; i < 7; ++i) {
      best = std::min(best, processor_seconds_of([&] { compiled(text, store); }));
    }
    return best;
  };
  Cache cache;
  const app::PatternFiles files = cache.files();
  const double first = processor_seconds_of([&] { compiled(text, &files); });
  const double anew = best_of(nullptr);
  const double kept = best_of(&files);
  report.row("4,096 patterns: read, compile and keep", fmt::format("{:.1f} ms", first * 1e3));
  report.row("  read and compile", fmt::format("{:.1f} ms", anew * 1e3));
  report.row("  read, and load from the cache", fmt::format("{:.1f} ms", kept * 1e3),
             fmt::format("{:.1f} times as fast; goal: under 50 ms", anew / kept));
}

void measure_corpus(Report& report) {
  const Compiled guardrails = compiled(guardrails::preset("prompt-injection")->document);
  std::size_t right = 0;
  std::size_t alarms = 0;
  std::size_t bad = 0;
  for (const Sentence& sentence : kEvasionCorpus) {
    const bool hit =
        !guardrails->evaluate({.stage = Stage::ToolOutput, .text = sentence.text}).hits.empty();
    bad += sentence.gives_orders ? 1 : 0;
    alarms += hit ? 1 : 0;
    right += hit && sentence.gives_orders ? 1 : 0;
  }
  report.row(
      fmt::format("gallery:prompt-injection on {} sentences", std::size(kEvasionCorpus)),
      fmt::format("{:.2f} / {:.2f}", static_cast<double>(right) / static_cast<double>(alarms),
                  static_cast<double>(right) / static_cast<double>(bad)),
      "precision / recall");
}

}  // namespace

void measure_guardrails(Report& report, bool quick) {
  report.section("guardrails (one core)");
  measure_gate(report, false);
  measure_gate(report, true);
  measure_results(report, quick);
  measure_loading(report);
  measure_corpus(report);
}

}  // namespace sallyport::bench
