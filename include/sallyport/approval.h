// A question to a person about one exact call, and the answer.
//
//   Result<Reply> answer(const Question& question) {
//     std::cout << question.description << '\n';
//     return Reply::approve("user:ada");
//   }
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <utility>

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
  std::string expires_at{};  // RFC 3339 in UTC; silence until then is a refusal
};

struct Reply {
  enum class Kind { Approved, Denied, Expired, Cancelled };

  Kind kind = Kind::Denied;
  std::string by{};      // who answered: an authenticated person, never the agent
  std::string reason{};  // of a refusal

  static Reply approve(std::string by) { return {Kind::Approved, std::move(by), {}}; }
  static Reply deny(std::string by, std::string reason = {}) {
    return {Kind::Denied, std::move(by), std::move(reason)};
  }

  bool operator==(const Reply&) const = default;
};

}  // namespace sallyport
