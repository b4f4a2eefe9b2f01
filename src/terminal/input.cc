#include "terminal/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"

namespace sallyport::app {

Result<std::string> read_input(const std::filesystem::path& file, std::size_t most,
                               const InputBegun& begun) {
  const bool standard = file == "-";
  const Descriptor opened(standard ? -1 : ::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const int input = standard ? STDIN_FILENO : opened.get();
  const auto failure = [&] {
    const bool missing = errno == ENOENT;
    const std::string name = standard ? "standard input" : fmt::format("`{}`", file.string());
    return fail(
        missing ? ErrorCode::NotFound : ErrorCode::Unavailable,
        fmt::format("cannot read {}: {}", name, missing ? "no such file" : std::strerror(errno)),
        file.string(), "io");
  };
  if (input < 0) return failure();
  struct stat status{};
  if (::fstat(input, &status) == 0 && S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::InvalidInput, "this is a folder; name a file", file.string());
  }
  std::string content;
  while (content.size() < most) {
    constexpr std::size_t kChunk = 1u << 16;
    const std::size_t before = content.size();
    content.resize(before + std::min(kChunk, most - before));
    const ssize_t got = ::read(input, content.data() + before, content.size() - before);
    content.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure();
    if (got == 0) break;
    if (begun) begun(content);
  }
  return content;
}

Result<void> refuse_folder(const std::filesystem::path& file) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(file, unknown)) return {};
  return fail(ErrorCode::InvalidInput, "this is a folder; name a file", file.string());
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace sallyport::app
