// A question to a person about one exact call, and the person's reply.
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
#include <string_view>
#include <utility>
#include <vector>

#include "sallyport/json.h"
#include "sallyport/prepared.h"

namespace sallyport {

enum class QuestionKind {
  Approval,
  DualControl,  // two people must approve
  Question,     // not about a call; the reply has an answer in words
};
std::string_view to_string(QuestionKind kind);
std::optional<QuestionKind> question_kind_from(std::string_view word);

// A value. Exactly what the person sees and what the reply is bound to.
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
  std::string call_digest{};  // digest of tool, input, policy and principal; the reply binds it
  std::string policy_hash{};
  std::optional<Prepared> prepared{};
  std::string expires_at{};  // RFC 3339 in UTC; without a reply by then the call is refused
  QuestionKind kind = QuestionKind::Approval;
  std::string trace_id{};
  std::string action{};           // the side-effect class
  std::string tool_definition{};  // digest of the server's definition of the tool; empty: unknown
  std::string nonce{};            // fresh for each question
  std::string binding{};          // what a signature covers: `sha256:` and hex
  std::vector<std::string> reviewers{};  // who may reply; empty: every registered approver
  std::uint64_t approvers_required = 1;
  std::string requested_at{};
  bool proposal = false;  // no caller waits: the call runs by itself once it is approved
  // What the rules of the policy say: the `rule` that asks, its `place` and `message`, the
  // `effects` of the call and its `opaque` spans. Empty: the policy has no rules.
  json::object rules{};
  bool reason_required = false;  // an approval without a reason is rejected
  bool needs_human = false;      // no client, host or external approver may answer, and no batch
  std::string folder{};          // where relative paths of the call start; empty: unknown
  std::string on_behalf_of{};    // the user for whom the agent acts; empty: unknown
};

// A value. What the person said.
struct Reply {
  enum class Kind { Approved, Denied, Expired, Cancelled };

  Kind kind = Kind::Denied;
  std::string by{};              // the authenticated person who replied, never the agent
  std::string reason{};          // why the person approved or refused
  std::string door = "program";  // the way the reply came
  std::string binding{};         // if set, it must equal the binding of the question
  std::string responded_at{};    // RFC 3339; empty: now
  std::string signature{};       // by the approver's key, `ed25519:` and base64; empty: unsigned
  std::string answer{};          // the text; only for a question that is not about a call

  static Reply approve(std::string by) { return {.kind = Kind::Approved, .by = std::move(by)}; }
  static Reply deny(std::string by, std::string reason = {}) {
    return {.kind = Kind::Denied, .by = std::move(by), .reason = std::move(reason)};
  }

  bool operator==(const Reply&) const = default;
};

}  // namespace sallyport
