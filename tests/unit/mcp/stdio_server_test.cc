// A tool server that is a process: a few lines of shell that answer their input.
#include "mcp/server/stdio_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fake_links.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;

class HeardProcess final : public Server::Listener {
 public:
  Async<void> on_server_request(Message request) override {
    asked.push_back(request.method);
    co_return;
  }
  Async<void> on_server_notification(Message notification) override {
    told.push_back(notification.method);
    co_return;
  }
  void server_started(bool again) override { started.push_back(again); }
  void server_ended(const std::string& how) override { ended.push_back(how); }

  std::vector<std::string> asked;
  std::vector<std::string> told;
  std::vector<bool> started;
  std::vector<std::string> ended;
};

struct ProcessReply final : Waiter {
  Async<void> answered(Response given) override {
    reply = std::move(given);
    co_return;
  }
  bool wants_late_answer() const override { return late; }
  void no_answer_came() override { nothing = true; }
  std::optional<Response> reply;
  bool late = false;
  bool nothing = false;
};

// Answers each request with its own line number; `$n` is the id of a request.
constexpr std::string_view kAnswers =
    R"(n=0; while read -r line; do case "$line" in *'"id"'*) n=$((n+1)); echo "{\"jsonrpc\":\"2.0\",\"id\":$n,\"result\":$n}";; esac; done)";

class StdioServerTest : public testing::Test {
 protected:
  StdioServerTest() {
    limits.first_backoff = 1ms;
    limits.longest_backoff = 4ms;
    limits.patience = 300ms;
  }
  ~StdioServerTest() override { end(); }

  void start(std::string_view script) {
    server.emplace(
        Server::Parts{.executor = loop.get_executor(),
                      .limits = limits,
                      .listener = heard,
                      .log = [this](std::string_view line) { log += std::string(line) + '\n'; },
                      .server_log = [this](std::string_view line) { errors.emplace_back(line); }},
        std::vector<std::string>{"/bin/sh", "-c", std::string(script)}, std::nullopt);
    run();
  }
  void run() {
    boost::asio::co_spawn(loop, server->run(),
                          [this](std::exception_ptr, Result<void> how) { over = std::move(how); });
  }
  void end() {
    if (!server || over) return;
    boost::asio::co_spawn(loop, server->stop(), boost::asio::detached);
    EXPECT_TRUE(until([&] { return over.has_value(); }));
  }
  bool until(const std::function<bool()>& holds) { return test::run_until(loop, holds); }

  std::shared_ptr<ProcessReply> begin(bool late = false) {
    auto kept = std::make_shared<ProcessReply>();
    kept->late = late;
    EXPECT_TRUE(until([&] { return server->up() || over; }));
    const Result<std::uint64_t> sent =
        server->request([](std::string_view id) { return request_text(id, "it", "{}"); }, kept);
    EXPECT_TRUE(sent);
    last_id = sent.value_or(0);
    return kept;
  }
  Response ask() {
    const auto kept = begin();
    EXPECT_TRUE(until([&] { return kept->reply.has_value(); }));
    return kept->reply.value_or(Response{});
  }

  boost::asio::io_context loop;
  Limits limits;
  HeardProcess heard;
  std::string log;
  std::vector<std::string> errors;
  std::optional<StdioServer> server;
  std::optional<Result<void>> over;
  std::uint64_t last_id = 0;
};

TEST_F(StdioServerTest, RequestsAreAnsweredUntilItIsStopped) {
  start(kAnswers);
  EXPECT_EQ(ask().message.value().result_text(), "1");
  EXPECT_EQ(ask().message.value().result_text(), "2");
  EXPECT_EQ(heard.started, std::vector<bool>{false});
  end();
  EXPECT_TRUE(*over);
  EXPECT_EQ(heard.ended.size(), 1u);
  EXPECT_FALSE(server->up());
  EXPECT_FALSE(server->send("{}"));
  EXPECT_EQ(server->request([](std::string_view) { return "{}"; }, nullptr).error().code,
            ErrorCode::Unavailable);
}

TEST_F(StdioServerTest, WhatItSaysByItselfIsHeard) {
  start(R"(echo '{"jsonrpc":"2.0","method":"notifications/a"}'
           echo '{"jsonrpc":"2.0","id":"q","method":"roots/list"}'
           echo '{"jsonrpc":"2.0","id":77,"result":{}}'; echo gibberish; echo said >&2; cat >/dev/null)");
  ASSERT_TRUE(until([&] { return log.find("gibberish") != std::string::npos && !errors.empty(); }));
  EXPECT_EQ(heard.told, std::vector<std::string>{"notifications/a"});
  EXPECT_EQ(heard.asked, std::vector<std::string>{"roots/list"});
  EXPECT_EQ(errors, std::vector<std::string>{"said"});
  EXPECT_NE(log.find("an answer to no open request: `77`"), std::string::npos) << log;
}

// A batch of a server in a session of 2025-03-26 was once malformed output.
TEST_F(StdioServerTest, EachMessageOfABatchIsTakenOnItsOwn) {
  start(R"(read -r x; echo '[{"jsonrpc":"2.0","method":"notifications/a"},7,
           {"jsonrpc":"2.0","id":"q","method":"roots/list"},{"jsonrpc":"2.0","id":1,"result":5}]' |
           tr -d '\n'; echo; cat >/dev/null)");
  EXPECT_EQ(ask().message.value().result_text(), "5");
  EXPECT_EQ(heard.told, std::vector<std::string>{"notifications/a"});
  EXPECT_EQ(heard.asked, std::vector<std::string>{"roots/list"});
  EXPECT_NE(log.find("`7`"), std::string::npos) << log;
}

TEST_F(StdioServerTest, AWreckOfAnAnswerEndsItsRequest) {
  limits.frame_bytes = 1000;
  start(R"(read -r x; echo '{"jsonrpc":"2.0","id":1,'
           read -r x; printf '{"jsonrpc":"2.0","id":2,"result":"%2000s"}\n' x
           read -r x; printf '{"jsonrpc":"2.0","id":3,"result"')");
  EXPECT_TRUE(ask().malformed);
  EXPECT_TRUE(ask().malformed);
  const Response half = ask();
  EXPECT_FALSE(half.malformed) << "half an answer does not count";
  EXPECT_NE(half.error.message.find("the server ended"), std::string::npos);
  EXPECT_NE(log.find("half a message"), std::string::npos) << log;
}

TEST_F(StdioServerTest, ALongLineOfErrorsIsCutAtAWord) {
  start(R"({ printf 'first '; head -c 70000 /dev/zero | tr '\0' s; echo; } >&2; cat >/dev/null)");
  ASSERT_TRUE(until([&] { return !errors.empty(); }));
  EXPECT_EQ(errors.front().find("sss"), std::string::npos) << "half a word may be half a secret";
  EXPECT_TRUE(errors.front().ends_with(" [...]"));
}

TEST_F(StdioServerTest, OneThatWasReadyIsStartedAgain) {
  start("read -r x; exit 3");
  const auto waiting = begin();
  server->ready();
  ASSERT_TRUE(until([&] { return heard.started.size() == 2; }));
  EXPECT_TRUE(heard.started.back());
  ASSERT_TRUE(waiting->reply);
  EXPECT_NE(waiting->reply->error.message.find("3"), std::string::npos);
  EXPECT_NE(log.find("it is started again in 1 ms"), std::string::npos) << log;
  EXPECT_FALSE(over);
  for (int i = 0; i < 4; ++i) (void)ask();
  EXPECT_NE(log.find("it is started again in 4 ms"), std::string::npos) << "the longest wait";
}

TEST_F(StdioServerTest, OneThatAnswersBetweenItsFallsIsStartedAtOnceEachTime) {
  start(
      R"(read -r x; id=${x#*\"id\":}; echo "{\"jsonrpc\":\"2.0\",\"id\":${id%%,*},\"result\":1}"; read -r x)");
  for (int i = 0; i < 4; ++i) {
    (void)until([&] { return server->up(); });
    server->ready();
    ASSERT_TRUE(ask().message) << i;
    (void)ask();
  }
  EXPECT_EQ(log.find("again in 2 ms"), std::string::npos) << log;
  EXPECT_NE(log.find("again in 1 ms"), std::string::npos) << log;
}

TEST_F(StdioServerTest, OneThatIsNeverReadyIsGivenUp) {
  limits.failed_starts = 3;
  start("exit 1");
  ASSERT_TRUE(until([&] { return over.has_value(); }));
  EXPECT_EQ(over->error().code, ErrorCode::Unavailable);
  EXPECT_EQ(heard.started, (std::vector<bool>{false, true, true}));
}

TEST_F(StdioServerTest, AProgramThatIsNotThereIsGivenUpAtOnce) {
  server.emplace(Server::Parts{.executor = loop.get_executor(),
                               .limits = limits,
                               .listener = heard,
                               .log = [](std::string_view) {},
                               .server_log = [](std::string_view) {}},
                 std::vector<std::string>{"/nowhere/at/all"}, std::nullopt);
  run();
  ASSERT_TRUE(until([&] { return over.has_value(); }));
  EXPECT_FALSE(*over);
  EXPECT_TRUE(heard.started.empty());
  EXPECT_EQ(heard.ended.size(), 1u);
}

TEST_F(StdioServerTest, AnAbandonedRequestIsCancelledAndItsLateAnswerGoesToWhoWantsIt) {
  start(R"(read -r x; read -r y; echo "$y" >&2; echo '{"jsonrpc":"2.0","id":1,"result":1}'
           read -r x; read -r y; echo "$y" >&2; echo '{"jsonrpc":"2.0","id":2,"result":2}'
           read -r x; read -r y; exit 0)");
  const auto late = begin(true);
  server->abandon(last_id, "\"enough\"");
  ASSERT_TRUE(until([&] { return late->reply.has_value(); }));
  EXPECT_EQ(late->reply->message.value().result_text(), "1");
  ASSERT_TRUE(until([&] { return errors.size() == 1; }));
  EXPECT_NE(errors[0].find("notifications/cancelled"), std::string::npos);
  const auto gone = begin(false);
  server->abandon(last_id, "\"enough\"");
  server->abandon(last_id, "\"twice\"");
  const auto third = begin(true);
  server->abandon(last_id, "\"enough\"");
  ASSERT_TRUE(until([&] { return third->nothing; }));
  EXPECT_FALSE(third->reply) << "the process ended first";
  EXPECT_FALSE(gone->reply);
  EXPECT_EQ(log.find("no open request"), std::string::npos) << "a late answer is no fault";
}

}  // namespace
}  // namespace sallyport::mcp
