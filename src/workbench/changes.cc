#include "workbench/changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <functional>

#include "base/json_members.h"
#include "base/json_pointer.h"
#include "base/try.h"
#include "core/record/read_field.h"
#include "mcp/server/pins.h"
#include "workbench/tier_source.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostOfAKind = 3;
constexpr std::size_t kMostEdits = 8;
constexpr std::size_t kMostTrials = 200;

constexpr core::Word<ChangeKind> kChangeKinds[] = {
    {"policy", ChangeKind::Policy}, {"input", ChangeKind::Input}, {"world", ChangeKind::World}};

struct Edit {
  EditText description{};
  std::function<void(CallTrial&)> apply{};
};

// The policy of the trial as a value that can be changed.
void edit_policy(CallTrial& trial, const std::function<void(json::value&)>& change) {
  const Result<PolicyTree> tree = PolicyTree::read(trial.policy, trial.policy_name);
  if (!tree) return;
  json::value value = tree->value();
  change(value);
  trial.policy = {.text = json::serialize(value)};
}

// Objects on the way are made where they are missing.
void set_at(json::value& root, const std::string& pointer, json::value value) {
  json::value* at = &root;
  for (std::size_t begin = 1; begin <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', begin), pointer.size());
    std::string name;
    for (std::size_t i = begin; i < end; ++i) {
      const bool escaped = pointer[i] == '~' && i + 1 < end;
      name += escaped ? (pointer[++i] == '1' ? '/' : '~') : pointer[i];
    }
    if (json::array* const list = at->if_array()) {
      const auto index = static_cast<std::size_t>(std::stoul(name));
      if (index >= list->size()) return;
      at = &(*list)[index];
    } else {
      if (!at->is_object()) *at = json::object();
      at = &at->get_object()[name];
    }
    begin = end + 1;
  }
  *at = std::move(value);
}

void remove_at(json::value& root, const std::string& pointer) {
  const std::size_t slash = pointer.rfind('/');
  boost::system::error_code code;
  json::value* const parent = root.find_pointer(pointer.substr(0, slash), code);
  if (parent == nullptr) return;
  const std::string step = pointer.substr(slash + 1);
  if (json::array* const list = parent->if_array()) {
    const auto index = static_cast<std::size_t>(std::stoul(step));
    if (index < list->size()) list->erase(list->begin() + static_cast<long>(index));
    // An empty list is refused; a missing one means the same.
    if (list->empty()) remove_at(root, pointer.substr(0, slash));
  } else if (json::object* const object = parent->if_object()) {
    std::string name;
    for (std::size_t i = 0; i < step.size(); ++i) {
      const bool escaped = step[i] == '~' && i + 1 < step.size();
      name += escaped ? (step[++i] == '1' ? '/' : '~') : step[i];
    }
    object->erase(name);
  }
}

Edit policy_edit(const PolicyTree& tree, const std::string& pointer, std::string text,
                 std::function<void(json::value&)> change) {
  return {{tree.place(pointer), std::move(text)},
          [change = std::move(change)](CallTrial& trial) { edit_policy(trial, change); }};
}

Edit set_edit(const PolicyTree& tree, const std::string& pointer, std::string text,
              json::value value) {
  return policy_edit(
      tree, pointer, std::move(text),
      [pointer, value = std::move(value)](json::value& root) { set_at(root, pointer, value); });
}

// `/autonomy/budget` as `autonomy.budget`.
std::string dotted(const std::string& pointer) {
  std::string text = pointer.substr(1);
  std::ranges::replace(text, '/', '.');
  return text;
}

std::string last_step(const std::string& pointer) {
  return pointer.substr(pointer.rfind('/') + 1);
}

class Search {
 public:
  explicit Search(const CallTrial& trial) : trial_(trial) {}

  Result<std::vector<Change>> run(const std::vector<Cause>& causes) {
    SALLYPORT_TRY(const TrialAnswer start, decide(trial_, core::RehearsalScope::All));
    const CallVerdict verdict = verdict_of(start.seen);
    const bool asks = verdict == CallVerdict::Asks || verdict == CallVerdict::Proposed;
    if (asks) SALLYPORT_CHECK_OK(try_approval(start.seen));
    SALLYPORT_CHECK_OK(try_policy(causes, start));
    SALLYPORT_CHECK_OK(try_input(start));
    SALLYPORT_CHECK_OK(try_world(causes, start));
    return std::move(found_);
  }

 private:
  // Decides the trial with the edits. No value: the policy does not load, or too many trials.
  std::optional<TrialAnswer> tried(const std::vector<Edit>& edits, core::RehearsalScope scope) {
    if (++trials_ > kMostTrials) return std::nullopt;
    CallTrial changed = trial_;
    for (const Edit& edit : edits) edit.apply(changed);
    Result<TrialAnswer> answer = decide(changed, scope);
    if (!answer) return std::nullopt;
    return std::move(*answer);
  }

  bool runs(const std::vector<Edit>& edits) {
    const std::optional<TrialAnswer> answer = tried(edits, core::RehearsalScope::UntilRefused);
    return answer && verdict_of(answer->seen) == CallVerdict::Runs;
  }

  // Keeps the edits as a change if the call then runs, without the edits that are not needed.
  void keep(ChangeKind kind, std::vector<Edit> edits) {
    if (edits.empty() || edits.size() > kMostEdits || !runs(edits)) return;
    for (std::size_t i = 0; edits.size() > 1 && i < edits.size();) {
      std::vector<Edit> fewer = edits;
      fewer.erase(fewer.begin() + static_cast<long>(i));
      if (runs(fewer)) {
        edits = std::move(fewer);
      } else {
        ++i;
      }
    }
    Change change{.kind = kind};
    for (const Edit& edit : edits) change.edits.push_back(edit.description);
    const auto of_kind = static_cast<std::size_t>(std::ranges::count(found_, kind, &Change::kind));
    const bool known = std::ranges::any_of(found_, [&](const Change& other) {
      return other.kind == kind &&
             std::ranges::equal(other.edits, change.edits, {}, &EditText::text, &EditText::text);
    });
    if (of_kind < kMostOfAKind && !known) found_.push_back(std::move(change));
  }

  Result<void> try_approval(const core::Rehearsal& seen) {
    SALLYPORT_TRY(const TrialAnswer answer, decide(trial_, core::RehearsalScope::Approved));
    if (verdict_of(answer.seen) != CallVerdict::Runs || !seen.question) return {};
    const Question& question = *seen.question;
    const std::string who = question.reviewers.empty()
                                ? "the registered approvers"
                                : fmt::format("{}", fmt::join(question.reviewers, ", "));
    found_.push_back(
        {.kind = ChangeKind::World,
         .edits = {{"", fmt::format("{} of {} says yes before {}", question.approvers_required, who,
                                    question.expires_at)}}});
    return {};
  }

  // Adds edits for the current causes. An edit may reveal a further cause, so this is repeated.
  Result<void> try_policy(std::vector<Cause> causes, const TrialAnswer& start) {
    SALLYPORT_TRY(PolicyTree tree, PolicyTree::read(trial_.policy, trial_.policy_name));
    const PolicyTree own = tree;
    std::vector<Edit> edits;
    for (int round = 0; round < 4; ++round) {
      const std::size_t before = edits.size();
      for (const Cause& cause : causes) {
        std::optional<Edit> edit = policy_edit_for(cause, start.policy(), own);
        if (!edit) continue;
        // An edit that changes nothing more was made before, and is not made twice.
        const bool made = std::ranges::any_of(edits, [&](const Edit& other) {
          return other.description.place == edit->description.place &&
                 other.description.text == edit->description.text;
        });
        if (!made) edits.push_back(std::move(*edit));
      }
      if (edits.size() == before) break;
      const std::optional<TrialAnswer> next = tried(edits, core::RehearsalScope::All);
      if (!next) break;
      if (verdict_of(next->seen) == CallVerdict::Runs) break;
      causes = causes_of(next->seen, next->policy(), own);
    }
    keep(ChangeKind::Policy, edits);
    if (start.seen.classification.source.empty()) {
      keep(ChangeKind::Policy, {classify_edit(start.seen, own)});
    }
    return {};
  }

  static Edit classify_edit(const core::Rehearsal& seen, const PolicyTree& tree) {
    json::object row{{"tool", seen.call.tool}, {"tier", "observe"}, {"class", "none"}};
    if (!seen.call.server.empty()) row["server"] = seen.call.server;
    return policy_edit(tree, "/tools", fmt::format("tools: + {}", canonical_json(row)),
                       [row](json::value& root) {
                         json::object* const policy = root.if_object();
                         if (policy == nullptr) return;
                         json::value& tools = (*policy)["tools"];
                         if (!tools.is_array()) tools = json::array();
                         tools.get_array().push_back(row);
                       });
  }

  static std::optional<Edit> policy_edit_for(const Cause& cause, const policy::Policy& policy,
                                             const PolicyTree& tree) {
    if (cause.kind == CauseKind::Check) {
      const std::optional<std::size_t> index = check_index(policy, cause.name);
      if (!index) return std::nullopt;
      const std::string check = fmt::format("/guardrails/checks/{}", *index);
      Edit edit = set_edit(tree, check + "/on_fail", "on_fail: block -> log", "log");
      edit.description.place = tree.place(check);
      return edit;
    }
    if (cause.kind == CauseKind::Rule) return rule_edit(cause, tree);
    if (cause.kind == CauseKind::Unlisted) {
      return policy_edit(tree, "/unlisted", "unlisted: removed",
                         [](json::value& root) { remove_at(root, "/unlisted"); });
    }
    if (cause.kind == CauseKind::Grant) {
      return policy_edit(tree, "/grants", "grants: removed",
                         [](json::value& root) { remove_at(root, "/grants"); });
    }
    if (cause.kind == CauseKind::Tier) return tier_edit(cause, tree);
    return std::nullopt;
  }

  static std::optional<Edit> rule_edit(const Cause& cause, const PolicyTree& tree) {
    const std::optional<std::size_t> index = tree.rule_index(cause.name);
    if (!index) return std::nullopt;
    const std::string rule = fmt::format("/rules/{}", *index);
    const char* const key = tree.at(rule + "/otherwise") ? "otherwise" : "then";
    const json::value* const was = tree.at(rule + "/" + key);
    const std::string word =
        was && was->is_string() ? std::string(was->get_string()) : std::string("?");
    Edit edit = set_edit(tree, rule + "/" + key,
                         fmt::format("rule `{}`, {}: {} -> log", cause.name, key, word), "log");
    edit.description.place = tree.place_of_rule(cause.name);
    return edit;
  }

  static std::optional<Edit> tier_edit(const Cause& cause, const PolicyTree& tree) {
    const std::string& pointer = cause.part;
    const std::optional<TierSource> from = tier_source_from(cause.name);
    if (from == TierSource::Default) {
      return set_edit(tree, "/autonomy/tier", "autonomy.tier: act_auto", "act_auto");
    }
    if (pointer.empty()) return std::nullopt;
    if (from == TierSource::Budget) {
      return policy_edit(tree, pointer, dotted(pointer) + ": removed",
                         [pointer](json::value& root) { remove_at(root, pointer); });
    }
    if (from == TierSource::Trust) {
      return set_edit(tree, pointer, "trust.enforce: true -> false", false);
    }
    if (from == TierSource::RequiresHuman) return person_edit(pointer, tree);
    const json::value* const was = tree.at(pointer);
    return set_edit(tree, pointer,
                    fmt::format("{}: {} -> act_auto", last_step(pointer),
                                was && was->is_string() ? std::string_view(was->get_string())
                                                        : std::string_view("?")),
                    "act_auto");
  }

  // A name is taken out of its list by its value: other edits may have moved it.
  static Edit person_edit(const std::string& pointer, const PolicyTree& tree) {
    const json::value* const was = tree.at(pointer);
    if (was == nullptr || !was->is_string()) {
      return policy_edit(tree, pointer, dotted(pointer) + ": true -> false",
                         [pointer](json::value& root) { remove_at(root, pointer); });
    }
    const std::string list = pointer.substr(0, pointer.rfind('/'));
    const json::value name = *was;
    return policy_edit(
        tree, pointer,
        fmt::format("{}: without `{}`", list.substr(1), std::string_view(name.get_string())),
        [list, name](json::value& root) {
          boost::system::error_code code;
          json::value* const found = root.find_pointer(list, code);
          json::array* const names = found ? found->if_array() : nullptr;
          if (names == nullptr) return;
          const auto at = std::ranges::find(*names, name);
          if (at == names->end()) return;
          remove_at(root, fmt::format("{}/{}", list, at - names->begin()));
        });
  }

  // Cuts out what a check found, and leaves out the commands of a command line one by one.
  Result<void> try_input(const TrialAnswer& start) {
    std::vector<Edit> cuts;
    for (const json::object& finding : start.seen.findings) {
      if (text_in(finding, "action") != "block") continue;
      const std::string path = text_or_empty(finding, "path");
      const std::string found = text_or_empty(finding, "excerpt");
      const json::value* const leaf = input_at(path);
      if (leaf == nullptr || !leaf->is_string()) continue;
      cuts.push_back(cut_edit(path, found));
    }
    keep(ChangeKind::Input, std::move(cuts));
    for_each_text("", trial_.call.input, [&](const std::string& path, const std::string& text) {
      for (const auto& [begin, end] : commands_in(text)) {
        keep(ChangeKind::Input, {without_command(path, text, begin, end)});
      }
    });
    return {};
  }

  const json::value* input_at(const std::string& path) const {
    boost::system::error_code code;
    return trial_.call.input.find_pointer(path, code);
  }

  static void set_input(CallTrial& trial, const std::string& path, const std::string& text) {
    boost::system::error_code code;
    json::value* const leaf = trial.call.input.find_pointer(path, code);
    if (leaf != nullptr) *leaf = text;
    trial.call.raw_input.reset();
  }

  static Edit cut_edit(const std::string& path, const std::string& found) {
    return {{path, "remove what the check found"}, [path, found](CallTrial& trial) {
              boost::system::error_code code;
              const json::value* const leaf = trial.call.input.find_pointer(path, code);
              if (leaf == nullptr || !leaf->is_string()) return;
              std::string text(leaf->get_string());
              bool any = false;
              for (std::size_t at = found.empty() ? std::string::npos : text.find(found);
                   at != std::string::npos; at = text.find(found, at)) {
                text.erase(at, found.size());
                any = true;
              }
              set_input(trial, path, any ? text : std::string());
            }};
  }

  static void for_each_text(
      const std::string& path, const json::value& value,
      const std::function<void(const std::string& path, const std::string& text)>& visit) {
    if (const json::object* const object = value.if_object()) {
      for (const auto& member : *object) {
        for_each_text(pointer_to(path, member.key()), member.value(), visit);
      }
    } else if (const json::array* const array = value.if_array()) {
      for (std::size_t i = 0; i < array->size(); ++i) {
        for_each_text(fmt::format("{}/{}", path, i), (*array)[i], visit);
      }
    } else if (value.is_string()) {
      visit(path, std::string(value.get_string()));
    }
  }

  // The parts of a line between separators. A guess: each is tried before it is reported.
  static std::vector<std::pair<std::size_t, std::size_t>> commands_in(const std::string& text) {
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool two = text.compare(i, 2, "&&") == 0 || text.compare(i, 2, "||") == 0;
      const bool one = text[i] == ';' || text[i] == '\n';
      if (!two && !one) continue;
      parts.emplace_back(begin, i);
      begin = i + (two ? 2 : 1);
      if (two) ++i;
    }
    if (begin == 0) return {};
    parts.emplace_back(begin, text.size());
    constexpr std::size_t kMostParts = 20;
    if (parts.size() > kMostParts) parts.clear();
    return parts;
  }

  static Edit without_command(const std::string& path, const std::string& text, std::size_t begin,
                              std::size_t end) {
    std::string rest = text.substr(0, begin) + text.substr(end);
    const auto trim = [&](std::string_view marks) {
      while (!rest.empty() && marks.find(rest.front()) != std::string_view::npos) rest.erase(0, 1);
      while (!rest.empty() && marks.find(rest.back()) != std::string_view::npos) rest.pop_back();
    };
    trim(" \n;&|");
    std::string part = text.substr(begin, end - begin);
    const std::size_t first = part.find_first_not_of(' ');
    if (first != std::string::npos) part.erase(0, first);
    return {{path, fmt::format("leave out `{:.80}`", part)},
            [path, rest](CallTrial& trial) { set_input(trial, path, rest); }};
  }

  Result<void> try_world(const std::vector<Cause>& causes, const TrialAnswer& start) {
    const core::Rehearsal& seen = start.seen;
    std::vector<Edit> edits;
    bool promotes = false;
    for (const Cause& cause : causes) {
      if (cause.kind == CauseKind::Pin) {
        const std::string key = canonical_json(json::array{seen.call.server, seen.call.tool});
        edits.push_back(
            {{"", fmt::format("accept the changed tool (`{}`)",
                              mcp::pins_command("accept", seen.call.server, seen.call.tool))},
             [key](CallTrial& trial) { trial.facts[{"tool_pin_changed", key}] = std::nullopt; }});
      } else if (cause.kind == CauseKind::Tier &&
                 tier_source_from(cause.name) == TierSource::Budget) {
        edits.push_back({{"", "wait a day"}, [](CallTrial& trial) {
                           trial.at += std::chrono::hours(24) + std::chrono::seconds(1);
                         }});
      } else if (cause.kind == CauseKind::Tier && !std::exchange(promotes, true)) {
        edits.push_back({{"", fmt::format("promote `{}` to act_auto (`sallyport trust promote`)",
                                          seen.call.agent_id)},
                         [](CallTrial& trial) {
                           trial.standing = trust::Standing{.promoted_to = Autonomy::ActAuto};
                         }});
      }
    }
    keep(ChangeKind::World, std::move(edits));
    return {};
  }

  const CallTrial& trial_;
  std::size_t trials_ = 0;
  std::vector<Change> found_;
};

}  // namespace

std::string_view to_string(ChangeKind kind) {
  return core::word_of(kChangeKinds, kind);
}

Result<std::vector<Change>> changes_for(const CallTrial& trial, const std::vector<Cause>& causes) {
  if (causes.empty()) return std::vector<Change>{};
  return Search(trial).run(causes);
}

}  // namespace sallyport::app
