// The second door for what is no result of a call: lists, openings, log messages, questions of a
// server. It passes the same result guards.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "base/async.h"
#include "base/clock.h"
#include "core/fail_open.h"
#include "core/plan.h"
#include "core/recorder.h"

namespace sallyport::mcp {

struct Screened {
  bool blocked = false;
  bool changed = false;
  json::value value{};   // where it was changed
  std::string notice{};  // where it was blocked
};

class Screen {
 public:
  Screen(const core::PlanSource& plans, core::Recorder& recorder, const Clock& clock)
      : plans_(plans), recorder_(recorder), clock_(clock), fail_open_(recorder.instance_id()) {}

  // `what` is how guards know it: the name of a method.
  Async<Screened> pass(std::string what, json::value value);

 private:
  const core::PlanSource& plans_;
  core::Recorder& recorder_;
  const Clock& clock_;
  core::FailOpenLog fail_open_;
};

}  // namespace sallyport::mcp
