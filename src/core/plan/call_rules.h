// The rules of a policy, as the first door asks them. The plan carries them; core knows neither
// effects nor conditions.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sallyport/call.h"
#include "sallyport/classification.h"

namespace sallyport::core {

// Facts about an upstream that rules read.
struct UpstreamFacts {
  std::vector<std::string> command{};    // that this process started; empty: it started none
  std::optional<bool> read_only_hint{};  // what the server says of the tool
  bool definition_changed = false;       // since it was accepted (AT-26)
  bool remote_files = false;             // its files are on another machine (RU-42)
};

struct RuleQuestion {
  const Call& call;
  const UpstreamFacts& upstream;
  const std::vector<std::string>& workspace;  // of the session; empty: unknown (RU-36)
  WallTime now{};
};

// An item that a rule adds to the queue of escalations.
struct RuleItem {
  std::string rule{};
  std::string message{};
};

// Lets other reviewers answer too after that time (RU-19).
struct RulePassOn {
  std::string rule{};
  std::chrono::seconds after{};
  std::vector<std::string> to{};
};

struct RuleAnswer {
  enum class Verdict { Refused, Asks, Open, Allowed, Free };
  Verdict verdict = Verdict::Open;
  std::string rule{};     // the rule that decided; empty: none
  std::string place{};    // of that rule: file, line and column
  std::string text{};     // for the agent, if the call is refused or needs a person (RU-71)
  std::string message{};  // of that rule, which is the end of the text
  bool all_free = false;  // no effect is tiered, for any verdict
  // The classification by effects, if they say more than the name of the tool (RU-27, RU-29).
  std::optional<Classification> classification{};
  // Requirements of the approval beyond those of the plan (RU-18).
  std::vector<std::string> reviewers{};
  std::uint64_t quorum = 1;
  bool dual_control = false;
  bool no_reviewer_left = false;  // rules name reviewers that exclude each other
  std::optional<std::chrono::seconds> deadline{};
  std::optional<std::chrono::seconds> use_within{};
  bool reason_required = false;  // an approval without a reason does not count
  std::vector<RulePassOn> pass_on{};
  std::vector<RuleItem> items{};       // that rules add to the queue (RU-19)
  std::vector<std::string> expired{};  // rules that match nothing any more (RU-20)
  // Rules that judge the result, with the text for the agent if one withholds it (RU-62).
  std::vector<RuleItem> results{};
  json::object record{};  // `rules` of the record (RU-73)
};

// The result rules that apply to a call, as its first door found them.
struct ResultRules {
  std::vector<RuleItem> apply{};
};

// From any thread.
class CallRules {
 public:
  virtual ~CallRules() = default;
  virtual RuleAnswer judge(const RuleQuestion& question) const = 0;
  // True if some rules judge results.
  virtual bool judges_results() const { return false; }
  // Everything that decides, for the hash of the plan.
  virtual json::object dump() const = 0;
};

}  // namespace sallyport::core
