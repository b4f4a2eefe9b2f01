#include "base/loop_crew.h"

#include <boost/asio/post.hpp>

namespace sallyport {

namespace {

// Whose turn this thread has; null inside an `Aside`, and on threads of no crew.
thread_local LoopCrew* crew_of_this_thread = nullptr;

// A helper that was needed a moment ago looks by itself, so that not every wait has to wake one.
constexpr auto kStaysAwake = std::chrono::seconds(1);

}  // namespace

void LoopCrew::run() {
  {
    const MutexLock lock(mutex_);
    taken_ = true;
  }
  drive(Role::Main);
  std::vector<std::thread> helpers;
  {
    const MutexLock lock(mutex_);
    taken_ = false;
    over_ = true;
    turn_.notify_all();
    while (away_ > 0 || taken_) turn_.wait(mutex_);
    vacant_.notify_all();
    helpers = std::move(helpers_);
  }
  for (std::thread& helper : helpers) helper.join();
}

// True: the thread goes on with the turn; the loop may have been another thread's meanwhile.
bool LoopCrew::gives_way(Role role) {
  const bool asked = returning_ > 0 || (role == Role::Helper && main_waits_);
  if (!asked) return true;
  taken_ = false;
  turn_.notify_all();
  if (role == Role::Helper) return false;
  main_waits_ = true;
  while (taken_ || returning_ > 0) turn_.wait(mutex_);
  main_waits_ = false;
  taken_ = true;
  return true;
}

// Called with the turn. A helper has lost it when this returns.
void LoopCrew::drive(Role role) {
  crew_of_this_thread = this;
  while (true) {
    {
      const MutexLock lock(mutex_);
      if (!gives_way(role)) break;
    }
    if (loop_.run_one() > 0) continue;
    if (role == Role::Main) break;
    const MutexLock lock(mutex_);
    taken_ = false;
    turn_.notify_all();
    break;
  }
  crew_of_this_thread = nullptr;
}

bool LoopCrew::may_take_over() const {
  return away_ > 0 && !taken_ && returning_ == 0 && !main_waits_ && !over_ && !loop_.stopped() &&
         Steady::now() - left_ >= kShort;
}

void LoopCrew::help() {
  mutex_.lock();
  ++idle_;
  while (!over_) {
    if (Steady::now() - left_ > kStaysAwake) {
      vacant_.wait(mutex_);
    } else {
      vacant_.wait_until(mutex_, Steady::now() + kShort);
    }
    if (!may_take_over()) continue;
    taken_ = true;
    --idle_;
    mutex_.unlock();
    drive(Role::Helper);
    mutex_.lock();
    ++idle_;
  }
  mutex_.unlock();
}

// False: nobody could take over, and the turn is kept.
bool LoopCrew::leave() {
  const MutexLock lock(mutex_);
  if (idle_ == 0 && helpers_.size() >= kMostHelpers) return false;
  const Steady::time_point now = Steady::now();
  const bool asleep = now - left_ > kStaysAwake / 2;
  if (idle_ == 0 && helpers_.size() <= static_cast<std::size_t>(away_)) {
    helpers_.emplace_back([this] { help(); });
  }
  ++away_;
  left_ = now;
  taken_ = false;
  if (returning_ > 0 || main_waits_) turn_.notify_all();
  if (asleep) vacant_.notify_all();
  return true;
}

void LoopCrew::come_back() {
  const MutexLock lock(mutex_);
  ++returning_;
  // The thread that runs the loop may sleep in it.
  if (taken_) boost::asio::post(loop_, [] {});
  while (taken_) turn_.wait(mutex_);
  taken_ = true;
  --returning_;
  --away_;
}

Aside::Aside() : crew_(crew_of_this_thread) {
  if (crew_ == nullptr) return;
  may_wait_ = crew_->leave();
  if (may_wait_) {
    crew_of_this_thread = nullptr;
  } else {
    crew_ = nullptr;
  }
}

Aside::~Aside() {
  if (crew_ == nullptr) return;
  crew_->come_back();
  crew_of_this_thread = crew_;
}

}  // namespace sallyport
