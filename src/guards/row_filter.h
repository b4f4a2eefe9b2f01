// Applies row limits to the content of a result, in place (PI-75 to PI-79).
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "guards/row_limits.h"
#include "sallyport/envelope.h"
#include "sallyport/json.h"

namespace sallyport::guards {

// Filters one envelope once.
class RowFilter {
 public:
  explicit RowFilter(const RowLimits& limits) : limits_(limits) {}

  void filter(Envelope& envelope);

  // A table in the result that the grant does not allow. If set, withhold the result.
  const std::optional<std::string>& refused_table() const { return refused_table_; }

  // `kept/total`; empty when no rows were seen.
  std::string rows() const;

 private:
  struct Count {
    std::uint64_t kept = 0;
    std::uint64_t total = 0;
    std::size_t values = 250'000;  // left to read from JSON texts; more are masked
  };

  void filter_content(json::value& value, Count& count);
  void filter_mcp(json::object& result, Count& count);
  void filter_block(json::value& block, Count& count);
  void filter_text(json::value& text, Count& count);
  bool filter_shape(json::value& value, Count& count);
  bool filter_table(json::object& table, Count& count);
  void filter_row(json::value& row, std::string_view table) const;
  void filter_inner_table(json::object& inner, std::string_view table) const;
  void filter_cells(json::array& cells, const json::array& columns, std::string_view table) const;
  void drop_rows(json::array& rows, Count& count) const;
  void check_tables(const json::object& object);
  void check_table(const json::value& name);

  const RowLimits& limits_;
  std::optional<std::string> refused_table_;
  Count rows_;
  Count structured_;  // repeats the content, so it has a separate count
};

}  // namespace sallyport::guards
