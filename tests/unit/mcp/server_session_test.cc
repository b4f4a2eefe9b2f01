#include "mcp/server/server_session.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"
#include "support/test_clock.h"
#include "unit/mcp/fake_links.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kOpening =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},)"
    R"("logging":{}},"serverInfo":{"name":"files","version":"1"}})";
constexpr std::string_view kDiscovery =
    R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}})";
constexpr std::string_view kParams = R"({"protocolVersion":"2025-11-25","capabilities":{}})";

class ServerSessionTest : public testing::Test, private ServerListener {
 protected:
  // A session with a server that gives this answer.
  void connect(test::FakeServer::Answer answer, EraHint era = {}) {
    answer_ = std::move(answer);
    const ServerMaker make = [this](Server::Parts parts) {
      auto made = std::make_unique<test::FakeServer>(
          std::move(parts), [this](const Message& request) { return answer_(request); });
      server_ = made.get();
      return made;
    };
    session_.emplace(
        loop_.get_executor(),
        ServerSession::Parts{clock_, redactor_, pins_, door_, tasks_, client_, *this},
        ServerSession::Settings{.name = "files",
                                .make = make,
                                .era = std::move(era),
                                .limits = limits_,
                                .log = [this](std::string_view line) { log_.emplace_back(line); }});
    tasks_.start(
        [](ServerSession& session) -> Async<void> { (void)co_await session.run(); }(*session_));
    until([this] { return server_->up(); });
  }
  void until(const std::function<bool()>& holds) { EXPECT_TRUE(test::run_until(loop_, holds)); }
  template <class T>
  T now(Async<T> work) {
    std::optional<T> got;
    boost::asio::co_spawn(loop_, std::move(work),
                          [&](const std::exception_ptr&, T value) { got = std::move(value); });
    until([&] { return got.has_value(); });
    return std::move(*got);
  }
  void learn(const std::string& tool) {
    bool done = false;
    boost::asio::co_spawn(loop_, session_->tools().refresh(tool),
                          [&](const std::exception_ptr&) { done = true; });
    until([&] { return done; });
  }
  ~ServerSessionTest() override {
    boost::asio::co_spawn(loop_, session_->stop(), boost::asio::detached);
    until([this] { return tasks_.size() == 0; });
  }

  Async<void> on_server_request(Message request) override {
    asked_.push_back(std::move(request));
    co_return;
  }
  Async<void> on_server_notification(Message notification) override {
    told_.push_back(std::move(notification));
    co_return;
  }
  void server_returned() override { ++returns_; }
  void server_ended() override {}

  boost::asio::io_context loop_;
  Limits limits_{};
  sallyport::test::TestClock clock_;
  sallyport::test::FakeRecorder recorder_;
  core::NoRedactor redactor_;
  SystemEntropy entropy_;
  PinBook pins_{recorder_};
  sallyport::test::ChangingPlan plans_{core::PlanBuilder().build().value()};
  core::Escalations escalations_{recorder_, clock_, entropy_};
  net::TaskGroup tasks_{loop_.get_executor(), [](std::string_view) {}};
  MessageDoor door_{{plans_, recorder_, escalations_, redactor_, clock_, tasks_},
                    {{.server = "files"}, limits_, [](std::string_view) {}}};
  ClientProfile client_{.era = Era::Legacy, .name = "ann"};
  test::FakeServer::Answer answer_;
  test::FakeServer* server_ = nullptr;
  std::optional<ServerSession> session_;
  std::vector<Message> asked_;
  std::vector<Message> told_;
  std::vector<std::string> log_;
  int returns_ = 0;
};

// A server of sessions, with these tools.
test::FakeServer::Answer with_sessions(std::string tools = "[]") {
  return [tools](const Message& request) -> std::string {
    if (request.method == "initialize") return std::string(kOpening);
    if (request.method == "tools/list") return R"({"tools":)" + tools + "}";
    if (request.method == "server/discover") return "error no such method";
    return "{}";
  };
}

test::FakeServer::Answer stateless(std::string tools = "[]") {
  return [tools](const Message& request) -> std::string {
    if (request.method == "server/discover") return std::string(kDiscovery);
    if (request.method == "tools/list") return R"({"tools":)" + tools + "}";
    if (request.method == "initialize") return "error no such method";
    return request.method == "subscriptions/listen" ? "" : "{}";
  };
}

TEST_F(ServerSessionTest, AServerOfSessionsIsOpenedWithTheWordsOfItsClient) {
  connect(with_sessions());
  const auto opened = now(session_->opening().open(std::string(kParams)));
  ASSERT_TRUE(opened && *opened && **opened);
  EXPECT_EQ((**opened)->result_text(), kOpening);
  EXPECT_EQ(session_->opening().era(), Era::Legacy);
  EXPECT_TRUE(session_->opening().ready());
  EXPECT_EQ(server_->last("initialize").params_text(), kParams);
  EXPECT_EQ(server_->times("server/discover"), 0u);
}

TEST_F(ServerSessionTest, AServerThatRefusesASessionIsTriedAsAStatelessOne) {
  std::vector<Era> learned;
  connect(stateless(), {.on_found = [&](Era era) { learned.push_back(era); }});
  const auto opened = now(session_->opening().open(std::string(kParams)));
  ASSERT_TRUE(opened);
  EXPECT_FALSE(opened->has_value());
  EXPECT_EQ(session_->opening().era(), Era::Modern);
  EXPECT_EQ(session_->opening().discovery(), kDiscovery);
  EXPECT_EQ(learned, std::vector{Era::Modern});
}

TEST_F(ServerSessionTest, TheOtherEraIsNotTriedWhereAPersonHasNamedOne) {
  connect(stateless(), {.era = Era::Legacy, .pinned = true});
  const auto opened = now(session_->opening().open(std::string(kParams)));
  ASSERT_TRUE(opened && *opened && **opened);
  EXPECT_TRUE((**opened)->is_error());  // the server's answer
  EXPECT_EQ(server_->times("server/discover"), 0u);
  EXPECT_FALSE(session_->opening().ready());
}

// The error of the probe was once dropped, so the client got an empty message.
TEST_F(ServerSessionTest, AServerThatIsNotOfTheEraThatAPersonHasNamedIsReportedSo) {
  connect(with_sessions(), {.era = Era::Modern, .pinned = true});
  const auto opened = now(session_->opening().open(std::string(kParams)));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message, "the server is not stateless");
}

TEST_F(ServerSessionTest, AStatelessClientWakesAServerOfSessions) {
  client_ = {.era = Era::Modern, .capabilities = {{"roots", json::object()}}, .name = "ann"};
  connect(with_sessions());
  session_->opening().wake();
  session_->opening().wake();  // it is being opened
  until([this] { return session_->opening().ready(); });
  EXPECT_EQ(session_->opening().era(), Era::Legacy);
  EXPECT_EQ(server_->times("initialize"), 1u);
  EXPECT_EQ(find(server_->last("initialize").params_text(), {"capabilities"}), R"({"roots":{}})");
  EXPECT_EQ(server_->told.at(0), notification_text("notifications/initialized", {}));
}

// One initialization: the client, the server and its description, and the result.
struct OpeningCase {
  Era client;
  bool sessions;  // the server has them, else it is stateless
  EraHint hint;
  Era era;  // that was found; Unknown: it does not open
  std::size_t initialized;
  std::size_t discovered;
  std::optional<Era> learned;
};

class ServerEraTest : public ServerSessionTest, public testing::WithParamInterface<OpeningCase> {};

TEST_P(ServerEraTest, AServerIsOpenedInItsEraAndAsFewTimesAsCanBe) {
  const OpeningCase& one = GetParam();
  client_.era = one.client;
  std::vector<Era> learned;
  EraHint hint = one.hint;
  hint.on_found = [&](Era era) { learned.push_back(era); };
  connect(one.sessions ? with_sessions() : stateless(), std::move(hint));
  if (one.client == Era::Legacy) {
    (void)now(session_->opening().open(std::string(kParams)));
  } else {
    session_->opening().wake();
    until([&] { return session_->opening().ready() || !log_.empty(); });
  }
  EXPECT_EQ(session_->opening().ready(), one.era != Era::Unknown);
  if (one.era != Era::Unknown) EXPECT_EQ(session_->opening().era(), one.era);
  EXPECT_EQ(server_->times("initialize"), one.initialized);
  EXPECT_EQ(server_->times("server/discover"), one.discovered);
  EXPECT_EQ(learned, one.learned ? std::vector{*one.learned} : std::vector<Era>());
}

INSTANTIATE_TEST_SUITE_P(
    Openings, ServerEraTest,
    testing::Values(
        OpeningCase{Era::Legacy, true, {}, Era::Legacy, 1, 0, {}},
        OpeningCase{Era::Legacy, true, {.era = Era::Legacy}, Era::Legacy, 1, 0, {}},
        OpeningCase{Era::Legacy, true, {.era = Era::Modern}, Era::Legacy, 1, 1, Era::Legacy},
        OpeningCase{
            Era::Legacy, true, {.era = Era::Modern, .pinned = true}, Era::Unknown, 0, 1, {}},
        OpeningCase{Era::Legacy, false, {}, Era::Modern, 1, 1, Era::Modern},
        OpeningCase{Era::Legacy, false, {.era = Era::Legacy}, Era::Modern, 1, 1, Era::Modern},
        OpeningCase{
            Era::Legacy, false, {.era = Era::Legacy, .pinned = true}, Era::Unknown, 1, 0, {}},
        OpeningCase{Era::Legacy, false, {.era = Era::Modern}, Era::Modern, 0, 1, {}},
        OpeningCase{
            Era::Legacy, false, {.era = Era::Modern, .pinned = true}, Era::Modern, 0, 1, {}},
        OpeningCase{Era::Modern, false, {}, Era::Modern, 0, 1, {}},
        OpeningCase{Era::Modern, false, {.era = Era::Legacy}, Era::Modern, 1, 1, Era::Modern},
        OpeningCase{
            Era::Modern, false, {.era = Era::Legacy, .pinned = true}, Era::Unknown, 1, 0, {}},
        OpeningCase{Era::Modern, false, {.era = Era::Modern}, Era::Modern, 0, 1, {}},
        OpeningCase{Era::Modern, true, {}, Era::Legacy, 1, 1, Era::Legacy},
        OpeningCase{Era::Modern, true, {.era = Era::Legacy}, Era::Legacy, 1, 0, {}},
        OpeningCase{Era::Modern, true, {.era = Era::Modern}, Era::Legacy, 1, 1, Era::Legacy},
        OpeningCase{
            Era::Modern, true, {.era = Era::Modern, .pinned = true}, Era::Unknown, 0, 2, {}}));

TEST_F(ServerSessionTest, AStatelessClientOffersWhatItHasToAServerOfSessions) {
  const std::pair<json::object, std::string_view> kCases[] = {
      {{}, "{}"},
      {{{"sampling", json::object()}, {"other", json::object()}}, R"({"sampling":{}})"},
      {{{"elicitation", json::object()}}, R"({"elicitation":{}})"},
      {{{"elicitation", {{"form", json::object()}, {"x", 1}}}}, R"({"elicitation":{"form":{}}})"},
      {{{"elicitation", {{"url", json::object()}}}}, R"({"elicitation":{"url":{}}})"},
      {{{"elicitation", 1}}, R"({"elicitation":{}})"},
  };
  for (const auto& [capabilities, offered] : kCases) {
    client_ = {.era = Era::Modern, .capabilities = capabilities, .name = "ann"};
    connect(with_sessions());
    session_->opening().wake();
    until([this] { return session_->opening().ready(); });
    EXPECT_EQ(find(server_->last("initialize").params_text(), {"capabilities"}), offered);
    boost::asio::co_spawn(loop_, session_->stop(), boost::asio::detached);
    until([this] { return tasks_.size() == 0; });
  }
}

TEST_F(ServerSessionTest, RequestsAreInTheWordsOfTheServersEra) {
  connect(stateless());
  (void)now(session_->opening().open(std::string(kParams)));
  const std::string params = session_->params_for(R"({"a":1})", Words::OfClient);
  EXPECT_EQ(find(params, {"_meta", kMetaVersion}), R"("2026-07-28")");
  client_.era = Era::Modern;
  EXPECT_EQ(session_->params_for(R"({"a":1})", Words::OfClient), R"({"a":1})");
  EXPECT_NE(session_->params_for(R"({"a":1})", Words::Own), R"({"a":1})");
}

TEST_F(ServerSessionTest, AServerThatIsStartedAgainHearsAllOfItAgain) {
  connect(with_sessions());
  (void)now(session_->opening().open(std::string(kParams)));
  session_->opening().set_initialized();
  session_->standing().note(
      Message::read(request_text("1", "logging/setLevel", R"({"level":"info"})"), {}).value());
  session_->standing().note(
      Message::read(request_text("2", "resources/subscribe", R"({"uri":"x://a"})"), {}).value());
  server_->end("it crashed");
  EXPECT_FALSE(session_->opening().ready());
  EXPECT_EQ(log_.back(), "it crashed");
  server_->start(true);
  until([this] { return returns_ == 1; });
  EXPECT_EQ(server_->times("initialize"), 2u);
  EXPECT_EQ(server_->last("logging/setLevel").params_text(), R"({"level":"info"})");
  EXPECT_EQ(server_->last("resources/subscribe").params_text(), R"({"uri":"x://a"})");
  EXPECT_TRUE(session_->opening().ready());
}

// A server that needed longer than other answers may take was once never opened again.
TEST_F(ServerSessionTest, AServerThatIsStartedAgainHasTheTimeOfAFirstStartAndIsAskedAgain) {
  limits_.start = 1ms;
  limits_.first_backoff = limits_.longest_backoff = 1ms;
  connect(with_sessions());
  (void)now(session_->opening().open(std::string(kParams)));
  server_->end("it crashed");
  answer_ = [](const Message&) { return std::string(); };
  server_->start(true);
  until([this] { return server_->times("initialize") == 2; });
  loop_.restart();
  loop_.run_for(20ms);
  server_->reply(std::stoull(server_->last("initialize").id), std::string(kOpening));
  until([this] { return returns_ == 1; });
  server_->end("it crashed again");
  answer_ = [this](const Message& request) {
    return server_->times("initialize") < 5 ? "error not yet" : with_sessions()(request);
  };
  server_->start(true);
  until([this] { return returns_ == 2; });
  EXPECT_EQ(server_->times("initialize"), 5u);
  EXPECT_TRUE(session_->opening().ready());
}

TEST_F(ServerSessionTest, AStatelessServerThatReturnsIsReadyAndListenedToAgain) {
  connect(stateless());
  session_->opening().set_initialized();
  (void)now(session_->opening().open(std::string(kParams)));
  until([this] { return server_->times("subscriptions/listen") == 1; });
  server_->end("gone");
  server_->start(true);
  EXPECT_EQ(returns_, 1);
  EXPECT_TRUE(session_->opening().ready());
  until([this] { return server_->times("subscriptions/listen") == 2; });
  EXPECT_EQ(server_->times("server/discover"), 1u);
}

TEST_F(ServerSessionTest, ThoseWhoWaitLearnThatTheServerWasGivenUp) {
  connect([](const Message&) { return std::string(); });
  server_->give_up("it does not start");
  const Result<void> ready = now(session_->wait_ready());
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().message, "it does not start");
  EXPECT_TRUE(session_->opening().hopeless());
}

TEST_F(ServerSessionTest, AServerThatWantsALoginIsNotWaitedForAndIsAskedAgain) {
  bool logged_in = false;
  client_.era = Era::Modern;
  connect([&](const Message& request) {
    if (!logged_in) return std::string(test::kWantsLogin);
    return request.method == "server/discover" ? std::string(kDiscovery) : std::string("error no");
  });
  session_->opening().wake();
  const Result<void> refused = now(session_->wait_ready());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, test::kWantsLogin);
  EXPECT_TRUE(session_->opening().hopeless());
  logged_in = true;
  session_->opening().wake();
  EXPECT_TRUE(now(session_->wait_ready()));
  EXPECT_FALSE(session_->opening().hopeless());
}

TEST_F(ServerSessionTest, AServerThatDoesNotOpenInTimeIsNotWaitedFor) {
  connect([](const Message&) { return std::string(); });
  Result<void> ready;
  bool done = false;
  boost::asio::co_spawn(loop_, session_->wait_ready(),
                        [&](const std::exception_ptr&, Result<void> got) {
                          ready = std::move(got);
                          done = true;
                        });
  loop_.run_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(done);
  clock_.advance(limits_.start);
  until([&] { return done; });
  EXPECT_EQ(ready.error().message, "the server runs, but did not answer its first request in time");
}

// A call before the server's start was once judged without its list of tools.
TEST_F(ServerSessionTest, ToolsAreLearnedAlsoWhereTheServerStartsLater) {
  connect(with_sessions(R"([{"name":"read"}])"));
  bool done = false;
  boost::asio::co_spawn(loop_, session_->tools().refresh("read"),
                        [&](const std::exception_ptr&) { done = true; });
  (void)now(session_->opening().open(std::string(kParams)));
  until([&] { return done; });
  EXPECT_TRUE(session_->tools().known());
  EXPECT_NE(session_->tool("read"), nullptr);
}

TEST_F(ServerSessionTest, ToolsAreListedOnceAndAgainWhenTheyHaveChanged) {
  connect(with_sessions(R"([{"name":"read"}])"));
  (void)now(session_->opening().open(std::string(kParams)));
  learn("read");
  learn("read");
  EXPECT_EQ(server_->times("tools/list"), 1u);
  EXPECT_TRUE(session_->callable("read"));
  EXPECT_FALSE(session_->callable("write"));
  EXPECT_FALSE(session_->callable("tools/list"));
  server_->notify(notification_text("notifications/tools/list_changed", {}));
  until([this] { return told_.size() == 1; });
  EXPECT_TRUE(session_->callable("write"));  // it may exist by now
  answer_ = with_sessions(R"([{"name":"write"}])");
  learn("write");
  EXPECT_TRUE(session_->callable("write"));
  EXPECT_FALSE(session_->callable("read"));
}

// A call during a listing once saw no tools, and so did calls after a listing that failed half-way.
TEST_F(ServerSessionTest, TheOldListStaysInUseUntilANewOneIsWhole) {
  limits_.tools = 2;
  connect(with_sessions(R"([{"name":"read"}])"));
  (void)now(session_->opening().open(std::string(kParams)));
  learn("read");
  session_->tools().forget();
  answer_ = [](const Message&) { return std::string(); };
  bool done = false;
  boost::asio::co_spawn(loop_, session_->tools().refresh("read"),
                        [&](const std::exception_ptr&) { done = true; });
  until([this] { return server_->times("tools/list") == 2; });
  EXPECT_NE(session_->tool("read"), nullptr);
  server_->reply(std::stoull(server_->last("tools/list").id),
                 R"({"tools":[{"name":"a"},{"name":"b"},{"name":"c"}]})");
  until([&] { return done; });
  EXPECT_NE(session_->tool("read"), nullptr);
  EXPECT_EQ(session_->tool("a"), nullptr);
}

TEST_F(ServerSessionTest, NeitherOfTwoToolsWithOneNameMayBeCalled) {
  connect(with_sessions(R"([{"name":"a"},{"name":"b","description":"x"},{"name":"b"}])"));
  (void)now(session_->opening().open(std::string(kParams)));
  learn("a");
  EXPECT_TRUE(session_->callable("a"));
  EXPECT_FALSE(session_->callable("b"));
}

TEST_F(ServerSessionTest, AToolThatHasChangedIsHeldBackAndMissingFromTheList) {
  connect(with_sessions(R"([{"name":"a","description":"old"},{"name":"b"}])"));
  (void)now(session_->opening().open(std::string(kParams)));
  learn("a");
  answer_ = with_sessions(R"([{"name":"a","description":"new"},{"name":"b"}])");
  const Message list =
      Message::read(
          result_text("1", R"({"tools":[{"name":"a","description":"new"},{"name":"b"}]})"), {})
          .value();
  const Result<Message> shown = now(session_->tools().shown("tools/list", list));
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->result_text(), R"({"tools":[{"name":"b"}]})");
  EXPECT_TRUE(session_->facts("a").definition_changed);
  EXPECT_FALSE(session_->tools().take_accepted());
}

TEST_F(ServerSessionTest, WhatPassesUntouchedKeepsItsBytes) {
  connect(with_sessions());
  const std::string odd =
      R"({"id":1,"result":{"tools":[ {"name":"a","x":1.50} ]},"jsonrpc":"2.0"})";
  const Result<Message> shown =
      now(session_->tools().shown("tools/list", Message::read(odd, {}).value()));
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->text, odd);
}

TEST_F(ServerSessionTest, PingsAreAnsweredAndOtherQuestionsAreHandedOn) {
  connect(with_sessions());
  server_->ask(request_text("5", "ping", ""));
  server_->ask(request_text("6", "roots/list", "{}"));
  until([this] { return asked_.size() == 1; });
  EXPECT_EQ(asked_.front().id, "6");
  EXPECT_EQ(server_->told.front(), result_text("5", "{}"));
}

TEST_F(ServerSessionTest, InstructionsThatHaveChangedAreHeldBack) {
  connect(with_sessions());
  const auto shown = [&](const std::string& method, const std::string& instructions) {
    const std::string text =
        result_text("1", R"({"instructions":")" + instructions + R"(","x":1})");
    const Result<Message> message =
        now(session_->tools().shown(method, Message::read(text, {}).value()));
    return message ? std::string(message->result_text()) : message.error().message;
  };
  EXPECT_EQ(shown("initialize", "be kind"), R"({"instructions":"be kind","x":1})");
  EXPECT_EQ(shown("initialize", "be cruel"), R"({"x":1})");
  EXPECT_EQ(shown("server/discover", "be cruel"), R"({"x":1})");
  EXPECT_EQ(shown("prompts/get", "be cruel"), R"({"instructions":"be cruel","x":1})");
}

TEST_F(ServerSessionTest, AnUnknownToolIsLookedForOnceASecondAtMost) {
  connect(with_sessions(R"([{"name":"read"}])"));
  (void)now(session_->opening().open(std::string(kParams)));
  learn("read");
  for (const auto& [wait, lists] : {std::pair(0ms, 1u), {1000ms, 1u}, {1ms, 2u}, {999ms, 2u}}) {
    clock_.advance(wait);
    learn("write");
    EXPECT_EQ(server_->times("tools/list"), lists);
  }
  clock_.advance(2s);
  learn("read");
  EXPECT_EQ(server_->times("tools/list"), 2u) << "it is known";
}

TEST_F(ServerSessionTest, AListThatFailedIsAskedForAgainWhenToolsHaveChanged) {
  connect([](const Message& request) {
    return request.method == "tools/list" ? std::string("error no") : with_sessions()(request);
  });
  (void)now(session_->opening().open(std::string(kParams)));
  learn("read");
  learn("read");
  EXPECT_EQ(server_->times("tools/list"), 1u);
  server_->notify(notification_text("notifications/tools/list_changed", {}));
  until([this] { return told_.size() == 1; });
  learn("read");
  EXPECT_EQ(server_->times("tools/list"), 2u);
}

// Other servers have answered the client, which opens no second time.
TEST_F(ServerSessionTest, AServerThatCouldNotBeOpenedIsOpenedWithTheNextRequest) {
  for (const bool sessions : {true, false}) {
    bool there = false;
    connect([&](const Message& request) {
      if (!there) return std::string(test::kWantsLogin);
      return sessions ? with_sessions()(request) : stateless()(request);
    });
    EXPECT_FALSE(now(session_->opening().open(std::string(kParams))));
    EXPECT_FALSE(now(session_->wait_ready()));
    there = true;
    const std::size_t before = server_->times("server/discover");
    session_->opening().wake();
    EXPECT_TRUE(now(session_->wait_ready()));
    EXPECT_EQ(session_->opening().era(), sessions ? Era::Legacy : Era::Modern);
    EXPECT_EQ(server_->times("server/discover") - before, sessions ? 0u : 1u);
    boost::asio::co_spawn(loop_, session_->stop(), boost::asio::detached);
    until([this] { return tasks_.size() == 0; });
  }
}

TEST_F(ServerSessionTest, AStatelessServerThatReturnsToAStatelessClientIsNotAskedAnew) {
  client_.era = Era::Modern;
  connect(stateless());
  session_->opening().wake();
  until([this] { return session_->opening().ready(); });
  server_->end("gone");
  EXPECT_FALSE(session_->opening().ready());
  session_->opening().wake();
  server_->start(true);
  EXPECT_TRUE(now(session_->wait_ready()));
  loop_.restart();
  loop_.run_for(10ms);
  EXPECT_EQ(server_->times("server/discover"), 1u);
  EXPECT_EQ(server_->times("subscriptions/listen"), 0u) << "the client subscribes itself";
}

TEST_F(ServerSessionTest, AServerThatIsStartedAgainBeforeItHasOpenedIsNotReady) {
  connect([](const Message&) { return std::string(); });
  server_->end("it crashed");
  server_->start(true);
  EXPECT_FALSE(session_->opening().ready());
  EXPECT_EQ(returns_, 0);
}

TEST_F(ServerSessionTest, TheLogLevelOfManyRequestsIsTheLowestOne) {
  connect(with_sessions());
  const auto lowered = [&](const json::value& level) {
    bool changed = true;
    const bool known = session_->standing().lower_log_level(level, changed);
    return std::pair(known, changed);
  };
  EXPECT_EQ(lowered(7), std::pair(false, false));
  EXPECT_EQ(lowered("loud"), std::pair(false, false));
  EXPECT_EQ(lowered("warning"), std::pair(true, true));
  EXPECT_EQ(lowered("warning"), std::pair(true, false));
  EXPECT_EQ(lowered("error"), std::pair(true, false));
  EXPECT_EQ(lowered("debug"), std::pair(true, true));
  EXPECT_EQ(lowered("info"), std::pair(true, false));
}

TEST_F(ServerSessionTest, ResourcesThatAClientOfSessionsSubscribedToAreListenedTo) {
  limits_.requests = 2;
  connect(stateless());
  const auto note = [&](const std::string& method, const std::string& uri) {
    session_->standing().note(
        Message::read(request_text("1", method, R"({"uri":")" + uri + R"("})"), {}).value());
  };
  for (const char* const uri : {"x://a", "x://b", "x://c"}) note("resources/subscribe", uri);
  session_->opening().set_initialized();
  (void)now(session_->opening().open(std::string(kParams)));
  until([this] { return server_->times("subscriptions/listen") == 1; });
  const auto wanted = [&] {
    return find(server_->last("subscriptions/listen").params_text(),
                {"notifications", "resourceSubscriptions"});
  };
  EXPECT_EQ(wanted(), R"(["x://a","x://b"])") << "no more than may wait";
  note("resources/unsubscribe", "x://a");
  note("resources/unsubscribe", "x://b");
  server_->end("gone");
  server_->start(true);
  until([this] { return server_->times("subscriptions/listen") == 2; });
  EXPECT_EQ(wanted(), std::nullopt);
}

}  // namespace
}  // namespace sallyport::mcp
