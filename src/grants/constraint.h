// The conditions of a grant, ready to be put to calls (section 4 of the grants page).
#pragma once

#include <functional>
#include <string>

#include "sallyport/call.h"
#include "sallyport/classification.h"
#include "sallyport/scope.h"

namespace sallyport::grants {

// What constraints look at.
struct CallView {
  const Call& call;
  std::string_view effect_class;
  bool filters_rows = false;  // the hook `query-result` is in the pipeline of this tool
};

// One constraint, with everything about it done that does not depend on a call.
class Condition {
 public:
  using Test = std::function<bool(const CallView&)>;

  // Unknown types and values of the wrong form give one that matches nothing.
  static Condition of(const Constraint& constraint);

  bool matches(const CallView& view) const { return test_ && test_(view); }
  const std::string& type() const { return type_; }
  // Why it can never match; empty where it can.
  const std::string& fault() const { return fault_; }
  std::optional<Autonomy> ceiling() const { return ceiling_; }

 private:
  std::string type_;
  std::string fault_;
  Test test_;
  std::optional<Autonomy> ceiling_;
};

// May the answer of such a constraint depend on this text of the input? `arg_number` counts too.
bool looks_at(const Constraint& constraint, const json::value& input, const json::value& text);

std::optional<Autonomy> autonomy_from(std::string_view text);

}  // namespace sallyport::grants
