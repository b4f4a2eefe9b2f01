// The conditions of a grant, compiled for matching calls (docs/grants.md).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/call.h"
#include "sallyport/classification.h"
#include "sallyport/scope.h"

namespace sallyport::grants {

// The input of constraints.
struct CallView {
  const Call& call;
  std::string_view effect_class;
  bool filters_rows = false;  // the hook `query-result` is in the pipeline of this tool
};

// One constraint, compiled as far as possible without a call.
class Condition {
 public:
  using Test = std::function<bool(const CallView&)>;

  // An unknown type or a value of the wrong form gives a condition that matches nothing.
  static Condition of(const Constraint& constraint);

  bool matches(const CallView& view) const { return test_ && test_(view); }
  const std::string& type() const { return type_; }
  // Why it can never match; empty if it can.
  const std::string& fault() const { return fault_; }
  std::optional<Autonomy> ceiling() const { return ceiling_; }

 private:
  std::string type_;
  std::string fault_;
  Test test_;
  std::optional<Autonomy> ceiling_;
};

// True if `parent` allows everything that `child` allows (CG-28).
bool implies(const Constraint& child, const Constraint& parent);

// The types that a constraint can have.
std::vector<std::string_view> constraint_types();

// True if the constraint may depend on `text`, a text of `input`. Covers `arg_number` too.
bool looks_at(const Constraint& constraint, const json::value& input, const json::value& text);

std::optional<Autonomy> autonomy_from(std::string_view text);

}  // namespace sallyport::grants
