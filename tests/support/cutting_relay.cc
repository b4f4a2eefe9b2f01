#include "support/cutting_relay.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace sallyport::test {

namespace {

int connect_to(const std::filesystem::path& file) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, file.c_str(), sizeof(address.sun_path) - 1);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  ::close(fd);
  return -1;
}

bool send_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(fd, data, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

CuttingRelay::CuttingRelay(std::filesystem::path socket) : socket_(std::move(socket)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  (void)::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size);
  (void)::listen(listener_, 16);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

CuttingRelay::~CuttingRelay() {
  stopping_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& each : relays_) each.join();
  ::close(listener_);
}

std::string CuttingRelay::through(const std::string& url) const {
  const std::size_t host = url.find("host=");
  const std::size_t end = url.find('&', host);
  return url.substr(0, host) + fmt::format("host=127.0.0.1&port={}", port_) + url.substr(end);
}

void CuttingRelay::cut_after(int answers, Cut what) {
  what_ = what;
  cuts_ = 0;
  left_ = answers;
}

void CuttingRelay::wait_until_quiet() const {
  constexpr auto kQuiet = std::chrono::milliseconds(250);
  for (int tries = 0; tries < 100; ++tries) {
    const int before = passed_;
    std::this_thread::sleep_for(kQuiet);
    if (passed_ == before) return;
  }
}

void CuttingRelay::accept_all() {
  while (!stopping_) {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    if (closed_) {
      ::close(client);
      continue;
    }
    relays_.emplace_back([this, client] { relay(client); });
  }
}

bool CuttingRelay::should_cut(Cut what) {
  if (left_ != 0 || what_ != what) return false;
  left_ = -1;
  ++cuts_;
  return true;
}

// A question is what the client sends until the server answers.
void CuttingRelay::relay(int client) {
  const int server = connect_to(socket_);
  std::array<char, 65536> buffer;
  bool asked = false;
  while (server >= 0 && !stopping_) {
    pollfd both[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    if (::poll(both, 2, 50) <= 0) continue;
    if (both[0].revents != 0) {
      const ssize_t size = ::recv(client, buffer.data(), buffer.size(), 0);
      if (size <= 0 || should_cut(Cut::Question)) break;
      if (!send_all(server, buffer.data(), static_cast<std::size_t>(size))) break;
      asked = true;
    }
    if (both[1].revents != 0) {
      const ssize_t size = ::recv(server, buffer.data(), buffer.size(), 0);
      if (size <= 0 || (asked && should_cut(Cut::Answer))) break;
      if (!send_all(client, buffer.data(), static_cast<std::size_t>(size))) break;
      ++passed_;
      if (std::exchange(asked, false) && left_ > 0) --left_;
    }
  }
  if (server >= 0) ::close(server);
  ::close(client);
}

}  // namespace sallyport::test
