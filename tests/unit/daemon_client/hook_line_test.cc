#include "daemon_client/hook_line.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <thread>
#include <vector>

#include "net/unix_socket.h"
#include "support/temp_folder.h"

namespace sallyport::app {
namespace {

using namespace std::chrono_literals;

const HookPatience kShort{.greeting = 100ms, .question = 500ms, .answer = 200ms};

std::string framed(std::string_view content) {
  return net::frame_head(content.size()).append(content);
}

// A daemon that treats each connection as the test requires. It is this very program.
class HookLineTest : public testing::Test {
 protected:
  void daemon(std::function<void(int peer)> does) {
    Result<net::UnixName> name = net::UnixName::listen(folder_.path(), kHookSocket);
    ASSERT_TRUE(name) << name.error().message;
    thread_ = std::jthread([name = std::move(*name), does = std::move(does)]() mutable {
      const int listening = name.release();
      int peer = -1;
      while ((peer = accept(listening, nullptr, nullptr)) < 0 && errno == EAGAIN) {
        std::this_thread::sleep_for(1ms);
      }
      does(peer);
      close(peer);
      close(listening);
    });
  }

  static void say(int peer, std::string_view bytes) {
    ASSERT_EQ(send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  static std::string hear(int peer) {
    std::string heard = received(peer, net::kFrameHead);
    std::size_t length = 0;
    for (const char byte : heard) length = length << 8 | static_cast<unsigned char>(byte);
    return heard.append(received(peer, length));
  }
  static std::string received(int peer, std::size_t length) {
    std::string bytes(length, '\0');
    const ssize_t count = recv(peer, bytes.data(), length, MSG_WAITALL);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return bytes;
  }

  Result<std::optional<HookAnswer>> ask() const {
    return ask_hook_door(
        folder_.path(),
        {.agent = "codex", .policy = "starter", .event = R"({"hook_event_name":"x"})"}, kShort);
  }

  test::TempFolder folder_;
  std::jthread thread_;
};

TEST_F(HookLineTest, WhereNobodyListensNothingIsAsked) {
  const auto answer = ask();
  ASSERT_TRUE(answer);
  EXPECT_FALSE(*answer);
}

TEST_F(HookLineTest, AQuestionIsAnsweredWithOutputAndNotice) {
  std::string heard;
  daemon([&](int peer) {
    say(peer, framed(kHookGreeting));
    heard = hear(peer);
    say(peer, framed(to_frame(HookAnswer{.output = "{}\n{}", .notice = "look"})));
  });
  const auto answer = ask();
  thread_.join();
  ASSERT_TRUE(answer && *answer);
  EXPECT_EQ((*answer)->output, "{}\n{}");
  EXPECT_EQ((*answer)->notice, "look");
  const Result<HookMessage> asked = hook_message_in(heard.substr(net::kFrameHead));
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->agent, "codex");
  EXPECT_EQ(asked->event, R"({"hook_event_name":"x"})");
}

TEST_F(HookLineTest, WhoeverDoesNotGreetAsWeDoIsAskedNothing) {
  for (const std::string& greeting :
       {std::string(), framed("sallyport-hook/2"), framed("sallyport-hook/1 and more"),
        std::string("\xff\xff\xff\xff", 4)}) {
    std::string heard = "something";
    daemon([&](int peer) {
      say(peer, greeting);
      heard = hear(peer);
    });
    const auto answer = ask();
    thread_.join();
    ASSERT_TRUE(answer);
    EXPECT_FALSE(*answer);
    EXPECT_EQ(heard, "");
  }
}

TEST_F(HookLineTest, WhoeverWasAskedAndGivesNoAnswerIsAnError) {
  const std::vector<std::function<void(int)>> endings = {
      [](int) {},                                       // hangs up
      [](int) { std::this_thread::sleep_for(600ms); },  // says nothing
      [](int peer) { say(peer, framed("{\"notice\":3}\n")); },
      [](int peer) { say(peer, framed("no line")); },
      [](int peer) { say(peer, framed("{\"notice\":\"\"}\n{}").substr(0, 9)); },  // half of it
      [](int peer) { say(peer, std::string_view("\x7f\xff\xff\xff{}", 6)); },     // too long
  };
  for (const auto& ending : endings) {
    daemon([&](int peer) {
      say(peer, framed(kHookGreeting));
      EXPECT_NE(hear(peer), "");
      ending(peer);
    });
    const auto answer = ask();
    thread_.join();
    ASSERT_FALSE(answer);
    EXPECT_TRUE(answer.error().message.starts_with("the daemon was asked and gave no answer"));
  }
}

TEST_F(HookLineTest, AFolderThatOthersMayEnterIsNotEntered) {
  daemon([](int) {});
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0750));
  const auto socket = net::UnixSocket::connect(folder_.path(), kHookSocket);
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().code, ErrorCode::Unauthenticated);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0700));
  ASSERT_TRUE(net::UnixSocket::connect(folder_.path(), kHookSocket));
}

TEST_F(HookLineTest, ANameIsTakenFromTheDeadAndNotFromTheLiving) {
  const std::filesystem::path file = folder_.path() / kHookSocket;
  {
    Result<net::UnixName> first = net::UnixName::listen(folder_.path(), kHookSocket);
    ASSERT_TRUE(first);
    EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
    const Result<net::UnixName> second = net::UnixName::listen(folder_.path(), kHookSocket);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::Conflict);
    // The daemon has ended, and its socket name still exists.
    close(first->release());
    EXPECT_TRUE(net::UnixName::listen(folder_.path(), kHookSocket));
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

// A daemon with too many waiting connections was once taken for dead.
TEST_F(HookLineTest, ANameIsNotTakenFromSomebodyWhoIsBusy) {
  const Result<net::UnixName> first = net::UnixName::listen(folder_.path(), kHookSocket);
  ASSERT_TRUE(first);
  std::vector<net::UnixSocket> waiting;
  ErrorCode refused{};
  while (waiting.size() < 1000) {
    auto next = net::UnixSocket::connect(folder_.path(), kHookSocket);
    if (!next) {
      refused = next.error().code;
      break;
    }
    waiting.push_back(std::move(*next));
  }
  ASSERT_EQ(refused, ErrorCode::Exhausted);
  const Result<net::UnixName> second = net::UnixName::listen(folder_.path(), kHookSocket);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Conflict);
}

}  // namespace
}  // namespace sallyport::app
