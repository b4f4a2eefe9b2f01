// Tokens whose form, signatures and delegation were found good, by the digest of all their bytes
// (CG-65). Nothing that depends on time, revocation or budget is kept here. For any thread.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "base/digest.h"
#include "base/guarded.h"
#include "grants/checks.h"

namespace sallyport::grants {

class TokenCache {
 public:
  explicit TokenCache(std::size_t most) : most_(most) {}

  std::shared_ptr<const Examined> find(const Hash& digest) {
    return kept_.with([&](Kept& kept) -> std::shared_ptr<const Examined> {
      const auto found = kept.by_digest.find(digest);
      if (found == kept.by_digest.end()) return nullptr;
      kept.order.splice(kept.order.begin(), kept.order, found->second);
      return found->second->second;
    });
  }

  // The one that nobody asked for longest makes room.
  void keep(const Hash& digest, std::shared_ptr<const Examined> token) {
    kept_.with([&](Kept& kept) {
      if (kept.by_digest.contains(digest)) return;
      kept.order.emplace_front(digest, std::move(token));
      kept.by_digest.emplace(digest, kept.order.begin());
      if (kept.order.size() <= most_) return;
      kept.by_digest.erase(kept.order.back().first);
      kept.order.pop_back();
    });
  }

  std::size_t size() const {
    return kept_.with([](const Kept& kept) { return kept.order.size(); });
  }

 private:
  using Order = std::list<std::pair<Hash, std::shared_ptr<const Examined>>>;
  struct Kept {
    Order order;
    std::map<Hash, Order::iterator> by_digest;
  };
  std::size_t most_;
  Guarded<Kept> kept_;
};

}  // namespace sallyport::grants
