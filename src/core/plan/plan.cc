#include "core/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/try.h"

namespace sallyport::core {

namespace {

json::object describe(const GuardTraits& traits, bool fail_open) {
  return {{"guard", traits.name},
          {"stage", to_string(traits.stage)},
          {"rewrites", traits.rewrites},
          {"limit_ms", traits.limit ? json::value(traits.limit->count()) : json::value()},
          {"settings", traits.settings},
          {"on_error", fail_open ? "allow" : "deny"}};
}

bool looks_at_grants(const std::shared_ptr<const Guard>& guard) {
  return guard->traits().stage == Stage::Grant;
}

}  // namespace

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::Grant:
      return "grant";
    case Stage::ToolUse:
      return "tool_use";
    case Stage::PreHook:
      return "pre_hook";
    case Stage::Authorizer:
      return "authorizer";
    case Stage::Autonomy:
      return "autonomy";
    case Stage::External:
      return "external";
  }
  return "tool_use";
}

std::string_view to_string(IntentDurability durability) {
  switch (durability) {
    case IntentDurability::Strict:
      return "strict";
    case IntentDurability::Effect:
      return "effect";
    case IntentDurability::Relaxed:
      return "relaxed";
  }
  return "strict";
}

const AutonomyRules* Plan::rules_for(const Call& call) const {
  if (autonomy_rules_) return autonomy_rules_.get();
  const bool scoped = scope_rules_for_all_ || call.scopes.stack() || call.context_tier;
  return scoped ? scope_rules_.get() : nullptr;
}

const Classification& Plan::classify(const Call& call) const {
  static const Classification kUnclassified;
  for (const std::string& server : {call.server, std::string()}) {
    if (const auto found = tools_.find({server, call.tool}); found != tools_.end()) {
      return found->second;
    }
  }
  return kUnclassified;
}

PlanBuilder& PlanBuilder::tool(std::string server, std::string name,
                               Classification classification) {
  plan_.tools_.insert_or_assign({std::move(server), std::move(name)}, std::move(classification));
  return *this;
}

bool PlanBuilder::knows(const std::string& server, const std::string& name) const {
  return plan_.tools_.contains({server, name}) || plan_.tools_.contains({"", name});
}

PlanBuilder& PlanBuilder::guard(std::shared_ptr<const Guard> guard) {
  // What a grant allows is fixed before any other guard decides (CG-36).
  const auto place = looks_at_grants(guard)
                         ? std::ranges::find_if_not(plan_.guards_, looks_at_grants)
                         : plan_.guards_.end();
  plan_.guards_.insert(place, std::move(guard));
  return *this;
}

PlanBuilder& PlanBuilder::extension_tool(std::string server, std::string name,
                                         Classification classification) {
  extension_tools_.insert_or_assign({std::move(server), std::move(name)},
                                    std::move(classification));
  return *this;
}

PlanBuilder& PlanBuilder::extension_guard(std::shared_ptr<const Guard> guard) {
  extension_guards_.push_back(std::move(guard));
  return *this;
}

PlanBuilder& PlanBuilder::result_guard(std::shared_ptr<const ResultGuard> guard) {
  plan_.result_guards_.push_back(std::move(guard));
  return *this;
}

PlanBuilder& PlanBuilder::fail_open(std::string guard_name) {
  plan_.fail_open_.insert(std::move(guard_name));
  return *this;
}

PlanBuilder& PlanBuilder::autonomy_rules(std::shared_ptr<const AutonomyRules> rules) {
  plan_.autonomy_rules_ = std::move(rules);
  return *this;
}

PlanBuilder& PlanBuilder::scope_rules(std::shared_ptr<const AutonomyRules> rules, bool for_all) {
  plan_.scope_rules_ = std::move(rules);
  plan_.scope_rules_for_all_ = for_all;
  return *this;
}

PlanBuilder& PlanBuilder::rules(std::shared_ptr<const CallRules> rules) {
  plan_.rules_ = std::move(rules);
  return *this;
}

PlanBuilder& PlanBuilder::autonomy(Autonomy autonomy) {
  plan_.autonomy_ = autonomy;
  return *this;
}

PlanBuilder& PlanBuilder::time_limit(std::chrono::milliseconds limit) {
  plan_.time_limit_ = limit;
  return *this;
}

PlanBuilder& PlanBuilder::stream_limits(StreamLimits limits) {
  plan_.stream_limits_ = limits;
  return *this;
}

PlanBuilder& PlanBuilder::durability(IntentDurability durability) {
  plan_.durability_ = durability;
  return *this;
}

PlanBuilder& PlanBuilder::reviewers(std::shared_ptr<const ReviewerBook> people,
                                    bool program_vouches) {
  outside_reviewers_ = std::move(people);
  program_vouches_ = program_vouches;
  return *this;
}

PlanBuilder& PlanBuilder::approvals(ApprovalRules rules) {
  plan_.also_["approvals"] = rules.dump();
  plan_.approvals_ = std::move(rules);
  return *this;
}

PlanBuilder& PlanBuilder::approval_time(std::chrono::seconds time) {
  plan_.approval_time_ = time;
  return *this;
}

PlanBuilder& PlanBuilder::hook(std::shared_ptr<const EventHook> hook) {
  plan_.listeners_.hooks.push_back(std::move(hook));
  return *this;
}

PlanBuilder& PlanBuilder::sink(std::shared_ptr<const Sink> sink) {
  plan_.listeners_.sinks.push_back(std::move(sink));
  return *this;
}

PlanBuilder& PlanBuilder::approver(std::shared_ptr<const Approver> approver) {
  plan_.listeners_.approver = std::move(approver);
  return *this;
}

PlanBuilder& PlanBuilder::stream_guard(std::shared_ptr<const StreamGuard> guard) {
  plan_.stream_guard_ = std::move(guard);
  return *this;
}

PlanBuilder& PlanBuilder::model_rules(ModelRules rules) {
  plan_.also_["model"] = model_rules_json(rules);
  plan_.model_rules_ = std::move(rules);
  return *this;
}

PlanBuilder& PlanBuilder::redaction_notice(bool shown) {
  plan_.redaction_notice_ = shown;
  return *this;
}

PlanBuilder& PlanBuilder::pass_methods(std::set<std::string, std::less<>> methods) {
  plan_.also_["mcp_allow_methods"] = json::value_from(methods);
  plan_.passed_methods_ = std::move(methods);
  return *this;
}

PlanBuilder& PlanBuilder::also(std::string name, json::value digest) {
  plan_.also_[name] = std::move(digest);
  return *this;
}

Result<void> PlanBuilder::check_order() const {
  bool cut = false;
  for (const auto& guard : plan_.result_guards_) {
    const std::string& name = guard->traits().name;
    if (name == "output-sanitizer" && cut) {
      return fail(
          ErrorCode::InvalidInput,
          "`size-limiter` stands before `output-sanitizer`, where a cut could split a secret "
          "out of sight; put it behind");
    }
    cut = cut || name == "size-limiter";
  }
  return {};
}

Result<void> PlanBuilder::check_names() const {
  std::set<std::string, std::less<>> names;
  const auto check = [&](const auto& guards) -> Result<void> {
    for (const auto& guard : guards) {
      const std::string& name = guard->traits().name;
      if (!name.empty() && names.insert(name).second) continue;
      return fail(ErrorCode::InvalidInput,
                  fmt::format("guard name `{}` is empty or used twice", name));
    }
    return {};
  };
  SALLYPORT_CHECK_OK(check(plan_.guards_));
  SALLYPORT_CHECK_OK(check(extension_guards_));
  SALLYPORT_CHECK_OK(check(plan_.result_guards_));
  for (const std::string& name : plan_.fail_open_) {
    if (!names.contains(name)) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("`{}` may fail open, but there is no such guard", name));
    }
  }
  return {};
}

std::string PlanBuilder::dump() const {
  const auto described = [&](const auto& guards) {
    json::array list;
    for (const auto& guard : guards) {
      list.push_back(describe(guard->traits(), plan_.fails_open(guard->traits().name)));
    }
    return list;
  };
  json::array tools;
  for (const auto& [key, classification] : plan_.tools_) {
    tools.push_back(json::object{{"server", key.first},
                                 {"tool", key.second},
                                 {"tier", to_string(classification.tier)},
                                 {"effect_class", classification.effect_class}});
  }
  return canonical_json(json::object{{"tools", std::move(tools)},
                                     {"guards", described(plan_.guards_)},
                                     {"result_guards", described(plan_.result_guards_)},
                                     {"autonomy", to_string(plan_.autonomy_)},
                                     {"time_limit_ms", plan_.time_limit_.count()},
                                     {"stream_bytes", plan_.stream_limits_.bytes},
                                     {"stream_chunks", plan_.stream_limits_.chunks},
                                     {"stream_ms", plan_.stream_limits_.time.count()},
                                     {"durability", to_string(plan_.durability_)},
                                     {"approval_s", plan_.approval_time_.count()},
                                     {"redaction_notice", plan_.redaction_notice_},
                                     {"also", plan_.also_}});
}

// Guards of a front come after those that check grants, and before all others.
void PlanBuilder::add_extensions() {
  for (auto& [key, classification] : extension_tools_) {
    const auto anywhere = plan_.tools_.find({"", key.second});
    const bool in_policy = anywhere != plan_.tools_.end() && anywhere->second.source == "policy";
    if (!in_policy) plan_.tools_.try_emplace(key, std::move(classification));
  }
  plan_.guards_.insert(std::ranges::find_if_not(plan_.guards_, looks_at_grants),
                       extension_guards_.begin(), extension_guards_.end());
}

Result<std::shared_ptr<const Plan>> PlanBuilder::build() && {
  if (!plan_.approvals_.people) {
    plan_.approvals_.people = outside_reviewers_;
    plan_.approvals_.program_vouches = program_vouches_;
  }
  SALLYPORT_CHECK_OK(check_names());
  SALLYPORT_CHECK_OK(check_order());
  if (plan_.autonomy_rules_) plan_.also_["autonomy"] = plan_.autonomy_rules_->dump();
  if (!plan_.autonomy_rules_ && plan_.scope_rules_for_all_) {
    plan_.also_["autonomy"] = plan_.scope_rules_->dump();
  }
  if (plan_.rules_) plan_.also_["rules"] = plan_.rules_->dump();
  plan_.dump_ = dump();
  plan_.hash_ = "sha256:" + hex(sha256(plan_.dump_));
  add_extensions();
  const auto outside = [](const auto& guard) { return guard->traits().outside; };
  plan_.asks_outside_ = std::ranges::any_of(plan_.guards_, outside) ||
                        std::ranges::any_of(plan_.result_guards_, outside);
  return std::make_shared<const Plan>(std::move(plan_));
}

}  // namespace sallyport::core
