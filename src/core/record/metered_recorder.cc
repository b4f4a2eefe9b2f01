#include "core/record/metered_recorder.h"

#include <boost/json.hpp>
#include <utility>

#include "base/json_members.h"
#include "sallyport/outcome.h"

namespace sallyport::core {

namespace {

// Questions without an answer are forgotten after a while, and so is their duration.
constexpr std::size_t kMostAsked = 10'000;

double seconds(SteadyTime::duration time) {
  return std::chrono::duration<double>(time).count();
}

std::string_view word(const json::object& object, std::string_view name) {
  return text_in(object, name).value_or("");
}

const json::array& list(const json::object* object, std::string_view name) {
  static const json::array kNone;
  const json::value* const value = object ? object->if_contains(name) : nullptr;
  return value != nullptr && value->is_array() ? value->get_array() : kNone;
}

// The last rule with a verdict other than allow; empty: none.
std::string_view rule_of(const json::object& body) {
  std::string_view rule;
  for (const json::value& run : list(&body, "guards")) {
    const json::object& item = run.as_object();
    const std::string_view verdict = word(item, "verdict");
    if (verdict != "deny" && verdict != "ask" && verdict != "rewrite") continue;
    const std::string_view named = word(item, "rule");
    rule = named.empty() ? word(item, "guard") : named;
  }
  return rule;
}

std::string_view decided(const Draft& draft, const json::object& body) {
  if (!bool_in(body, "terminal").value_or(true)) return "ask";
  const std::optional<Outcome::Kind> outcome = outcome_kind_from(draft.outcome);
  const bool ran = outcome == Outcome::Kind::Completed || outcome == Outcome::Kind::Cached;
  return ran ? "allow" : "deny";
}

}  // namespace

// Measures a batch on its way: its size and its duration.
class MeteredRecorder::Waiting {
 public:
  Waiting(MeteredRecorder& owner, std::size_t drafts)
      : owner_(owner), drafts_(static_cast<double>(drafts)), begin_(owner.clock_.steady()) {
    owner_.lag_.add(drafts_);
  }
  Waiting(const Waiting&) = delete;
  ~Waiting() { owner_.lag_.add(-drafts_); }

  double time() const { return seconds(owner_.clock_.steady() - begin_); }

 private:
  MeteredRecorder& owner_;
  double drafts_;
  SteadyTime begin_;
};

MeteredRecorder::MeteredRecorder(Recorder& recorder, Metrics& metrics, const Clock& clock,
                                 std::string front)
    : recorder_(recorder),
      clock_(clock),
      front_(std::move(front)),
      calls_(metrics.counter("sallyport_calls_total", "Calls that have ended, by outcome.",
                             {"outcome", "server", "agent", "front"})),
      turned_away_(metrics
                       .counter("sallyport_calls_turned_away_total",
                                "Calls that were refused without a record of their own, since too "
                                "many records wait for the disk.")
                       .at({})),
      decisions_(metrics.counter("sallyport_decisions_total",
                                 "Decisions about calls, and the deciding rules.",
                                 {"verdict", "rule", "tier", "front"})),
      guard_runs_(metrics.counter("sallyport_guard_runs_total",
                                  "Guards that looked at a call or a result, or should have.",
                                  {"guard", "phase", "outcome"})),
      guard_hits_(metrics.counter("sallyport_guard_hits_total",
                                  "Findings of guardrail checks, by check and action.",
                                  {"check", "action"})),
      asked_(metrics.counter("sallyport_approvals_asked_total", "Questions put to people.").at({})),
      approval_wait_(metrics.histogram("sallyport_approval_wait_seconds",
                                       "From a question to the end of its call.",
                                       operation_seconds(), {"outcome"})),
      policy_loads_(metrics.counter("sallyport_policy_loads_total",
                                    "Policies that were put in force or refused.", {"result"})),
      generation_(metrics.gauge("sallyport_policy_generation", "Generation of the policy in force.")
                      .at({})),
      refused_(metrics
                   .gauge("sallyport_policy_refused",
                          "1 while the newest policy was refused and an older one is in force.")
                   .at({})),
      fail_open_(metrics.counter("sallyport_fail_open_total",
                                 "Calls that passed although a guard failed.", {"guard"})),
      fail_open_seconds_(
          metrics
              .counter("sallyport_fail_open_seconds_total", "Time in which some guard failed open.")
              .at({})),
      degraded_(metrics.counter("sallyport_bridge_degraded_total",
                                "What one side asked for and the other could not be given.",
                                {"feature"})),
      append_seconds_(metrics.histogram("sallyport_ledger_append_seconds",
                                        "Until a batch of entries is durable, or refused.",
                                        quick_seconds(), {"result"})),
      lag_(
          metrics.gauge("sallyport_ledger_lag_records", "Entries that wait to be durable.").at({})),
      records_(metrics.counter("sallyport_ledger_records_total", "Entries that were made durable.",
                               {"kind"})) {
  for (const char* const result : {"loaded", "refused"}) policy_loads_.at({result});
  // Added, because other fronts count here too.
  metrics.before_reading([this] { fail_open_seconds_.add(fail_open_since_read()); });
}

Task<std::vector<Position>> MeteredRecorder::append(std::vector<Draft> drafts, Urgency urgency,
                                                    std::vector<Fact> expected) {
  const Counts counts = counts_of(drafts);
  const Waiting waiting(*this, drafts.size());
  Result<std::vector<Position>> written =
      co_await recorder_.append(std::move(drafts), urgency, std::move(expected));
  append_seconds_.at({written ? "written" : "refused"}).observe(waiting.time());
  if (written) {
    for (const std::function<void()>& count : counts) count();
  }
  co_return written;
}

// The entries are written as soon as possible, without a report.
void MeteredRecorder::owe(std::vector<Draft> drafts) {
  for (const std::function<void()>& count : counts_of(drafts)) count();
  recorder_.owe(std::move(drafts));
}

Result<void> MeteredRecorder::accept_call() {
  Result<void> accepted = recorder_.accept_call();
  if (!accepted) turned_away_.add();
  return accepted;
}

MeteredRecorder::Counts MeteredRecorder::counts_of(const std::vector<Draft>& drafts) {
  Counts counts;
  for (const Draft& draft : drafts) {
    counts.push_back([&series = records_.at({to_string(draft.kind)})] { series.add(); });
    for (const Fact& fact : draft.facts) {
      if (fact.space == "fail_open" && fact.value) read_fail_open(fact, counts);
    }
    switch (draft.kind) {
      case Kind::ToolAudit:
        // Results may be large, and are not looked at.
        read_record(draft,
                    draft.body.pick(
                        {"approval_id", "autonomy", "guards", "post_invocation/hooks", "terminal"}),
                    counts);
        break;
      case Kind::GuardHit:
        read_hit(draft.body.members(), counts);
        break;
      case Kind::Approval:
        read_approval(draft.body.members(), counts);
        break;
      case Kind::Control:
        read_control(draft.body.members(), counts);
        break;
      case Kind::Topic:
        read_topic(draft.body.members(), counts);
        break;
      default:
        break;
    }
  }
  return counts;
}

// Counts a call that passed a failed guard. The key is `instance/guard`.
void MeteredRecorder::read_fail_open(const Fact& fact, Counts& counts) {
  const std::string guard = fact.key.substr(fact.key.find('/') + 1);
  counts.push_back([&series = fail_open_.at({guard})] { series.add(); });
}

void MeteredRecorder::read_record(const Draft& draft, const json::object& body, Counts& counts) {
  counts.push_back([&series = decisions_.at({decided(draft, body), rule_of(body),
                                             word(body, "autonomy"), front_})] { series.add(); });
  read_guards(body, counts);
  if (!bool_in(body, "terminal").value_or(true)) return;
  counts.push_back([&series = calls_.at({draft.outcome, draft.subject->server,
                                         draft.subject->agent_id, front_})] { series.add(); });
  if (const std::string_view approval = word(body, "approval_id"); !approval.empty()) {
    counts.push_back([this, approval = std::string(approval), outcome = draft.outcome] {
      measure_wait(approval, outcome);
    });
  }
}

void MeteredRecorder::read_guards(const json::object& body, Counts& counts) {
  const auto count = [&](const json::object& run, std::string_view phase,
                         std::string_view outcome) {
    counts.push_back(
        [&series = guard_runs_.at({word(run, "guard"), phase, outcome})] { series.add(); });
  };
  for (const json::value& run : list(&body, "guards")) {
    const std::string_view verdict = word(run.as_object(), "verdict");
    count(run.as_object(), word(run.as_object(), "stage"),
          verdict == "skipped" ? "skipped"
          : verdict == "error" ? "failed"
                               : "ran");
  }
  const json::object* const post = object_in(body, "post_invocation");
  for (const json::value& run : list(post, "hooks")) {
    const json::object& item = run.as_object();
    const bool failed = word(item, "verdict") == "error";
    count(item, "result", failed ? "failed" : word(item, "state") == "ran" ? "ran" : "skipped");
  }
}

void MeteredRecorder::read_hit(const json::object& body, Counts& counts) {
  const std::string_view id = word(body, "check_id");
  counts.push_back([&series = guard_hits_.at({id.empty() ? word(body, "check") : id,
                                              word(body, "action")})] { series.add(); });
}

void MeteredRecorder::read_approval(const json::object& body, Counts& counts) {
  if (word(body, "record") != "approval_request") return;
  counts.push_back([this, id = std::string(word(body, "request_id"))] {
    asked_.add();
    open_.with([&](Open& open) {
      if (open.asked.size() < kMostAsked) open.asked.emplace(id, clock_.steady());
    });
  });
}

void MeteredRecorder::measure_wait(const std::string& approval_id, const std::string& outcome) {
  const std::optional<SteadyTime> asked = open_.with([&](Open& open) -> std::optional<SteadyTime> {
    const auto found = open.asked.find(approval_id);
    if (found == open.asked.end()) return std::nullopt;
    const SteadyTime time = found->second;
    open.asked.erase(found);
    return time;
  });
  if (asked) approval_wait_.at({outcome}).observe(seconds(clock_.steady() - *asked));
}

void MeteredRecorder::read_control(const json::object& body, Counts& counts) {
  const std::string_view control = word(body, "control");
  if (control == "policy_loaded") {
    const double generation = static_cast<double>(number_in(body, "generation").value_or(0));
    counts.push_back([this, generation] {
      policy_loads_.at({"loaded"}).add();
      generation_.set(generation);
      refused_.set(0);
    });
  } else if (control == "policy_rejected") {
    counts.push_back([this] {
      policy_loads_.at({"refused"}).add();
      refused_.set(1);
    });
  } else if (control == "fail_open_started" || control == "fail_open_ended") {
    const bool begins = control == "fail_open_started";
    counts.push_back([this, begins, guard = std::string(word(body, "guard"))] {
      if (begins) {
        open_fail_open(guard);
      } else {
        close_fail_open(guard);
      }
    });
  }
}

void MeteredRecorder::read_topic(const json::object& body, Counts& counts) {
  if (word(body, "kind") != "bridge_degraded") return;
  const json::object* const features = object_in(body, "features");
  if (features == nullptr) return;
  for (const auto& [feature, count] : *features) {
    const double times = count.is_number() ? count.to_number<double>() : 0;
    counts.push_back([&series = degraded_.at({feature}), times] { series.add(times); });
  }
}

void MeteredRecorder::open_fail_open(const std::string& guard) {
  open_.with([&](Open& open) { open.fail_open.emplace(guard, clock_.steady()); });
}

void MeteredRecorder::close_fail_open(const std::string& guard) {
  open_.with([&](Open& open) {
    const auto found = open.fail_open.find(guard);
    if (found == open.fail_open.end()) return;
    open.fail_open_before += seconds(clock_.steady() - found->second);
    open.fail_open.erase(found);
  });
}

double MeteredRecorder::fail_open_since_read() {
  return open_.with([&](Open& open) {
    double total = open.fail_open_before;
    for (const auto& [guard, since] : open.fail_open) total += seconds(clock_.steady() - since);
    return total - std::exchange(open.fail_open_read, total);
  });
}

}  // namespace sallyport::core
