#include "terminal/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/try.h"

namespace sallyport::app {

namespace {

std::unexpected<Error> cannot_write(const std::string& name) {
  return fail(ErrorCode::Unavailable, std::string("cannot write: ") + std::strerror(errno), name);
}

class StandardOutput final : public Output {
 public:
  Result<void> write(std::string_view bytes) override {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return {};
    return cannot_write("standard output");
  }
  Result<void> finish() override { return finish_output(); }
};

class FileOutput final : public Output {
 public:
  // `temporary` is empty where the name is a device or a pipe and is written to directly.
  FileOutput(std::FILE* stream, std::filesystem::path file, std::filesystem::path temporary)
      : stream_(stream), file_(std::move(file)), temporary_(std::move(temporary)) {}
  ~FileOutput() override {
    if (stream_ == nullptr) return;
    std::fclose(stream_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  Result<void> write(std::string_view bytes) override {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stream_) == bytes.size()) return {};
    return cannot_write(file_.string());
  }

  Result<void> finish() override {
    const bool synced =
        std::fflush(stream_) == 0 && (temporary_.empty() || fsync(fileno(stream_)) == 0);
    if (!synced) return cannot_write(file_.string());
    if (!temporary_.empty() && ::rename(temporary_.c_str(), file_.c_str()) != 0) {
      return cannot_write(file_.string());
    }
    temporary_.clear();
    return {};
  }

 private:
  std::FILE* stream_;
  std::filesystem::path file_;
  std::filesystem::path temporary_;
};

}  // namespace

Result<std::unique_ptr<Output>> Output::open(const std::optional<std::filesystem::path>& file) {
  if (!file || *file == "-") return std::make_unique<StandardOutput>();
  struct stat status{};
  const bool exists = ::stat(file->c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::InvalidInput, "this is a folder; name a file", file->string());
  }
  const bool direct = exists && !S_ISREG(status.st_mode);
  const std::filesystem::path target =
      direct ? *file : std::filesystem::path(file->string() + fmt::format(".{}.partial", getpid()));
  const int fd = ::open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return cannot_write(file->string());
  return std::make_unique<FileOutput>(fdopen(fd, "w"), *file,
                                      direct ? std::filesystem::path{} : target);
}

Result<void> write_output(const std::optional<std::filesystem::path>& file,
                          std::string_view bytes) {
  SALLYPORT_TRY(const std::unique_ptr<Output> output, Output::open(file));
  SALLYPORT_CHECK_OK(output->write(bytes));
  return output->finish();
}

void print_line(std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
}

Result<void> finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return cannot_write("standard output");
  return {};
}

}  // namespace sallyport::app
