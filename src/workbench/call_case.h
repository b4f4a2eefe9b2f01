// Cases of `policy test` about whole calls: what a call must lead to (RU-75, WB-17..WB-20).
//
//   - name: a push waits for a person
//     call: {agent: claude-code, tool: Bash, input: {command: git push}, cwd: /w}
//     expect: {verdict: asks, rule: push}
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "config/yaml.h"
#include "sallyport/call.h"
#include "trust/standing.h"
#include "trust/tally.h"
#include "workbench/call_verdict.h"

namespace sallyport::app {

// The surroundings of the call. An unset value is empty, and never read from the machine.
struct CaseGiven {
  std::vector<std::string> files{};
  std::map<std::string, std::string> links{};
  std::vector<std::string> command{};    // that started the server
  std::optional<bool> read_only_hint{};  // of the server about the tool
  std::optional<bool> destructive_hint{};
  std::optional<WallTime> time{};
  std::map<std::string, trust::Standing> standings{};  // by agent; empty name: that of the call
  std::uint64_t used_in_hour = 0;                      // of the agent's autonomy budget
  std::uint64_t used_in_day = 0;
  std::uint64_t grant_used = 0;  // of each grant of the token
  std::vector<std::string> grants{};
  std::vector<std::pair<std::string, std::string>> held{};  // server (empty: of the call) and tool
  std::vector<std::string> revoked{};                       // ids of tokens
  std::map<std::string, trust::Tally> tallies{};            // as `standings`
};

// A text of the case and where it stands.
struct ExpectedName {
  std::string name{};
  std::string place{};
};

// No value: the case does not say.
struct CaseExpect {
  std::optional<CallVerdict> verdict{};
  std::optional<std::optional<ExpectedName>> rule{};  // no inner value: no rule decides
  std::optional<ExpectedName> decided_by{};
  std::optional<std::string> effect_class{};
  std::optional<std::string> tier{};
  std::optional<std::string> tier_source{};
  std::optional<json::value> input{};
  std::optional<json::value> result{};
  std::optional<std::optional<ExpectedName>> result_rule{};
  std::optional<json::value> asks{};  // true, false, or members of the approval
  std::optional<std::vector<ExpectedName>> hits{};
  std::optional<std::vector<ExpectedName>> logged{};
};

struct CallCase {
  std::string name{};
  std::string file{};
  int line = 1;
  int column = 1;
  std::optional<std::string> policy{};  // a shipped name, a file beside the cases, or YAML
  Call call{};
  CaseGiven given{};
  std::optional<json::value> result{};  // that the tool gives
  CaseExpect expect{};

  std::string place() const;
};

// True if this case is about a whole call, and not about guardrails.
bool is_call_case(const config::YamlNode& node);

// One case, or one for each row of its `each`. An error has `where` = file:line:column.
Result<std::vector<CallCase>> read_call_case(const config::YamlNode& node, const std::string& file);

}  // namespace sallyport::app
