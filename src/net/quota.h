// Bounds how much memory peers make us hold, all together and each by itself. A peer that asks for
// much and waits long takes no room from others.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace sallyport::net {

// Copies count together. On a context with one thread.
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
  // What is kept for one thing, until this goes. May outlive the rest.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept;
    Share& operator=(Share&& other) noexcept;
    ~Share();

    // False: there is no room for so much; what was held stays held. One without a holder counts
    // nothing.
    bool grow_to(std::size_t amount);

   private:
    friend class Quota;
    Share(std::shared_ptr<State> state, std::string holder);
    void give_back();

    std::shared_ptr<State> state_;  // shared with the others that count together
    std::string holder_;
    std::size_t amount_ = 0;
  };

  Share share_of(std::string holder) const;  // of nothing yet

 private:
  std::shared_ptr<State> state_;  // shared with what is held
};

}  // namespace sallyport::net
