// A question to a person about one exact call, and the answer.
//
//   Result<Reply> answer(const Question& question) {
//     std::cout << question.description << '\n';
//     return Reply::approve("user:ada");
//   }
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sallyport/json.h"
#include "sallyport/prepared.h"

namespace sallyport {

struct Question {
  std::string approval_id{};
  std::string call_id{};
  std::string tool_call_id{};
  std::string session_id{};
  std::string agent_id{};
  std::string server{};
  std::string tool{};
  std::string description{};
  json::value input{};        // exactly what will run
  std::string call_digest{};  // what the answer binds: tool, input, policy and principal
  std::string policy_hash{};
  std::optional<Prepared> prepared{};
  std::string expires_at{};       // RFC 3339 in UTC; silence until then is a refusal
  std::string kind = "approval";  // or dual_control, or question: about no call
  std::string trace_id{};
  std::string action{};           // the side-effect class
  std::string tool_definition{};  // digest of what the server says of the tool; empty: unknown
  std::string nonce{};            // fresh for each question
  std::string binding{};          // what a signed answer is about, `sha256:` and hex
  std::vector<std::string> reviewers{};  // empty: whoever is registered as approver
  std::uint64_t approvers_required = 1;
  std::string requested_at{};
  bool proposal = false;  // nobody holds the call: it runs by itself when approved
  // What the rules of the policy say: `rule` that asks, its `place` and `message`, the `effects` of
  // the call and its `opaque` spans. Empty: the policy has no rules.
  json::object rules{};
  bool reason_required = false;  // an approval without a reason is rejected
};

struct Reply {
  enum class Kind { Approved, Denied, Expired, Cancelled };

  Kind kind = Kind::Denied;
  std::string by{};              // who answered: an authenticated person, never the agent
  std::string reason{};          // of a refusal
  std::string door = "program";  // through which it came
  std::string binding{};         // refused where it is given and is not that of the question
  std::string responded_at{};    // RFC 3339; empty: now
  std::string signature{};       // of the approver's key, `ed25519:` and base64; empty: none
  std::string answer{};          // to a question that is about no call; others take none

  static Reply approve(std::string by) { return {.kind = Kind::Approved, .by = std::move(by)}; }
  static Reply deny(std::string by, std::string reason = {}) {
    return {.kind = Kind::Denied, .by = std::move(by), .reason = std::move(reason)};
  }

  bool operator==(const Reply&) const = default;
};

}  // namespace sallyport
