// Snapshots of lists: the rows of a list are kept for a while after its first page, so that all its
// pages show the same rows while the log grows (CO-43).
#pragma once

#include <algorithm>
#include <boost/json/array.hpp>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "base/guarded.h"
#include "sallyport/json.h"

namespace sallyport::api {

// May be used from any thread.
class Snapshots {
 public:
  static constexpr std::size_t kMost = 64;
  using Rows = std::shared_ptr<const json::array>;

  // Stores rows under a name. If the name has rows, they stay.
  void keep(const std::string& name, const Rows& rows) {
    kept_.with([&](Kept& kept) {
      if (found(kept, name) != kept.end()) return;
      if (kept.size() == kMost) kept.pop_front();
      kept.emplace_back(name, rows);
    });
  }
  // Null: they are no longer kept.
  Rows find(const std::string& name) const {
    return kept_.with([&](const Kept& kept) {
      const auto place = found(kept, name);
      return place == kept.end() ? Rows() : place->second;
    });
  }

 private:
  using Kept = std::deque<std::pair<std::string, Rows>>;
  static Kept::const_iterator found(const Kept& kept, const std::string& name) {
    return std::ranges::find(kept, name, [](const auto& entry) { return entry.first; });
  }
  Guarded<Kept> kept_;
};

}  // namespace sallyport::api
