// A measurement is a number with its baseline or goal: these machines are noisy, ratios are not.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/record/recorder.h"

namespace sallyport::bench {

class Report {
 public:
  void section(const std::string& title);
  // `beside`: baseline and ratio, or the goal.
  void row(const std::string& what, const std::string& value, const std::string& beside = {});
};

double seconds_of(const std::function<void()>& work);
// Processor time: other programs on the machine do not affect it.
double processor_seconds_of(const std::function<void()>& work);
double resident_mib();
double median(std::vector<double> times);

// `quick` keeps counts small enough for a smoke test.
void measure_appends(Report& report, bool quick);
void measure_growth(Report& report, bool quick);
void measure_verification(Report& report, bool quick);
void measure_governor(Report& report, bool quick);
// Returns the seconds of one call with an effect; calls are made one at a time.
double effect_seconds(core::Recorder& recorder, std::size_t count);
// Runs calls only, to count instructions. `where`: `bare`, `guards`, `hooks`, `memory` or `disk`.
void run_calls(std::size_t count, const std::string& where, const std::string& tool,
               std::size_t callers);
void measure_redaction(Report& report, bool quick);
void measure_sanitizer(Report& report, bool quick);
void measure_calls(Report& report, bool quick);
void measure_match(Report& report, bool quick);
void measure_guardrails(Report& report, bool quick);
void measure_deltas(Report& report, bool quick);
// Runs only `streams` streams of 200 deltas, to count instructions.
void run_deltas(std::size_t streams, const std::string& api, bool armed);
void measure_grants(Report& report, bool quick);
void measure_rules(Report& report, bool quick);
void measure_approve(Report& report, bool quick);
void measure_agents(Report& report, bool quick);
// Runs only if $SALLYPORT_BENCH_POSTGRESQL names a database; `bench/cluster_bench.py` sets it.
void measure_cluster(Report& report, bool quick);

}  // namespace sallyport::bench
