// Something that a program asks people and that is about no call, and what they said.
//
//   const Result<HumanAnswer> said =
//       engine->ask({.agent_id = "agent:me", .session_id = "s-1", .text = "Which branch?"});
//   if (said && said->kind == HumanAnswer::Kind::Answered) use(said->text);
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace sallyport {

struct HumanQuestion {
  std::string agent_id{};  // who asks, and so never answers
  std::string session_id{};
  std::string trace_id{};
  std::string text{};                            // at most 16 KiB
  std::string trigger_id{};                      // as in `Call`
  std::optional<std::chrono::seconds> within{};  // less than the policy's deadline, never more
};

// Words of a person. They were not judged by anything: what they become part of is for whoever
// asked to decide.
struct HumanAnswer {
  enum class Kind {
    Answered,
    Refused,    // somebody did not want it answered, or the answer does not count
    Expired,    // silence
    Cancelled,  // taken back
    Waiting,    // nobody has said anything yet
  };

  Kind kind = Kind::Waiting;
  std::string request_id{};
  std::string text{};  // the answer, or the reason of a refusal
  std::string by{};    // who answered

  bool operator==(const HumanAnswer&) const = default;
};

}  // namespace sallyport
