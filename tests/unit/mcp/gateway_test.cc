// Whole gateways between a client and a server that are in this process.
#include "unit/mcp/gateway_bench.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;
using test::GatewayTest;
using test::kVersion;

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

TEST_F(GatewayTest, AClientOfSessionsIsAnsweredAPingAlsoBeforeItOpens) {
  connect();
  say("1", "ping", {});
  EXPECT_EQ(answer_to("1"), result_text("1", "{}"));
  open();
  say("2", "ping", {});
  EXPECT_EQ(answer_to("2"), result_text("2", "{}"));
  EXPECT_EQ(server_->times("ping"), 0u);
}

TEST_F(GatewayTest, AStatelessClientHasNoPing) {
  connect(true);
  say("1", "ping",
      fmt::format(R"({{"_meta":{{{},"io.modelcontextprotocol/clientCapabilities":{{}}}}}})",
                  kVersion));
  EXPECT_EQ(find(answer_to("1"), {"error", "code"}), std::to_string(kMethodNotFound));
  EXPECT_EQ(server_->times("ping"), 0u);
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
  decide(sallyport::Reply::approve("user:eve"));
  EXPECT_EQ(answer_to("1"), result_text("1", calls_));
}

TEST_F(GatewayTest, AClientThatWasSentAwayGetsTheAnswerWhenItMakesTheCallAgain) {
  use(asking(0s));
  connect();
  open();
  call("1");
  EXPECT_NE(answer_to("1").find("pending_approval"), std::string::npos);
  EXPECT_TRUE(gateway_->holds_calls());
  decide(sallyport::Reply::approve("user:eve"));
  EXPECT_EQ(server_->times("tools/call"), 0u);  // no client would accept the result
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
  decide(sallyport::Reply::deny("user:eve", "not today"));
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

TEST_F(GatewayTest, AStatelessClientThatKnowsNoTasksIsSentAway) {
  use(asking(0s));
  connect(true);
  call("1", "{}");
  EXPECT_NE(find(answer_to("1"), {"result", "resultType"}), R"("task")");
  EXPECT_NE(answer_to("1").find("pending_approval"), std::string::npos) << answer_to("1");
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
  decide(sallyport::Reply::approve("user:eve"));
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
  const std::string asked = asked_by_stateless_server();
  EXPECT_EQ(find(asked, {"params", "message"}), R"("[from server `files`] which?")");
  calls_ = R"({"content":[],"resultType":"complete"})";
  client_->say(result_text(*find(asked, {"id"}), R"({"action":"decline"})"));
  EXPECT_EQ(find(answer_to("1"), {"result", "content"}), "[]");
  EXPECT_EQ(find(server_->last("tools/call").params_text(), {"inputResponses", "q", "action"}),
            R"("decline")");
  EXPECT_EQ(find(server_->last("tools/call").params_text(), {"requestState"}), R"("s")");
}

TEST_F(GatewayTest, ACallEndsWhereItsClientRefusesToAnswerAStatelessServer) {
  const std::string asked = asked_by_stateless_server();
  client_->say(error_text(*find(asked, {"id"}), -1, "no way"));
  const std::string answer = answer_to("1");
  EXPECT_NE(answer.find("refused to answer: no way"), std::string::npos) << answer;
  EXPECT_EQ(server_->times("tools/call"), 1u);
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

TEST_F(GatewayTest, ACallThatWasCancelledAsksItsClientNothing) {
  calls_.clear();
  connect(true);
  open();
  call("1");
  until([this] { return server_->times("tools/call") == 1; });
  client_->say(notification_text("notifications/cancelled", R"({"requestId":1})"));
  until([this] { return !server_->abandoned.empty(); });
  server_->reply(std::stoull(server_->last("tools/call").id),
                 R"({"resultType":"input_required","inputRequests":{"q":{"method":)"
                 R"("elicitation/create","params":{"message":"which?"}}},"requestState":"s"})");
  until([this] { return governed_.recorder.records().size() == 1; });
  loop_.restart();
  loop_.run_for(5ms);
  EXPECT_EQ(client_->message("elicitation/create"), "");
  EXPECT_EQ(server_->times("tools/call"), 1u);
}

// In sessions, the client tells by this id that the person has visited the page.
TEST_F(GatewayTest, APageOfAStatelessServerHasAnIdForAClientOfSessions) {
  int number = 10;
  for (const auto& [params, has] :
       {std::pair(R"({"mode":"url","url":"https://example.org","message":"m"})", true),
        {R"({"mode":"url","url":"https://example.org","message":"m","elicitationId":"e"})", true},
        {R"({"message":"m"})", false}}) {
    calls_ = fmt::format(R"({{"resultType":"input_required","inputRequests":{{"q":{{"method":)"
                         R"("elicitation/create","params":{}}}}}}})",
                         params);
    if (!gateway_) {
      connect(true);
      say("0", "initialize",
          R"({"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}}},)"
          R"("clientInfo":{"name":"ann"}})");
      EXPECT_NE(answer_to("0"), "");
      client_->say(notification_text("notifications/initialized", {}));
    }
    client_->told.clear();
    const std::string id = std::to_string(++number);
    call(id);
    until([&] { return !client_->message("elicitation/create").empty(); });
    const std::string asked = client_->message("elicitation/create");
    const auto named = find(asked, {"params", "elicitationId"});
    EXPECT_EQ(named.has_value(), has) << params;
    EXPECT_EQ(named == R"("e")", std::string_view(params).contains("\"e\"")) << asked;
    calls_ = R"({"content":[],"resultType":"complete"})";
    client_->say(result_text(*find(asked, {"id"}), R"({"action":"decline"})"));
    EXPECT_NE(answer_to(id), "");
  }
}

// A client of sessions was never told that a page of a stateless server is done.
TEST_F(GatewayTest, AVisitedPageIsDoneOnceTheServerGoesOn) {
  connect(true);
  say("0", "initialize",
      R"({"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"url":{}}},)"
      R"("clientInfo":{"name":"ann"}})");
  EXPECT_NE(answer_to("0"), "");
  client_->say(notification_text("notifications/initialized", {}));
  int number = 10;
  for (const auto& [action, result, done] :
       {std::tuple("accept", R"({"content":[],"resultType":"complete"})", true),
        {"decline", R"({"content":[],"resultType":"complete"})", false},
        {"accept", "error no", false}}) {
    calls_ =
        R"({"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create",)"
        R"("params":{"mode":"url","url":"https://example.org","message":"m"}}}})";
    client_->told.clear();
    const std::string id = std::to_string(++number);
    call(id);
    until([&] { return !client_->message("elicitation/create").empty(); });
    const std::string asked = client_->message("elicitation/create");
    calls_ = result;
    client_->say(result_text(*find(asked, {"id"}), fmt::format(R"({{"action":"{}"}})", action)));
    EXPECT_NE(answer_to(id), "");
    const std::string told = client_->message("notifications/elicitation/complete");
    EXPECT_EQ(find(told, {"params", "elicitationId"}),
              done ? find(asked, {"params", "elicitationId"}) : std::nullopt)
        << action;
  }
}

// A client was asked for its roots anew each time that the server wanted them in one call.
TEST_F(GatewayTest, AStatelessClientIsAskedForItsRootsOnceInACall) {
  calls_.clear();
  connect();
  const std::string capabilities = R"({"roots":{}})";
  call("1", capabilities);
  until([this] { return server_->times("tools/call") == 1; });
  server_->ask(request_text("77", "roots/list", ""));
  const std::string parked = answer_to("1");
  const auto asked = members(find(parked, {"result", "inputRequests"}).value_or("{}"));
  ASSERT_EQ(asked.size(), 1u) << parked;
  const std::string roots = R"({"roots":[{"uri":"file:///r"}]})";
  call("2", capabilities,
       fmt::format(R"(,"requestState":{},"inputResponses":{{"{}":{}}})",
                   find(parked, {"result", "requestState"}).value_or(""), asked.front().first,
                   roots));
  until([this] { return !server_->told.empty() && server_->told.back().contains("77"); });
  server_->ask(request_text("78", "roots/list", ""));
  until([this] { return server_->told.back().contains("78"); });
  EXPECT_EQ(find(server_->told.back(), {"result"}), roots);
  server_->reply(std::stoull(server_->last("tools/call").id), R"({"content":[]})");
  EXPECT_EQ(find(answer_to("2"), {"result", "content"}), "[]");
}

// The record of a call whose client got the error -32021 said that it had succeeded.
TEST_F(GatewayTest, ACallThatAsksWhatItsClientDidNotDeclareIsRecordedAsAFailure) {
  connect(true);
  calls_ = R"({"resultType":"input_required","inputRequests":{"q":{"method":)"
           R"("elicitation/create","params":{"message":"which?"}}},"requestState":"s"})";
  call("1", "{}");
  EXPECT_EQ(find(answer_to("1"), {"error", "code"}), std::to_string(kMissingCapability));
  EXPECT_EQ(find(answer_to("1"), {"error", "data"}),
            R"({"requiredCapabilities":{"elicitation":{}}})");
  ASSERT_EQ(governed_.recorder.records().size(), 1u);
  EXPECT_EQ(
      sallyport::test::text_at(governed_.recorder.records().front(), "/outcome/result/success"),
      "false");
}

TEST_F(GatewayTest, ARequestStateMeansNothingBetweenSessions) {
  connect();
  open();
  say("1", "tools/call", R"({"name":"write","arguments":{},"requestState":"mine"})");
  EXPECT_EQ(answer_to("1"), result_text("1", calls_));
}

TEST_F(GatewayTest, AClientThatDoesNotReadIsSaidSoAndOneThatIsGoneIsNot) {
  connect();
  open();
  const auto complaints = [&] {
    return std::ranges::count_if(
        log_, [](const std::string& line) { return line.contains("the client does not read"); });
  };
  say("1", "ping", {});
  EXPECT_NE(answer_to("1"), "");
  EXPECT_EQ(complaints(), 0);
  client_->reads = false;
  say("2", "ping", {});
  until([&] { return complaints() == 1; });
  client_->gone = true;
  say("3", "ping", {});
  loop_.restart();
  loop_.run_for(5ms);
  EXPECT_EQ(complaints(), 1);
}

TEST_F(GatewayTest, TheGrantOfTheGatewayIsForCallsThatBringNone) {
  std::vector<std::string> seen;
  const auto looks = std::make_shared<sallyport::test::FunctionGuard>(
      "looks",
      [&](const Call& call) -> Result<Verdict> {
        std::string all;
        for (const std::string& grant : call.grants) all += grant + " ";
        seen.push_back(all);
        return Verdict::allow();
      },
      core::Stage::Grant);
  use(core::PlanBuilder().autonomy(Autonomy::ActAuto).guard(looks));
  grant_ = "ours";
  connect();
  open();
  call("1");
  EXPECT_NE(answer_to("1"), "");
  say("2", "tools/call", R"({"name":"write","arguments":{},"_meta":{"sallyport/grant":{"t":1}}})");
  EXPECT_NE(answer_to("2"), "");
  EXPECT_EQ(seen, (std::vector<std::string>{"ours ", R"({"t":1} )"}));
}

TEST_F(GatewayTest, ProgressIsToldUnderTheTokenOfTheClient) {
  calls_.clear();
  connect();
  open();
  say("1", "tools/call", R"({"name":"write","arguments":{},"_meta":{"progressToken":"t"}})");
  until([this] { return server_->times("tools/call") == 1; });
  server_->notify(
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
