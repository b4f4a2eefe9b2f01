#include "net/unix_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptor.h"
#include "base/try.h"

namespace sallyport::net {

namespace {

constexpr int kBacklog = 64;
constexpr std::size_t kSocketPiece = 1u << 16;

std::unexpected<Error> failed(ErrorCode code, std::string_view problem, int error = errno) {
  return fail(code, fmt::format("{}: {}", problem, std::strerror(error)));
}

// The folder is checked and used by the same descriptor, so it cannot be replaced in between.
Result<int> open_folder(const std::filesystem::path& folder, Reach reach, uid_t owner) {
  Descriptor opened(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0) return failed(ErrorCode::Unavailable, "the folder cannot be entered");
  struct stat status{};
  if (::fstat(opened.get(), &status) != 0) {
    return failed(ErrorCode::Unavailable, "the folder cannot be looked at");
  }
  const mode_t others = reach == Reach::Private ? 077 : 022;
  if (status.st_uid == owner && (status.st_mode & others) == 0) return opened.release();
  if (reach == Reach::Private) {
    return fail(ErrorCode::Unauthenticated,
                "others may enter the folder of the socket; `chmod 700` it", folder.string());
  }
  return fail(
      ErrorCode::Unauthenticated,
      fmt::format("the folder of the socket belongs to uid {} with mode {:o}; it must belong "
                  "to uid {} and others must not write in it",
                  status.st_uid, status.st_mode & 07777, owner),
      folder.string());
}

// A process of this user leaves only a socket of this user. Anything else came from others.
Result<void> check_name(int folder, const std::string& name, const std::filesystem::path& where) {
  struct stat status{};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (S_ISSOCK(status.st_mode) && status.st_uid == ::geteuid()) return {};
  return fail(
      ErrorCode::Unauthenticated,
      fmt::format("the path of the socket is taken by a file of another kind or user (uid {}); "
                  "find out where it comes from, then remove it",
                  status.st_uid),
      where.string());
}

// Names the socket through the descriptor, because an address has room for only 107 bytes.
sockaddr_un address_in(int folder, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", folder, name);
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
  return address;
}

int new_socket() {
  return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

Result<int> connected(int folder, const std::string& name) {
  Descriptor socket(new_socket());
  const sockaddr_un address = address_in(folder, name);
  if (socket.get() < 0 ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address)) {
    // A process listens, and its queue is full.
    const bool busy = errno == EAGAIN;
    return failed(busy ? ErrorCode::Exhausted : ErrorCode::Unavailable, "cannot connect");
  }
  return socket.release();
}

}  // namespace

std::string frame_head(std::size_t size) {
  std::string head(kFrameHead, '\0');
  for (std::size_t i = kFrameHead; i-- > 0; size >>= 8) head[i] = static_cast<char>(size & 0xff);
  return head;
}

std::size_t framed_size(std::string_view head) {
  std::size_t size = 0;
  for (const char byte : head) size = size << 8 | static_cast<unsigned char>(byte);
  return size;
}

Result<Peer> peer_of(int descriptor) {
  ucred seen{};
  socklen_t size = sizeof seen;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &seen, &size) != 0) {
    return failed(ErrorCode::Unauthenticated, "the peer is not known");
  }
  return Peer{.pid = seen.pid, .uid = seen.uid};
}

Result<UnixSocket> UnixSocket::connect(const std::filesystem::path& folder,
                                       const std::string& name) {
  return connect(folder, name, Reach::Private, ::geteuid());
}

Result<UnixSocket> UnixSocket::connect_public(const std::filesystem::path& folder,
                                              const std::string& name, unsigned owner) {
  return connect(folder, name, Reach::Public, owner);
}

Result<UnixSocket> UnixSocket::connect(const std::filesystem::path& folder, const std::string& name,
                                       Reach reach, unsigned owner) {
  SALLYPORT_TRY(const int opened, open_folder(folder, reach, owner));
  const Descriptor entered(opened);
  SALLYPORT_TRY(const int descriptor, connected(opened, name));
  UnixSocket socket(descriptor);
  SALLYPORT_TRY(socket.peer_, peer_of(descriptor));
  if (socket.peer_.uid != owner) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("another user (uid {}) listens here", socket.peer_.uid),
                folder.string());
  }
  return socket;
}

int UnixSocket::release() {
  return std::exchange(descriptor_, -1);
}

UnixSocket::UnixSocket(UnixSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), peer_(other.peer_) {}

UnixSocket::~UnixSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> UnixSocket::wait_for(short event, Deadline deadline) const {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fail(ErrorCode::Deadline, "the peer takes too long");
    pollfd watched{descriptor_, event, 0};
    const int seen = ::poll(&watched, 1, static_cast<int>(left.count()));
    if (seen > 0) return {};
    if (seen < 0 && errno != EINTR) return failed(ErrorCode::Unavailable, "cannot wait");
  }
}

Result<void> UnixSocket::send(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (sent < 0 && errno == EAGAIN) {
      SALLYPORT_CHECK_OK(wait_for(POLLOUT, deadline));
    } else if (sent < 0 && errno != EINTR) {
      return failed(ErrorCode::Unavailable, "cannot send");
    }
  }
  return {};
}

Result<void> UnixSocket::send_frame(std::string_view content, Deadline deadline) {
  SALLYPORT_CHECK_OK(send(frame_head(content.size()), deadline));
  return send(content, deadline);
}

// Memory grows with the received bytes, not with the announced size.
Result<void> UnixSocket::receive(std::string& into, std::size_t size, Deadline deadline) {
  while (into.size() < size) {
    const std::size_t before = into.size();
    into.resize(std::min(size, before + kSocketPiece));
    const ssize_t got = ::recv(descriptor_, into.data() + before, into.size() - before, 0);
    const int error = errno;
    into.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return fail(ErrorCode::Unavailable, "the peer is gone");
    if (got > 0 || error == EINTR) continue;
    if (error != EAGAIN) return failed(ErrorCode::Unavailable, "cannot receive", error);
    SALLYPORT_CHECK_OK(wait_for(POLLIN, deadline));
  }
  return {};
}

Result<std::string> UnixSocket::receive_frame(std::size_t most, Deadline deadline) {
  std::string head;
  SALLYPORT_CHECK_OK(receive(head, kFrameHead, deadline));
  const std::size_t size = framed_size(head);
  if (size > most) {
    return fail(ErrorCode::Exhausted,
                fmt::format("a frame of {} bytes; {} are allowed", size, most));
  }
  std::string content;
  SALLYPORT_CHECK_OK(receive(content, size, deadline));
  return content;
}

Result<UnixName> UnixName::listen(const std::filesystem::path& folder, const std::string& name,
                                  Reach reach) {
  SALLYPORT_TRY(const int opened, open_folder(folder, reach, ::geteuid()));
  UnixName taken(opened, name);
  if (reach == Reach::Public) SALLYPORT_CHECK_OK(check_name(opened, name, folder / name));
  const Result<int> other = connected(opened, name);
  const Descriptor closed(other.value_or(-1));
  if (other || other.error().code == ErrorCode::Exhausted) {
    return fail(ErrorCode::Conflict,
                fmt::format("another process listens on {}", (folder / name).string()));
  }
  // No process answers, so the one that made the socket has ended.
  ::unlinkat(opened, name.c_str(), 0);
  Descriptor socket(new_socket());
  const sockaddr_un address = address_in(opened, name);
  struct stat status{};
  // No client can connect before the mode is set, because the socket does not listen yet.
  if (socket.get() < 0 ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ||
      ::fchmodat(opened, name.c_str(), reach == Reach::Private ? 0600 : 0666, 0) ||
      ::fstatat(opened, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) ||
      ::listen(socket.get(), kBacklog)) {
    return failed(ErrorCode::Unavailable, "cannot listen on " + (folder / name).string());
  }
  taken.inode_ = status.st_ino;
  taken.listening_ = socket.release();
  return taken;
}

UnixName::UnixName(UnixName&& other) noexcept
    : folder_(std::exchange(other.folder_, -1)),
      name_(std::move(other.name_)),
      listening_(std::exchange(other.listening_, -1)),
      inode_(std::exchange(other.inode_, 0)) {}

int UnixName::release() {
  return std::exchange(listening_, -1);
}

UnixName::~UnixName() {
  if (listening_ >= 0) ::close(listening_);
  if (folder_ < 0) return;
  struct stat status{};
  const bool there = ::fstatat(folder_, name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  // Another process may have taken the name since.
  if (there && inode_ != 0 && status.st_ino == inode_) ::unlinkat(folder_, name_.c_str(), 0);
  ::close(folder_);
}

}  // namespace sallyport::net
