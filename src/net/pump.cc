#include "net/pump.h"

#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "base/try.h"

namespace sallyport::net {

namespace {

constexpr std::size_t kRoom = 1u << 16;

std::unexpected<Error> pump_failed(std::string_view problem) {
  return fail(ErrorCode::Unavailable, fmt::format("{}: {}", problem, std::strerror(errno)));
}

bool passing(int error) {
  return error == EINTR || error == EAGAIN;
}

class Pump {
 public:
  explicit Pump(const Pumped& ends) : ends_(ends) {}

  Result<void> run() {
    while (true) {
      if (socket_ended_ && to_output_.empty()) return end();
      SALLYPORT_TRY(const Ready ready, wait());
      if (ready.output_gone) return {};
      SALLYPORT_CHECK_OK(move(ready));
      if (output_gone_) return {};
    }
  }

 private:
  struct Ready {
    bool input = false;
    bool from_socket = false;
    bool to_socket = false;
    bool output = false;
    bool output_gone = false;
  };

  Result<void> end() const {
    if (input_ended_) return {};
    return fail(ErrorCode::Unavailable, "the peer ended the connection");
  }

  // A descriptor without an awaited event is left out: its end would wake us endlessly.
  Result<Ready> wait() {
    const bool wants_input = !input_ended_ && to_socket_.empty();
    short of_socket = 0;
    if (!socket_ended_ && to_output_.empty()) of_socket |= POLLIN;
    if (!to_socket_.empty()) of_socket |= POLLOUT;
    std::array<pollfd, 3> watched{
        pollfd{wants_input ? ends_.input : -1, POLLIN, 0},
        pollfd{of_socket != 0 ? ends_.socket : -1, of_socket, 0},
        pollfd{ends_.output, static_cast<short>(to_output_.empty() ? 0 : POLLOUT), 0}};
    int longest = -1;
    if (deadline_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          *deadline_ - std::chrono::steady_clock::now());
      if (left.count() <= 0) return fail(ErrorCode::Deadline, "the peer does not end");
      longest = static_cast<int>(left.count());
    }
    const int seen = ::poll(watched.data(), watched.size(), longest);
    if (seen < 0 && errno != EINTR) return pump_failed("cannot wait");
    if (seen <= 0) return Ready{};
    constexpr short kOver = POLLHUP | POLLERR;
    return Ready{
        .input = (watched[0].revents & (POLLIN | kOver)) != 0,
        .from_socket = (of_socket & POLLIN) != 0 && (watched[1].revents & (POLLIN | kOver)) != 0,
        .to_socket = (of_socket & POLLOUT) != 0 && (watched[1].revents & (POLLOUT | kOver)) != 0,
        .output = (watched[2].revents & POLLOUT) != 0,
        .output_gone = (watched[2].revents & (kOver | POLLNVAL)) != 0};
  }

  Result<void> move(const Ready& ready) {
    if (ready.input) read_input();
    if (ready.to_socket) write_socket();
    if (ready.from_socket) read_socket();
    if (ready.output) SALLYPORT_CHECK_OK(write_output());
    return {};
  }

  void read_input() {
    to_socket_.resize(kRoom);
    const ssize_t got = ::read(ends_.input, to_socket_.data(), to_socket_.size());
    const int error = errno;
    to_socket_.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got > 0 || (got < 0 && passing(error))) return;
    input_ended_ = true;
    deadline_ = std::chrono::steady_clock::now() + ends_.patience;
    ::shutdown(ends_.socket, SHUT_WR);
  }

  void write_socket() {
    const ssize_t sent =
        ::send(ends_.socket, to_socket_.data(), to_socket_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      to_socket_.erase(0, static_cast<std::size_t>(sent));
    } else if (!passing(errno)) {
      to_socket_.clear();  // its last bytes may still be unread
    }
  }

  void read_socket() {
    to_output_.resize(kRoom);
    const ssize_t got = ::recv(ends_.socket, to_output_.data(), to_output_.size(), MSG_DONTWAIT);
    const int error = errno;
    to_output_.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0 || (got < 0 && !passing(error))) socket_ended_ = true;
  }

  // The descriptor may be blocking and shared with a shell, so its flags stay. A write of this size
  // never blocks on a pipe that poll(2) reports as writable.
  Result<void> write_output() {
    const ssize_t written = ::write(ends_.output, to_output_.data(),
                                    std::min<std::size_t>(to_output_.size(), PIPE_BUF));
    if (written >= 0) {
      to_output_.erase(0, static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      output_gone_ = true;
    } else if (!passing(errno)) {
      return pump_failed("cannot write");
    }
    return {};
  }

  const Pumped ends_;
  std::string to_socket_;
  std::string to_output_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  bool input_ended_ = false;
  bool socket_ended_ = false;
  bool output_gone_ = false;
};

}  // namespace

Result<void> pump(const Pumped& ends) {
  return Pump(ends).run();
}

}  // namespace sallyport::net
