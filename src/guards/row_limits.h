// The limits of the matched grant on rows, columns and tables (PI-73, PI-74).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"
#include "sallyport/result_context.h"

namespace sallyport::guards {

struct RowLimits {
  std::optional<std::uint64_t> max_rows{};                 // the smallest limit
  std::vector<std::string> denied_columns{};               // lower case, `column` or `table.column`
  std::vector<std::vector<std::string>> allowed_tables{};  // lower case; a table must be in each

  bool any() const { return max_rows || !denied_columns.empty() || !allowed_tables.empty(); }
  bool denies(std::string_view column, std::string_view table) const;
  bool allows_table(std::string_view table) const;
};

// `InvalidInput` names the missing field of the context or the constraint that cannot be read. Then
// nothing may be released.
Result<RowLimits> row_limits_of(const ResultContext& context);

}  // namespace sallyport::guards
