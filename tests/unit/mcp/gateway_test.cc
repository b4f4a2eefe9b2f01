// Whole gateways between a client and a server that are in this process.
#include "mcp/gateway.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"
#include "unit/mcp/fake_links.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kVersion =
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"ann","version":"1"})";

class GatewayTest : public testing::Test {
 protected:
  void connect(bool stateless_server = false) {
    ASSERT_TRUE(governed_.build());
    auto link = std::make_unique<test::FakeClient>(loop_.get_executor());
    client_ = link.get();
    GatewaySettings settings{.name = "files",
                             .make_server =
                                 [&](Server::Parts parts) {
                                   auto made = std::make_unique<test::FakeServer>(
                                       std::move(parts),
                                       [this, stateless_server](const Message& request) {
                                         return answer(request, stateless_server);
                                       });
                                   server_ = made.get();
                                   return made;
                                 },
                             .agent_id = "agent:a",
                             .session_id = "s-1",
                             .limits = limits_,
                             .log = [this](std::string_view line) { log_.emplace_back(line); }};
    gateway_ =
        std::make_shared<Gateway>(loop_.get_executor(),
                                  GatewayParts{governed_.governor(), plans_, governed_.recorder,
                                               redactor_, *governed_.clock, entropy_, pins_},
                                  std::move(settings), std::move(link));
    boost::asio::co_spawn(loop_, gateway_->run(),
                          [this](const std::exception_ptr&, Result<void>) { ended_ = true; });
  }
  void use(core::PlanBuilder plan) {
    governed_.plan = plan;
    plans_.change(plan.build().value());
  }
  // A person has to say yes to every call.
  static core::PlanBuilder asking(std::chrono::seconds hold) {
    return core::PlanBuilder()
        .autonomy(Autonomy::ActWithApproval)
        .approvals(core::ApprovalRules{.hold = hold});
  }
  void open() {
    say("0", "initialize",
        R"({"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},)"
        R"("clientInfo":{"name":"ann"}})");
    EXPECT_NE(answer_to("0"), "") << (log_.empty() ? "" : log_.back());
    client_->say(notification_text("notifications/initialized", {}));
  }
  void say(const std::string& id, const std::string& method, const std::string& params) {
    client_->say(request_text(id, method, params));
  }
  void call(const std::string& id, const std::string& capabilities = {},
            const std::string& more = {}) {
    const std::string meta =
        capabilities.empty()
            ? ""
            : fmt::format(R"(,"_meta":{{{},"io.modelcontextprotocol/clientCapabilities":{}}})",
                          kVersion, capabilities);
    say(id, "tools/call", R"({"name":"write","arguments":{"n":1})" + meta + more + "}");
  }
  std::string answer_to(const std::string& id) {
    (void)test::run_until(loop_, [&] { return !client_->answer_to(id).empty(); });
    return client_->answer_to(id);
  }
  void until(const std::function<bool()>& holds) { EXPECT_TRUE(test::run_until(loop_, holds)); }
  std::string approval_id() {
    std::string id;
    until([&] {
      for (const core::Draft& draft : governed_.recorder.of(core::Kind::Approval)) {
        id = sallyport::test::text_at(draft, "/request/id");
        if (id != "(absent)") return true;
        id = sallyport::test::text_at(draft, "/request_id");
      }
      return !id.empty() && id != "(absent)";
    });
    return id;
  }
  void decide(Reply reply) {
    const std::string id = approval_id();
    std::optional<Result<void>> said;
    boost::asio::co_spawn(loop_, governed_.governor().approvals().answer(id, std::move(reply)),
                          [&](const std::exception_ptr&, Result<void> got) { said = got; });
    until([&] { return said.has_value(); });
    EXPECT_TRUE(*said) << (*said ? "" : said->error().message);
  }
  std::string answer(const Message& request, bool stateless) {
    if (request.method == "initialize") {
      return stateless ? "error no"
                       : R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
                         R"("serverInfo":{"name":"files","version":"1"}})";
    }
    if (request.method == "server/discover") {
      return stateless ? R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})"
                       : "error no";
    }
    if (request.method == "tools/list") return R"({"tools":[{"name":"write"}]})";
    if (request.method == "tools/call") return calls_;
    return "{}";
  }
  ~GatewayTest() override {
    if (!gateway_) return;
    gateway_->stop();
    until([this] { return ended_ && gateway_->quiet(); });
    loop_.restart();
    loop_.run_for(5ms);
  }

  boost::asio::io_context loop_;
  Limits limits_{.last_answers = 50ms, .patience = 100ms};
  sallyport::test::Governed governed_;
  sallyport::test::ChangingPlan plans_{
      core::PlanBuilder().autonomy(Autonomy::ActAuto).build().value()};
  core::NoRedactor redactor_;
  SystemEntropy entropy_;
  PinBook pins_{governed_.recorder};
  std::string calls_ = R"({"content":[{"type":"text","text":"done"}]})";  // empty: none yet
  test::FakeClient* client_ = nullptr;
  test::FakeServer* server_ = nullptr;
  std::shared_ptr<Gateway> gateway_;  // shared with calls that were given up on
  std::vector<std::string> log_;
  bool ended_ = false;
};

TEST_F(GatewayTest, ACallIsGovernedAndItsAnswerPassesUnchanged) {
  connect();
  open();
  call("1");
  EXPECT_EQ(answer_to("1"), result_text("1", calls_));
  EXPECT_EQ(governed_.recorder.records().size(), 1u);
  EXPECT_EQ(server_->last("tools/call").params_text(), R"({"name":"write","arguments":{"n":1}})");
  EXPECT_FALSE(gateway_->holds_calls());
}

TEST_F(GatewayTest, AnIdThatIsInUseIsRefused) {
  calls_.clear();
  connect();
  open();
  call("1");
  until([this] { return server_->times("tools/call") == 1; });
  call("1");
  EXPECT_EQ(find(answer_to("1"), {"error", "message"}), R"("this id is in use")");
  EXPECT_TRUE(gateway_->holds_calls());
}

TEST_F(GatewayTest, OtherRequestsArePassedOnAndTheirAnswersCarryTheClientsId) {
  connect();
  open();
  say("\"x\"", "prompts/list", R"({"cursor":"c"})");
  EXPECT_EQ(answer_to("\"x\""), result_text("\"x\"", "{}"));
  EXPECT_EQ(server_->last("prompts/list").params_text(), R"({"cursor":"c"})");
}

TEST_F(GatewayTest, AMethodThatIsNoneReachesNoServer) {
  connect();
  open();
  say("1", "admin/erase", "{}");
  EXPECT_EQ(find(answer_to("1"), {"error", "code"}), std::to_string(kMethodNotFound));
  EXPECT_EQ(server_->times("admin/erase"), 0u);
}

TEST_F(GatewayTest, ACancelledCallIsAbandonedAndNotAnswered) {
  calls_.clear();
  connect();
  open();
  call("1");
  until([this] { return server_->times("tools/call") == 1; });
  client_->say(notification_text("notifications/cancelled", R"({"requestId":1})"));
  until([this] { return !server_->abandoned.empty(); });
  until([this] { return governed_.recorder.records().size() == 1; });
  EXPECT_EQ(client_->answer_to("1"), "");
  EXPECT_FALSE(gateway_->holds_calls());
}

TEST_F(GatewayTest, NoMoreCallsRunAtOnceThanHavePlaces) {
  limits_.calls = 1;
  limits_.waiting_calls = 1;
  calls_.clear();
  connect();
  open();
  call("1");
  until([this] { return server_->times("tools/call") == 1; });
  call("2");
  call("3");
  EXPECT_EQ(find(answer_to("3"), {"error", "code"}), std::to_string(kTooMuch));
  EXPECT_EQ(server_->times("tools/call"), 1u);
  const auto number = std::stoull(server_->last("tools/call").id);
  server_->reply(number, "{}");
  until([this] { return server_->times("tools/call") == 2; });
  EXPECT_EQ(answer_to("1"), result_text("1", "{}"));
}

TEST_F(GatewayTest, AClientIsHeldWhileAPersonIsAsked) {
  use(asking(60s));
  connect();
  open();
  call("1");
  decide(Reply::approve("user:eve"));
  EXPECT_EQ(answer_to("1"), result_text("1", calls_));
}

TEST_F(GatewayTest, AClientThatWasSentAwayGetsTheAnswerWhenItMakesTheCallAgain) {
  use(asking(0s));
  connect();
  open();
  call("1");
  EXPECT_NE(answer_to("1").find("pending_approval"), std::string::npos);
  EXPECT_TRUE(gateway_->holds_calls());
  decide(Reply::approve("user:eve"));
  EXPECT_EQ(server_->times("tools/call"), 0u);  // no client would take the result
  call("2");
  EXPECT_EQ(answer_to("2"), result_text("2", calls_));
  EXPECT_EQ(server_->times("tools/call"), 1u);
  EXPECT_FALSE(gateway_->holds_calls());
}

TEST_F(GatewayTest, ARefusalIsKeptForAClientThatIsAway) {
  use(asking(0s));
  connect();
  open();
  call("1");
  (void)answer_to("1");
  decide(Reply::deny("user:eve", "not today"));
  until([this] { return !gateway_->holds_calls(); });
  const std::size_t records = governed_.recorder.records().size();
  call("2");
  EXPECT_NE(answer_to("2").find("not today"), std::string::npos);
  EXPECT_EQ(server_->times("tools/call"), 0u);
  EXPECT_EQ(governed_.recorder.records().size(), records);  // the second request was no new call
}

TEST_F(GatewayTest, AnotherCallIsNotTheOneThatTheClientWasToldToMakeAgain) {
  use(asking(0s));
  connect();
  open();
  call("1");
  (void)answer_to("1");
  say("2", "tools/call", R"({"name":"write","arguments":{"n":2}})");
  EXPECT_NE(answer_to("2").find("pending_approval"), std::string::npos);
  EXPECT_EQ(find(answer_to("2"), {"id"}), "2");
}

TEST_F(GatewayTest, AStatelessClientThatKnowsTasksGetsOne) {
  use(asking(60s));
  connect(true);
  const std::string capabilities = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";
  call("1", capabilities);
  const std::string given = answer_to("1");
  EXPECT_EQ(find(given, {"result", "resultType"}), R"("task")");
  const std::string id(find(given, {"result", "taskId"}).value_or(""));
  const std::string about = fmt::format(
      R"({{"taskId":{},"_meta":{{{},"io.modelcontextprotocol/clientCapabilities":{}}}}})", id,
      kVersion, capabilities);
  say("2", "tasks/get", about);
  EXPECT_EQ(find(answer_to("2"), {"result", "status"}), R"("working")");
  decide(Reply::approve("user:eve"));
  until([this] { return !gateway_->holds_calls(); });
  say("3", "tasks/get", about);
  EXPECT_EQ(find(answer_to("3"), {"result", "status"}), R"("completed")");
  EXPECT_EQ(find(answer_to("3"), {"result", "result", "content"}),
            R"([{"type":"text","text":"done"}])");
  say("4", "tasks/get", with_member(about, "taskId", R"("sallyport-task-other")"));
  EXPECT_EQ(find(answer_to("4"), {"error", "code"}), std::to_string(kInvalidParams));
}

TEST_F(GatewayTest, AStatelessClientAnswersAServerOfSessionsWithTheSameRequest) {
  calls_.clear();
  connect();
  const std::string capabilities = R"({"elicitation":{}})";
  call("1", capabilities);
  until([this] { return server_->times("tools/call") == 1; });
  server_->ask(request_text("77", "elicitation/create", R"({"message":"which?"})"));
  const std::string parked = answer_to("1");
  EXPECT_EQ(find(parked, {"result", "resultType"}), R"("input_required")");
  const std::string state(find(parked, {"result", "requestState"}).value_or(""));
  const auto asked = members(*find(parked, {"result", "inputRequests"}));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(gateway_->holds_calls());
  call("2", capabilities, R"(,"requestState":"guessed","inputResponses":{}})");
  call("3", capabilities,
       fmt::format(R"(,"requestState":{},"inputResponses":{{"{}":{{"action":"accept"}}}})", state,
                   asked.front().first));
  until([this] { return !server_->told.empty() && server_->told.back().contains("77"); });
  EXPECT_EQ(find(server_->told.back(), {"result", "action"}), R"("accept")");
  server_->reply(std::stoull(server_->last("tools/call").id), R"({"content":[]})");
  EXPECT_EQ(find(answer_to("3"), {"result", "content"}), "[]");
  call("4", capabilities, fmt::format(R"(,"requestState":{},"inputResponses":{{}})", state));
  EXPECT_EQ(find(answer_to("4"), {"error", "code"}), std::to_string(kInvalidParams));
}

TEST_F(GatewayTest, AClientOfSessionsIsAskedForAStatelessServer) {
  connect(true);
  calls_ = R"({"resultType":"input_required","inputRequests":{"q":{"method":)"
           R"("elicitation/create","params":{"message":"which?"}}},"requestState":"s"})";
  open();
  call("1");
  until([&] { return !client_->message("elicitation/create").empty(); });
  const std::string asked = client_->message("elicitation/create");
  EXPECT_EQ(find(asked, {"params", "message"}), R"("[from server `files`] which?")");
  calls_ = R"({"content":[],"resultType":"complete"})";
  client_->say(result_text(*find(asked, {"id"}), R"({"action":"decline"})"));
  EXPECT_EQ(find(answer_to("1"), {"result", "content"}), "[]");
  EXPECT_EQ(find(server_->last("tools/call").params_text(), {"inputResponses", "q", "action"}),
            R"("decline")");
  EXPECT_EQ(find(server_->last("tools/call").params_text(), {"requestState"}), R"("s")");
}

TEST_F(GatewayTest, TheStateOfAStatelessServerIsSealedAndGoodOnce) {
  connect(true);
  calls_ = R"({"resultType":"input_required","inputRequests":{"q":{"method":)"
           R"("elicitation/create","params":{"message":"which?"}}},"requestState":"secret"})";
  const std::string capabilities = R"({"elicitation":{}})";
  call("1", capabilities);
  const std::string given = answer_to("1");
  const std::string state(find(given, {"result", "requestState"}).value_or(""));
  EXPECT_EQ(given.find("\"secret\""), std::string::npos);
  calls_ = R"({"content":[],"resultType":"complete"})";
  const std::string more =
      fmt::format(R"(,"requestState":{},"inputResponses":{{"q":{{"action":"accept"}}}})", state);
  call("2", capabilities, more);
  EXPECT_EQ(find(answer_to("2"), {"result", "content"}), "[]");
  EXPECT_EQ(find(server_->last("tools/call").params_text(), {"requestState"}), R"("secret")");
  call("3", capabilities, more);
  EXPECT_EQ(find(answer_to("3"), {"error", "code"}), std::to_string(kInvalidParams));
  call("4", capabilities, R"(,"requestState":"secret")");
  EXPECT_EQ(find(answer_to("4"), {"error", "code"}), std::to_string(kInvalidParams));
  EXPECT_EQ(server_->times("tools/call"), 2u);
}

TEST_F(GatewayTest, AQuestionThatTheClientDidNotDeclareIsDeclined) {
  calls_.clear();
  connect();
  open();
  call("1");
  until([this] { return server_->times("tools/call") == 1; });
  server_->ask(request_text("5", "sampling/createMessage", "{}"));
  until([this] { return !server_->told.empty() && server_->told.back().contains("error"); });
  EXPECT_EQ(client_->message("sampling/createMessage"), "");
}

TEST_F(GatewayTest, ProgressIsToldUnderTheTokenOfTheClient) {
  calls_.clear();
  connect();
  open();
  say("1", "tools/call", R"({"name":"write","arguments":{},"_meta":{"progressToken":"t"}})");
  until([this] { return server_->times("tools/call") == 1; });
  server_->tell(
      notification_text("notifications/progress", R"({"progressToken":"t","progress":1})"));
  until([this] { return !client_->message("notifications/progress").empty(); });
  EXPECT_EQ(find(client_->message("notifications/progress"), {"params", "progress"}), "1");
}

TEST_F(GatewayTest, AServerThatCannotBeStartedEndsTheGateway) {
  connect();
  loop_.run_for(5ms);
  server_->give_up("it does not start");
  until([this] { return ended_; });
}

}  // namespace
}  // namespace sallyport::mcp
