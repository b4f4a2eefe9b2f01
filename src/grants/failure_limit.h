// Limits how often a principal may present tokens that fail (CG-68). May be used from any thread.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/guarded.h"

namespace sallyport::grants {

class FailureLimit {
 public:
  struct Settings {
    std::size_t most = 100;
    std::chrono::seconds per{60};
    std::size_t principals = 4096;  // beyond that, the one with the oldest last failure is dropped
  };
  explicit FailureLimit(Settings settings) : settings_(settings) {}

  // True if the principal has used up its failures.
  bool reached(const std::string& principal, SteadyTime now);
  void note(const std::string& principal, SteadyTime now);

 private:
  using Failures = std::map<std::string, std::deque<SteadyTime>>;
  void forget_one(Failures& failures) const;

  Settings settings_;
  Guarded<Failures> failures_;
};

}  // namespace sallyport::grants
