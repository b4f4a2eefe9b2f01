#include "rules/warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/wildcard.h"
#include "effects/profiles.h"

namespace sallyport::rules {

namespace {

// One rule among the others.
class Look {
 public:
  Look(const RuleSet& set, const WarningFacts& facts, const Rule& rule, std::vector<Warning>& out)
      : set_(set), facts_(facts), rule_(rule), out_(out) {}

  void all() {
    time();
    reach();
    names();
    if (!rule_.has_only() && rule_.then == Then::Allow) allowing();
    workspace();
    flags();
  }

 private:
  void warn(std::string code, std::string text) {
    out_.push_back({rule_.place, std::move(code), std::move(text)});
  }

  void time() {
    if (!rule_.expires) return;
    if (rule_.expired(facts_.now)) {
      warn("expired", fmt::format("rule `{}` has expired and matches nothing", rule_.id));
    } else if (is_restrictive(rule_.then)) {
      warn("lapses", fmt::format("rule `{}` restricts calls only until {}", rule_.id,
                                 rfc3339(*rule_.expires)));
    }
  }

  static bool contradicts(const Conditions& conditions) {
    const bool apart =
        !conditions.inside.empty() && !conditions.outside.empty() &&
        std::ranges::all_of(conditions.inside, [&](const FolderName& folder) {
          return std::ranges::find(conditions.outside, folder) != conditions.outside.end();
        });
    return apart || concerns_nothing(conditions);
  }

  // An effect of class `none` has neither a path nor a host.
  static bool concerns_nothing(const Conditions& conditions) {
    return conditions.effect_class == std::vector<std::string>{"none"} &&
           (conditions.names_paths() || !conditions.host.empty());
  }

  // `deny` before `ask` before `allow`.
  static int strength(const Rule& rule) {
    if (rule.has_only() || rule.result) return 0;
    switch (rule.then) {
      case Then::Deny:
        return 3;
      case Then::Ask:
        return 2;
      case Then::Allow:
        return 1;
      default:
        return 0;
    }
    return 0;
  }

  void reach() {
    if (rule_.when.empty()) return covered();
    const bool apart = std::ranges::all_of(rule_.when, contradicts);
    const bool excluded = !rule_.unless.empty() && implies(rule_.when, rule_.unless);
    if (!apart && !excluded) return covered();
    // In a restrictive rule, each condition may hold for a different form of the path (RU-33).
    const bool two_forms = (rule_.has_only() || is_restrictive(rule_.then)) &&
                           (apart ? std::ranges::none_of(rule_.when, concerns_nothing)
                                  : std::ranges::any_of(rule_.unless, &Conditions::names_paths));
    warn("unreachable", fmt::format("rule `{}` has conditions that {}", rule_.id,
                                    two_forms ? "hold together only where a link leads elsewhere"
                                              : "never hold together"));
  }

  void covered() {
    std::vector<Conditions> stronger;
    for (const Rule& other : set_.rules) {
      if (strength(rule_) == 0 || strength(other) <= strength(rule_)) continue;
      if (!other.unless.empty() || other.expires) continue;
      if (implies(rule_.when, other.when)) {
        return warn("shadowed", fmt::format("rule `{}` decides nothing: `{}` at {} is stronger and "
                                            "covers it",
                                            rule_.id, other.id, other.place));
      }
      std::ranges::copy(other.when, std::back_inserter(stronger));
    }
    if (stronger.empty() || rule_.when.empty()) return;
    if (implies(in_pieces(rule_.when), stronger)) {
      warn("shadowed",
           fmt::format("rule `{}` decides nothing: stronger rules cover it together", rule_.id));
    }
  }

  bool is_known_tool(const std::string& tool) const {
    if (tool.find('*') != std::string::npos) return true;
    const bool in_policy = std::ranges::any_of(
        set_.book.tools, [&](const auto& entry) { return entry.first.second == tool; });
    const bool in_profile = std::ranges::any_of(
        effects::profile_tools(),
        [&](const effects::ProfileTool& row) { return fits_wildcard(row.tool, tool); });
    return in_policy || in_profile || effects::is_tool_of_table(tool);
  }

  // `server: "*"` is probably meant for every server, but matches none.
  void wildcards(std::string_view key, const std::vector<std::string>& names) {
    const auto open = [](const std::string& name) { return name.contains('*'); };
    if (names.empty() || !std::ranges::all_of(names, open)) return;
    warn("unreachable",
         fmt::format("rule `{}` names the {} `{:.80}`: `*` is a wildcard in names of "
                     "tools only; leave `{}` out to match every {}",
                     rule_.id, key, names.front(), key, key));
  }

  void names() {
    for (const Conditions& conditions : rule_.when) {
      wildcards("agent", conditions.agent);
      wildcards("session", conditions.session);
      wildcards("server", conditions.server);
      for (const std::string& tool : conditions.tool) {
        // A server that the rule names may have any tools.
        if (conditions.server.empty() && !is_known_tool(tool)) {
          warn("unknown_tool",
               fmt::format("rule `{}` names the tool `{:.80}`, which no profile and no entry of "
                           "`tools` knows",
                           rule_.id, tool));
        }
      }
      for (const std::string& agent : conditions.agent) {
        const bool is_user = agent.starts_with("uid:");  // a user of this machine
        if (!facts_.agents || is_user || agent.contains('*') || effects::is_agent_profile(agent))
          continue;
        if (!facts_.agents->contains(agent)) {
          warn("unknown_agent",
               fmt::format("rule `{}` names the agent `{:.80}`, which nothing else "
                           "knows",
                           rule_.id, agent));
        }
      }
    }
  }

  void allowing() {
    const auto is_unrestricted = [](const Conditions& each) {
      const bool every_tool =
          each.tool.empty() || std::ranges::find(each.tool, "*") != each.tool.end();
      return each.server.empty() && every_tool && each.effect_class.empty() &&
             !each.names_paths() && each.host.empty() && each.command.empty() &&
             each.args.empty() && each.opaque != true && each.recursive != true;
    };
    if (rule_.when.empty() || std::ranges::any_of(rule_.when, is_unrestricted)) {
      warn("allows_all", fmt::format("rule `{}` allows every effect{}", rule_.id,
                                     rule_.unless.empty() ? "" : " that `unless` does not name"));
    }
    for (const Conditions& conditions : rule_.when) {
      if (conditions.opaque == true) {
        return warn("opaque_allowed",
                    fmt::format("rule `{}` allows commands that cannot be inspected", rule_.id));
      }
    }
  }

  static bool names_workspace(const Conditions& conditions) {
    const auto is_it = [](const FolderName& folder) {
      return folder.kind == FolderName::Kind::Workspace;
    };
    return std::ranges::any_of(conditions.inside, is_it) ||
           std::ranges::any_of(conditions.outside, is_it) ||
           std::ranges::any_of(conditions.path,
                               [](const Glob& glob) { return glob.root() == Root::Workspace; });
  }

  void workspace() {
    for (const std::vector<Conditions>* const list : {&rule_.when, &rule_.unless}) {
      for (const Conditions& conditions : *list) {
        if (!names_workspace(conditions)) continue;
        const bool everything =
            !set_.workspace.empty() && usable_workspace(set_.workspace, facts_.home).empty();
        const bool never_named =
            set_.workspace.empty() && conditions.front == std::vector<std::string>{"http"};
        if (!everything && !never_named) continue;
        return warn("no_workspace",
                    fmt::format("rule `{}` names the workspace, which is never known here; set "
                                "`workspace` to a folder below the home",
                                rule_.id));
      }
    }
  }

  void flags() {
    for (const std::vector<Conditions>* const list : {&rule_.when, &rule_.unless}) {
      for (const Conditions& conditions : *list) {
        for (const effects::CommandPattern& pattern : conditions.command) {
          for (const std::vector<std::string>* const flags : {&pattern.flags, &pattern.without}) {
            for (const std::string& flag : *flags) {
              if (effects::knows_flag(pattern, flag)) continue;
              warn("unknown_flag", fmt::format("rule `{}` names `{:.80}`, which `{}` does not have",
                                               rule_.id, flag, pattern.run.front()));
            }
          }
        }
      }
    }
  }

  const RuleSet& set_;
  const WarningFacts& facts_;
  const Rule& rule_;
  std::vector<Warning>& out_;
};

}  // namespace

std::vector<Warning> warnings(const RuleSet& set, const WarningFacts& facts) {
  std::vector<Warning> found;
  for (const Rule& rule : set.rules) Look(set, facts, rule, found).all();
  return found;
}

}  // namespace sallyport::rules
