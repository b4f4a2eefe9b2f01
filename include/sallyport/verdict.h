// What a guard says about a call or a result. A guard advises; the Governor acts.
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

// Something a guard found that shall be an entry of its own, whatever became of the call.
struct Finding {
  json::object body{};
  std::string excerpt{};  // what was found: committed to, never stored

  bool operator==(const Finding&) const = default;
};

struct Verdict {
  enum class Kind {
    Allow,
    Deny,      // before the call: it does not run; after it: the result is withheld
    Rewrite,   // before: another input; after: another result, of the same kind of envelope
    Ask,       // a person decides; only before the call
    Escalate,  // goes on, and a person is told
  };

  Kind kind = Kind::Allow;
  std::string reason{};  // of a deny, an ask, an escalation; for people, and for the agent
  // Of a rewrite. Of a deny after the call: a text that the agent gets in place of the result;
  // null: `Result withheld by GUARD: REASON`.
  json::value value{};
  std::string rule{};      // which rule of the guard decided; empty where it has none
  json::value evidence{};  // what the record shall hold about it; null for nothing
  // The text of `value` where a double cannot hold one of its numbers (ParsedJson::exact).
  std::optional<std::string> raw{};
  std::vector<Finding> findings{};
  std::shared_ptr<const core::GrantUse> grant{};  // of the guard that looks at grants

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

// What a hook after the call says, as JSON: for a program whose hooks run in another process
// (PI-1). `Ask` has no form: nobody can be asked any more.
Result<json::object> hook_verdict_to_json(const Verdict& verdict);

// Exactly the four shapes. `InvalidInput` names the member; a hook that answers anything else has
// failed (PI-86).
Result<Verdict> hook_verdict_from_json(const json::value& value, std::string where = "verdict");

}  // namespace sallyport
