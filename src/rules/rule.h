// One rule of a policy (RU-13..RU-22).
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "grants/selector.h"
#include "rules/condition.h"
#include "sallyport/json.h"

namespace sallyport::rules {

// The last three are for rules that judge results (RU-62). `Log` is for both kinds.
enum class Then { Allow, Ask, Deny, Log, Withhold, Redact, Escalate };
std::string_view to_string(Then then);
constexpr bool is_restrictive(Then then) {
  return then != Then::Allow;
}

// After this time, other reviewers may answer too (RU-19).
struct PassOn {
  std::chrono::seconds after{};
  std::vector<std::string> to{};

  bool operator==(const PassOn&) const = default;
};

// What an `ask` rule requires of the approval (RU-18).
struct ApprovalTerms {
  std::optional<std::uint64_t> quorum{};
  std::vector<std::string> reviewers{};  // empty: all registered approvers
  bool dual_control = false;
  std::optional<std::chrono::seconds> deadline{};
  std::optional<std::chrono::seconds> use_within{};
  bool reason_required = false;   // an approval without a reason does not count
  std::vector<PassOn> pass_on{};  // of this rule only: `narrow` does not merge them

  // Adds the requirements of `other`, as nested scopes do (AT-14, AT-15). If the lists of reviewers
  // have no one in common, `no_reviewer_left` is set.
  void narrow(const ApprovalTerms& other);
  bool no_reviewer_left = false;

  bool operator==(const ApprovalTerms&) const = default;
};

// One alternative of `only`: constraints on the call, or conditions on each effect (RU-16).
struct Alternative {
  Conditions conditions{};
  std::vector<Argument> constraints{};
  bool is_list = false;  // true: `constraints`, false: `conditions`
};

struct Example {
  json::value input{};  // a command line, or the input of a call
  bool hits = true;
  std::string place{};
};

// The test of a result. One of these must hold (RU-62).
struct ResultTest {
  bool any = false;
  std::vector<std::string> text{};             // regular expressions, as in guardrails
  std::vector<std::string> words{};            // as in a blocklist
  std::vector<std::string> detector{};         // of the sanitizer
  std::optional<std::uint64_t> larger_than{};  // bytes
  std::optional<bool> error{};
  std::vector<grants::Selector> at{};  // parts of the result; empty: all of it
  std::optional<std::string> replacement{};

  // True if it searches for text that can be removed from the result.
  bool finds_text() const { return !text.empty() || !words.empty() || !detector.empty(); }
};

struct Rule {
  std::string id{};
  Then then = Then::Deny;            // for a rule with `only`: its `otherwise`
  std::vector<Conditions> when{};    // one must hold; empty: always
  std::vector<Conditions> unless{};  // one must hold; empty: never
  std::vector<Alternative> only{};
  std::optional<ResultTest> result{};  // no value: the rule judges calls
  std::string message{};
  ApprovalTerms asking{};
  bool escalate = false;
  std::optional<WallTime> expires{};
  std::vector<Example> examples{};
  std::string place{};   // file:line:column
  json::value source{};  // as written; part of the policy's hash

  bool expired(WallTime now) const { return expires && now >= *expires; }
  bool has_only() const { return !only.empty(); }
};

// How specific a rule with `only` is: a named agent counts most, then server, then tool (RU-17).
unsigned rank_of(const Rule& rule);
// True if one call could match both rules.
bool can_meet(const Rule& a, const Rule& b);

}  // namespace sallyport::rules
