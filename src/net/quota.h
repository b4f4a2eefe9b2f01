// Limits the memory that is held for peers, in total and for each peer. A peer that requests much
// and waits long takes no room from others.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace sallyport::net {

// Copies share one count. On a context with one thread.
class Quota {
 public:
  struct Limits {
    std::size_t all = 256u << 20;
    std::size_t each = 128u << 20;  // of one peer
  };
  Quota() : Quota(Limits{}) {}
  explicit Quota(Limits limits);

 private:
  struct State;

 public:
  // The memory of one object, counted until this is destroyed. May outlive the quota.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept;
    Share& operator=(Share&& other) noexcept;
    ~Share();

    // False: there is no room, and the amount stays as it was. A default-constructed share counts
    // nothing.
    bool grow_to(std::size_t amount);

   private:
    friend class Quota;
    Share(std::shared_ptr<State> state, std::string holder);
    void give_back();

    std::shared_ptr<State> state_;  // shared with all shares of the quota
    std::string holder_;
    std::size_t amount_ = 0;
  };

  Share share_of(std::string holder) const;  // of nothing yet

 private:
  std::shared_ptr<State> state_;  // shared with its shares
};

}  // namespace sallyport::net
