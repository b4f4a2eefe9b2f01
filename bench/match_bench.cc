#include <fmt/format.h>
#include <hs/hs.h>
#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.h"
#include "bench/bench.h"
#include "match/stream.h"

namespace sallyport::bench {

namespace {

using match::Rule;

constexpr std::size_t kPatterns = 64;
constexpr std::size_t kDelta = 4;

// Secrets, personal data and words: the mix of a common policy.
std::vector<std::string> pattern_mix(std::size_t count) {
  std::vector<std::string> patterns = {
      "AKIA[0-9A-Z]{16}",
      "ASIA[0-9A-Z]{16}",
      "ghp_[0-9A-Za-z]{36}",
      "xox[bap]-[0-9A-Za-z-]{10,72}",
      "AIza[0-9A-Za-z_-]{35}",
      "-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----",
      "sk-[0-9A-Za-z]{20,48}",
      "eyJ[0-9A-Za-z_-]{10,200}\\.[0-9A-Za-z_-]{10,200}",
      "\\b[0-9]{3}-[0-9]{2}-[0-9]{4}\\b",
      "\\b[0-9]{4}[ -][0-9]{4}[ -][0-9]{4}[ -][0-9]{4}\\b",
      "[a-z0-9._]{1,32}@[a-z0-9-]{1,32}\\.[a-z]{2,8}",
      "(?i)ignore (?:all )?previous instructions",
      "(?i)password\\s{0,4}[:=]\\s{0,4}[^\\s]{6,40}",
      "rm\\s{1,4}-rf\\s{1,4}/",
  };
  for (std::size_t i = 0; patterns.size() < count; ++i) {
    patterns.push_back(fmt::format("(?i)project {}{}", static_cast<char>('a' + i % 26),
                                   "nightingale" + std::to_string(i * 7919 % 10000)));
  }
  return patterns;
}

std::vector<Rule> rules_of(const std::vector<std::string>& patterns) {
  std::vector<Rule> rules;
  for (const std::string& pattern : patterns) {
    if (rules.empty() || rules.back().entries.size() == 64) rules.emplace_back();
    rules.back().entries.push_back({.text = pattern});
  }
  return rules;
}

std::string prose(std::size_t bytes) {
  static constexpr std::string_view kWords[] = {
      "the ",      "model ", "answers ", "with ",    "a ",       "project ", "plan, ",  "and ",
      "user42 ",   "asks ",  "for ",     "2026-11 ", "numbers ", "in ",      "order: ", "3, ",
      "previous ", "lines ", "ignore ",  "empty\n",  "fields. ", "Sky ",     "AK ",     "write "};
  std::string text;
  std::uint32_t seed = 1;
  while (text.size() < bytes) {
    seed = seed * 1664525 + 1013904223;
    text += kWords[(seed >> 16) % std::size(kWords)];
  }
  text.resize(bytes);
  return text;
}

struct Streamed {
  double seconds = 0;
  std::vector<std::uint64_t> held;
  std::size_t state_bytes = 0;
};

Streamed stream_once(const std::shared_ptr<const match::PatternSet>& set, std::string_view text,
                     bool look = false) {
  Streamed result;
  match::Stream stream(set);
  result.held.reserve(look ? text.size() / kDelta : 0);
  result.seconds = seconds_of([&] {
    for (std::size_t at = 0; at < text.size(); at += kDelta) {
      const auto output = stream.push(text.substr(at, kDelta));
      SALLYPORT_INVARIANT(output.has_value() && !output->block);
      if (!look) continue;
      result.held.push_back(stream.held());
      result.state_bytes = std::max(result.state_bytes, stream.state_bytes());
    }
  });
  return result;
}

// A baseline that reads the accumulated text at each delta. It really runs at every 256th delta.
double rescanning(std::string_view text, const std::function<void(std::string_view)>& scan) {
  constexpr std::size_t kSample = 256;
  const double some = seconds_of([&] {
    for (std::size_t at = kDelta * kSample / 2; at <= text.size(); at += kDelta * kSample) {
      scan(text.substr(0, at));
    }
  });
  return some * kSample;
}

double with_re2(const std::vector<std::string>& patterns, std::string_view text) {
  std::vector<std::unique_ptr<RE2>> compiled;
  for (const std::string& pattern : patterns) {
    compiled.push_back(std::make_unique<RE2>(pattern, RE2::Quiet));
    SALLYPORT_INVARIANT(compiled.back()->ok());
  }
  return rescanning(text, [&](std::string_view so_far) {
    const re2::StringPiece piece(so_far.data(), so_far.size());
    for (const auto& pattern : compiled) {
      SALLYPORT_INVARIANT(!pattern->Match(piece, 0, piece.size(), RE2::UNANCHORED, nullptr, 0));
    }
  });
}

double with_hyperscan(const std::vector<std::string>& patterns, std::string_view text) {
  std::vector<const char*> expressions;
  for (const std::string& pattern : patterns) expressions.push_back(pattern.c_str());
  const std::vector<unsigned> flags(patterns.size(), HS_FLAG_UTF8 | HS_FLAG_SINGLEMATCH);
  std::vector<unsigned> ids(patterns.size());
  hs_database_t* database = nullptr;
  hs_compile_error_t* error = nullptr;
  SALLYPORT_INVARIANT(hs_compile_multi(expressions.data(), flags.data(), ids.data(),
                                       static_cast<unsigned>(patterns.size()), HS_MODE_BLOCK,
                                       nullptr, &database, &error) == HS_SUCCESS);
  hs_scratch_t* scratch = nullptr;
  SALLYPORT_INVARIANT(hs_alloc_scratch(database, &scratch) == HS_SUCCESS);
  const auto ignore = [](unsigned, unsigned long long, unsigned long long, unsigned, void*) {
    return 0;
  };
  const double seconds = rescanning(text, [&](std::string_view so_far) {
    hs_scan(database, so_far.data(), static_cast<unsigned>(so_far.size()), 0, scratch, ignore,
            nullptr);
  });
  hs_free_scratch(scratch);
  hs_free_database(database);
  return seconds;
}

// GR-80 GR-81 GR-82 GR-83
void measure_streams(Report& report, bool quick) {
  const auto patterns = pattern_mix(kPatterns);
  const auto set = match::PatternSet::compile(rules_of(patterns));
  SALLYPORT_INVARIANT(set.has_value());
  const std::string text = prose(64 << 10);
  const std::string warm_up = prose(256 << 10);
  stream_once(*set, warm_up);
  double best = 1e9;
  for (int i = 0; i < 5; ++i) best = std::min(best, stream_once(*set, text).seconds);
  const double deltas = static_cast<double>(text.size()) / kDelta;
  report.row("64 patterns, 64 KiB in 4-byte deltas", fmt::format("{:.2f} ms", best * 1e3));
  report.row("  per delta, hold-back included", fmt::format("{:.2f} us", best / deltas * 1e6),
             "goal: at most 3 us");
  const double hyperscan = with_hyperscan(patterns, text);
  report.row("  Hyperscan (block mode) scanning again", fmt::format("{:.2f} s", hyperscan),
             fmt::format("{:.0f} times ours", hyperscan / best));
  const double re2 = with_re2(patterns, text);
  report.row("  RE2 (each pattern) scanning again", fmt::format("{:.2f} s", re2),
             fmt::format("{:.0f} times ours, goal: 300", re2 / best));
  Streamed looked = stream_once(*set, text, true);
  std::ranges::sort(looked.held);
  double sum = 0;
  for (const std::uint64_t held : looked.held) sum += static_cast<double>(held);
  report.row(
      "  bytes held, average / p50 / p99",
      fmt::format("{:.1f} / {} / {}", sum / static_cast<double>(looked.held.size()),
                  looked.held[looked.held.size() / 2], looked.held[looked.held.size() * 99 / 100]));
  report.row("  state of a stream besides held text", fmt::format("{} bytes", looked.state_bytes),
             "goal: at most 4096");

  const std::string long_text = prose(quick ? 256 << 10 : 1 << 20);
  match::Stream stream(*set);
  std::vector<double> quarters;
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    const std::size_t size = long_text.size() / 4;
    const std::string_view part = std::string_view(long_text).substr(quarter * size, size);
    quarters.push_back(seconds_of([&] {
      for (std::size_t at = 0; at < part.size(); at += kDelta) {
        SALLYPORT_INVARIANT(stream.push(part.substr(at, kDelta)).has_value());
      }
    }));
  }
  report.row("  last quarter of 1 MiB beside the first",
             fmt::format("{:.2f}", quarters[3] / quarters[0]), "goal: at most 1.5");
}

void measure_whole_text(Report& report, bool quick) {
  const auto set = match::PatternSet::compile(rules_of(pattern_mix(kPatterns)));
  SALLYPORT_INVARIANT(set.has_value());
  const std::string text = prose(quick ? 1 << 20 : 10 << 20);
  (*set)->find(std::string_view(text).substr(0, 256 << 10));
  const double seconds = seconds_of([&] { SALLYPORT_INVARIANT((*set)->find(text).empty()); });
  report.row("64 patterns, one text of 10 MiB",
             fmt::format("{:.0f} MB/s", static_cast<double>(text.size()) / seconds / 1e6));
}

void measure_compile(Report& report) {
  const auto rules = rules_of(pattern_mix(4096));
  std::shared_ptr<const match::PatternSet> set;
  for (const char* turn : {"4,096 patterns: compile, first in the process", "  compile again"}) {
    const double seconds = seconds_of([&] {
      auto compiled = match::PatternSet::compile(rules);
      SALLYPORT_INVARIANT(compiled.has_value());
      set = *compiled;
    });
    report.row(turn, fmt::format("{:.0f} ms", seconds * 1e3));
  }
  const std::string text = prose(64 << 10);
  const double cold = stream_once(set, text).seconds;
  const double warm = stream_once(set, text).seconds;
  report.row("  64 KiB in 4-byte deltas, first / second stream",
             fmt::format("{:.1f} / {:.1f} ms", cold * 1e3, warm * 1e3));
}

}  // namespace

void measure_match(Report& report, bool quick) {
  report.section("pattern matching with exact hold-back (one core)");
  measure_streams(report, quick);
  measure_whole_text(report, quick);
  measure_compile(report);
}

}  // namespace sallyport::bench
