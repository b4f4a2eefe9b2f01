// Calls through whole gateways that ask people: proposals, forms, and questions of servers.
#include "unit/mcp/gateway_call_bench.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;

class GatewayPeopleTest : public test::GatewayCallBench {};

// The user of the client is the reviewer `user:ann`, and no answer needs a signature.
class AnnHere final : public core::ReviewerBook {
 public:
  Result<void> check(const std::string&, std::string_view, std::string_view) const override {
    return {};
  }
  std::string of_client(const std::string& principal) const override {
    return principal == "agent:a" ? "user:ann" : "";
  }
  json::value dump() const override { return "ann"; }
};

core::PlanBuilder asking_ann() {
  return core::PlanBuilder()
      .autonomy(Autonomy::ActWithApproval)
      .approvals(core::ApprovalRules{.hold = 60s, .people = std::make_shared<AnnHere>()});
}

TEST_F(GatewayPeopleTest, AProposedCallRunsOnceAPersonHasSaidYes) {
  limits_.proposals = 2ms;
  use(core::PlanBuilder().autonomy(Autonomy::Suggest));
  connect();
  open();
  call("1");
  EXPECT_NE(answer_to("1").find("propos"), std::string::npos) << answer_to("1");
  EXPECT_EQ(server_->times("tools/call"), 0u);
  decide(sallyport::Reply::approve("user:eve"));
  until([&] { return server_->times("tools/call") == 1; });
  EXPECT_EQ(find(server_->last("tools/call").params_text(), {"arguments"}), R"({"n":1})");
  loop_.restart();
  loop_.run_for(50ms);
  EXPECT_EQ(server_->times("tools/call"), 1u);
}

TEST_F(GatewayPeopleTest, AProposalThatWasRefusedDoesNotRun) {
  limits_.proposals = 2ms;
  use(core::PlanBuilder().autonomy(Autonomy::Suggest));
  connect();
  open();
  call("1");
  EXPECT_NE(answer_to("1"), "");
  const std::size_t before = governed_.recorder.records().size();
  decide(sallyport::Reply::deny("user:eve", "no"));
  until([&] { return governed_.recorder.records().size() > before; });
  EXPECT_EQ(server_->times("tools/call"), 0u);
}

TEST_F(GatewayPeopleTest, AQuestionOfTheServerIsAnsweredAndMayBeTakenBack) {
  calls_.clear();
  connect();
  say("0", "initialize",
      R"({"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"roots":{},"sampling":{}},)"
      R"("clientInfo":{"name":"ann"}})");
  EXPECT_NE(answer_to("0"), "");
  client_->say(notification_text("notifications/initialized", {}));
  begin("1", R"({"name":"write","arguments":{}})");
  server_->ask(request_text("5", "roots/list", "{}"));
  until([&] { return !client_->message("roots/list").empty(); });
  client_->say(result_text(*find(client_->message("roots/list"), {"id"}), R"({"roots":[]})"));
  until([&] { return server_heard(R"({"roots":[]})"); });
  EXPECT_TRUE(server_heard("\"id\":5"));
  server_->ask(request_text("6", "sampling/createMessage", R"({"messages":[],"maxTokens":1})"));
  until([&] { return !client_->message("sampling/createMessage").empty(); });
  server_->notify(notification_text("notifications/cancelled", R"({"requestId":77})"));
  server_->notify(
      notification_text("notifications/cancelled", R"({"requestId":6,"reason":"late"})"));
  until([&] { return !client_->message("notifications/cancelled").empty(); });
  EXPECT_EQ(find(client_->message("notifications/cancelled"), {"params", "requestId"}),
            find(client_->message("sampling/createMessage"), {"id"}));
  client_->say(
      result_text(*find(client_->message("sampling/createMessage"), {"id"}), R"({"late":1})"));
  server_->ask(request_text("7", "admin/erase", "{}"));
  until([&] { return server_heard("\"id\":7"); });
  EXPECT_FALSE(server_heard("\"late\"")) << "the server took its question back";
  EXPECT_EQ(client_->message("admin/erase"), "");
}

// The question of a new process was once declined, because the one before it had used the same id.
TEST_F(GatewayPeopleTest, AServerThatWasStartedAgainAsksUnderIdsOfItsOwn) {
  connect();
  open();
  const auto asked = [this] {
    std::vector<std::string> ids;
    for (const std::string& text : client_->told) {
      if (find(text, {"method"}) != R"("elicitation/create")") continue;
      ids.emplace_back(*find(text, {"id"}));
    }
    return ids;
  };
  const std::string question =
      request_text("1", "elicitation/create", R"({"message":"which?","requestedSchema":{}})");
  server_->ask(question);
  until([&] { return asked().size() == 1; });
  server_->end("it crashed");
  until([&] { return !client_->message("notifications/cancelled").empty(); });
  server_->start(true);
  until([&] { return server_->times("initialize") == 2; });
  server_->ask(question);
  until([&] { return asked().size() == 2; });
  client_->say(result_text(asked().back(), R"({"action":"accept","content":{"a":1}})"));
  until([&] { return server_heard(R"({"action":"accept","content":{"a":1}})"); });
}

// AP-31
TEST_F(GatewayPeopleTest, AReviewerInASessionIsShownAForm) {
  use(asking_ann());
  connect();
  open();
  call("1");
  until([&] { return !client_->message("elicitation/create").empty(); });
  const std::string form = client_->message("elicitation/create");
  EXPECT_NE(form.find("write"), std::string::npos);
  client_->say(
      result_text(*find(form, {"id"}), R"({"action":"accept","content":{"decision":"approve"}})"));
  EXPECT_EQ(answer_to("1"), result_text("1", calls_));
  EXPECT_EQ(server_->times("tools/call"), 1u);
}

// AP-31
TEST_F(GatewayPeopleTest, AReviewerWhoSaysNoRefusesTheCall) {
  use(asking_ann());
  connect();
  open();
  call("1");
  until([&] { return !client_->message("elicitation/create").empty(); });
  client_->say(
      result_text(*find(client_->message("elicitation/create"), {"id"}),
                  R"({"action":"decline","content":{"decision":"approve","note":"never"}})"));
  EXPECT_EQ(find(answer_to("1"), {"result", "isError"}), "true");
  EXPECT_EQ(server_->times("tools/call"), 0u);
}

// AP-31
TEST_F(GatewayPeopleTest, AFormOfAStatelessClientComesBackWithItsRequest) {
  use(asking_ann());
  connect(true);
  const std::string capabilities = R"({"elicitation":{}})";
  call("1", capabilities);
  const std::string asked = answer_to("1");
  EXPECT_EQ(find(asked, {"result", "resultType"}), R"("input_required")");
  const std::string state(find(asked, {"result", "requestState"}).value_or(""));
  const auto form = members(find(asked, {"result", "inputRequests"}).value_or("{}"));
  ASSERT_EQ(form.size(), 1u);
  // Without an answer the form is shown again, with a new state that is also valid once.
  call("2", capabilities, fmt::format(R"(,"requestState":{},"inputResponses":{{}})", state));
  const std::string again = answer_to("2");
  EXPECT_EQ(find(again, {"result", "resultType"}), R"("input_required")") << again;
  const std::string fresh(find(again, {"result", "requestState"}).value_or(""));
  EXPECT_NE(fresh, state);
  const auto answered = [&](const std::string& id, const std::string& with) {
    call(id, capabilities,
         fmt::format(R"(,"requestState":{},"inputResponses":{{"{}":{{"action":"accept",)"
                     R"("content":{{"decision":"approve"}}}}}})",
                     with, form.front().first));
    return answer_to(id);
  };
  EXPECT_EQ(find(answered("3", state), {"error", "code"}), std::to_string(kInvalidParams));
  EXPECT_EQ(server_->times("tools/call"), 0u);
  EXPECT_TRUE(find(answered("4", fresh), {"result", "content"}));
  EXPECT_EQ(server_->times("tools/call"), 1u);
  EXPECT_EQ(find(answered("5", fresh), {"error", "code"}), std::to_string(kInvalidParams));
}

// AP-31
TEST_F(GatewayPeopleTest, AClientThatShowsNoFormsWaitsForAnotherPerson) {
  use(asking_ann());
  connect();
  say("0", "initialize",
      R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"ann"}})");
  EXPECT_NE(answer_to("0"), "");
  client_->say(notification_text("notifications/initialized", {}));
  call("1");
  decide(sallyport::Reply::approve("user:eve"));
  EXPECT_EQ(answer_to("1"), result_text("1", calls_));
  EXPECT_EQ(client_->message("elicitation/create"), "");
}

// A client was once asked the server's question unchanged, even if a guard had redacted it.
TEST_F(GatewayPeopleTest, AGuardThatChangesAQuestionChangesWhatAStatelessClientIsAsked) {
  const auto changes = std::make_shared<sallyport::test::FunctionGuard>(
      "changes", [](const Call& call) -> Result<Verdict> {
        const json::object safe{{"message", "safe"}};
        if (call.tool != "elicitation/create" || call.input == json::value(safe)) {
          return Verdict::allow();
        }
        return Verdict::rewrite(safe);
      });
  use(core::PlanBuilder().autonomy(Autonomy::ActAuto).guard(changes));
  connect(true);
  calls_ = R"({"resultType":"input_required","inputRequests":{"q":{"method":)"
           R"("elicitation/create","params":{"message":"secret?"}}},"requestState":"s"})";
  call("1", R"({"elicitation":{}})");
  const std::string asked = answer_to("1");
  EXPECT_EQ(find(asked, {"result", "inputRequests", "q"}),
            R"({"method":"elicitation/create","params":{"message":"[from server `files`] safe"}})");
}

TEST_F(GatewayPeopleTest, AnAnswerThatIsPendingHasAStructureOnlyWhereTheToolPromisesNoOther) {
  use(asking(0s));
  says_["tools/list"] =
      R"({"tools":[{"name":"write","outputSchema":{"type":"object"}},{"name":"read"}]})";
  connect();
  open();
  say("0", "tools/list", "{}");
  EXPECT_NE(answer_to("0"), "");
  int id = 0;
  for (const char* const tool : {"write", "read"}) {
    const std::string as = std::to_string(++id);
    say(as, "tools/call", fmt::format(R"({{"name":"{}","arguments":{{}}}})", tool));
    EXPECT_NE(answer_to(as).find("pending_approval"), std::string::npos) << tool;
    EXPECT_EQ(find(answer_to(as), {"result", "structuredContent"}).has_value(), id > 1) << tool;
  }
}

TEST_F(GatewayPeopleTest, AnErrorThatNamesPagesOfNoneIsPassedAsItIs) {
  for (const char* const error : {R"({"error":{"code":-32042,"message":"a page"}})",
                                  R"({"error":{"code":-32000,"message":"none","data":)"
                                  R"({"elicitations":[{"url":"https://example.org"}]}}})"}) {
    calls_ = error;
    if (!gateway_) {
      connect();
      open();
    }
    const std::string id = std::to_string(++round_);
    call(id);
    EXPECT_EQ(find(answer_to(id), {"error"}), find(calls_, {"error"}));
  }
}

TEST_F(GatewayPeopleTest, AQuestionWithoutAMethodIsAskedOfNoClient) {
  connect(true);
  for (const char* const method : {R"("method":7,)", "", R"("method":"admin/erase",)"}) {
    calls_ = fmt::format(
        R"({{"resultType":"input_required","inputRequests":{{"q":{{{}"params":{{}}}}}}}})", method);
    const std::string id = std::to_string(++round_);
    call(id, R"({"elicitation":{}})");
    EXPECT_TRUE(find(answer_to(id), {"error", "code"})) << method << answer_to(id);
    EXPECT_EQ(answer_to(id).find("inputRequests"), std::string::npos) << method;
  }
}

}  // namespace
}  // namespace sallyport::mcp
