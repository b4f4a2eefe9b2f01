// A question of a program to people that is not about a call, and their answer.
//
//   const Result<HumanAnswer> answer =
//       engine->ask({.agent_id = "agent:me", .session_id = "s-1", .text = "Which branch?"});
//   if (answer && answer->kind == HumanAnswer::Kind::Answered) use(answer->text);
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace sallyport {

// A value. What `Engine::ask` takes.
struct HumanQuestion {
  std::string agent_id{};  // the agent that asks; it may never answer
  std::string session_id{};
  std::string trace_id{};
  std::string text{};                            // at most 16 KiB
  std::string trigger_id{};                      // as in `Call`
  std::optional<std::chrono::seconds> within{};  // shortens the policy's deadline, never extends it
};

// A value. The text comes from a person and no guard has judged it. The program that asked decides
// what to do with it.
struct HumanAnswer {
  enum class Kind {
    Answered,
    Refused,    // a person refused the question, or the answer does not count
    Expired,    // no answer came before the deadline
    Cancelled,  // the question was withdrawn
    Waiting,    // there is no answer yet
  };

  Kind kind = Kind::Waiting;
  std::string request_id{};
  std::string text{};  // the answer, or the reason of a refusal
  std::string by{};    // the person who answered

  bool operator==(const HumanAnswer&) const = default;
};

}  // namespace sallyport
