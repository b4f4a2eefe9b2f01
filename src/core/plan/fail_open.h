// Records the failures of guards that the plan lets fail open: two control entries bracket each
// interval of such calls (LE-71).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/guarded.h"
#include "core/record/draft.h"
#include "core/record/instances.h"

namespace sallyport::core {

// Shared by all calls of a Governor.
class FailOpenLog {
 public:
  // Receives a line for each case, for operators. Empty: the lines are dropped.
  using Log = std::function<void(std::string_view line)>;
  // `instances` names this process. On a log that several machines share the name changes after
  // they declared this process lost; they have ended the intervals of the old name.
  explicit FailOpenLog(const Instances& instances, Log log = {})
      : instances_(&instances), log_(std::move(log)) {}
  // For a caller that records nothing.
  explicit FailOpenLog(std::string instance_id, Log log = {})
      : instance_id_(std::move(instance_id)), log_(std::move(log)) {}

  // What has to be written with the call's record: control entries before it, facts with it.
  struct Share {
    std::vector<Draft> drafts;
    std::vector<Fact> facts;
  };
  void failed(const std::string& guard, const std::string& cause, Share& share);
  void worked(const std::string& guard, Share& share);

 private:
  struct Stretch {
    std::string instance;
    std::string cause;
    std::uint64_t calls = 0;
  };
  const std::string& instance() const {
    return instances_ ? instances_->instance_id() : instance_id_;
  }

  const Instances* instances_ = nullptr;
  std::string instance_id_;
  Log log_;
  Guarded<std::map<std::string, Stretch>> open_;
};

// The share of one call.
class FailOpen {
 public:
  explicit FailOpen(FailOpenLog& log) : log_(log) {}
  void failed(const std::string& guard, const std::string& cause) {
    log_.failed(guard, cause, share_);
  }
  void worked(const std::string& guard) { log_.worked(guard, share_); }
  void absorb(FailOpenLog::Share share) {
    for (Draft& draft : share.drafts) share_.drafts.push_back(std::move(draft));
    for (Fact& fact : share.facts) share_.facts.push_back(std::move(fact));
  }
  FailOpenLog::Share take() { return std::exchange(share_, {}); }
  // True: there is nothing to write.
  bool empty() const { return share_.drafts.empty() && share_.facts.empty(); }

 private:
  FailOpenLog& log_;
  FailOpenLog::Share share_;
};

}  // namespace sallyport::core
