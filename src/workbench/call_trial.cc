#include "workbench/call_trial.h"

#include <algorithm>
#include <boost/json.hpp>

#include "app/gateway_plan.h"
#include "app/hooks/hook_policy.h"
#include "base/json_members.h"
#include "base/run_on.h"
#include "base/try.h"
#include "core/call/governor.h"
#include "core/plan/fail_open.h"
#include "core/plan/grant_use.h"
#include "core/plan/pipeline.h"
#include "core/record/reading_recorder.h"
#include "external/guards.h"
#include "policy/reviewer_file.h"

namespace sallyport::app {

namespace {

class TrialClock final : public Clock {
 public:
  explicit TrialClock(WallTime at) : at_(at) {}
  WallTime wall() const override { return at_; }
  SteadyTime steady() const override { return SteadyTime{} + at_.time_since_epoch(); }

 private:
  WallTime at_;
};

// The same ids in every run (WB-6).
class TrialEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> out) override {
    for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(next_++);
  }

 private:
  unsigned next_ = 0;
};

class TrialFacts final : public core::RecordReader {
 public:
  explicit TrialFacts(const CallTrial& trial) : trial_(trial) {}
  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override {
    const auto found = trial_.facts.find({std::string(space), std::string(key)});
    return found == trial_.facts.end() ? trial_.records->fact(space, key) : found->second;
  }
  Result<std::vector<core::Fact>> facts(std::string_view space) override {
    return trial_.records->facts(space);
  }
  Result<json::object> entry(std::uint64_t sequence) override {
    return trial_.records->entry(sequence);
  }

 private:
  const CallTrial& trial_;
};

class WouldRun final : public core::Upstream {
 public:
  explicit WouldRun(const CallTrial& trial) : trial_(trial) {}
  Task<Envelope> invoke(Call, std::shared_ptr<core::Delivery>, std::stop_token) override {
    co_return fail(ErrorCode::Internal, "a rehearsal runs nothing");
  }
  bool known() const override { return trial_.known; }
  bool raises_caution() const override { return trial_.caution; }
  std::string definition() const override { return trial_.definition; }
  core::UpstreamFacts facts() const override { return trial_.upstream; }

 private:
  const CallTrial& trial_;
};

// Guards of results judge what the tool gave, as they would behind the call.
Result<TrialRelease> released_by(const core::Plan& plan, const core::Rehearsal& seen,
                                 const Envelope& result, const Clock& clock) {
  ResultContext context{
      .tool = seen.call.tool,
      .call = std::make_shared<const Call>(seen.call),
      .scope = seen.grant ? seen.grant->scope : core::no_grants(),
      .effect_class = seen.classification.effect_class,
      .policy_hash = seen.policy_hash,
      .matched_grant_index = seen.grant ? std::optional(seen.grant->index) : std::nullopt,
      .is_error = result.kind == Envelope::Kind::Error};
  if (seen.rules) context.rules = std::make_shared<const core::ResultRules>(seen.rules->results);
  core::FailOpenLog log("trial");
  core::FailOpen fail_open(log);
  SALLYPORT_TRY(
      const core::Release release,
      run_alone(as_task(core::run_pipeline(plan, result, std::move(context), clock, fail_open))));
  TrialRelease out{.released = release.released.to_json(), .by = release.guard};
  for (const core::Release::GuardState& guard : release.guards) {
    const bool changed = guard.verdict == GuardVerdict::Rewrite;
    if (out.by.empty() && changed) out.by = guard.guard;
  }
  return out;
}

}  // namespace

RecordedFiles::RecordedFiles(const json::object& details) {
  if (const json::object* const links = object_in(details, "links")) links_ = *links;
  if (const json::object* const names = object_in(details, "names")) names_ = *names;
  const json::value* const missing = details.if_contains("missing");
  if (missing == nullptr || !missing->is_array()) return;
  for (const json::value& folder : missing->get_array()) {
    if (folder.is_string()) missing_.emplace_back(folder.get_string());
  }
}

std::optional<std::vector<std::string>> RecordedFiles::names(const std::string& folder,
                                                             std::size_t most) const {
  asked_.insert(folder);
  const json::value* const listed = names_.if_contains(folder);
  if (listed == nullptr || listed->is_string()) {
    unknown_ = true;
    return std::nullopt;
  }
  if (!listed->is_array() || listed->get_array().size() > most) return std::nullopt;
  return json::value_to<std::vector<std::string>>(*listed);
}

bool RecordedFiles::missing(const std::string& folder) const {
  asked_.insert(folder);
  return std::ranges::find(missing_, folder) != missing_.end();
}

bool RecordedFiles::has_more() const {
  const auto is_new = [&](const auto& path) { return !asked_.contains(std::string_view(path)); };
  const auto has_new = [&](const json::object& list) {
    return std::ranges::any_of(list, [&](const auto& member) { return is_new(member.key()); });
  };
  return !links_.empty() || has_new(names_) || std::ranges::any_of(missing_, is_new);
}

std::optional<std::string> RecordedFiles::resolve(const std::string& path) const {
  asked_.insert(path);
  const json::value* const link = links_.if_contains(path);
  if (link == nullptr) return path;
  return link->is_string() ? std::optional(std::string(link->get_string())) : std::nullopt;
}

Result<TrialAnswer> decide(const CallTrial& trial, core::RehearsalScope scope) {
  const TrialClock clock(trial.at);
  TrialEntropy entropy;
  TrialFacts facts(trial);
  core::ReadingRecorder records(facts);
  mcp::PinBook pins(records);
  const hook::Origins origins;
  core::PlanBuilder builder;
  const std::string& front = trial.call.setting.front;
  if (front == "mcp" || front == "http") {
    SALLYPORT_CHECK_OK(pins.recall());
    gateway_plan_extension(pins)(builder);
  } else if (front == "hook") {
    extend_hook_plan(builder, origins);
  }
  if (!trial.reviewers.empty()) {
    builder.reviewers(std::make_shared<const policy::DataFolderReviewers>(trial.reviewers));
  }
  TrialAnswer answer;
  PolicyShelf own;
  SALLYPORT_TRY(answer.shelved,
                (trial.shelf ? *trial.shelf : own).read(trial.policy, trial.policy_name));
  policy::Surroundings surroundings{.clock = clock,
                                    .entropy = entropy,
                                    .fingerprint_key = {},
                                    .records = &records,
                                    .machine = trial.machine,
                                    .files = trial.files};
  if (trial.standing) {
    surroundings.standing = [&](const std::string&) { return *trial.standing; };
  }
  SALLYPORT_CHECK_OK(
      policy::add_to_plan(builder, answer.policy(), answer.shelved->guardrails, surroundings));
  SALLYPORT_TRY(const std::shared_ptr<const core::Plan> plan, builder.build());
  const core::FixedPlan plans(plan);
  const core::NoRedactor redactor;
  core::Governor governor({plans, records, redactor, clock, entropy, KeyedDigest("rehearsal")});
  Call call = trial.call;
  if (call.agent_id.empty()) call.agent_id = acting_agent(*plan);
  SALLYPORT_TRY(answer.seen, run_alone(governor.rehearse(
                                 std::move(call), std::make_shared<WouldRun>(trial), scope)));
  if (trial.result && verdict_of(answer.seen) == CallVerdict::Runs) {
    SALLYPORT_TRY(answer.release, released_by(*plan, answer.seen, *trial.result, clock));
  }
  return answer;
}

CallVerdict verdict_of(const core::Rehearsal& now) {
  if (now.refusal && now.weighed && now.tier == Autonomy::Shadow) return CallVerdict::Shadow;
  if (external::missing_answer(now)) return CallVerdict::Undecided;
  if (now.refusal) return CallVerdict::Refused;
  if (now.question && now.question->proposal) return CallVerdict::Proposed;
  return now.question ? CallVerdict::Asks : CallVerdict::Runs;
}

}  // namespace sallyport::app
