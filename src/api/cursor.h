// The position of the next page of a list. Opaque to clients. It is valid for one list only:
// another route, other filters or another size of the log make it invalid, so that no row is
// missing or repeated (CO-43).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/query.h"

namespace sallyport::api {

struct Cursor {
  std::uint64_t position = 0;
  std::uint64_t tree_size = 0;
  bool back = false;  // towards the beginning of the list

  bool operator==(const Cursor&) const = default;

  // `list` names the route. `cursor`, `limit` and `tree_size` are not filters: they only say where
  // to begin and how much to show.
  std::string text(std::string_view list, const Query& query) const;
  // `InvalidInput` with the cause `bad_cursor`.
  static Result<Cursor> parse(std::string_view text, std::string_view list, const Query& query);
};

}  // namespace sallyport::api
