#include "guards/guardrail_records.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

namespace sallyport::guards {

namespace {

using guardrails::Coverage;
using guardrails::Evaluation;
using guardrails::Guardrails;

using Tool = std::optional<std::string_view>;

// The member name that a step of a JSON Pointer means.
std::string name_of(std::string_view step) {
  std::string name;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const bool escaped = step[i] == '~' && i + 1 < step.size();
    name += !escaped ? step[i] : step[++i] == '0' ? '~' : '/';
  }
  return name;
}

bool finds(const Guardrails& guardrails, const guardrails::Request& request) {
  return std::ranges::any_of(guardrails.evaluate(request).hits, [](const guardrails::Hit& hit) {
    return hit.rule_type != guardrails::CheckType::ToolPattern;  // which finds the tool's name
  });
}

// The names in a path are those of an agent or a server. The recorded path ends above a name in
// which a check finds something, which no record may hold (GR-56), and has the room that an entry
// has. It has whole names only: half a name might be half a secret.
std::string recorded_path(const Guardrails& guardrails, guardrails::Stage stage, Tool tool,
                          std::string_view path) {
  constexpr std::size_t kLongestPath = 2000;
  constexpr std::size_t kLongestIndex = 3;  // a place in a list says nothing
  std::size_t kept = 0;
  while (kept < path.size()) {
    const std::size_t end = std::min(path.find('/', kept + 1), path.size());
    if (end > kLongestPath) break;
    const std::string name = name_of(path.substr(kept + 1, end - kept - 1));
    const bool index = name.size() <= kLongestIndex &&
                       std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    if (!index && finds(guardrails, {.stage = stage, .text = name, .tool = tool})) break;
    kept = end;
  }
  return std::string(path.substr(0, kept));
}

// A check that ran on one part of a result counts as run.
std::vector<Coverage> covered(const std::vector<Evaluation>& seen) {
  std::vector<Coverage> all = seen.front().coverage;
  for (const Evaluation& evaluation : seen) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!evaluation.coverage[i].skipped) all[i].skipped.reset();
      all[i].decode_truncated |= evaluation.coverage[i].decode_truncated;
    }
  }
  return all;
}

}  // namespace

json::object evidence_of(const Guardrails& guardrails, const std::vector<Evaluation>& seen) {
  json::array ran;
  json::object skipped;
  json::array truncated;
  for (const Coverage& coverage : covered(seen)) {
    if (coverage.decode_truncated) truncated.push_back(json::value(coverage.check));
    if (!coverage.skipped) {
      ran.push_back(json::value(coverage.check));
      continue;
    }
    json::value& list = skipped[*coverage.skipped];
    if (list.is_null()) list = json::array();
    list.get_array().push_back(json::value(coverage.check));
  }
  json::object evidence{{"config_hash", guardrails.document().config_hash},
                        {"generation", guardrails.generation()},
                        {"ran", std::move(ran)},
                        {"skipped", std::move(skipped)}};
  if (!truncated.empty()) evidence["decode_truncated"] = std::move(truncated);
  for (const Evaluation& evaluation : seen) {
    if (!evaluation.decision) continue;
    evidence["decision"] = json::object{{"check", evaluation.decision->check},
                                        {"reason_code", evaluation.decision->reason_code},
                                        {"replacement", evaluation.decision->replacement}};
    break;
  }
  return evidence;
}

Finding finding_of(const Guardrails& guardrails, const guardrails::Hit& hit,
                   const json::value& channel, std::uint64_t released_bytes, Excerpts excerpts) {
  Finding finding{.body = to_json(hit), .excerpt = hit.matched.value_or("")};
  finding.body.erase("matched");
  finding.body["at"] = hit.at ? json::value(*hit.at) : json::value();
  finding.body["channel"] = channel;
  finding.body["released_bytes"] = released_bytes;
  finding.body["config_hash"] = guardrails.document().config_hash;
  finding.body["generation"] = guardrails.generation();
  const bool taken_out = hit.action == guardrails::Action::Redact;
  if (excerpts == Excerpts::Kept && hit.matched && !taken_out) {
    finding.body["excerpt"] = std::exchange(finding.excerpt, {});
  }
  return finding;
}

std::vector<Finding> findings_of(const Guardrails& guardrails, const std::vector<Evaluation>& seen,
                                 Excerpts excerpts, Tool tool) {
  std::vector<Finding> findings;
  std::map<std::string, std::string> paths;  // many checks may hit in one place
  for (const Evaluation& evaluation : seen) {
    for (const guardrails::Hit& hit : evaluation.hits) {
      findings.push_back(finding_of(guardrails, hit, nullptr, 0, excerpts));
      if (!hit.path) continue;
      const auto [recorded, fresh] = paths.try_emplace(*hit.path);
      if (fresh) recorded->second = recorded_path(guardrails, hit.stage, tool, *hit.path);
      findings.back().body["path"] = recorded->second;
    }
  }
  return findings;
}

std::string first_label(const Evaluation& seen, guardrails::Action action) {
  const auto hit = std::ranges::find(seen.hits, action, &guardrails::Hit::action);
  return hit == seen.hits.end() ? std::string() : hit->check;
}

}  // namespace sallyport::guards
