// Counts records on their way into the ledger. Every decision and action passes here, so no front
// is left out, and the metrics agree with the records.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "core/record/recorder.h"

namespace sallyport::core {

// Any thread may use it. `recorder` and `metrics` must outlive it. Each front of a process has one
// of its own, on the same ledger and the same metrics.
class MeteredRecorder final : public Recorder {
 public:
  // `front`: the front of the recorded calls (`mcp_http`, `hook`), one of few names.
  MeteredRecorder(Recorder& recorder, Metrics& metrics, const Clock& clock, std::string front);

  using Recorder::append;
  // Counted once it is durable.
  Task<std::vector<Position>> append(std::vector<Draft> drafts, Urgency urgency,
                                     std::vector<Fact> expected) override;
  void owe(std::vector<Draft> drafts) override;

  Result<Moment> moment(const std::vector<FactKey>& keys) override {
    return recorder_.moment(keys);
  }
  std::uint64_t size_seen() override { return recorder_.size_seen(); }
  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override {
    return recorder_.fact(space, key);
  }
  Result<std::vector<Fact>> facts(std::string_view space) override {
    return recorder_.facts(space);
  }
  Result<json::object> entry(std::uint64_t sequence) override { return recorder_.entry(sequence); }
  Result<void> ready() const override { return recorder_.ready(); }
  Result<void> accept_call() override;
  const std::string& instance_id() const override { return recorder_.instance_id(); }
  bool alive(const std::string& instance_id) const override { return recorder_.alive(instance_id); }
  Result<Claim> claim(std::string_view key) override { return recorder_.claim(key); }
  std::vector<std::uint64_t> take_late_records() override { return recorder_.take_late_records(); }
  std::string encrypt(std::string_view text) override { return recorder_.encrypt(text); }
  Result<std::string> decrypt(std::string_view sealed) const override {
    return recorder_.decrypt(sealed);
  }

 private:
  // What to count once the drafts are written; the ledger owns them by then.
  using Counts = std::vector<std::function<void()>>;
  class Waiting;

  Counts counts_of(const std::vector<Draft>& drafts);
  void read_fail_open(const Fact& fact, Counts& counts);
  void read_record(const Draft& draft, const json::object& body, Counts& counts);
  void read_guards(const json::object& body, Counts& counts);
  void read_hit(const json::object& body, Counts& counts);
  void read_approval(const json::object& body, Counts& counts);
  void read_control(const json::object& body, Counts& counts);
  void read_topic(const json::object& body, Counts& counts);
  void measure_wait(const std::string& approval_id, const std::string& outcome);
  void open_fail_open(const std::string& guard);
  void close_fail_open(const std::string& guard);
  double fail_open_since_read();

  Recorder& recorder_;
  const Clock& clock_;
  std::string front_;
  MetricNumbers& calls_;
  MetricNumber& turned_away_;
  MetricNumbers& decisions_;
  MetricNumbers& guard_runs_;
  MetricNumbers& guard_hits_;
  MetricNumber& asked_;
  MetricHistograms& approval_wait_;
  MetricNumbers& policy_loads_;
  MetricNumber& generation_;
  MetricNumber& refused_;
  MetricNumbers& fail_open_;
  MetricNumber& fail_open_seconds_;
  MetricNumbers& degraded_;
  MetricHistograms& append_seconds_;
  MetricNumber& lag_;
  MetricNumbers& records_;

  struct Open {
    std::map<std::string, SteadyTime> asked{};      // by approval
    std::map<std::string, SteadyTime> fail_open{};  // by guard
    double fail_open_before = 0;                    // seconds of intervals that ended
    double fail_open_read = 0;                      // seconds that the last reading reported
  };
  Guarded<Open> open_;
};

}  // namespace sallyport::core
