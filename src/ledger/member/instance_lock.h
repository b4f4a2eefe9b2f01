// Who is alive. Each writing process holds a lock on a file named after its instance; the kernel
// lets go of it when the process ends, however it ends. No clock, no heartbeat, no false death.
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
  ~InstanceLock();  // lets go and removes the file

  // Removes the file of one that is dead.
  static bool alive(const std::filesystem::path& data_folder, const std::string& instance_id);
  // Those that are alive; the files of all others are removed.
  static std::size_t count_living(const std::filesystem::path& data_folder);

 private:
  InstanceLock(std::filesystem::path file, int fd) : file_(std::move(file)), fd_(fd) {}
  std::filesystem::path file_;
  int fd_;
};

}  // namespace sallyport::ledger
