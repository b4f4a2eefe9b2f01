#include "rules/plan_rules.h"

#include <algorithm>
#include <boost/json.hpp>

#include "rules/message.h"

namespace sallyport::rules {

namespace {

core::RuleAnswer::Verdict verdict_of(RuleVerdict verdict) {
  return static_cast<core::RuleAnswer::Verdict>(verdict);
}
static_assert(static_cast<int>(core::RuleAnswer::Verdict::Free) ==
              static_cast<int>(RuleVerdict::Free));

// The class of a tool, if its effects or its server give more than its name (RU-27, RU-29).
std::optional<Classification> classification_of(const RuleSet& set, const effects::CallFacts& facts,
                                                bool all_free) {
  if (all_free && effects::is_command_tool(facts, set.book)) {
    return Classification{.tier = Tier::Observe, .effect_class = "none", .source = "command"};
  }
  if (effects::is_read_only_by_hint(facts, set.book)) {
    return Classification{.tier = Tier::Observe, .effect_class = "none", .source = "hint"};
  }
  return std::nullopt;
}

// The escalations of each rule that asks, once for each rule.
std::vector<core::RulePassOn> pass_on_of(const RuleDecision& decision) {
  std::vector<core::RulePassOn> all;
  const Rule* last = nullptr;
  for (const RuleMatch& match : decision.matches) {
    if (match.then != Then::Ask || match.rule == last) continue;
    last = match.rule;
    for (const PassOn& step : match.rule->asking.pass_on) {
      all.push_back({match.rule->id, step.after, step.to});
    }
  }
  return all;
}

// Records what a judgement read from disk: followed links, names in folders and missing folders. A
// later judgement of the same call can use that instead of the disk (WB-8).
class SeenFiles final : public effects::FileView {
 public:
  explicit SeenFiles(const effects::FileView& files) : files_(files) {}

  std::optional<std::vector<std::string>> names(const std::string& folder,
                                                std::size_t most) const override {
    std::optional<std::vector<std::string>> found = files_.names(folder, most);
    json::value listed;
    if (found && found->size() <= kMostNames) listed = json::value_from(*found);
    if (found && found->size() > kMostNames) listed = "many";
    names_[folder] = std::move(listed);
    return found;
  }
  bool missing(const std::string& folder) const override {
    const bool missing = files_.missing(folder);
    if (missing) missing_.push_back(json::string(folder));
    return missing;
  }
  std::optional<std::string> resolve(const std::string& path) const override {
    std::optional<std::string> found = files_.resolve(path);
    if (found != path) links_[path] = found ? json::value(*found) : json::value();
    return found;
  }

  json::object seen() const {
    json::object seen;
    if (!links_.empty()) seen["links"] = links_;
    if (!names_.empty()) seen["names"] = names_;
    if (!missing_.empty()) seen["missing"] = missing_;
    return seen;
  }

 private:
  static constexpr std::size_t kMostNames = 100;
  const effects::FileView& files_;
  // Used for one judgement, on one thread.
  mutable json::object links_;
  mutable json::object names_;
  mutable json::array missing_;
};

}  // namespace

effects::CallFacts PlanRules::facts_of(const core::RuleQuestion& question) const {
  const CallSetting& setting = question.call.setting;
  return seen_by(set_,
                 {.call = question.call,
                  .front = setting.front.empty() ? std::string_view("library") : setting.front,
                  .interactive = setting.interactive,
                  .cwd = setting.folder.empty() ? std::nullopt : std::optional(setting.folder),
                  .workspace = question.workspace,
                  .machine = machine_,
                  .files = question.upstream.remote_files ? nullptr : files_,
                  .server_command = question.upstream.command,
                  .read_only_hint = question.upstream.read_only_hint,
                  .definition_changed = question.upstream.definition_changed});
}

bool PlanRules::judges_results() const {
  return std::ranges::any_of(set_.rules, [](const Rule& rule) { return rule.result.has_value(); });
}

core::RuleAnswer PlanRules::judge(const core::RuleQuestion& question) const {
  effects::CallFacts facts = facts_of(question);
  std::optional<SeenFiles> seen;
  if (facts.files) facts.files = &seen.emplace(*facts.files);
  Judged judged{.effects = effects::effects_of_call(facts, set_.book)};
  judged.decision = decide(set_, index_, facts, judged.effects, question.now);
  const RuleDecision& decision = judged.decision;
  core::RuleAnswer answer{.verdict = verdict_of(decision.verdict),
                          .text = decision.text,
                          .message = decision.message,
                          .all_free = decision.all_free,
                          .classification = classification_of(set_, facts, decision.all_free),
                          .reviewers = decision.asking.reviewers,
                          .quorum = decision.asking.quorum.value_or(1),
                          .dual_control = decision.asking.dual_control,
                          .no_reviewer_left = decision.asking.no_reviewer_left,
                          .deadline = decision.asking.deadline,
                          .use_within = decision.asking.use_within,
                          .reason_required = decision.asking.reason_required,
                          .record = record_of(judged)};
  answer.pass_on = pass_on_of(decision);
  if (decision.rule) {
    answer.rule = decision.rule->id;
    answer.place = decision.rule->place;
  }
  const Scene scene(facts);
  for (const Rule* const rule : decision.escalated) {
    const auto match = std::ranges::find(decision.matches, rule, &RuleMatch::rule);
    answer.items.push_back({rule->id, message_of(*rule, *match, judged.effects, scene, {})});
  }
  for (const RuleMatch& match : decision.results) {
    answer.results.push_back(
        {match.rule->id, result_message(*match.rule, match, judged.effects, scene)});
  }
  for (const Rule* const rule : decision.expired) answer.expired.push_back(rule->id);
  answer.record["effects"] = effects_json(judged.effects, facts);
  if (json::object files = seen ? seen->seen() : json::object(); !files.empty()) {
    answer.record["details"] = std::move(files);
  }
  return answer;
}

}  // namespace sallyport::rules
