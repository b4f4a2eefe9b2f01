#include "support/cutting_relay.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
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

CuttingRelay::CuttingRelay(std::filesystem::path socket, std::string at)
    : socket_(std::move(socket)), address_(std::move(at)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, address_.c_str(), &address.sin_addr);
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
  // The client sends its first message unasked, and no encryption hides messages from the relay.
  return url.substr(0, host) +
         fmt::format("host={}&port={}&sslmode=disable&gssencmode=disable", address_, port_) +
         url.substr(end);
}

void CuttingRelay::cut_after(int answers, Cut what) {
  what_ = what;
  cuts_ = 0;
  left_ = answers;
}

void CuttingRelay::cut_at_message(int messages, Cut what, Then then) {
  spare();
  what_ = what;
  then_ = then;
  messages_ = 0;
  left_messages_ = messages;
}

void CuttingRelay::spare() {
  left_ = -1;
  left_messages_ = -1;
  at_ = -1;
  cuts_ = 0;
}

void CuttingRelay::exchange(std::string text, std::string other) {
  other.resize(text.size(), ' ');
  text_ = std::move(text);
  other_ = std::move(other);
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

std::size_t CuttingRelay::Stream::end_of(std::string_view data, int& messages) {
  constexpr std::size_t kLength = 4;
  std::size_t at = 0;
  while (true) {
    const std::uint64_t taken = std::min<std::uint64_t>(skip, data.size() - at);
    skip -= taken;
    at += taken;
    if (at == data.size()) return at;
    if (head.empty() && messages == 0) return at;
    const std::size_t whole = kLength + (greets ? 0 : 1);
    while (head.size() < whole && at < data.size()) head += data[at++];
    if (head.size() < whole) return at;
    std::uint32_t length = 0;
    std::memcpy(&length, head.data() + whole - kLength, kLength);
    skip = ntohl(length) - kLength;
    head.clear();
    greets = false;
    if (messages > 0) --messages;
  }
}

std::size_t CuttingRelay::may_pass(std::string_view data, Stream& stream, Cut what, int client) {
  int left = -1;
  int none = -1;
  // A connection that is still being opened is not counted.
  const bool counts = left_messages_ >= 0 && what_ == what && !stream.greets &&
                      (at_ == client || at_.compare_exchange_strong(none, client));
  if (counts) left = left_messages_;
  const int before = left;
  const std::size_t end = stream.end_of(data, left);
  if (!counts) return data.size();
  messages_ += before - left;
  left_messages_ = left;
  if (end == data.size()) return end;
  left_messages_ = -1;
  ++cuts_;
  return then_ == Then::Stall ? end + (data.size() - end) / 2 : end;
}

void CuttingRelay::stall() const {
  while (then_ == Then::Stall && !stopping_ && cuts_ > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// A question is everything the client sends until the server answers.
void CuttingRelay::relay(int client) {
  const int server = connect_to(socket_);
  std::array<char, 65536> buffer;
  Stream asks{.greets = true};
  Stream answers;
  bool asked = false;
  while (server >= 0 && !stopping_) {
    pollfd both[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    if (::poll(both, 2, 50) <= 0) continue;
    if (both[0].revents != 0) {
      const ssize_t size = ::recv(client, buffer.data(), buffer.size(), 0);
      if (size <= 0 || should_cut(Cut::Question)) break;
      std::string data(buffer.data(), static_cast<std::size_t>(size));
      const std::size_t found = text_.empty() ? std::string::npos : data.find(text_);
      if (found != std::string::npos) data.replace(found, other_.size(), other_);
      const std::size_t passes = may_pass(data, asks, Cut::Question, client);
      if (!send_all(server, data.data(), passes)) break;
      if (passes < data.size()) {
        stall();
        break;
      }
      asked = true;
    }
    if (both[1].revents != 0) {
      const ssize_t size = ::recv(server, buffer.data(), buffer.size(), 0);
      if (size <= 0 || (asked && should_cut(Cut::Answer))) break;
      const std::string_view data(buffer.data(), static_cast<std::size_t>(size));
      const std::size_t passes = may_pass(data, answers, Cut::Answer, client);
      if (!send_all(client, data.data(), passes)) break;
      if (passes < data.size()) {
        stall();
        break;
      }
      ++passed_;
      if (std::exchange(asked, false) && left_ > 0) --left_;
    }
  }
  if (server >= 0) ::close(server);
  ::close(client);
}

}  // namespace sallyport::test
