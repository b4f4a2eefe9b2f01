// One entry of `external:` in a policy: a program or an address outside of Sallyport that is asked
// about calls, results or approval requests, or receives events or records (RU-64).
#pragma once

#include <array>
#include <boost/json/value.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/rule.h"
#include "sallyport/json.h"

namespace sallyport::external {

enum class Kind { Guard, Rewriter, Authorizer, Result, Events, Sink, Approver };
inline constexpr std::array<std::string_view, 7> kKinds = {
    "guard", "rewriter", "authorizer", "result", "events", "sink", "approver"};
constexpr std::string_view to_string(Kind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

inline constexpr std::chrono::milliseconds kUsualDeadline{2'000};
inline constexpr std::chrono::milliseconds kLongestDeadline{30'000};
inline constexpr std::size_t kLargestAnswer = 1u << 20;

struct Entry {
  std::string id{};
  Kind kind = Kind::Guard;
  std::vector<std::string> command{};  // the program by its absolute path, and its arguments
  std::string url{};                   // empty: it is a command
  rules::Rule when{};                  // its conditions alone; without any it is always asked
  std::chrono::milliseconds deadline = kUsualDeadline;
  bool fails_open = false;
  bool sees_input = false;                                        // else a redacted preview
  std::vector<std::string> env{};                                 // names of variables
  std::vector<std::pair<std::string, std::string>> header_env{};  // header, name of a variable
  bool serves = false;   // the process keeps running (RU-70)
  std::string place{};   // of `command` or `url`: file:line:column
  json::value source{};  // as written: part of the hash of the policy

  // In records, and where the plan names guards: never the name of a shipped guard.
  std::string name() const { return "external:" + id; }
  // True if it decides whether a call runs.
  bool decides_calls() const {
    return kind == Kind::Guard || kind == Kind::Rewriter || kind == Kind::Authorizer;
  }
};

}  // namespace sallyport::external
