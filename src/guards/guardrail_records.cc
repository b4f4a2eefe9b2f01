#include "guards/guardrail_records.h"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

namespace sallyport::guards {

namespace {

using guardrails::Coverage;
using guardrails::Evaluation;
using guardrails::Guardrails;

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
                                 Excerpts excerpts) {
  std::vector<Finding> findings;
  for (const Evaluation& evaluation : seen) {
    for (const guardrails::Hit& hit : evaluation.hits) {
      findings.push_back(finding_of(guardrails, hit, nullptr, 0, excerpts));
    }
  }
  return findings;
}

std::string first_label(const Evaluation& seen, guardrails::Action action) {
  const auto hit = std::ranges::find(seen.hits, action, &guardrails::Hit::action);
  return hit == seen.hits.end() ? std::string() : hit->check;
}

}  // namespace sallyport::guards
