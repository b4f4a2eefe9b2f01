#include "external/host.h"

#include <thread>

namespace sallyport::external {

namespace {

// Each waits for one question at a time, and uses no processor meanwhile.
constexpr std::size_t kThreads = 32;

}  // namespace

Host::~Host() {
  // A thread of the pool cannot wait for itself.
  if (pool_ && pool_->get_executor().running_in_this_thread()) {
    std::thread([pool = std::move(pool_)] { pool->join(); }).detach();
  }
}

void Host::stop_logging() {
  const std::lock_guard lock(mutex_);
  settings_.log = {};
}

boost::asio::thread_pool& Host::pool() {
  const std::lock_guard lock(mutex_);
  if (!pool_) pool_ = std::make_unique<boost::asio::thread_pool>(kThreads);
  return *pool_;
}

void Host::log(std::string_view line) const {
  const std::lock_guard lock(mutex_);
  if (settings_.log) settings_.log(line);
}

}  // namespace sallyport::external
