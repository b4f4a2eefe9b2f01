// A constraint on the input of a call: those of grants, and `arg_number` (RU-15).
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>

#include "effects/command_line.h"
#include "grants/constraint.h"
#include "grants/selector.h"
#include "sallyport/call.h"
#include "sallyport/json.h"
#include "sallyport/result.h"
#include "sallyport/scope.h"

namespace sallyport::rules {

class Argument {
 public:
  // `InvalidInput`: the type is unknown, or the value has the wrong form.
  static Result<Argument> of(Constraint constraint);

  // Unknown if the constraint is about numbers and the input has a number without an exact value.
  effects::Match matches(const Call& call) const;
  // True if `other` matches every call that this constraint matches.
  bool implies(const Argument& other) const;

  const Constraint& constraint() const { return constraint_; }
  std::string text() const;  // type and value

 private:
  struct Number {
    grants::Selector at;
    std::string at_text;
    std::optional<json::value> min;
    std::optional<json::value> max;
  };
  bool in_range(const Call& call) const;

  Constraint constraint_;
  std::optional<Number> number_;
  grants::Condition condition_;
};

}  // namespace sallyport::rules
