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
#include "rules/condition.h"
#include "sallyport/json.h"

namespace sallyport::rules {

enum class Then { Allow, Ask, Deny, Log };
std::string_view to_string(Then then);
constexpr bool is_restrictive(Then then) {
  return then != Then::Allow;
}

// What an `ask` rule wants of the approval (RU-18).
struct Asking {
  std::optional<std::uint64_t> quorum{};
  std::vector<std::string> reviewers{};  // empty: whoever may
  bool dual_control = false;
  std::optional<std::chrono::seconds> deadline{};
  std::optional<std::chrono::seconds> use_within{};

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

struct Rule {
  std::string id{};
  Then then = Then::Deny;            // of a rule with `only`: what `otherwise` says
  std::vector<Conditions> when{};    // one of them; empty: always
  std::vector<Conditions> unless{};  // one of them; empty: never
  std::vector<Alternative> only{};
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
// Could one call be named by both?
bool can_meet(const Rule& a, const Rule& b);

}  // namespace sallyport::rules
