#include "external/host.h"

#include <thread>

namespace sallyport::external {

namespace {

// Each thread waits for one question at a time.
constexpr std::size_t kThreads = 32;

}  // namespace

Host::~Host() {
  // A thread of the pool cannot wait for itself.
  if (pool_ && pool_->get_executor().running_in_this_thread()) {
    std::thread([pool = std::move(pool_)] { pool->join(); }).detach();
  }
}

void Host::stop_logging() {
  const MutexLock lock(mutex_);
  log_ = {};
}

boost::asio::thread_pool& Host::pool() {
  const MutexLock lock(mutex_);
  if (!pool_) pool_ = std::make_unique<boost::asio::thread_pool>(kThreads);
  return *pool_;
}

void Host::log(std::string_view line) const {
  const MutexLock lock(mutex_);
  if (log_) log_(line);
}

}  // namespace sallyport::external
