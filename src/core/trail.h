// Everything that is known about one call while it runs. Owned by the Governor's run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/keyed_digest.h"
#include "core/fail_open.h"
#include "core/plan.h"
#include "core/recorder.h"

namespace sallyport::core {

// One guard, once (AU-12).
struct GuardRun {
  std::string guard;
  Stage stage = Stage::ToolUse;
  unsigned pass = 1;
  std::string verdict;
  std::string rule{};
  std::string why{};
  json::value evidence{};
  std::uint64_t duration_us = 0;

  json::object to_json() const;
};

// Why a call does not run.
struct Refusal {
  std::string reason;
  std::string guard{};   // empty: the plan itself
  bool by_hook = false;  // a pre-execution hook, which words its answer differently
};

class Trail {
 public:
  // `call` has its ids. Classifies it under the plan.
  Trail(Call call, std::shared_ptr<const Plan> plan, const KeyedDigest& digest,
        FailOpenLog& fail_open);

  const Call& call() const { return call_; }
  const Plan& plan() const { return *plan_; }
  const Classification& classification() const { return classification_; }
  const json::value& requested_input() const { return requested_input_; }

  bool open() const { return !refusal_; }
  const std::optional<Refusal>& refusal() const { return refusal_; }
  void refuse(Refusal refusal);  // the first one stays

  void replace_input(json::value input);

  std::string digest(std::string_view text) const { return digest_(text); }
  const std::string& request_digest() const { return request_digest_; }
  std::string call_digest() const;  // of the input as it is now

  // What guards handed back does not fit into one entry: the record goes without it.
  void forget_evidence();

  std::vector<GuardRun> guard_runs;
  std::vector<std::string> escalations;
  std::optional<std::string> question;  // a guard wants a person to be asked
  Autonomy autonomy;
  std::string autonomy_source = "plan";
  FailOpen fail_open;

  Subject subject() const;

 private:
  Call call_;
  std::shared_ptr<const Plan> plan_;
  const KeyedDigest& digest_;
  Classification classification_;
  json::value requested_input_;
  std::string request_digest_;
  std::optional<Refusal> refusal_;
};

}  // namespace sallyport::core
