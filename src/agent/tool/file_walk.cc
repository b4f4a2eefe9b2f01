#include "agent/tool/file_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace sallyport::agent {

namespace {

constexpr std::size_t kDeepestFolder = 64;
constexpr std::size_t kMostEntries = 200'000;

class Folder {
 public:
  explicit Folder(int handle) : stream_(fdopendir(handle)) {
    if (stream_ == nullptr && handle >= 0) ::close(handle);
  }
  Folder(const Folder&) = delete;
  ~Folder() {
    if (stream_ != nullptr) closedir(stream_);
  }
  explicit operator bool() const { return stream_ != nullptr; }
  int handle() const { return dirfd(stream_); }
  // Sorted, without `.` and `..`; no more than `most`.
  std::vector<std::string> names(std::size_t most) {
    std::vector<std::string> all;
    while (all.size() < most) {
      const dirent* const entry = readdir(stream_);
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") all.emplace_back(name);
    }
    std::ranges::sort(all);
    return all;
  }

 private:
  DIR* stream_;
};

class Walk {
 public:
  Walk(const Roots& roots, const Found& start, const std::function<Step(const WalkEntry&)>& visit)
      : roots_(roots), start_(start), visit_(visit) {}

  // Takes the handle. False: stop.
  bool through(int handle, const std::string& below, std::size_t depth) {
    Folder folder(handle);
    if (!folder) return true;  // it went, or may not be read
    if (left_ == 0) return false;
    const std::vector<std::string> names = folder.names(left_);
    left_ -= names.size();
    for (const std::string& name : names) {
      const std::string path = below.empty() ? name : below + "/" + name;
      const std::string whole = start_.below.empty() ? path : start_.below + "/" + path;
      if (roots_.hidden(start_.root, whole)) continue;
      struct stat state{};
      if (fstatat(folder.handle(), name.c_str(), &state, AT_SYMLINK_NOFOLLOW) != 0) continue;
      const Step step = visit_({folder.handle(), name, path, state});
      if (step == Step::Stop) return false;
      if (step != Step::Enter || !S_ISDIR(state.st_mode) || depth >= kDeepestFolder) continue;
      const int inner =
          openat(folder.handle(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (inner >= 0 && !through(inner, path, depth + 1)) return false;
    }
    return left_ > 0;
  }

 private:
  const Roots& roots_;
  const Found& start_;
  const std::function<Step(const WalkEntry&)>& visit_;
  std::size_t left_ = kMostEntries;
};

}  // namespace

Result<bool> walk(const Roots& roots, const Found& start,
                  const std::function<Step(const WalkEntry&)>& visit) {
  const std::string link = fmt::format("/proc/self/fd/{}", start.handle.get());
  const int handle = ::open(link.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) {
    return fail(ErrorCode::Unavailable,
                fmt::format("`{:.200}` cannot be read: {}", start.path, std::strerror(errno)));
  }
  return Walk(roots, start, visit).through(handle, "", 0);
}

}  // namespace sallyport::agent
