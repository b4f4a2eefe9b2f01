#include "net/quota.h"

#include <map>
#include <utility>

namespace sallyport::net {

struct Quota::State {
  Limits limits;
  std::size_t all = 0;
  std::map<std::string, std::size_t> each;
};

Quota::Quota(Limits limits) : state_(std::make_shared<State>(State{limits, 0, {}})) {}

Quota::Share Quota::share_of(std::string holder) const {
  return {state_, std::move(holder)};
}

Quota::Share::Share(std::shared_ptr<State> state, std::string holder)
    : state_(std::move(state)), holder_(std::move(holder)) {}

Quota::Share::Share(Share&& other) noexcept
    : state_(std::move(other.state_)),
      holder_(std::move(other.holder_)),
      amount_(std::exchange(other.amount_, 0)) {}

Quota::Share& Quota::Share::operator=(Share&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  state_ = std::move(other.state_);
  holder_ = std::move(other.holder_);
  amount_ = std::exchange(other.amount_, 0);
  return *this;
}

Quota::Share::~Share() {
  give_back();
}

bool Quota::Share::grow_to(std::size_t amount) {
  if (!state_ || amount <= amount_) return true;
  const std::size_t more = amount - amount_;
  const auto found = state_->each.find(holder_);
  const std::size_t own = found == state_->each.end() ? 0 : found->second;
  if (more > state_->limits.all - state_->all || own + more > state_->limits.each) return false;
  state_->all += more;
  state_->each[holder_] = own + more;
  amount_ = amount;
  return true;
}

void Quota::Share::give_back() {
  if (!state_ || amount_ == 0) return;
  state_->all -= amount_;
  const auto found = state_->each.find(holder_);
  found->second -= amount_;
  if (found->second == 0) state_->each.erase(found);
  amount_ = 0;
}

}  // namespace sallyport::net
