// A verdict is what a guard says about a call or a result. A guard advises; the engine acts.
//
//   Result<Verdict> judge(const Call& call, const GuardView&) {
//     if (call.tool == "delete") return Verdict::deny("nothing is deleted here", "fs.delete");
//     if (call.tool == "write") return Verdict::rewrite({{"path", "/tmp/x"}}, "kept in /tmp");
//     return Verdict::allow();
//   }
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

namespace core {
struct GrantUse;
}

// A finding becomes a ledger entry of its own, however the call ends.
struct Finding {
  json::object body{};
  std::string excerpt{};  // the text that was found; the entry commits to it but does not store it

  bool operator==(const Finding&) const = default;
};

// A value. Build it with one of the static functions.
struct Verdict {
  enum class Kind {
    Allow,
    Deny,      // before the call: it does not run; after the call: the result is withheld
    Rewrite,   // before: replaces the input; after: replaces the result by one of the same kind
    Ask,       // a person decides; only before the call
    Escalate,  // the call continues, and a person is notified
  };

  Kind kind = Kind::Allow;
  std::string reason{};  // of `Deny`, `Ask` and `Escalate`; people and the agent read it
  // `Rewrite`: the new input or result. `Deny` after the call: the text that the agent gets in
  // place of the result; null: `Result withheld by GUARD: REASON`.
  json::value value{};
  std::string rule{};      // the rule of the guard that decided; empty: the guard has no rules
  json::value evidence{};  // goes into the record; null: none
  // The text of `value`, set if a double cannot hold one of its numbers (ParsedJson::exact).
  std::optional<std::string> raw{};
  std::vector<Finding> findings{};
  // Set by the guard that checks grants. `Deny`: the presented token is genuine, but does not fit.
  std::shared_ptr<const core::GrantUse> grant{};

  static Verdict allow() { return {}; }
  static Verdict deny(std::string reason, std::string rule = {}) {
    return {Kind::Deny, std::move(reason), {}, std::move(rule), {}, {}, {}, {}};
  }
  static Verdict rewrite(json::value value, std::string reason = {}, std::string rule = {}) {
    return {Kind::Rewrite, std::move(reason), std::move(value), std::move(rule), {}, {}, {}, {}};
  }
  static Verdict ask(std::string description, std::string rule = {}) {
    return {Kind::Ask, std::move(description), {}, std::move(rule), {}, {}, {}, {}};
  }
  static Verdict escalate(std::string message, std::string rule = {}) {
    return {Kind::Escalate, std::move(message), {}, std::move(rule), {}, {}, {}, {}};
  }

  bool operator==(const Verdict&) const = default;
};

// Writes the verdict of a result guard as JSON, for a program whose result guards run in another
// process. `Ask` has no JSON form: after the call no person can be asked (PI-1).
Result<json::object> hook_verdict_to_json(const Verdict& verdict);

// Reads exactly the four shapes. `InvalidInput` names the member. A hook that answers with anything
// else has failed (PI-86).
Result<Verdict> hook_verdict_from_json(const json::value& value, std::string where = "verdict");

}  // namespace sallyport
