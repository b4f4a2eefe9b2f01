#include "mcp/switchboard/switchboard.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <deque>

#include "base/json_members.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

// Plays what a client says, one message each time that something is answered, and keeps all that it
// is told.
class Script final : public ClientLink {
 public:
  explicit Script(asio::any_io_executor executor) : bell_(executor) {
    bell_.expires_at(asio::steady_timer::time_point::max());
  }
  Async<std::optional<net::Line>> next() override {
    boost::system::error_code ignored;
    while (waiting.empty() && !ended) {
      co_await bell_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    if (waiting.empty()) co_return std::nullopt;
    net::Line line{.text = waiting.front()};
    waiting.pop_front();
    co_return line;
  }
  void hang_up() override { end(); }
  Async<void> run() override { co_return; }
  bool send(std::string text, std::string_view) override {
    heard.push_back(std::move(text));
    return true;
  }
  Async<void> room(std::chrono::milliseconds) override { co_return; }
  Async<void> flush(std::chrono::milliseconds) override { co_return; }
  void close() override {}
  bool broken() const override { return false; }

  void say(std::string text) {
    waiting.push_back(std::move(text));
    bell_.cancel();
  }
  void end() {
    ended = true;
    bell_.cancel();
  }

  std::deque<std::string> waiting;
  std::vector<std::string> heard;
  bool ended = false;

 private:
  asio::steady_timer bell_;
};

// A server behind its gateway: answers by a function, and is spoken through.
class Fake final : public Conversation {
 public:
  using Answer = std::function<std::string(const Message&)>;  // empty: none
  Fake(std::unique_ptr<ClientLink> link, Answer answer)
      : link(std::move(link)), answer_(std::move(answer)) {}
  Task<void> run() override {
    while (auto line = co_await link->next()) {
      Result<Message> message = Message::read(line->text, {});
      if (message) heard.push_back(*message);
      const std::string text = message ? answer_(*message) : "";
      if (text == "die") co_return fail(ErrorCode::Unavailable, "it died");
      if (!text.empty()) link->send(text, {});
    }
    co_return Result<void>{};
  }
  void stop() override { link->hang_up(); }
  bool holds_calls() const override { return busy; }
  bool quiet() const override { return !busy; }

  bool busy = false;
  std::unique_ptr<ClientLink> link;
  std::vector<Message> heard;

 private:
  Answer answer_;
};

std::string by_default(const std::string& name, const Message& message) {
  if (message.kind != Message::Kind::Request) return {};
  const std::string& id = message.id;
  if (message.method == "initialize") {
    return result_text(
        id, R"({"protocolVersion":"2025-06-18","instructions":"be kind","capabilities":{")" + name +
                R"(":{},"resources":{},"tools":{"listChanged":)" +
                (name == "b" ? "true" : "false") + "}}}");
  }
  if (message.method == "tools/list") {
    const auto cursor = find(message.params_text(), {"cursor"});
    if (name == "a" && !cursor) {
      return result_text(id, R"({"tools":[{"name":"one","x":1.50}],"nextCursor":"p2"})");
    }
    return result_text(id, R"({"tools":[{"name":"two"}]})");
  }
  if (message.method == "resources/list") {
    return result_text(id, R"({"resources":[{"uri":"x://)" + name + R"("},{"uri":"x://both"}]})");
  }
  if (message.method == "prompts/list") return error_text(id, kMethodNotFound, "no prompts");
  return result_text(id, "{\"from\":\"" + name + "\"}");
}

class SwitchboardTest : public testing::Test {
 protected:
  void connect(std::vector<std::string> names, Limits limits = {}) {
    auto script = std::make_unique<Script>(loop_.get_executor());
    client_ = script.get();
    std::vector<Switchboard::NamedServer> upstreams;
    for (const std::string& name : names) {
      upstreams.push_back({name, [this, name](std::unique_ptr<ClientLink> link) {
                             auto answer = [this, name](const Message& message) {
                               return answers_[name] ? answers_[name](message)
                                                     : by_default(name, message);
                             };
                             auto fake = std::make_shared<Fake>(std::move(link), answer);
                             fakes_[name] = fake;
                             return fake;
                           }});
    }
    board_.emplace(
        loop_.get_executor(), std::move(script), std::move(upstreams),
        Switchboard::Settings{limits, [this](std::string_view line) { log_.emplace_back(line); },
                              refuse_});
    asio::co_spawn(loop_, board_->run(), [this](const std::exception_ptr&, Result<void> result) {
      ended_ = std::move(result);
    });
    settle();
  }

  // All that the client is told because of it.
  std::vector<json::value> said(const std::string& text,
                                std::chrono::milliseconds patience = 100ms) {
    const std::size_t before = client_->heard.size();
    client_->say(text);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (client_->heard.size() == before && std::chrono::steady_clock::now() < end) {
      loop_.run_for(2ms);
    }
    settle();
    std::vector<json::value> out;
    for (std::size_t i = before; i < client_->heard.size(); ++i) {
      out.push_back(json::parse(client_->heard[i]));
    }
    return out;
  }
  // Until nothing is left that does not wait.
  void settle() {
    do {
      loop_.restart();
    } while (loop_.poll() > 0);
  }
  json::value asked(const std::string& method, const std::string& params) {
    const auto heard = said(request_text(std::to_string(++id_), method, params));
    EXPECT_EQ(heard.size(), 1u);
    return heard.empty() ? json::value() : heard.front();
  }
  ~SwitchboardTest() override {
    client_->end();
    loop_.run_for(50ms);
    EXPECT_TRUE(ended_.has_value());
  }

  asio::io_context loop_;
  Script* client_ = nullptr;
  std::map<std::string, std::shared_ptr<Fake>> fakes_;  // shared with the switchboard
  std::map<std::string, Fake::Answer> answers_;
  std::vector<std::string> log_;
  std::function<Task<Answer>(Call)> refuse_;
  std::optional<Switchboard> board_;
  std::optional<Result<void>> ended_;
  int id_ = 0;
};

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
  // Alone it is the other one's, until the first one lists it too.
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

TEST_F(SwitchboardTest, OneThatDoesNotAnswerHoldsUpTheOthersNoLongerThanItMay) {
  answers_["a"] = [](const Message&) { return std::string(); };
  connect({"a", "b"}, {.start = 50ms});
  const auto heard = said(request_text("1", "tools/list", "{}"), 2000ms);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].at_pointer("/result/tools"), json::parse(R"([{"name":"b.two"}])"));
  EXPECT_NE(log_.back().find("`a` did not answer"), std::string::npos);
}

TEST_F(SwitchboardTest, OneThatIsGoneIsSaidToBe) {
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

TEST_F(SwitchboardTest, WithoutAnyServerItEnds) {
  answers_["a"] = answers_["b"] = [](const Message&) { return std::string("die"); };
  connect({"a", "b"});
  said(request_text("1", "tools/list", "{}"));
  loop_.run_for(20ms);
  ASSERT_TRUE(ended_);
  EXPECT_EQ(ended_->error().message, "it died");
}

TEST_F(SwitchboardTest, ASubscriptionIsOneToTheClient) {
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
  EXPECT_EQ(client_->heard.size(), 2u);
}

TEST_F(SwitchboardTest, OneThatComesBackIsOpenedAsTheOthersAndItsListIsToldOf) {
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
  const std::shared_ptr<Fake> first = fakes_["a"];
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

}  // namespace
}  // namespace sallyport::mcp
