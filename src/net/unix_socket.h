// Sockets with a name in a folder, and the frames that go over them: four bytes of length, the most
// significant first, then that many bytes.
//
// A private socket is for programs of one user, in a folder that others cannot enter. A public one
// is for programs of every user, in a folder where only its owner can make names: the client knows
// the owner's uid beforehand and trusts no other listener.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::net {

inline constexpr std::size_t kFrameHead = 4;
std::string frame_head(std::size_t size);
std::size_t framed_size(std::string_view head);

// The process at the other end, which connected or listens, as the kernel reports it.
struct Peer {
  int pid = 0;  // 0: it is not visible from here
  unsigned uid = 0;
};
Result<Peer> peer_of(int descriptor);

enum class Reach { Private, Public };

// One end of a connection, closed by the destructor. Its calls block, each until a deadline.
class UnixSocket {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // Does not wait. `Unavailable`: no process listens there. `Exhausted`: too many wait.
  // `Unauthenticated`: the folder is not this user's alone, or another user listens.
  static Result<UnixSocket> connect(const std::filesystem::path& folder, const std::string& name);
  // To a public socket of the user `owner`. `Unauthenticated`: the folder is not the owner's,
  // others can write in it, or another user listens.
  static Result<UnixSocket> connect_public(const std::filesystem::path& folder,
                                           const std::string& name, unsigned owner);
  UnixSocket(UnixSocket&& other) noexcept;
  UnixSocket& operator=(UnixSocket&&) = delete;
  ~UnixSocket();

  const Peer& peer() const { return peer_; }
  // The descriptor, for a caller that closes it.
  int release();

  // An error: the frame was not sent completely.
  Result<void> send_frame(std::string_view content, Deadline deadline);
  // `Exhausted`: it is longer than `most`. `Unavailable`: the peer is gone.
  Result<std::string> receive_frame(std::size_t most, Deadline deadline);

 private:
  explicit UnixSocket(int descriptor) : descriptor_(descriptor) {}
  static Result<UnixSocket> connect(const std::filesystem::path& folder, const std::string& name,
                                    Reach reach, unsigned owner);
  Result<void> wait_for(short event, Deadline deadline) const;
  Result<void> send(std::string_view bytes, Deadline deadline);
  Result<void> receive(std::string& into, std::size_t size, Deadline deadline);

  int descriptor_;
  Peer peer_{};
};

// A name under which this process listens. Takes over the name of a process that has ended. The
// destructor removes it.
class UnixName {
 public:
  // `Conflict`: another process listens there. `Unauthenticated`: the folder does not fit its
  // reach, or a public name exists and is no socket of this user.
  static Result<UnixName> listen(const std::filesystem::path& folder, const std::string& name,
                                 Reach reach = Reach::Private);
  UnixName(UnixName&& other) noexcept;
  UnixName& operator=(UnixName&&) = delete;
  ~UnixName();

  // The listening descriptor. The caller accepts on it and closes it.
  int release();

 private:
  UnixName(int folder, std::string name) : folder_(folder), name_(std::move(name)) {}

  int folder_;
  std::string name_;
  int listening_ = -1;
  std::uint64_t inode_ = 0;  // of the name, once it is ours
};

}  // namespace sallyport::net
