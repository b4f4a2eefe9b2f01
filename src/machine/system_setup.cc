#include "machine/system_setup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestSystemFile = 1u << 16;

std::string place_of_file() {
  return fmt::format("{}/{}", SystemSetup::kFolder, SystemSetup::kFile);
}

std::unexpected<Error> not_believed(std::string_view why) {
  return fail(
      ErrorCode::Unauthenticated,
      fmt::format("the system set-up of this machine cannot be believed: {}; run `sallyport "
                  "setup --system` as root again",
                  why),
      place_of_file());
}

// Also inside a user namespace, where root of the machine is not root.
Result<void> check_root_owns(int descriptor, mode_t type) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return not_believed(std::strerror(errno));
  if ((status.st_mode & S_IFMT) != type) return not_believed("it is of the wrong type");
  if (status.st_uid != 0 || (status.st_mode & 022) != 0) {
    return not_believed("others than root can write it");
  }
  return {};
}

Result<std::string> read_whole(int descriptor) {
  std::string text(kLargestSystemFile + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(descriptor, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return not_believed(std::strerror(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kLargestSystemFile) return not_believed("it is too large");
  text.resize(size);
  return text;
}

}  // namespace

std::string to_text(const SystemSetup& setup) {
  return json::serialize(json::object{{"version", 1},
                                      {"service_user", setup.service_user},
                                      {"service_uid", setup.service_uid},
                                      {"socket_dir", setup.socket_dir.string()},
                                      {"data_dir", setup.data_dir.string()},
                                      {"config", setup.config.string()}}) +
         "\n";
}

Result<SystemSetup> system_setup_in(std::string_view text) {
  const Result<ParsedJson> parsed = parse_json(text);
  const json::object* const object = parsed ? parsed->value.if_object() : nullptr;
  if (object == nullptr) return not_believed("it is not a JSON object");
  const auto user = text_in(*object, "service_user");
  const auto uid = number_in(*object, "service_uid");
  const auto sockets = text_in(*object, "socket_dir");
  const auto data = text_in(*object, "data_dir");
  const auto config = text_in(*object, "config");
  const bool whole = number_in(*object, "version") == 1 && user && uid && sockets && data && config;
  if (!whole || *uid < 0 || *uid >= 0xffffffff) return not_believed("it lacks what belongs there");
  return SystemSetup{.service_user = std::string(*user),
                     .service_uid = static_cast<unsigned>(*uid),
                     .socket_dir = *sockets,
                     .data_dir = *data,
                     .config = *config};
}

Result<std::optional<SystemSetup>> system_setup() {
  const Descriptor folder(
      ::open(SystemSetup::kFolder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.get() < 0 && errno == ENOENT) return std::nullopt;
  if (folder.get() < 0) return not_believed(std::strerror(errno));
  const Descriptor file(
      ::openat(folder.get(), SystemSetup::kFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0 && errno == ENOENT) return std::nullopt;
  if (file.get() < 0) return not_believed(std::strerror(errno));
  SALLYPORT_CHECK_OK(check_root_owns(folder.get(), S_IFDIR));
  SALLYPORT_CHECK_OK(check_root_owns(file.get(), S_IFREG));
  SALLYPORT_TRY(const std::string text, read_whole(file.get()));
  SALLYPORT_TRY(SystemSetup setup, system_setup_in(text));
  return setup;
}

}  // namespace sallyport::app
