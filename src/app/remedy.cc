// What would have to differ for a call to run. One sentence for each thing that stands in its way.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <boost/json.hpp>

#include "app/explanation.h"
#include "base/json_members.h"
#include "mcp/pins.h"

namespace sallyport::app {

namespace {

struct Remedy {
  std::string_view key;
  std::string_view words;
};

constexpr auto kGrantRemedies = std::to_array<Remedy>({
    {"grant_missing", "present a grant for this call (`sallyport grants issue`)"},
    {"grant_malformed", "present one token, in the form that `grants issue` writes"},
    {"grant_untrusted_issuer",
     "present a token of an issuer that `grants.trusted_issuers` lists, or list its key there"},
    {"grant_signature", "present the token as its issuer signed it"},
    {"grant_not_yet_valid", "present a token whose time has begun"},
    {"grant_expired", "present a token that has not expired"},
    {"grant_revoked", "present a token that nobody revoked, nor one that it comes from"},
    {"grant_delegation", "present a token that is nowhere wider than the one it comes from"},
    {"grant_subject", "present a token that was issued to this agent"},
    {"grant_scope", "present a token with a grant that fits this call"},
    {"grant_budget", "present a token that has invocations left"},
    {"grant_rate", "wait until the rate of the grant has room again"},
});

// Where a tier came from, and what gives another one.
constexpr auto kTierRemedies = std::to_array<Remedy>({
    {"agent_action_tiers", "change `autonomy.agent_action_tiers` for this agent and tool"},
    {"agent_tiers",
     "change `autonomy.agent_tiers` for this agent, or promote it "
     "(`sallyport trust promote`)"},
    {"action_tiers", "change `autonomy.action_tiers` for this tool or class"},
    {"autonomy_tier", "change `autonomy.autonomy_tier`, or promote the agent"},
    {"tier", "change `autonomy.tier`, or promote the agent (`sallyport trust promote`)"},
    {"default", "give the agent or the tool a tier in `autonomy:`, or promote the agent"},
    {"plan", "give the agent or the tool a tier in `autonomy:` of the policy"},
    {"promotion", "promote the agent further (`sallyport trust promote`)"},
    {"demotion", "promote the agent again (`sallyport trust promote`)"},
    {"ceiling", "raise `autonomy.ceiling`"},
    {"scope", "leave the scope that narrows it"},
    {"grant", "present a grant with a higher `autonomy_ceiling`"},
    {"requires_human", "take the call out of `autonomy.requires_human`"},
    {"budget", "wait until the autonomy budget has room again, or raise `autonomy.budget`"},
    {"trust", "wait for a better trust record, or turn `trust.enforce` off"},
});

template <std::size_t N>
std::string found(const std::array<Remedy, N>& table, std::string_view key) {
  for (const Remedy& remedy : table) {
    if (remedy.key == key) return std::string(remedy.words);
  }
  return {};
}

void add_grant(const GuardRun& run, std::vector<std::string>& all) {
  all.push_back(found(kGrantRemedies, run.rule.value_or("")));
  const json::object* const evidence = run.evidence.if_object();
  const json::value* const passed = evidence ? evidence->if_contains("passed_over") : nullptr;
  if (passed == nullptr || !passed->is_array()) return;
  for (const json::value& grant : passed->get_array()) {
    all.push_back(fmt::format("grant {} would have to fit: {}",
                              grant.at("grant").to_number<std::uint64_t>(),
                              std::string_view(grant.at("why").as_string())));
  }
}

bool add_findings(const core::Rehearsal& now, const GuardRun& run, std::vector<std::string>& all) {
  bool any = false;
  for (const json::object& finding : now.findings) {
    const auto check = text_in(finding, "check");
    if (text_in(finding, "action") != "block" || check != run.rule) continue;
    const auto excerpt = text_in(finding, "excerpt");
    const auto path = text_in(finding, "path");
    all.push_back(fmt::format("take {}{} out of the input, or let check `{}` do other than block",
                              excerpt ? fmt::format("`{}`", *excerpt) : "what it found",
                              path ? fmt::format(" at {}", *path) : "", *check));
    any = true;
  }
  return any;
}

void add_guard(const core::Rehearsal& now, const GuardRun& run, std::vector<std::string>& all) {
  if (run.stage == "grant" && run.verdict == "deny") return add_grant(run, all);
  if (run.verdict == "error") {
    all.push_back(fmt::format("guard `{}` would have to work; it failed: {}", run.guard,
                              run.why.value_or("it says no more")));
    return;
  }
  if (run.guard == "tool-pins") {
    all.push_back(fmt::format("somebody looks at the changed tool and accepts it (`{}`)",
                              mcp::pins_command("accept", now.call.server, now.call.tool)));
    return;
  }
  if (add_findings(now, run, all)) return;
  all.push_back(run.rule ? fmt::format("guard `{}` would have to allow it; its rule `{}` does not",
                                       run.guard, *run.rule)
                         : fmt::format("guard `{}` would have to allow it", run.guard));
}

std::string people(const Question& question) {
  const std::string who = question.reviewers.empty()
                              ? "whoever is registered as approver"
                              : fmt::format("{}", fmt::join(question.reviewers, ", "));
  return fmt::format("{} of {} would have to say yes before {}", question.approvers_required, who,
                     question.expires_at);
}

}  // namespace

std::string_view verdict_of(const core::Rehearsal& now) {
  if (now.refusal && now.weighed && now.tier == Autonomy::Shadow) return "shadow";
  if (now.refusal) return "refused";
  if (now.question && now.question->proposal) return "proposed";
  return now.question ? "asks" : "runs";
}

std::vector<std::string> to_run(const core::Rehearsal& now) {
  std::vector<std::string> all;
  const std::string_view verdict = verdict_of(now);
  if (verdict == "runs") return all;
  if (verdict == "refused") {
    for (const GuardRun& run : now.guard_runs) {
      if (run.verdict == "deny" || (run.verdict == "error" && run.why != "fail_open")) {
        add_guard(now, run, all);
      }
    }
    if (all.empty()) all.push_back("it would have to be another call: " + *now.refusal);
    return all;
  }
  if (now.question) all.push_back(people(*now.question));
  bool guard_asks = false;
  for (const GuardRun& run : now.guard_runs) {
    if (run.verdict != "ask") continue;
    guard_asks = true;
    all.push_back(fmt::format("or guard `{}` would have to stop asking", run.guard));
  }
  const bool tier_asks = now.tier != Autonomy::ActAuto;
  const std::string remedy = tier_asks ? found(kTierRemedies, now.tier_source) : "";
  if (!remedy.empty() && !(guard_asks && !tier_asks)) {
    all.push_back(now.question ? "or " + remedy : remedy);
  }
  if (now.classification.source.empty()) {
    all.push_back("or say in `tools:` of the policy what the tool is: nobody has classified it");
  }
  return all;
}

}  // namespace sallyport::app
