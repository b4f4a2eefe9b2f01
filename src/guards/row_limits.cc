#include "guards/row_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "base/lower_case.h"
#include "base/try.h"

namespace sallyport::guards {

namespace {

constexpr std::string_view kMaxRows = "max_rows_returned";
constexpr std::string_view kColumns = "column_denylist";
constexpr std::string_view kTables = "table_allowlist";

bool is_row_constraint(const Constraint& constraint) {
  return constraint.type == kMaxRows || constraint.type == kColumns || constraint.type == kTables;
}

std::unexpected<Error> unreadable(std::string_view type, std::string_view wanted) {
  return fail(ErrorCode::InvalidInput,
              fmt::format("constraint `{}` of the matched grant must be {}", type, wanted));
}

Result<std::vector<std::string>> names_in(const Constraint& constraint) {
  std::vector<std::string> names;
  const json::array* const array = constraint.value.if_array();
  if (array == nullptr) return unreadable(constraint.type, "an array of strings");
  for (const json::value& name : *array) {
    if (!name.is_string()) return unreadable(constraint.type, "an array of strings");
    names.push_back(lower_case(name.get_string()));
  }
  return names;
}

Result<void> add(RowLimits& limits, const Constraint& constraint) {
  if (constraint.type == kMaxRows) {
    const json::value& value = constraint.value;
    const bool whole = value.is_uint64() || (value.is_int64() && value.get_int64() >= 0);
    if (!whole) return unreadable(kMaxRows, "a whole number");
    const auto rows = value.to_number<std::uint64_t>();
    limits.max_rows = std::min(limits.max_rows.value_or(rows), rows);
    return {};
  }
  SALLYPORT_TRY(std::vector<std::string> names, names_in(constraint));
  if (constraint.type == kTables) {
    limits.allowed_tables.push_back(std::move(names));
  } else {
    std::ranges::move(names, std::back_inserter(limits.denied_columns));
  }
  return {};
}

std::unexpected<Error> lacking(std::string_view field) {
  return fail(ErrorCode::InvalidInput, fmt::format("the context lacks `{}`", field),
              std::string(field));
}

}  // namespace

Result<RowLimits> row_limits_of(const ResultContext& context) {
  if (!context.scope) return lacking("scope");
  const std::vector<Grant>& grants = context.scope->grants;
  if (!context.matched_grant_index) {
    const bool constrained = std::ranges::any_of(grants, [](const Grant& grant) {
      return std::ranges::any_of(grant.constraints, is_row_constraint);
    });
    if (constrained) return lacking("matched_grant_index");
    return RowLimits{};
  }
  if (*context.matched_grant_index >= grants.size()) {
    return fail(ErrorCode::InvalidInput, "`matched_grant_index` is outside of `scope`",
                "matched_grant_index");
  }
  RowLimits limits;
  for (const Constraint& constraint : grants[*context.matched_grant_index].constraints) {
    if (is_row_constraint(constraint)) SALLYPORT_CHECK_OK(add(limits, constraint));
  }
  return limits;
}

// If the result names no table, it may be the denied one.
bool RowLimits::denies(std::string_view column, std::string_view table) const {
  const std::string name = lower_case(column);
  const std::size_t dot = name.rfind('.');
  const std::string bare = dot == std::string::npos ? name : name.substr(dot + 1);
  const std::string owner = dot == std::string::npos ? lower_case(table) : name.substr(0, dot);
  return std::ranges::any_of(denied_columns, [&](const std::string& denied) {
    if (denied == name || denied == bare) return true;
    const std::size_t at = denied.rfind('.');
    if (at == std::string::npos || denied.substr(at + 1) != bare) return false;
    return owner.empty() || denied.substr(0, at) == owner;
  });
}

bool RowLimits::allows_table(std::string_view table) const {
  const std::string name = lower_case(table);
  return std::ranges::all_of(allowed_tables, [&](const std::vector<std::string>& allowed) {
    return std::ranges::find(allowed, name) != allowed.end();
  });
}

}  // namespace sallyport::guards
