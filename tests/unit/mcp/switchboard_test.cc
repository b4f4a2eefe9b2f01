// One client and several servers: lists, calls, questions and their ids.
#include "base/json_members.h"
#include "unit/mcp/switchboard_bench.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using test::by_default;

class SwitchboardTest : public test::SwitchboardBench {};

TEST_F(SwitchboardTest, AnOpeningSaysWhatAllOfThemCan) {
  connect({"a", "b"});
  const json::value opened = asked("initialize", R"({"protocolVersion":"2025-11-25"})");
  const json::object& result = opened.at("result").as_object();
  EXPECT_EQ(result.at("protocolVersion"), "2025-06-18");
  EXPECT_EQ(result.at("instructions"), "a: be kind\n\nb: be kind");
  EXPECT_EQ(
      result.at("capabilities"),
      json::parse(
          R"({"a":{},"b":{},"resources":{"listChanged":true},"tools":{"listChanged":true}})"));
}

TEST_F(SwitchboardTest, ItIsQuietWhenAllOfThemAre) {
  connect({"a", "b"});
  EXPECT_FALSE(board_->holds_calls());
  fakes_["b"]->busy = true;
  EXPECT_TRUE(board_->holds_calls());
  client_->end();
  loop_.run_for(50ms);
  EXPECT_FALSE(board_->quiet());
  fakes_["b"]->busy = false;
  EXPECT_TRUE(board_->quiet());
}

TEST_F(SwitchboardTest, ListsAreJoinedPageByPage) {
  connect({"a", "b"});
  const json::value first = asked("tools/list", "{}");
  EXPECT_EQ(first.at_pointer("/result/tools"),
            json::parse(R"([{"name":"a.one","x":1.5},{"name":"b.two"}])"));
  const json::value& cursor = first.at_pointer("/result/nextCursor");
  const json::value second = asked("tools/list", json::serialize(json::object{{"cursor", cursor}}));
  EXPECT_EQ(second.at("result"), json::parse(R"({"tools":[{"name":"a.two"}]})"));
  EXPECT_EQ(fakes_["a"]->heard.back().params()->at("cursor"), "p2");
  EXPECT_EQ(asked("tools/list", R"({"cursor":"???"})").at_pointer("/error/code"), kInvalidParams);
}

TEST_F(SwitchboardTest, NumbersAndUnknownMembersPassAsTheyCame) {
  connect({"a", "b"});
  asked("tools/list", "{}");
  EXPECT_NE(client_->heard.back().find("\"x\":1.50"), std::string::npos);
}

TEST_F(SwitchboardTest, ACallGoesToTheServerInItsName) {
  connect({"a", "b", "b.c"});
  EXPECT_EQ(asked("tools/call", R"({"name":"b.t","arguments":{}})").at_pointer("/result/from"),
            "b");
  EXPECT_EQ(fakes_["b"]->heard.back().params()->at("name"), "t");
  EXPECT_EQ(asked("tools/call", R"({"name":"b.c.t"})").at_pointer("/result/from"), "b.c");
  EXPECT_EQ(asked("prompts/get", R"({"name":"a.p"})").at_pointer("/result/from"), "a");
  EXPECT_EQ(asked("completion/complete", R"({"ref":{"type":"ref/prompt","name":"b.p"}})")
                .at_pointer("/result/from"),
            "b");
  for (const char* const params :
       {R"({"name":"t"})", R"({"name":"d.t"})", R"({"name":"a."})", R"({"name":7})", "{}"}) {
    EXPECT_EQ(asked("tools/call", params).at_pointer("/error/code"), kInvalidParams) << params;
  }
  EXPECT_EQ(asked("tools/call", "[]").at_pointer("/error/code"), kInvalidRequest);
}

TEST_F(SwitchboardTest, AResourceIsTheServersThatListedIt) {
  connect({"a", "b"});
  const json::value list = asked("resources/list", "{}");
  EXPECT_EQ(list.at_pointer("/result/resources").as_array().size(), 3u);
  EXPECT_EQ(asked("resources/read", R"({"uri":"x://b"})").at_pointer("/result/from"), "b");
  EXPECT_EQ(asked("resources/read", R"({"uri":"x://both"})").at_pointer("/result/from"), "a");
}

TEST_F(SwitchboardTest, AResourceIsReadFromWhereItIsListedWhoeverAnswersFirst) {
  bool silent = true;
  answers_["a"] = [&](const Message& message) {
    return silent && message.method == "resources/list" ? "" : by_default("a", message);
  };
  connect({"a", "b"}, {.start = 50ms});
  // Alone the name belongs to the second server, until the first one lists it too.
  ASSERT_EQ(said(request_text("71", "resources/list", "{}"), 2000ms).size(), 1u);
  EXPECT_EQ(asked("resources/read", R"({"uri":"x://both"})").at_pointer("/result/from"), "b");
  client_->say(request_text("72", "resources/list", "{}"));
  loop_.run_for(10ms);
  fakes_["a"]->link->send(
      by_default("a", *Message::read(request_text("72", "resources/list", ""), {})), {});
  loop_.run_for(10ms);
  EXPECT_EQ(asked("resources/read", R"({"uri":"x://both"})").at_pointer("/result/from"), "a");
}

TEST_F(SwitchboardTest, AnErrorOfAllIsAnErrorAndOfOneIsNone) {
  answers_["b"] = [](const Message& message) {
    if (message.method == "prompts/list") return result_text(message.id, R"({"prompts":[]})");
    return by_default("b", message);
  };
  connect({"a", "b"});
  EXPECT_EQ(asked("prompts/list", "{}").at_pointer("/result/prompts"), json::array());
  answers_["b"] = nullptr;
  EXPECT_EQ(asked("prompts/list", "{}").at_pointer("/error/code"), kMethodNotFound);
}

TEST_F(SwitchboardTest, QuestionsOfServersDoNotMeet) {
  connect({"a", "b"});
  fakes_["a"]->link->send(request_text("1", "roots/list", ""), {});
  fakes_["b"]->link->send(request_text("1", "roots/list", ""), {});
  ASSERT_EQ(client_->heard.size(), 2u);
  const Message second = *Message::read(client_->heard[1], {});
  said(result_text(second.id, R"({"roots":[]})"), 20ms);
  EXPECT_TRUE(fakes_["a"]->heard.empty());
  ASSERT_EQ(fakes_["b"]->heard.size(), 1u);
  EXPECT_EQ(fakes_["b"]->heard[0].id, "1");
  fakes_["a"]->link->send(notification_text("notifications/cancelled", R"({"requestId":1})"), {});
  EXPECT_EQ(json::parse(client_->heard.back()).at_pointer("/params/requestId"), 1);
}

TEST_F(SwitchboardTest, ACancelGoesWhereTheCallWentAndNothingComesBehindIt) {
  answers_["b"] = [](const Message&) { return std::string(); };
  connect({"a", "b"});
  said(request_text("7", "tools/call", R"({"name":"b.t"})"), 20ms);
  said(notification_text("notifications/cancelled", R"({"requestId":7})"), 20ms);
  EXPECT_TRUE(fakes_["a"]->heard.empty());
  EXPECT_EQ(fakes_["b"]->heard.back().method, "notifications/cancelled");
  fakes_["b"]->link->send(result_text("7", "{}"), {});
  EXPECT_TRUE(client_->heard.empty());
}

TEST_F(SwitchboardTest, NoServerAnswersForAnotherOne) {
  answers_["b"] = [](const Message&) { return std::string(); };
  connect({"a", "b"});
  said(request_text("7", "tools/call", R"({"name":"b.t"})"), 20ms);
  fakes_["a"]->link->send(result_text("7", R"({"forged":true})"), {});
  EXPECT_TRUE(client_->heard.empty());
}

TEST_F(SwitchboardTest, NotificationsGoToAllAndACancelToThoseWhoAreAsked) {
  answers_["a"] = [](const Message& message) {
    return message.method == "tools/list" ? std::string() : by_default("a", message);
  };
  connect({"a", "b"});
  said(notification_text("notifications/roots/list_changed", {}), 10ms);
  for (const char* const name : {"a", "b"}) {
    ASSERT_EQ(fakes_[name]->heard.size(), 1u) << name;
    EXPECT_EQ(fakes_[name]->heard[0].method, "notifications/roots/list_changed");
  }
  said(request_text("7", "tools/list", "{}"), 10ms);
  said(notification_text("notifications/cancelled", R"({"requestId":7})"), 10ms);
  EXPECT_EQ(fakes_["a"]->heard.back().method, "notifications/cancelled");
  EXPECT_EQ(fakes_["b"]->heard.back().method, "tools/list") << "it has answered";
  fakes_["a"]->link->send(result_text("7", R"({"tools":[]})"), {});
  EXPECT_TRUE(client_->heard.empty());
  said(notification_text("notifications/cancelled", "{}"), 10ms);
  EXPECT_EQ(fakes_["b"]->heard.back().method, "tools/list");
}

TEST_F(SwitchboardTest, AServerTakesBackItsOwnQuestionsOnly) {
  connect({"a", "b"});
  fakes_["a"]->link->send(request_text("1", "roots/list", "{}"), {});
  ASSERT_EQ(client_->heard.size(), 1u);
  const std::string id(*find(client_->heard[0], {"id"}));
  const auto take_back = [&](const char* name, const char* params) {
    fakes_[name]->link->send(notification_text("notifications/cancelled", params), {});
    return client_->heard.size();
  };
  EXPECT_EQ(take_back("b", R"({"requestId":1})"), 1u);
  EXPECT_EQ(take_back("a", R"({"requestId":2})"), 1u);
  EXPECT_EQ(take_back("a", "{}"), 1u);
  EXPECT_EQ(take_back("a", R"({"requestId":1,"reason":"late"})"), 2u);
  EXPECT_EQ(find(client_->heard[1], {"params", "requestId"}), id);
  said(result_text(id, "{}"), 10ms);
  EXPECT_TRUE(fakes_["a"]->heard.empty()) << "it is not waited for";
  fakes_["b"]->link->send(request_text("1", "roots/list", "{}"), {});
  said(result_text(*find(client_->heard.back(), {"id"}), R"({"roots":[]})"), 10ms);
  ASSERT_EQ(fakes_["b"]->heard.size(), 1u);
  EXPECT_EQ(fakes_["b"]->heard[0].id, "1");
  EXPECT_TRUE(fakes_["a"]->heard.empty());
}

TEST_F(SwitchboardTest, CompletionsAndTemplatesFindTheirServer) {
  for (const std::string name : {"a", "b"}) {
    answers_[name] = [name](const Message& message) {
      if (message.method != "resources/templates/list") return by_default(name, message);
      return result_text(
          message.id,
          R"({"resourceTemplates":[{"uriTemplate":"x://)" + name +
              (name == "b" ? R"(/deep/{id}"},{"uriTemplate":"x://{y}"}]})" : R"(/{id}"}]})"));
    };
  }
  connect({"a", "b"});
  asked("resources/templates/list", "{}");
  const auto from = [&](const std::string& method, const std::string& params) {
    const json::value answer = asked(method, params);
    const json::object* const result = object_in(answer.as_object(), "result");
    return result ? std::string(text_or_empty(*result, "from")) : json::serialize(answer);
  };
  EXPECT_EQ(from("resources/read", R"({"uri":"x://a/1"})"), "a");
  EXPECT_EQ(from("resources/read", R"({"uri":"x://b/deep/1"})"), "b");
  EXPECT_EQ(from("resources/read", R"({"uri":"x://other"})"), "b");
  EXPECT_EQ(from("resources/read", R"({"uri":"y://other"})"), "a") << "the first";
  EXPECT_EQ(from("completion/complete", R"({"ref":{"type":"ref/prompt","name":"b.p"}})"), "b");
  EXPECT_EQ(from("completion/complete", R"({"ref":{"type":"ref/resource","uri":"x://b/deep/2"}})"),
            "b");
  EXPECT_EQ(asked("resources/read", "{}").at_pointer("/error/code"), json::value(kInvalidParams));
  EXPECT_EQ(asked("tools/list", R"({"cursor":5})").at_pointer("/error/code"), kInvalidParams);
  EXPECT_EQ(asked("tools/list", R"({"cursor":"none of ours"})").at_pointer("/error/code"),
            json::value(kInvalidParams));
  EXPECT_EQ(asked("subscriptions/listen", "{}").at_pointer("/error/code"),
            json::value(kInvalidParams));
  EXPECT_EQ(asked("tasks/get", R"({"taskId":"none"})").at_pointer("/error/code"),
            json::value(kInvalidParams));
}

TEST_F(SwitchboardTest, ACallOfNoServerIsRecordedAsRefused) {
  std::vector<Call> refused;
  refuse_ = [&](Call call) -> Task<Answer> {
    refused.push_back(std::move(call));
    co_return Answer{.call_id = "c", .outcome = Outcome::blocked("there is no such tool")};
  };
  connect({"a", "b"});
  const json::value call = asked("tools/call", R"({"name":"c.t","arguments":{"n":1}})");
  EXPECT_EQ(call.at_pointer("/result/isError"), json::value(true));
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].tool, "c.t");
  EXPECT_EQ(refused[0].input, json::value(json::object{{"n", 1}}));
  EXPECT_TRUE(asked("prompts/get", R"({"name":"c.p"})").as_object().contains("error"));
  EXPECT_EQ(refused.size(), 2u);
  EXPECT_TRUE(asked("tools/call", R"({"name":7})").as_object().contains("error"));
  EXPECT_EQ(refused.size(), 2u) << "that is no call";
  refuse_ = nullptr;
}

TEST_F(SwitchboardTest, OneServerAloneIsSpokenToDirectly) {
  connect({"a"});
  const auto heard = said(request_text("1", "tools/list", "{}"));
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(client_->heard[0],
            by_default("a", *Message::read(request_text("1", "tools/list", "{}"), {})));
  EXPECT_EQ(asked("tools/call", R"({"name":"plain"})").at_pointer("/result/from"), "a");
}

TEST_F(SwitchboardTest, TasksAreCalledByTheNameOfTheirServer) {
  for (const char* const name : {"a", "b"}) {
    answers_[name] = [](const Message& message) -> std::string {
      if (message.method == "tools/call") {
        return result_text(message.id, R"({"resultType":"task","taskId":"7","task":"mine"})");
      }
      if (message.method == "tasks/get") {
        return result_text(message.id, std::string(message.params_text()));
      }
      if (message.method != "subscriptions/listen") return {};
      return notification_text(
          "notifications/subscriptions/acknowledged",
          R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" + message.id +
              R"(},"notifications":)" +
              std::string(find(message.text, {"params", "notifications"}).value_or("{}")) + "}");
    };
  }
  connect({"a", "b"});
  const json::value given = asked("tools/call", R"({"name":"b.t"})");
  EXPECT_EQ(given.at("result").at("taskId"), "b.7");
  EXPECT_EQ(given.at("result").at("task"), "mine");
  EXPECT_EQ(asked("tasks/get", R"({"taskId":"b.7","x":1})").at("result"),
            json::parse(R"({"taskId":"b.7","x":1})"));
  EXPECT_EQ(fakes_["b"]->heard.back().params_text(), R"({"taskId":"7","x":1})");
  EXPECT_EQ(asked("tasks/get", R"({"taskId":"7"})").at("error").at("code"), kInvalidParams);
  const json::value granted =
      asked("subscriptions/listen", R"({"notifications":{"taskIds":["b.7","a.8","9"]}})");
  EXPECT_EQ(granted.at("params").at("notifications"), json::parse(R"({"taskIds":["a.8","b.7"]})"));
  fakes_["b"]->link->send(
      notification_text("notifications/tasks", R"({"taskId":"7","status":"completed"})"), {});
  EXPECT_EQ(json::parse(client_->heard.back()).at("params").at("taskId"), "b.7");
}

TEST_F(SwitchboardTest, AnIdThatIsInUseIsRefusedAndItsRequestStillAnswered) {
  answers_["b"] = [](const Message&) { return std::string(); };
  connect({"a", "b"});
  for (const std::string& request : {request_text("7", "tools/call", R"({"name":"b.t"})"),
                                     request_text("8", "tools/list", "{}")}) {
    EXPECT_TRUE(said(request, 20ms).empty());
    const auto heard = said(request_text("7", "tools/call", R"({"name":"a.t"})"), 20ms);
    ASSERT_EQ(heard.size(), 1u);
    EXPECT_EQ(heard[0].at_pointer("/error/message"), "this id is in use");
  }
  const auto heard = said(request_text("8", "prompts/get", R"({"name":"a.t"})"), 20ms);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].at_pointer("/error/message"), "this id is in use");
  fakes_["b"]->link->send(result_text("7", R"({"late":true})"), {});
  fakes_["b"]->link->send(result_text("8", R"({"tools":[]})"), {});
  ASSERT_EQ(client_->heard.size(), 5u);
  EXPECT_EQ(client_->heard[3], result_text("7", R"({"late":true})"));
  EXPECT_EQ(json::parse(client_->heard[4]).at_pointer("/result/tools").as_array().size(), 1u);
}

TEST_F(SwitchboardTest, NoMoreUnknownCallsAreRecordedAtOnceThanMayRun) {
  asio::steady_timer ledger(loop_.get_executor(), 1h);
  int recorded = 0;
  refuse_ = [&](Call) -> Task<Answer> {
    boost::system::error_code ignored;
    co_await ledger.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    ++recorded;
    co_return Answer{.call_id = "c", .outcome = Outcome::blocked("there is no such tool")};
  };
  connect({"a", "b"}, {.calls = 1});
  EXPECT_TRUE(said(request_text("1", "tools/call", R"({"name":"c.t"})"), 20ms).empty());
  EXPECT_EQ(asked("tools/call", R"({"name":"c.t"})").at_pointer("/error/code"), kTooMuch);
  ledger.cancel();
  settle();
  EXPECT_EQ(recorded, 1);
  refuse_ = nullptr;
}

TEST_F(SwitchboardTest, NoMoreRequestsWaitThanMay) {
  answers_["b"] = [](const Message&) { return std::string(); };
  connect({"a", "b"}, {.requests = 2});
  EXPECT_TRUE(said(request_text("1", "tools/call", R"({"name":"b.t"})"), 10ms).empty());
  EXPECT_TRUE(said(request_text("2", "tools/list", "{}"), 10ms).empty());
  const auto refused = said(request_text("3", "tools/call", R"({"name":"a.t"})"));
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].at_pointer("/error/code"), kTooMuch);
  fakes_["b"]->link->send(result_text("1", "{}"), {});
  const auto heard = said(request_text("4", "tools/call", R"({"name":"a.t"})"));
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].at_pointer("/result/from"), "a");
}

TEST_F(SwitchboardTest, AnUnknownMethodGoesToTheFirstServerThatIsThere) {
  answers_["a"] = [](const Message& message) {
    return message.method == "tools/call" ? "die" : by_default("a", message);
  };
  connect({"a", "b"});
  EXPECT_EQ(asked("made/up", "{}").at_pointer("/result/from"), "a");
  asked("tools/call", R"({"name":"a.t"})");
  EXPECT_EQ(asked("made/up", "{}").at_pointer("/result/from"), "b");
}

}  // namespace
}  // namespace sallyport::mcp
