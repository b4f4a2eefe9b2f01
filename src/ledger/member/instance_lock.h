// Shows which processes are alive. Each writing process holds a lock on a file named after its
// instance. The kernel releases it when the process ends, however it ends. It needs no clock.
#pragma once

#include <filesystem>
#include <string>

#include "sallyport/result.h"

namespace sallyport::ledger {

class InstanceLock {
 public:
  static Result<InstanceLock> take(const std::filesystem::path& data_folder,
                                   const std::string& instance_id);
  InstanceLock(InstanceLock&& other) noexcept;
  InstanceLock& operator=(InstanceLock&&) = delete;
  ~InstanceLock();  // releases the lock and removes the file

  // True if the instance is alive. Removes the file of a dead one.
  static bool alive(const std::filesystem::path& data_folder, const std::string& instance_id);
  // Counts the live instances, and removes the files of all others.
  static std::size_t count_living(const std::filesystem::path& data_folder);

 private:
  InstanceLock(std::filesystem::path file, int fd) : file_(std::move(file)), fd_(fd) {}
  std::filesystem::path file_;
  int fd_;
};

}  // namespace sallyport::ledger
