// The name of this process run in the log. It changes only on a shared log, where a gateway that was
// declared lost joins again under a new one (SC-33). Any thread may use it.
#pragma once

#include <atomic>
#include <deque>
#include <string>

namespace sallyport::ledger {

class InstanceName {
 public:
  explicit InstanceName(std::string id) { renew(std::move(id)); }
  InstanceName(const InstanceName&) = delete;

  // Stays valid as long as the object, also after `renew`.
  const std::string& get() const { return *current_.load(std::memory_order_acquire); }

  // Called by one thread at a time.
  void renew(std::string id) {
    all_.push_back(std::move(id));
    current_.store(&all_.back(), std::memory_order_release);
  }

 private:
  std::deque<std::string> all_;
  std::atomic<const std::string*> current_ = nullptr;
};

}  // namespace sallyport::ledger
