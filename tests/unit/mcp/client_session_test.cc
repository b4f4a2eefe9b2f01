#include "mcp/client/client_session.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"
#include "unit/mcp/fake_links.h"

namespace sallyport::mcp {
namespace {

constexpr std::string_view kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{"roots":{}},)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"ann","version":"1"}})";

class ClientSessionTest : public testing::Test {
 protected:
  ClientSessionTest() {
    auto link = std::make_unique<test::FakeClient>(loop_.get_executor());
    client_ = link.get();
    session_.emplace(loop_.get_executor(), door_,
                     ClientSession::Settings{limits_, [](std::string_view) {}}, std::move(link));
  }
  // Returns the session's results for these lines, until there are no more.
  std::vector<Message> heard(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) client_->say(line);
    client_->hang_up();
    std::vector<Message> messages;
    bool ended = false;
    boost::asio::co_spawn(
        loop_,
        [&]() -> Async<void> {
          while (std::optional<Message> message = co_await session_->next()) {
            messages.push_back(std::move(*message));
          }
          ended = true;
        },
        boost::asio::detached);
    EXPECT_TRUE(test::run_until(loop_, [&] { return ended; }));
    return messages;
  }
  static Message request(const std::string& method, std::string_view params) {
    return Message::read(request_text("1", method, params), {}).value();
  }
  static std::string code_of(const std::string& error) {
    return std::string(find(error, {"error", "code"}).value_or("none"));
  }

  boost::asio::io_context loop_;
  Limits limits_{.frame_bytes = 1000};
  sallyport::test::FakeRecorder recorder_;
  core::NoRedactor redactor_;
  SystemEntropy entropy_;
  SystemClock clock_;
  sallyport::test::ChangingPlan plans_{core::PlanBuilder().build().value()};
  core::Escalations escalations_{recorder_, clock_, entropy_};
  net::TaskGroup tasks_{loop_.get_executor(), [](std::string_view) {}};
  MessageDoor door_{{plans_, recorder_, escalations_, redactor_, clock_, tasks_},
                    {{.session_id = "s"}, limits_, [](std::string_view) {}}};
  test::FakeClient* client_ = nullptr;
  std::optional<ClientSession> session_;
};

TEST_F(ClientSessionTest, MessagesKeepTheBytesThatCame) {
  const std::string odd = R"( {"method":"ping" , "jsonrpc":"2.0","id": 7} )";
  const std::vector<Message> messages = heard({odd});
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages.front().text, odd);
  EXPECT_EQ(messages.front().id, "7");
}

TEST_F(ClientSessionTest, WhatIsNoMessageIsAnsweredAndTheNextOneIsHeard) {
  const std::vector<Message> messages =
      heard({"no json", R"({"jsonrpc":"2.0","id":3,"method":5})", request_text("4", "ping", "")});
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages.front().id, "4");
  ASSERT_EQ(client_->told.size(), 2u);
  EXPECT_EQ(code_of(client_->told[0]), std::to_string(kParseError));
  EXPECT_EQ(code_of(client_->told[1]), std::to_string(kInvalidRequest));
}

TEST_F(ClientSessionTest, BatchesBelongToOneRevision) {
  const std::string batch =
      "[" + request_text("1", "ping", "") + "," + request_text("2", "ping", "") + "]";
  session_->note_version(R"("2025-03-26")");
  const std::vector<Message> messages = heard({batch, "[]"});
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[1].id, "2");
  ASSERT_EQ(client_->told.size(), 1u);  // the empty one
}

TEST_F(ClientSessionTest, BatchesOfOtherRevisionsAreRefused) {
  session_->note_version(R"("2025-11-25")");
  EXPECT_TRUE(heard({"[" + request_text("1", "ping", "") + "]"}).empty());
  EXPECT_EQ(code_of(client_->told.at(0)), std::to_string(kInvalidRequest));
}

TEST_F(ClientSessionTest, AStatelessRequestSaysWhoTheClientIs) {
  session_->note_profile(request("tools/list", "{" + std::string(kMeta) + "}"));
  EXPECT_EQ(session_->era(), Era::Modern);
  EXPECT_EQ(session_->profile().name, "ann");
  EXPECT_TRUE(session_->profile().capabilities.contains("roots"));
  EXPECT_EQ(session_->profile().info, R"({"name":"ann","version":"1"})");
}

TEST_F(ClientSessionTest, AClientThatHasOpenedASessionStaysInIt) {
  const Message opening =
      request("initialize", R"({"capabilities":{"sampling":{}},"clientInfo":{"name":"bob"}})");
  session_->note_profile(opening);
  session_->note_opening(opening);
  session_->note_profile(request("tools/list", "{" + std::string(kMeta) + "}"));
  EXPECT_EQ(session_->era(), Era::Legacy);
  EXPECT_EQ(session_->profile().name, "bob");
  EXPECT_TRUE(session_->profile().capabilities.contains("sampling"));
}

TEST_F(ClientSessionTest, RequestsThatCannotBeOfTheErasAreRefused) {
  EXPECT_EQ(code_of(session_->era_error(request("tools/list", "{}"))),
            std::to_string(kInvalidParams));  // it has not opened
  const std::string whole = "{" + std::string(kMeta) + "}";
  session_->note_profile(request("tools/list", whole));
  EXPECT_EQ(session_->era_error(request("tools/list", whole)), "");
  EXPECT_EQ(code_of(session_->era_error(request("tools/list", "{}"))),
            std::to_string(kInvalidParams));
  EXPECT_EQ(session_->era_error(request("server/discover", "{}")), "");
  EXPECT_EQ(code_of(session_->era_error(request("logging/setLevel", whole))),
            std::to_string(kMethodNotFound));
  const std::string other = R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01",)"
                            R"("io.modelcontextprotocol/clientCapabilities":{}}})";
  EXPECT_EQ(code_of(session_->era_error(request("tools/list", other))),
            std::to_string(kUnsupportedVersion));
}

TEST_F(ClientSessionTest, AQuestionIsAnsweredOnceAndUnderItsOwnId) {
  const auto [id, awaited] = session_->open_question();
  session_->on_response(Message::read(result_text("99", "{}"), {}).value());
  session_->on_response(Message::read(result_text(id, R"({"a":1})"), {}).value());
  session_->on_response(Message::read(result_text(id, R"({"a":2})"), {}).value());
  std::optional<Message> answer;
  boost::asio::co_spawn(
      loop_,
      [&, awaited = awaited]() -> Async<void> {
        answer = co_await awaited->wait(std::chrono::seconds(30));
      },
      boost::asio::detached);
  EXPECT_TRUE(test::run_until(loop_, [&] { return answer.has_value(); }));
  EXPECT_EQ(answer->result_text(), R"({"a":1})");
  EXPECT_EQ(session_->close_question(id), nullptr);
}

TEST_F(ClientSessionTest, SubscriptionsAreNotWaitedFor) {
  session_->begin("1");
  session_->begin("2").endless = true;
  session_->begin("3").listening = Listening{};
  EXPECT_EQ(session_->unanswered(), 1u);
  EXPECT_TRUE(session_->is_open("3"));
  EXPECT_TRUE(session_->end("1"));
  EXPECT_FALSE(session_->end("1"));
  EXPECT_EQ(session_->unanswered(), 0u);
}

}  // namespace
}  // namespace sallyport::mcp
