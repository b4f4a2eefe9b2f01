#include "workbench/call_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "autonomy/tier.h"
#include "base/try.h"
#include "config/mapping.h"
#include "config/yaml_json.h"
#include "effects/profiles.h"
#include "workbench/case_row.h"

namespace sallyport::app {

namespace {

using config::Mapping;
using config::Place;
using config::ReadValue;
using config::YamlMember;
using config::YamlNode;

constexpr std::size_t kLongestCaseText = 1u << 20;
constexpr std::size_t kMostCaseItems = 10'000;

// For members whose `null` means the same as absence.
ReadValue maybe(ReadValue read) {
  return [read = std::move(read)](const Place& place) -> Result<void> {
    if (place.node.is_null()) return {};
    return read(place);
  };
}

ReadValue any_json(json::value& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_TRY(out, config::to_json(place.node, place.file));
    return {};
  };
}

ReadValue any_json(std::optional<json::value>& out) {
  return [&out](const Place& place) -> Result<void> {
    out.emplace();
    return any_json(*out)(place);
  };
}

ReadValue texts(std::vector<std::string>& out) {
  return config::read_list(kMostCaseItems, [&out](const Place& place) -> Result<void> {
    std::string text;
    SALLYPORT_CHECK_OK(config::read_word(text, kLongestCaseText)(place));
    out.push_back(std::move(text));
    return {};
  });
}

// A text, or a list of them.
ReadValue text_or_texts(std::vector<std::string>& out) {
  return [&out](const Place& place) -> Result<void> {
    if (place.node.kind == YamlNode::Kind::Sequence) return texts(out)(place);
    out.emplace_back();
    return config::read_text(out.back(), kLongestCaseText)(place);
  };
}

ReadValue flag(std::optional<bool>& out) {
  return [&out](const Place& place) -> Result<void> {
    return config::read_truth(out.emplace())(place);
  };
}

ReadValue name_at(ExpectedName& out) {
  return [&out](const Place& place) -> Result<void> {
    out.place = place_of(place.node, place.file);
    return config::read_word(out.name, 4'096)(place);
  };
}

// `null` says that there is none.
ReadValue name_or_none(std::optional<std::optional<ExpectedName>>& out) {
  return [&out](const Place& place) -> Result<void> {
    out.emplace();
    if (place.node.is_null()) return {};
    return name_at(out->emplace())(place);
  };
}

ReadValue names_at(std::optional<std::vector<ExpectedName>>& out) {
  return [&out](const Place& place) -> Result<void> {
    out.emplace();
    return config::read_list(kMostCaseItems, [&out](const Place& item) -> Result<void> {
      return name_at(out->emplace_back())(item);
    })(place);
  };
}

ReadValue one_of(std::vector<std::string> words, std::optional<std::string>& out) {
  return config::read_choice(words, [words, &out](std::size_t at) { out = words[at]; });
}

ReadValue number(std::uint64_t& out) {
  return config::read_number(0, 1'000'000, [&out](std::uint64_t value) { out = value; });
}

const std::vector<std::string>& tier_words() {
  static const std::vector<std::string> kWords = {"shadow", "suggest", "act_with_approval",
                                                  "act_auto"};
  return kWords;
}

ReadValue tier(std::optional<Autonomy>& out) {
  return config::read_choice(tier_words(), [&out](std::size_t at) { out = autonomy::kTiers[at]; });
}

// `act_auto`, or `{promoted: TIER, demoted: TIER}`.
Result<trust::Standing> read_standing(const Place& place) {
  trust::Standing standing;
  if (place.node.kind == YamlNode::Kind::Scalar) {
    SALLYPORT_CHECK_OK(tier(standing.promoted_to)(place));
    standing.demoted_to = standing.promoted_to;
    return standing;
  }
  Mapping keys("promotions and demotions of an agent");
  keys.optional("promoted", "", {}, tier(standing.promoted_to));
  keys.optional("demoted", "", {}, tier(standing.demoted_to));
  SALLYPORT_CHECK_OK(keys.read(place));
  return standing;
}

Result<trust::Tally> read_tally(const Place& place) {
  trust::Tally tally;
  std::optional<std::string> latest;
  Mapping keys("how the calls of an agent ended so far");
  keys.optional("successes", "", {}, number(tally.successes));
  keys.optional("failures", "", {}, number(tally.failures));
  keys.optional("denied", "", {}, number(tally.denied));
  keys.optional("timeouts", "", {}, number(tally.timeouts));
  keys.optional("latest", "", {}, one_of({"success", "failure", "denied", "timeout"}, latest));
  SALLYPORT_CHECK_OK(keys.read(place));
  const char* const newest = tally.failures   ? "failure"
                             : tally.denied   ? "denied"
                             : tally.timeouts ? "timeout"
                                              : "success";
  tally.latest = trust::outcome_from(latest.value_or(newest));
  return tally;
}

// For the agent of the call, or for each named agent.
template <class Value>
ReadValue by_agent(std::map<std::string, Value>& out, std::vector<std::string_view> own_keys,
                   Result<Value> (*read)(const Place&)) {
  return [&out, own_keys = std::move(own_keys), read](const Place& place) -> Result<void> {
    const auto is_own = [&](const YamlMember& member) {
      return std::ranges::find(own_keys, std::string_view(member.key.text)) != own_keys.end();
    };
    if (place.node.members.empty() || std::ranges::any_of(place.node.members, is_own)) {
      SALLYPORT_TRY(out[""], read(place));
      return {};
    }
    for (const auto& [agent, value] : place.node.members) {
      SALLYPORT_TRY(out[agent.text], read({value, place.file}));
    }
    return {};
  };
}

ReadValue time_at(std::optional<WallTime>& out) {
  return [&out](const Place& place) -> Result<void> {
    std::string text;
    SALLYPORT_CHECK_OK(config::read_word(text, 64)(place));
    out = from_rfc3339(text);
    if (out) return {};
    return place.refuse(
        fmt::format("`{}` is not a time; write it like 2026-11-15T12:00:00Z", text));
  };
}

ReadValue links(std::map<std::string, std::string>& out) {
  return [&out](const Place& place) -> Result<void> {
    if (place.node.kind != YamlNode::Kind::Mapping) {
      return place.refuse("this must be a mapping from each link to its target");
    }
    for (const auto& [path, target] : place.node.members) {
      SALLYPORT_CHECK_OK(config::read_word(out[path.text], 4'096)({target, place.file}));
    }
    return {};
  };
}

ReadValue hints(CaseGiven& given) {
  return [&given](const Place& place) -> Result<void> {
    std::optional<bool> ignored;
    Mapping keys("what the server says of the tool");
    keys.optional("readOnlyHint", "", {}, flag(given.read_only_hint));
    keys.optional("destructiveHint", "", {}, flag(given.destructive_hint));
    keys.optional("idempotentHint", "", {}, flag(ignored));
    keys.optional("openWorldHint", "", {}, flag(ignored));
    return keys.read(place);
  };
}

// A number of calls in the last hour, or `{hour, day, grant}`.
ReadValue budget(CaseGiven& given) {
  return [&given](const Place& place) -> Result<void> {
    if (place.node.kind == YamlNode::Kind::Scalar) {
      SALLYPORT_CHECK_OK(number(given.used_in_hour)(place));
    } else {
      Mapping keys("how much of the budgets is used");
      keys.optional("hour", "", {}, number(given.used_in_hour));
      keys.optional("day", "", {}, number(given.used_in_day));
      keys.optional("grant", "", {}, number(given.grant_used));
      SALLYPORT_CHECK_OK(keys.read(place));
    }
    given.used_in_day = std::max(given.used_in_day, given.used_in_hour);
    return {};
  };
}

// A token as JSON, or its text; or a list of them.
ReadValue grant(std::vector<std::string>& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_TRY(const json::value value, config::to_json(place.node, place.file));
    const auto add = [&](const json::value& token) {
      out.push_back(token.is_string() ? std::string(token.get_string()) : json::serialize(token));
    };
    if (!value.is_array()) {
      add(value);
    } else {
      for (const json::value& token : value.get_array()) add(token);
    }
    return {};
  };
}

// Tools of the server of the call, or `{server, tool}`.
ReadValue held(std::vector<std::pair<std::string, std::string>>& out) {
  return config::read_list(kMostCaseItems, [&out](const Place& place) -> Result<void> {
    auto& [server, tool] = out.emplace_back();
    if (place.node.kind == YamlNode::Kind::Scalar) return config::read_text(tool, 4'096)(place);
    Mapping keys("a tool that is held back");
    keys.optional("server", "", {}, config::read_text(server, 4'096));
    keys.required("tool", "", {}, config::read_text(tool, 4'096));
    return keys.read(place);
  });
}

ReadValue given_members(CaseGiven& given) {
  return [&given](const Place& place) -> Result<void> {
    Mapping keys("what surrounds the call");
    keys.optional("files", "", {}, texts(given.files));
    keys.optional("links", "", {}, links(given.links));
    keys.optional("command", "", {}, texts(given.command));
    keys.optional("hints", "", {}, hints(given));
    keys.optional("time", "", {}, time_at(given.time));
    keys.optional(
        "tier", "", {},
        by_agent<trust::Standing>(given.standings, {"promoted", "demoted"}, read_standing));
    keys.optional("budget", "", {}, budget(given));
    keys.optional("grant", "", {}, grant(given.grants));
    keys.optional("held", "", {}, held(given.held));
    keys.optional("revoked", "", {}, text_or_texts(given.revoked));
    keys.optional(
        "trust", "", {},
        by_agent<trust::Tally>(
            given.tallies, {"successes", "failures", "denied", "timeouts", "latest"}, read_tally));
    return keys.read(place);
  };
}

ReadValue call_members(Call& call) {
  return [&call](const Place& place) -> Result<void> {
    CallSetting& setting = call.setting;
    std::optional<std::string> front;
    call.input = json::object{};
    Mapping keys("a call");
    keys.optional("front", "", {}, one_of({"mcp", "http", "hook", "library", "agent"}, front));
    keys.optional("agent", "", {}, config::read_word(call.agent_id, 4'096));
    keys.optional("server", "", {}, config::read_word(call.server, 4'096));
    keys.required("tool", "", {}, config::read_word(call.tool, 4'096));
    keys.optional("input", "", {}, any_json(call.input));
    keys.optional("cwd", "", {}, maybe(config::read_text(setting.folder, 65'536)));
    keys.optional("workspace", "", {}, maybe(text_or_texts(setting.workspace)));
    keys.optional("session", "", {}, maybe(config::read_word(call.session_id, 4'096)));
    keys.optional("interactive", "", {}, config::read_truth(setting.interactive));
    SALLYPORT_CHECK_OK(keys.read(place));
    // Calls of a coding agent come through its hook. Its own tools belong to a server of its name.
    const bool coding_agent = effects::is_agent_profile(call.agent_id);
    setting.front = front.value_or(coding_agent ? "hook" : "mcp");
    if (call.server.empty() && setting.front == "hook") call.server = call.agent_id;
    if (call.server.empty() && setting.front == "agent") call.server = effects::kOwnAgentProfile;
    return {};
  };
}

ReadValue verdict(std::optional<CallVerdict>& out) {
  const std::vector<std::string_view> all = call_verdict_words();
  std::vector<std::string> words(all.begin(), all.end());
  return config::read_choice(words,
                             [words, &out](std::size_t at) { out = call_verdict_from(words[at]); });
}

ReadValue expected(CaseExpect& expect) {
  return [&expect](const Place& place) -> Result<void> {
    Mapping keys("what the call must lead to");
    keys.optional("verdict", "", {}, verdict(expect.verdict));
    keys.optional("rule", "", {}, name_or_none(expect.rule));
    keys.optional("decided_by", "", {}, [&expect](const Place& at) -> Result<void> {
      return name_at(expect.decided_by.emplace())(at);
    });
    keys.optional("class", "", {}, [&expect](const Place& at) -> Result<void> {
      return config::read_text(expect.effect_class.emplace(), 256)(at);
    });
    keys.optional("tier", "", {}, one_of(tier_words(), expect.tier));
    keys.optional(
        "tier_source", "", {},
        one_of({"agent_action_tiers", "agent_tiers", "action_tiers", "autonomy_tier", "tier",
                "dispatch_context", "default", "promotion", "demotion", "ceiling", "scope", "grant",
                "requires_human", "budget", "trust", "observe", "rule", "not_weighed"},
               expect.tier_source));
    keys.optional("input", "", {}, any_json(expect.input));
    keys.optional("result", "", {}, any_json(expect.result));
    keys.optional("result_rule", "", {}, name_or_none(expect.result_rule));
    keys.optional("asks", "", {}, any_json(expect.asks));
    keys.optional("hits", "", {}, names_at(expect.hits));
    keys.optional("logged", "", {}, names_at(expect.logged));
    SALLYPORT_CHECK_OK(keys.read(place));
    if (place.node.members.empty()) {
      return place.refuse("nothing is expected; name at least a `verdict`");
    }
    return {};
  };
}

Result<CallCase> read_one(const YamlNode& node, const std::string& file) {
  CallCase test_case{.file = file, .line = node.line, .column = node.column};
  std::string note, id, policy;
  Mapping keys("a case");
  keys.optional("name", "", {}, config::read_word(test_case.name, 4'096));
  keys.optional("id", "", {}, config::read_word(id, 4'096));
  keys.optional("note", "", {}, config::read_word(note, 65'536));
  keys.optional("policy", "", {}, config::read_text(policy, 8u << 20));
  keys.required("call", "", {}, call_members(test_case.call));
  keys.optional("given", "", {}, given_members(test_case.given));
  keys.optional("result", "", {}, any_json(test_case.result));
  keys.required("expect", "", {}, expected(test_case.expect));
  SALLYPORT_CHECK_OK(keys.read({node, file}));
  if (test_case.name.empty()) test_case.name = id;
  if (test_case.name.empty()) return Place{node, file}.refuse("`name` is missing");
  if (!policy.empty()) test_case.policy = std::move(policy);
  const bool wants_result = test_case.expect.result || test_case.expect.result_rule;
  if (wants_result && !test_case.result) {
    return Place{node, file}.refuse("`result` is missing: what the tool gives");
  }
  test_case.call.grants = test_case.given.grants;
  return test_case;
}

}  // namespace

std::string CallCase::place() const {
  return fmt::format("{}:{}:{}", file, line, column);
}

bool is_call_case(const YamlNode& node) {
  if (node.find("call") != nullptr || node.find("each") != nullptr) return true;
  constexpr std::string_view kOfGuardrails[] = {"stage", "text", "texts", "arguments"};
  return std::ranges::none_of(kOfGuardrails,
                              [&](std::string_view name) { return node.find(name) != nullptr; });
}

Result<std::vector<CallCase>> read_call_case(const YamlNode& node, const std::string& file) {
  const YamlNode* const each = node.find("each");
  std::vector<CallCase> all;
  if (each == nullptr) {
    SALLYPORT_TRY(CallCase test_case, read_one(node, file));
    all.push_back(std::move(test_case));
    return all;
  }
  SALLYPORT_TRY(const std::vector<CaseRow> rows, CaseRow::all_of(*each, file));
  YamlNode rest = node;
  std::erase_if(rest.members, [](const YamlMember& member) { return member.key.text == "each"; });
  for (const CaseRow& row : rows) {
    SALLYPORT_TRY(const YamlNode filled, row.fill_in(rest, file));
    SALLYPORT_TRY(CallCase test_case, read_one(filled, file));
    if (is_named(rest)) test_case.name += ": " + row.name();
    test_case.line = row.node().line;
    test_case.column = row.node().column;
    all.push_back(std::move(test_case));
  }
  return all;
}

}  // namespace sallyport::app
