#include "rules/argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <compare>

#include "base/json_members.h"
#include "grants/delegation.h"

namespace sallyport::rules {

namespace {

// Compares without rounding: whole numbers are compared as whole numbers.
std::partial_ordering compared(const json::value& a, const json::value& b) {
  if (a.is_double() || b.is_double()) return a.to_number<double>() <=> b.to_number<double>();
  const bool a_low = a.is_int64() && a.get_int64() < 0;
  const bool b_low = b.is_int64() && b.get_int64() < 0;
  if (a_low && b_low) return a.get_int64() <=> b.get_int64();
  if (a_low != b_low) {
    return a_low ? std::partial_ordering::less : std::partial_ordering::greater;
  }
  return a.to_number<std::uint64_t>() <=> b.to_number<std::uint64_t>();
}

std::unexpected<Error> wrong_number() {
  return fail(ErrorCode::InvalidInput,
              "`arg_number` takes `{at, min?, max?}`, with a JSON Pointer in `at` and numbers in "
              "`min` and `max`");
}

}  // namespace

Result<Argument> Argument::of(Constraint constraint) {
  Argument made;
  made.constraint_ = std::move(constraint);
  const Constraint& stored = made.constraint_;
  if (stored.type != "arg_number") {
    made.condition_ = grants::Condition::of(stored);
    if (made.condition_.fault().empty()) return made;
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{:.80}`: {}", stored.type, made.condition_.fault()));
  }
  const json::object* const object = stored.value.if_object();
  const std::optional<std::string_view> at = object ? text_in(*object, "at") : std::nullopt;
  std::optional<grants::Selector> selector = at ? grants::Selector::parse(*at) : std::nullopt;
  if (!selector) return wrong_number();
  Number number{.at = std::move(*selector), .at_text = std::string(*at), .min = {}, .max = {}};
  for (const auto& member : *object) {
    const std::string_view name = member.key();
    if (name == "at") continue;
    if ((name != "min" && name != "max") || !member.value().is_number()) return wrong_number();
    (name == "min" ? number.min : number.max) = member.value();
  }
  if (number.min && number.max && compared(*number.min, *number.max) > 0) {
    return fail(ErrorCode::InvalidInput, "`min` of `arg_number` is above `max`, so no number fits");
  }
  made.number_ = std::move(number);
  return made;
}

bool Argument::in_range(const Call& call) const {
  const std::vector<const json::value*> found = number_->at.select(call.input);
  return !found.empty() && std::ranges::all_of(found, [&](const json::value* value) {
    return value->is_number() && (!number_->min || compared(*value, *number_->min) >= 0) &&
           (!number_->max || compared(*value, *number_->max) <= 0);
  });
}

effects::Match Argument::matches(const Call& call) const {
  using effects::Match;
  // `raw_input` is set if a double cannot hold a number of the input.
  const bool about_numbers = number_ || constraint_.type == "arg_equals";
  const bool holds =
      number_ ? in_range(call) : condition_.matches({.call = call, .effect_class = {}});
  if (call.raw_input && about_numbers) return Match::Unknown;
  return holds ? Match::Yes : Match::No;
}

bool Argument::implies(const Argument& other) const {
  if (!number_ || !other.number_) return grants::implies(constraint_, other.constraint_);
  const Number& own = *number_;
  const Number& wide = *other.number_;
  if (own.at_text != wide.at_text) return false;
  if (wide.min && (!own.min || compared(*own.min, *wide.min) < 0)) return false;
  return !wide.max || (own.max && compared(*own.max, *wide.max) <= 0);
}

std::string Argument::text() const {
  return fmt::format("{} {}", constraint_.type, canonical_json(constraint_.value));
}

}  // namespace sallyport::rules
