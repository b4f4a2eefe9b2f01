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

// The last three are of rules that judge results (RU-62); `Log` is of both.
enum class Then { Allow, Ask, Deny, Log, Withhold, Redact, Escalate };
std::string_view to_string(Then then);
constexpr bool is_restrictive(Then then) {
  return then != Then::Allow;
}

// Lets other reviewers answer too after that time (RU-19).
struct PassOn {
  std::chrono::seconds after{};
  std::vector<std::string> to{};

  bool operator==(const PassOn&) const = default;
};

// What an `ask` rule wants of the approval (RU-18).
struct Asking {
  std::optional<std::uint64_t> quorum{};
  std::vector<std::string> reviewers{};  // empty: all registered approvers
  bool dual_control = false;
  std::optional<std::chrono::seconds> deadline{};
  std::optional<std::chrono::seconds> use_within{};
  bool reason_required = false;   // an approval without a reason does not count
  std::vector<PassOn> pass_on{};  // of each rule by itself: `narrow` does not join them

  // What both want together: as scopes that stand in each other (AT-14, AT-15). Reviewers that
  // exclude each other leave an impossible list, `nobody_left`.
  void narrow(const Asking& other);
  bool nobody_left = false;

  bool operator==(const Asking&) const = default;
};

// What `only` allows: constraints of the call, or conditions of each effect (RU-16).
struct Alternative {
  Conditions conditions{};
  std::vector<Argument> constraints{};
  bool is_list = false;  // of constraints
};

struct Example {
  json::value input{};  // a command line, or an input
  bool hits = true;
  std::string place{};
};

// What a rule looks for in a result; one of these must hold (RU-62).
struct ResultTest {
  bool any = false;
  std::vector<std::string> text{};             // patterns, as in guardrails
  std::vector<std::string> words{};            // as in a blocklist
  std::vector<std::string> detector{};         // of the sanitizer
  std::optional<std::uint64_t> larger_than{};  // bytes
  std::optional<bool> error{};
  std::vector<grants::Selector> at{};  // parts of the result; empty: all of it
  std::optional<std::string> replacement{};

  // True if it searches for something that can be removed by itself.
  bool finds_text() const { return !text.empty() || !words.empty() || !detector.empty(); }
};

struct Rule {
  std::string id{};
  Then then = Then::Deny;            // of a rule with `only`: what `otherwise` says
  std::vector<Conditions> when{};    // one of them; empty: always
  std::vector<Conditions> unless{};  // one of them; empty: never
  std::vector<Alternative> only{};
  std::optional<ResultTest> result{};  // none: it judges calls
  std::string message{};
  Asking asking{};
  bool escalate = false;
  std::optional<WallTime> expires{};
  std::vector<Example> examples{};
  std::string place{};   // file:line:column
  json::value source{};  // as written: part of the hash of the policy

  bool expired(WallTime now) const { return expires && now >= *expires; }
  bool has_only() const { return !only.empty(); }
};

// How specific a rule with `only` is: agent, then server, then tool named (RU-17).
unsigned rank_of(const Rule& rule);
// True if one call could match both.
bool can_meet(const Rule& a, const Rule& b);

}  // namespace sallyport::rules
