#include "net/pump.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace sallyport::net {
namespace {

using namespace std::chrono_literals;

// The two ends of a client and of a service, with the pump between them.
class PumpTest : public testing::Test {
 protected:
  PumpTest() {
    signal(SIGPIPE, SIG_IGN);  // as the program does
    EXPECT_EQ(pipe(input_), 0);
    EXPECT_EQ(pipe(output_), 0);
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, socket_), 0);
    pumping_ = std::jthread([this] {
      ended_ = pump(
          {.input = input_[0], .output = output_[1], .socket = socket_[0], .patience = patience_});
      close(output_[1]);
      close(socket_[0]);
    });
  }
  ~PumpTest() override {
    for (const int end : {input_[0], output_[0], socket_[1]}) close(end);
  }

  static std::string read_all(int from) {
    std::string all;
    std::string piece(1 << 16, '\0');
    ssize_t got = 0;
    while ((got = read(from, piece.data(), piece.size())) > 0) {
      all.append(piece, 0, static_cast<std::size_t>(got));
    }
    return all;
  }
  static void write_all(int to, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = write(to, bytes.data(), bytes.size());
      ASSERT_GT(sent, 0);
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  std::chrono::milliseconds patience_{60'000};
  int input_[2];
  int output_[2];
  int socket_[2];
  Result<void> ended_ = fail(ErrorCode::Internal, "it still runs");
  std::jthread pumping_;
};

std::string many_bytes(char first) {
  std::string bytes(3u << 20, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(first + i % 251);
  return bytes;
}

TEST_F(PumpTest, AllBytesArriveBothWaysAndItEndsWhenBothHaveEnded) {
  const std::string there = many_bytes(1);
  const std::string back = many_bytes(7);
  std::jthread client([&] {
    write_all(input_[1], there);
    close(input_[1]);
  });
  std::jthread service([&] {
    write_all(socket_[1], back);
    EXPECT_EQ(read_all(socket_[1]), there);
    shutdown(socket_[1], SHUT_WR);
  });
  EXPECT_EQ(read_all(output_[0]), back);
  pumping_.join();
  EXPECT_TRUE(ended_) << ended_.error().message;
}

TEST_F(PumpTest, AServiceThatEndsFirstIsAnErrorBehindItsLastWords) {
  write_all(socket_[1], "last words");
  shutdown(socket_[1], SHUT_RDWR);
  EXPECT_EQ(read_all(output_[0]), "last words");
  pumping_.join();
  ASSERT_FALSE(ended_);
  EXPECT_EQ(ended_.error().code, ErrorCode::Unavailable);
  close(input_[1]);
}

TEST_F(PumpTest, ItEndsWhenNobodyReadsTheOutput) {
  close(output_[0]);
  output_[0] = -1;
  (void)!write(socket_[1], "x", 1);  // fails if the pump has noticed it before
  pumping_.join();
  EXPECT_TRUE(ended_);
  close(input_[1]);
}

}  // namespace
}  // namespace sallyport::net
