// Servers behind a switchboard that are late, go or come back; and the subscriptions of its client.
#include "unit/mcp/switchboard_bench.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using test::by_default;

class SwitchboardPresenceTest : public test::SwitchboardBench {};

TEST_F(SwitchboardPresenceTest, OneThatDoesNotAnswerHoldsUpTheOthersNoLongerThanItMay) {
  answers_["a"] = [](const Message&) { return std::string(); };
  connect({"a", "b"}, {.start = 50ms});
  const auto heard = said(request_text("1", "tools/list", "{}"), 2000ms);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].at_pointer("/result/tools"), json::parse(R"([{"name":"b.two"}])"));
  EXPECT_NE(log_.back().find("`a` did not answer"), std::string::npos);
}

TEST_F(SwitchboardPresenceTest, OneThatIsGoneIsSaidToBe) {
  answers_["a"] = [](const Message& message) {
    return message.method == "tools/call" ? "die" : by_default("a", message);
  };
  connect({"a", "b"});
  const json::value answer = asked("tools/call", R"({"name":"a.t"})");
  EXPECT_EQ(answer.at_pointer("/error/message"), "the server `a` is not there");
  EXPECT_EQ(asked("tools/call", R"({"name":"b.t"})").at_pointer("/result/from"), "b");
  EXPECT_EQ(asked("tools/list", "{}").at_pointer("/result/tools").as_array().size(), 1u);
  EXPECT_FALSE(ended_);
}

TEST_F(SwitchboardPresenceTest, WithoutAnyServerItEnds) {
  answers_["a"] = answers_["b"] = [](const Message&) { return std::string("die"); };
  connect({"a", "b"});
  said(request_text("1", "tools/list", "{}"));
  loop_.run_for(20ms);
  ASSERT_TRUE(ended_);
  EXPECT_EQ(ended_->error().message, "it died");
}

TEST_F(SwitchboardPresenceTest, ASubscriptionIsOneToTheClient) {
  const auto grant = [](const std::string& granted) {
    return [granted](const Message& message) {
      if (message.kind != Message::Kind::Request) return std::string();
      return notification_text("notifications/subscriptions/acknowledged",
                               R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" +
                                   message.id + R"(},"notifications":)" + granted + "}");
    };
  };
  answers_["a"] = grant(R"({"toolsListChanged":true})");
  answers_["b"] = grant(R"({"promptsListChanged":true,"resourceSubscriptions":["x://b"]})");
  connect({"a", "b"});
  const auto heard = said(
      request_text("5", "subscriptions/listen",
                   R"({"notifications":{"toolsListChanged":true,"promptsListChanged":true}})"));
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(
      heard[0].at_pointer("/params/notifications"),
      json::parse(
          R"({"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["x://b"]})"));
  fakes_["a"]->link->send(result_text("5", "{}"), {});
  EXPECT_EQ(client_->heard.size(), 1u);
  fakes_["b"]->link->send(result_text("5", "{}"), {});
  ASSERT_EQ(client_->heard.size(), 3u);
  EXPECT_EQ(find(client_->heard[1], {"id"}), "5");
  EXPECT_EQ(client_->heard[2], notification_text("notifications/cancelled", R"({"requestId":5})"));
}

TEST_F(SwitchboardPresenceTest, OneThatComesBackIsOpenedAsTheOthersAndItsListIsToldOf) {
  bool down = true;
  answers_["a"] = [&](const Message& message) {
    return down && message.method == "tools/list" ? "die" : by_default("a", message);
  };
  connect({"a", "b"});
  said(request_text("1", "initialize", R"({"protocolVersion":"2025-06-18"})"));
  said(notification_text("notifications/initialized", {}), 10ms);
  said(request_text("2", "logging/setLevel", R"({"level":"info"})"));
  const json::value listed = asked("tools/list", "{}");
  EXPECT_EQ(listed.at_pointer("/result/tools").as_array().size(), 1u);
  const std::shared_ptr<test::ScriptedServer> first = fakes_["a"];
  down = false;
  const auto changed = [&] {
    return std::ranges::count_if(client_->heard, [](const std::string& text) {
      return text.contains("notifications/tools/list_changed");
    });
  };
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (changed() == 0 && std::chrono::steady_clock::now() < end) loop_.run_for(10ms);
  EXPECT_EQ(changed(), 1);
  ASSERT_NE(fakes_["a"], first);
  std::vector<std::string> methods;
  for (const Message& one : fakes_["a"]->heard) methods.push_back(one.method);
  EXPECT_EQ(methods, (std::vector<std::string>{"initialize", "notifications/initialized",
                                               "logging/setLevel", "tools/list"}));
  EXPECT_EQ(log_.back(), "`a` is there now");
  EXPECT_EQ(asked("tools/list", "{}").at_pointer("/result/tools").as_array().size(), 2u);
  EXPECT_EQ(asked("tools/call", R"({"name":"a.t"})").at_pointer("/result/from"), "a");
}

TEST_F(SwitchboardPresenceTest, OneThatIsGoneTakesOnlyItsOwnQuestionsAlong) {
  answers_["a"] = [](const Message& message) {
    return message.method == "tools/call" ? "die" : by_default("a", message);
  };
  connect({"a", "b"});
  fakes_["b"]->link->send(request_text("1", "roots/list", ""), {});
  ASSERT_EQ(client_->heard.size(), 1u);
  const std::string question(*find(client_->heard[0], {"id"}));
  asked("tools/call", R"({"name":"a.t"})");
  said(result_text(question, R"({"roots":[]})"), 20ms);
  ASSERT_EQ(fakes_["b"]->heard.size(), 1u);
  EXPECT_EQ(fakes_["b"]->heard[0].text, result_text("1", R"({"roots":[]})"));
}

// `together` limits the wait for servers that have not answered yet, once others have.
TEST_F(SwitchboardPresenceTest,
       AServerThatAnsweredBeforeAndTheFirstToAnswerAreWaitedForTheWholeTime) {
  bool slow = true;
  for (const char* const name : {"a", "b"}) {
    answers_[name] = [&slow, name](const Message& message) {
      return slow && message.method == "tools/list" ? "" : by_default(name, message);
    };
  }
  connect({"a", "b"}, {.start = 20s, .together = 20ms});
  const auto answer = [&](const std::string& name, const std::string& id) {
    fakes_[name]->link->send(
        by_default(name, *Message::read(request_text(id, "tools/list", "{}"), {})), {});
  };
  EXPECT_TRUE(said(request_text("1", "tools/list", "{}"), 60ms).empty()) << "none has answered";
  answer("a", "1");
  answer("b", "1");
  ASSERT_EQ(client_->heard.size(), 1u);
  EXPECT_EQ(json::parse(client_->heard[0]).at_pointer("/result/tools").as_array().size(), 2u);
  EXPECT_TRUE(said(request_text("2", "tools/list", "{}"), 20ms).empty());
  answer("a", "2");
  loop_.run_for(60ms);
  EXPECT_EQ(client_->heard.size(), 1u) << "`b` has answered before";
  answer("b", "2");
  ASSERT_EQ(client_->heard.size(), 2u);
  EXPECT_EQ(json::parse(client_->heard[1]).at_pointer("/result/tools").as_array().size(), 2u);
}

// It may only be starting; it is asked again later.
TEST_F(SwitchboardPresenceTest, AServerThatHasNeverAnsweredDelaysTheOthersOnlyForAMoment) {
  answers_["b"] = [](const Message&) { return std::string(); };
  connect({"a", "b"}, {.start = 20s, .together = 20ms});
  const auto heard = said(request_text("1", "tools/list", "{}"), 5000ms);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].at_pointer("/result/tools"), json::parse(R"([{"name":"a.one","x":1.5}])"));
}

TEST_F(SwitchboardPresenceTest, ASubscriptionToResourcesGoesToTheServersThatHaveThem) {
  for (const char* const name : {"a", "b"}) {
    answers_[name] = [name](const Message& message) {
      return message.method == "subscriptions/listen" ? std::string() : by_default(name, message);
    };
  }
  connect({"a", "b"});
  asked("resources/list", "{}");
  said(request_text("5", "subscriptions/listen",
                    R"({"notifications":{"resourceSubscriptions":["x://b","x://a",7]}})"),
       20ms);
  const auto wanted = [&](const char* name) {
    return find(fakes_[name]->heard.back().params_text(),
                {"notifications", "resourceSubscriptions"});
  };
  EXPECT_EQ(wanted("a"), R"(["x://a"])");
  EXPECT_EQ(wanted("b"), R"(["x://b"])");
}

TEST_F(SwitchboardPresenceTest, OneThatIsGoneHoldsUpNoSubscription) {
  for (const char* const name : {"a", "b"}) {
    answers_[name] = [name](const Message& message) -> std::string {
      if (message.method == "tools/call") return "die";
      if (message.method != "subscriptions/listen") return by_default(name, message);
      return notification_text(
          "notifications/subscriptions/acknowledged",
          R"({"_meta":{"io.modelcontextprotocol/subscriptionId":5},"notifications":{}})");
    };
  }
  connect({"a", "b"}, {.probe = 20s});
  asked("tools/call", R"({"name":"b.t"})");
  const auto heard = said(request_text("5", "subscriptions/listen", R"({"notifications":{}})"));
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].at("method"), "notifications/subscriptions/acknowledged");
}

TEST_F(SwitchboardPresenceTest, AListThatCameLaterIsToldOnTheSubscriptionsThatNameIt) {
  bool silent = true;
  for (const char* const name : {"a", "b"}) {
    answers_[name] = [&silent, name](const Message& message) -> std::string {
      if (message.method == "subscriptions/listen") {
        return notification_text("notifications/subscriptions/acknowledged",
                                 R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" +
                                     message.id + R"(},"notifications":{}})");
      }
      const bool waits = silent && name[0] == 'a' && message.method == "tools/list";
      return waits ? "" : by_default(name, message);
    };
  }
  connect({"a", "b"}, {.start = 20ms});
  ASSERT_EQ(said(request_text("1", "tools/list", "{}"), 2000ms).size(), 1u);
  silent = false;
  for (const char* const id : {"5", "6", "7"}) {
    const char* const wanted = id[0] == '5'   ? R"({"toolsListChanged":true})"
                               : id[0] == '6' ? R"({"toolsListChanged":false})"
                                              : R"({"promptsListChanged":true})";
    ASSERT_EQ(said(request_text(id, "subscriptions/listen",
                                std::string(R"({"notifications":)") + wanted + "}"))
                  .size(),
              1u);
  }
  client_->heard.clear();
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (client_->heard.empty() && std::chrono::steady_clock::now() < end) loop_.run_for(10ms);
  ASSERT_EQ(client_->heard.size(), 1u);
  EXPECT_EQ(client_->heard[0],
            notification_text("notifications/tools/list_changed",
                              R"({"_meta":{"io.modelcontextprotocol/subscriptionId":5}})"));
  EXPECT_EQ(std::ranges::count(fakes_["b"]->heard, "subscriptions/listen", &Message::method), 3)
      << "it already has the subscriptions";
}

// Subscriptions and requests that were open at the end got no answer.
TEST_F(SwitchboardPresenceTest, WhatIsOpenAtTheEndIsAnswered) {
  for (const char* const name : {"a", "b"}) {
    answers_[name] = [name](const Message& message) -> std::string {
      if (message.method == "tools/list") return {};
      if (message.method != "subscriptions/listen") return by_default(name, message);
      return notification_text(
          "notifications/subscriptions/acknowledged",
          R"({"_meta":{"io.modelcontextprotocol/subscriptionId":5},"notifications":{}})");
    };
  }
  connect({"a", "b"});
  ASSERT_EQ(said(request_text("5", "subscriptions/listen", R"({"notifications":{}})")).size(), 1u);
  EXPECT_EQ(said(request_text("6", "tools/list", "{}"), 5ms).size(), 0u);
  client_->heard.clear();
  client_->end();
  settle();
  ASSERT_TRUE(ended_);
  ASSERT_EQ(client_->heard.size(), 3u);
  EXPECT_EQ(find(client_->heard[0], {"result"}),
            R"({"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":5}})");
  EXPECT_EQ(client_->heard[1], notification_text("notifications/cancelled", R"({"requestId":5})"));
  EXPECT_EQ(find(client_->heard[2], {"error", "code"}), std::to_string(kInternalError));
}

TEST_F(SwitchboardPresenceTest, AServersConversationRunsUntilItIsClosed) {
  connect({"a", "b"});
  bool closed = false;
  asio::co_spawn(loop_, fakes_["a"]->link->run(),
                 [&](const std::exception_ptr&) { closed = true; });
  settle();
  EXPECT_FALSE(closed);
  fakes_["a"]->link->close();
  settle();
  EXPECT_TRUE(closed);
}

}  // namespace
}  // namespace sallyport::mcp
