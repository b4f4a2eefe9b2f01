// Calls through whole gateways: their traces, progress, proposals, and questions of servers.
#include <algorithm>

#include "unit/mcp/gateway_bench.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;

class GatewayCallTest : public test::GatewayTest {
 protected:
  void begin(const std::string& id, const std::string& params) {
    const std::size_t before = server_->times("tools/call");
    say(id, "tools/call", params);
    until([&] { return server_->times("tools/call") == before + 1; });
  }
  void progress(const std::string& params) {
    server_->tell(notification_text("notifications/progress", params));
    say(std::to_string(++round_), "ping", "{}");
    EXPECT_NE(answer_to(std::to_string(round_)), "");
  }
  std::string told(std::string_view method) const {
    std::string all;
    for (const std::string& text : client_->told) {
      if (find(text, {"method"}) != json_quoted(method)) continue;
      all += std::string(find(text, {"params"}).value_or("")) + " ";
    }
    return all;
  }
  void finish() { server_->reply(std::stoull(server_->last("tools/call").id), "{}"); }
  std::string record_at(std::string_view path) {
    return sallyport::test::text_at(governed_.recorder.records().back(), path);
  }
  bool server_heard(std::string_view text) const {
    return std::ranges::any_of(server_->told,
                               [&](const std::string& one) { return one.contains(text); });
  }

  int round_ = 1000;
};

TEST_F(GatewayCallTest, TheTraceOfAClientIsThatOfItsCallWhereItIsOne) {
  connect();
  open();
  const std::string id = "0af7651916cd43dd8448eb211c80319c";
  const std::pair<std::string, bool> kCases[] = {
      {"00-" + id + "-b7ad6b7169203331-01", true},
      {"00-" + id + "-b7ad6b7169203331-0", false},
      {"00_" + id + "-b7ad6b7169203331-01", false},
      {"00-" + id + "_b7ad6b7169203331-01", false},
      {"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false},
  };
  int number = 0;
  for (const auto& [parent, taken] : kCases) {
    const std::string request = std::to_string(++number);
    say(request, "tools/call",
        fmt::format(R"({{"name":"write","arguments":{{"n":{}}},"_meta":{{"traceparent":"{}"}}}})",
                    number, parent));
    EXPECT_NE(answer_to(request), "");
    EXPECT_EQ(governed_.recorder.records().back().subject->trace_id == id, taken) << parent;
  }
}

TEST_F(GatewayCallTest, ProgressRisesAndIsToldOnlyToThoseWhoAskedForIt) {
  calls_.clear();
  connect();
  open();
  begin("1", R"({"name":"write","arguments":{},"_meta":{"progressToken":"t"}})");
  progress(R"({"progressToken":"t","progress":1})");
  progress(R"({"progressToken":"t","progress":2,"message":"more"})");
  EXPECT_EQ(told("notifications/progress"),
            R"({"progressToken":"t","progress":1} )"
            R"({"progressToken":"t","progress":2,"message":"more"} )");
  progress(R"({"progressToken":"other","progress":3})");
  finish();
  EXPECT_NE(answer_to("1"), "");
  begin("2", R"({"name":"write","arguments":{"n":2}})");
  EXPECT_EQ(server_->last("tools/call").params_text().find("progressToken"), std::string::npos);
  finish();
  EXPECT_NE(answer_to("2"), "");
}

TEST_F(GatewayCallTest, ProgressThatAGuardChangesIsToldAsItIsThen) {
  const auto cleans = std::make_shared<sallyport::test::FunctionResultGuard>(
      "words", [](const Envelope& envelope, const ResultContext&) -> Result<Verdict> {
        if (!json::serialize(envelope.to_json()).contains("secret")) return Verdict::allow();
        json::value changed = envelope.value;
        changed.as_object()["message"] = "gone";
        return Verdict::rewrite(Envelope::of(std::move(changed)).to_json());
      });
  governed_.plan = core::PlanBuilder().autonomy(Autonomy::ActAuto).result_guard(cleans);
  calls_.clear();
  connect();
  open();
  begin("1", R"({"name":"write","arguments":{},"_meta":{"progressToken":"t"}})");
  progress(R"({"progressToken":"t","progress":1,"message":"secret"})");
  const std::string told = client_->message("notifications/progress");
  EXPECT_EQ(find(told, {"params", "message"}), R"("gone")");
  EXPECT_EQ(find(told, {"params", "progress"}), "1");
  finish();
  EXPECT_NE(answer_to("1"), "");
}

TEST_F(GatewayCallTest, ADeniedRequestIsAnErrorAndADeniedCallAResult) {
  const auto no = std::make_shared<sallyport::test::FunctionGuard>(
      "no", [](const Call&) { return Verdict::deny("not here"); });
  use(core::PlanBuilder().autonomy(Autonomy::ActAuto).guard(no));
  connect();
  open();
  call("1");
  EXPECT_EQ(find(answer_to("1"), {"result", "isError"}), "true");
  EXPECT_TRUE(find(answer_to("1"), {"result", "structuredContent"}));
  say("2", "resources/read", R"({"uri":"u"})");
  EXPECT_EQ(find(answer_to("2"), {"error", "code"}), std::to_string(kDenied));
  say("3", "prompts/get", R"({"name":"p"})");
  EXPECT_EQ(find(answer_to("3"), {"error", "code"}), std::to_string(kDenied));
  say("4", "tools/call", R"({"arguments":{}})");
  EXPECT_EQ(find(answer_to("4"), {"error", "code"}), std::to_string(kInvalidParams));
  EXPECT_EQ(server_->times("tools/call") + server_->times("resources/read"), 0u);
}

TEST_F(GatewayCallTest, AToolWithAnOutputSchemaGetsNoOtherStructure) {
  const auto no = std::make_shared<sallyport::test::FunctionGuard>(
      "no", [](const Call&) { return Verdict::deny("not here"); });
  use(core::PlanBuilder().autonomy(Autonomy::ActAuto).guard(no));
  says_["tools/list"] = R"({"tools":[{"name":"write","outputSchema":{"type":"object"}}]})";
  connect();
  open();
  say("0", "tools/list", "{}");
  EXPECT_NE(answer_to("0"), "");
  call("1");
  EXPECT_EQ(find(answer_to("1"), {"result", "isError"}), "true");
  EXPECT_FALSE(find(answer_to("1"), {"result", "structuredContent"}));
}

TEST_F(GatewayCallTest, AnErrorOfTheServerStaysOne) {
  calls_ = "error it is broken";
  connect();
  open();
  call("1");
  EXPECT_EQ(find(answer_to("1"), {"error", "message"}), R"("it is broken")");
  EXPECT_EQ(find(answer_to("1"), {"error", "code"}), std::to_string(kMethodNotFound));
}

TEST_F(GatewayCallTest, AProposedCallRunsOnceAPersonHasSaidYes) {
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

TEST_F(GatewayCallTest, AProposalThatWasRefusedDoesNotRun) {
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

TEST_F(GatewayCallTest, AQuestionOfTheServerIsAnsweredAndMayBeTakenBack) {
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
  server_->tell(notification_text("notifications/cancelled", R"({"requestId":77})"));
  server_->tell(notification_text("notifications/cancelled", R"({"requestId":6,"reason":"late"})"));
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

TEST_F(GatewayCallTest, AServersTasksAreHiddenFromThoseWhoDidNotStartThem) {
  serves_others_ = true;
  says_["initialize"] =
      R"({"protocolVersion":"2025-11-25","serverInfo":{"name":"files","version":"1"},)"
      R"("capabilities":{"tools":{},"tasks":{"list":{},"cancel":{}}}})";
  calls_ = R"({"task":{"taskId":"mine","status":"working"}})";
  says_["tasks/list"] = R"({"tasks":[{"taskId":"mine"},{"taskId":"theirs"}]})";
  says_["tasks/get"] = R"({"taskId":"mine","status":"working"})";
  connect();
  open();
  say("1", "tools/call", R"({"name":"write","arguments":{},"task":{}})");
  EXPECT_NE(answer_to("1"), "");
  say("2", "tasks/list", "{}");
  EXPECT_EQ(find(answer_to("2"), {"result", "tasks"}), R"([{"taskId":"mine"}])");
  say("3", "tasks/get", R"({"taskId":"mine"})");
  EXPECT_EQ(find(answer_to("3"), {"result", "status"}), R"("working")");
  say("4", "tasks/get", R"({"taskId":"theirs"})");
  EXPECT_TRUE(find(answer_to("4"), {"error"}));
  say("5", "tasks/cancel", R"({"taskId":"theirs"})");
  EXPECT_TRUE(find(answer_to("5"), {"error"}));
  EXPECT_EQ(server_->times("tasks/cancel"), 0u);
  say("6", "tasks/cancel", R"({"taskId":"mine"})");
  EXPECT_NE(answer_to("6"), "");
  EXPECT_EQ(server_->times("tasks/cancel"), 1u);
  server_->tell(notification_text("notifications/tasks/status",
                                  R"({"taskId":"theirs","status":"completed"})"));
  server_->tell(
      notification_text("notifications/tasks/status", R"({"taskId":"mine","status":"completed"})"));
  until([&] { return !client_->message("notifications/tasks/status").empty(); });
  EXPECT_EQ(told("notifications/tasks/status"), R"({"taskId":"mine","status":"completed"} )");
}

TEST_F(GatewayCallTest, NotificationsOfAClientReachItsServerOnce) {
  connect();
  open();
  until([&] { return server_heard("notifications/initialized"); });
  client_->say(notification_text("notifications/roots/list_changed", {}));
  until([&] { return server_heard("notifications/roots/list_changed"); });
  client_->say(notification_text("notifications/made_up", {}));
  call("1");
  EXPECT_NE(answer_to("1"), "");
  EXPECT_FALSE(server_heard("notifications/made_up"));
}

TEST_F(GatewayCallTest, AStatelessServerHearsOfNoOpening) {
  connect(true);
  open();
  client_->say(notification_text("notifications/roots/list_changed", {}));
  call("1");
  EXPECT_NE(answer_to("1"), "");
  EXPECT_FALSE(server_heard("notifications/"));
}

TEST_F(GatewayCallTest, CallsInFlightHaveAMomentWhenTheClientLeaves) {
  limits_.last_answers = 30s;
  calls_.clear();
  connect();
  open();
  begin("1", R"({"name":"write","arguments":{}})");
  client_->hang_up();
  loop_.restart();
  loop_.run_for(30ms);
  EXPECT_FALSE(ended_);
  finish();
  until([&] { return ended_; });
  EXPECT_NE(client_->answer_to("1"), "");
  EXPECT_EQ(governed_.recorder.records().size(), 1u);
}

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

// AP-31
TEST_F(GatewayCallTest, AReviewerInASessionIsShownAForm) {
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
TEST_F(GatewayCallTest, AReviewerWhoSaysNoRefusesTheCall) {
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
TEST_F(GatewayCallTest, AFormOfAStatelessClientComesBackWithItsRequest) {
  use(asking_ann());
  connect(true);
  const std::string capabilities = R"({"elicitation":{}})";
  call("1", capabilities);
  const std::string asked = answer_to("1");
  EXPECT_EQ(find(asked, {"result", "resultType"}), R"("input_required")");
  const std::string state(find(asked, {"result", "requestState"}).value_or(""));
  const auto form = members(find(asked, {"result", "inputRequests"}).value_or("{}"));
  ASSERT_EQ(form.size(), 1u);
  // Without an answer the form is shown again, under a state that is good once too.
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
TEST_F(GatewayCallTest, AClientThatShowsNoFormsWaitsForAnotherPerson) {
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

TEST_F(GatewayCallTest, AGuardThatChangesTheInputChangesWhatTheServerGets) {
  const auto changes = std::make_shared<sallyport::test::FunctionGuard>(
      "changes", [](const Call& call) -> Result<Verdict> {
        if (call.input == json::value{{"n", 2}}) return Verdict::allow();
        return Verdict::rewrite(json::object{{"n", 2}});
      });
  use(core::PlanBuilder().autonomy(Autonomy::ActAuto).guard(changes));
  connect();
  open();
  call("1");
  EXPECT_NE(answer_to("1"), "");
  EXPECT_EQ(server_->last("tools/call").params_text(), R"({"name":"write","arguments":{"n":2}})");
}

TEST_F(GatewayCallTest, ATaskOfTheServerIsToldOfWithoutWhatCameOfIt) {
  connect(true);
  call("1", "{}");
  EXPECT_NE(answer_to("1"), "");
  server_->tell(notification_text(
      "notifications/tasks",
      R"({"taskId":"t","status":"completed","result":{"x":1},"error":{},"inputRequests":{}})"));
  until([&] { return !client_->message("notifications/tasks").empty(); });
  EXPECT_EQ(told("notifications/tasks"), R"({"taskId":"t","status":"completed"} )");
}

class GatewayMeterTest : public GatewayCallTest {
 protected:
  GatewayMeterTest() {
    tracer.turn_on();
    meter_ = &meter;
  }
  // The spans of the last request: kind, name, error, and whether a tool server took part.
  std::string spans() {
    std::string all;
    for (const telemetry::Span& span : tracer.take(10)) {
      all += (span.kind == telemetry::Span::Kind::Server ? "server " : "client ") + span.name;
      for (const auto& [key, value] : span.attributes) {
        if (key == "error.type") all += " failed " + std::get<std::string>(value);
        if (key == "network.transport") all += " over " + std::get<std::string>(value);
        if (key == "gen_ai.operation.name") all += " " + std::get<std::string>(value);
      }
      all += "; ";
    }
    return all;
  }
  std::string line(std::string_view begin) const {
    const std::string text = metrics.text();
    const std::size_t at = text.find(begin);
    return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
  }

  SystemEntropy own_entropy;
  Metrics metrics;
  telemetry::Tracer tracer{own_entropy, metrics};
  GatewayMeter meter{metrics, tracer};
};

TEST_F(GatewayMeterTest, EachRequestIsMeasuredAndTracedWithItsEnd) {
  connect();
  open();
  say("9", "tools/list", "{}");
  EXPECT_NE(answer_to("9"), "");
  EXPECT_EQ(spans(), "") << "it is not governed";
  call("1");
  EXPECT_NE(answer_to("1"), "");
  EXPECT_EQ(spans(),
            "client tools/call write execute_tool over tcp; "
            "server tools/call write execute_tool; ");
  EXPECT_EQ(line("sallyport_decision_seconds_count"), "sallyport_decision_seconds_count 1");
  EXPECT_EQ(line("sallyport_added_latency_seconds_count"),
            "sallyport_added_latency_seconds_count 1");
  calls_ = R"({"content":[],"isError":true})";
  say("2", "tools/call", R"({"name":"write","arguments":{"n":2}})");
  EXPECT_NE(answer_to("2"), "");
  EXPECT_TRUE(spans().ends_with("server tools/call write execute_tool failed tool_error; "));
  say("3", "resources/read", R"({"uri":"u"})");
  EXPECT_NE(answer_to("3"), "");
  EXPECT_EQ(spans(), "client resources/read over tcp; server resources/read; ")
      << "a name that only the client knows is not told";
}

TEST_F(GatewayMeterTest, ARefusedCallReachesNoServerAndIsCountedAsRefused) {
  const auto no = std::make_shared<sallyport::test::FunctionGuard>(
      "no", [](const Call&) { return Verdict::deny("not here"); });
  use(core::PlanBuilder().autonomy(Autonomy::ActAuto).guard(no));
  connect();
  open();
  call("1");
  EXPECT_NE(answer_to("1"), "");
  EXPECT_EQ(spans().find("client "), std::string::npos);
  EXPECT_NE(metrics.text().find("error_type=\"blocked\""), std::string::npos);
  EXPECT_EQ(line("mcp_client_operation_duration_seconds_count"), "");
  EXPECT_EQ(line("sallyport_decision_seconds_count"), "sallyport_decision_seconds_count 1");
}

TEST_F(GatewayMeterTest, TheTimeOfAPersonIsNotOurs) {
  use(asking(60s));
  connect();
  open();
  call("1");
  decide(sallyport::Reply::approve("user:eve"));
  EXPECT_NE(answer_to("1"), "");
  EXPECT_EQ(line("sallyport_decision_seconds_count"), "sallyport_decision_seconds_count 0");
  EXPECT_NE(spans(), "");
}

}  // namespace
}  // namespace sallyport::mcp
