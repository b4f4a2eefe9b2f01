#include "base/loop_crew.h"

#include <boost/asio/post.hpp>
#include <system_error>

namespace sallyport {

namespace {

// The crew whose turn this thread has. Null inside an `Aside` and on threads without a crew.
thread_local LoopCrew* crew_of_this_thread = nullptr;

// A recently needed helper stays awake so long, so that not every wait has to wake one.
constexpr auto kStaysAwake = std::chrono::milliseconds(20);

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

// True: the thread keeps the turn, or got it back after another thread had it.
bool LoopCrew::gives_way(Role role) {
  const bool turn_wanted = returning_ > 0 || (role == Role::Helper && main_waits_);
  if (!turn_wanted) return true;
  taken_ = false;
  turn_.notify_all();
  if (role == Role::Helper) return false;
  main_waits_ = true;
  while (taken_ || returning_ > 0) turn_.wait(mutex_);
  main_waits_ = false;
  taken_ = true;
  return true;
}

// Must be called with the turn. When this returns, a helper no longer has it.
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
  const bool free = away_ > 0 && !taken_ && returning_ == 0 && !main_waits_;
  if (!free || over_ || loop_.stopped()) return false;
  return waits_are_long() || Steady::now() - left_ >= kShort;
}

void LoopCrew::help() {
  mutex_.lock();
  ++idle_;
  while (!over_) {
    if (may_take_over()) {
      taken_ = true;
      --idle_;
      mutex_.unlock();
      drive(Role::Helper);
      mutex_.lock();
      ++idle_;
    } else if (watched_ || Steady::now() - left_ > kStaysAwake) {
      vacant_.wait(mutex_);
    } else {
      watched_ = true;
      vacant_.wait_until(mutex_, Steady::now() + kShort);
      watched_ = false;
    }
  }
  mutex_.unlock();
}

// False: no thread could take over, so this thread keeps the turn.
bool LoopCrew::leave(Steady::time_point now) {
  const MutexLock lock(mutex_);
  if (idle_ == 0 && helpers_.size() >= kMostHelpers) return false;
  if (idle_ == 0 && helpers_.size() <= static_cast<std::size_t>(away_)) {
    try {
      helpers_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {
      return false;  // no further thread can be started
    }
  }
  ++away_;
  left_ = now;
  taken_ = false;
  if (returning_ > 0 || main_waits_) turn_.notify_all();
  if (waits_are_long() || !watched_) vacant_.notify_one();
  return true;
}

void LoopCrew::come_back(Steady::time_point left) {
  const MutexLock lock(mutex_);
  constexpr int kWeight = 8;
  usual_wait_ += (Steady::now() - left - usual_wait_) / kWeight;
  ++returning_;
  // Wakes the thread that runs the loop, which may sleep in it.
  if (taken_) boost::asio::post(loop_, [] {});
  while (taken_) turn_.wait(mutex_);
  taken_ = true;
  --returning_;
  --away_;
}

Aside::Aside() : crew_(crew_of_this_thread) {
  if (crew_ == nullptr) return;
  left_ = std::chrono::steady_clock::now();
  may_wait_ = crew_->leave(left_);
  if (may_wait_) {
    crew_of_this_thread = nullptr;
  } else {
    crew_ = nullptr;
  }
}

Aside::~Aside() {
  if (crew_ == nullptr) return;
  crew_->come_back(left_);
  crew_of_this_thread = crew_;
}

}  // namespace sallyport
