// Caches findings about immutable bytes by their digest (CG-65). Findings must not depend on time,
// revocation or budget. May be used from any thread.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <utility>

#include "base/digest.h"
#include "base/guarded.h"

namespace sallyport::grants {

template <class Finding>
class DigestCache {
 public:
  explicit DigestCache(std::size_t most) : most_(most) {}

  std::optional<Finding> find(const Hash& digest) {
    return kept_.with([&](Kept& kept) -> std::optional<Finding> {
      const auto found = kept.by_digest.find(digest);
      if (found == kept.by_digest.end()) return std::nullopt;
      kept.order.splice(kept.order.begin(), kept.order, found->second);
      return found->second->second;
    });
  }

  // If the cache is full, the least recently used entry is dropped.
  void keep(const Hash& digest, Finding finding) {
    kept_.with([&](Kept& kept) {
      if (kept.by_digest.contains(digest)) return;
      kept.order.emplace_front(digest, std::move(finding));
      kept.by_digest.emplace(digest, kept.order.begin());
      if (kept.order.size() <= most_) return;
      kept.by_digest.erase(kept.order.back().first);
      kept.order.pop_back();
    });
  }

 private:
  using Order = std::list<std::pair<Hash, Finding>>;
  struct Kept {
    Order order;
    std::map<Hash, typename Order::iterator> by_digest;
  };
  std::size_t most_;
  Guarded<Kept> kept_;
};

}  // namespace sallyport::grants
