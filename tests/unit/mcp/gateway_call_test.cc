// Calls through whole gateways: their traces, progress, tasks, records and measures.
#include "unit/mcp/gateway_call_bench.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;

class GatewayCallTest : public test::GatewayCallBench {};

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
      {"ff-" + id + "-b7ad6b7169203331-01", false},
      {"00-" + id + "-0000000000000000-01", false},
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
  const std::string before = told("notifications/progress");
  progress(R"({"progressToken":"other","progress":3})");
  progress(R"({"progressToken":"t","progress":2})");
  progress(R"({"progressToken":"t","progress":1.5})");
  progress(R"({"progressToken":"t","progress":"more"})");
  progress(R"({"progressToken":"t"})");
  EXPECT_EQ(told("notifications/progress"), before);
  finish();
  EXPECT_NE(answer_to("1"), "");
  progress(R"({"progressToken":"t","progress":9})");
  EXPECT_EQ(told("notifications/progress"), before);
  begin("2", R"({"name":"write","arguments":{"n":2}})");
  EXPECT_EQ(server_->last("tools/call").params_text().find("progressToken"), std::string::npos);
  finish();
  EXPECT_NE(answer_to("2"), "");
}

// Progress of a call that has ended was once told on the stream of another request.
TEST_F(GatewayCallTest, ProgressIsToldOfOpenRequestsAndOfTasksThatTheServerHasBegun) {
  says_["prompts/list"] = "";
  connect();
  open();
  say("1", "prompts/list", R"({"_meta":{"progressToken":7}})");
  until([&] { return server_->times("prompts/list") == 1; });
  progress(R"({"progressToken":7,"progress":0})");
  progress(R"({"progressToken":7,"progress":0})");
  EXPECT_EQ(told("notifications/progress"), R"({"progressToken":7,"progress":0} )");
  server_->reply(std::stoull(server_->last("prompts/list").id), R"({"prompts":[]})");
  EXPECT_NE(answer_to("1"), "");
  progress(R"({"progressToken":7,"progress":1})");
  EXPECT_EQ(told("notifications/progress"), R"({"progressToken":7,"progress":0} )");
  client_->told.clear();
  calls_ = R"({"task":{"taskId":"t","status":"working"}})";
  begin("2", R"({"name":"write","arguments":{},"_meta":{"progressToken":8}})");
  EXPECT_NE(answer_to("2"), "");
  progress(R"({"progressToken":8,"progress":1})");
  progress(R"({"progressToken":8,"progress":1})");
  EXPECT_EQ(told("notifications/progress"), R"({"progressToken":8,"progress":1} )");
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

// The agent once got one text for both, with a path and a statement of SQL in it.
// LE-74 LE-76
TEST_F(GatewayCallTest, AnAgentLearnsWhetherACallThatCouldNotBeRecordedRan) {
  std::string failing = "intent";
  governed_.recorder.refuse = [&](const std::vector<core::Draft>& drafts) -> std::optional<Error> {
    const bool meant = std::ranges::any_of(drafts, [&](const core::Draft& draft) {
      return draft.outcome == failing || to_string(draft.kind) == failing;
    });
    if (!meant) return std::nullopt;
    return Error{ErrorCode::Unavailable, "ledger_unavailable: busy: locked in /d/l.db", "", "busy"};
  };
  connect();
  open();
  const auto text_of = [this](const std::string& id) {
    return std::string(json::parse(answer_to(id)).at_pointer("/result/content/0/text").as_string());
  };
  call("1");
  EXPECT_EQ(text_of("1"),
            "Blocked: not run. The ledger cannot be written now (busy); try again later.");
  EXPECT_EQ(server_->times("tools/call"), 0u);
  failing = "completed";
  call("2");
  EXPECT_TRUE(
      text_of("2").starts_with("The tool ran, but its result could not be recorded (busy)"));
  EXPECT_EQ(server_->times("tools/call"), 1u);
  EXPECT_EQ(std::ranges::count_if(
                log_, [](const std::string& line) { return line.contains("locked in /d/l.db"); }),
            2);
  governed_.recorder.refuse = nullptr;
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
  server_->notify(notification_text("notifications/tasks/status",
                                    R"({"taskId":"theirs","status":"completed"})"));
  server_->notify(
      notification_text("notifications/tasks/status", R"({"taskId":"mine","status":"completed"})"));
  until([&] { return !client_->message("notifications/tasks/status").empty(); });
  EXPECT_EQ(told("notifications/tasks/status"), R"({"taskId":"mine","status":"completed"} )");
}

TEST_F(GatewayCallTest, ARefusalAboutATaskTellsItsOwnerAloneWhy) {
  const auto no = std::make_shared<sallyport::test::FunctionGuard>(
      "no", [](const Call& call) -> Result<Verdict> {
        return call.tool == "write" ? Verdict::allow() : Verdict::deny("not today");
      });
  use(core::PlanBuilder().autonomy(Autonomy::ActAuto).guard(no));
  serves_others_ = true;
  says_["initialize"] =
      R"({"protocolVersion":"2025-11-25","serverInfo":{"name":"files","version":"1"},)"
      R"("capabilities":{"tools":{},"tasks":{"list":{}}}})";
  calls_ = R"({"task":{"taskId":"mine","status":"working"}})";
  connect();
  open();
  say("1", "tools/call", R"({"name":"write","arguments":{},"task":{}})");
  EXPECT_NE(answer_to("1"), "");
  for (const auto& [id, method, params, why] :
       {std::tuple("2", "tasks/get", R"({"taskId":"mine"})", "not today"),
        {"3", "tasks/get", R"({"taskId":"theirs"})", "there is no such task"},
        {"4", "resources/read", R"({"taskId":"theirs","uri":"u"})", "not today"}}) {
    say(id, method, params);
    EXPECT_NE(answer_to(id).find(why), std::string::npos) << answer_to(id);
  }
}

TEST_F(GatewayCallTest, AServerWithoutTasksThatServesOthersLacksOnlyThem) {
  serves_others_ = true;
  connect();
  open();
  say("1", "tasks/list", "{}");
  EXPECT_EQ(find(answer_to("1"), {"error", "code"}), std::to_string(kMethodNotFound));
  say("2", "prompts/list", "{}");
  EXPECT_EQ(answer_to("2"), result_text("2", "{}"));
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
  server_->notify(notification_text(
      "notifications/tasks",
      R"({"taskId":"t","status":"completed","result":{"x":1},"error":{},"inputRequests":{}})"));
  until([&] { return !client_->message("notifications/tasks").empty(); });
  EXPECT_EQ(told("notifications/tasks"), R"({"taskId":"t","status":"completed"} )");
}

// A call that never reached its server was once recorded as one that may have acted.
// AU-17
TEST_F(GatewayCallTest, ACallThatDidNotReachItsServerHasNoEffect) {
  limits_.start = 50ms;
  connect();
  open();
  server_->end("it crashed");
  call("1");
  EXPECT_EQ(find(answer_to("1"), {"result", "isError"}), "true");
  EXPECT_EQ(record_at("/effect_state"), "none");
  EXPECT_EQ(server_->times("tools/call"), 0u);
}

TEST_F(GatewayCallTest, WhatCannotBeRecordedIsAResultForAToolAndAnErrorForAnyOtherRequest) {
  connect();
  open();
  governed_.recorder.refuse_announcements = Error{ErrorCode::Unavailable, "the disk is gone"};
  call("1");
  EXPECT_EQ(find(answer_to("1"), {"result", "isError"}), "true");
  say("2", "resources/read", R"({"uri":"u"})");
  EXPECT_EQ(find(answer_to("2"), {"error", "code"}), std::to_string(kNotRecorded));
  EXPECT_EQ(server_->times("tools/call") + server_->times("resources/read"), 0u);
}

// An unknown or unusable type of a result was once removed, so that the result was a success.
TEST_F(GatewayCallTest, AClientOfSessionsGetsNoResultThatIsNotComplete) {
  says_["prompts/list"] = R"({"resultType":"bogus","prompts":[]})";
  connect(true);
  open();
  int number = 0;
  for (const char* const type : {R"("bogus")", R"("")", "5", "null", R"("task")"}) {
    const std::string id = std::to_string(++number);
    calls_ = fmt::format(R"({{"resultType":{},"content":[]}})", type);
    say(id, "tools/call", fmt::format(R"({{"name":"write","arguments":{{"n":{}}}}})", id));
    EXPECT_EQ(find(answer_to(id), {"result", "isError"}), "true") << type;
    EXPECT_EQ(record_at("/outcome/result/success"), "false") << type;
  }
  say("9", "prompts/list", "{}");
  EXPECT_EQ(find(answer_to("9"), {"error", "code"}), std::to_string(kInternalError));
}

// A client that may come back later has a place, too.
TEST_F(GatewayCallTest, NoMoreClientsAreSentAwayThanMayWait) {
  limits_.waiting_calls = 1;
  use(asking(0s));
  connect();
  open();
  call("1");
  EXPECT_NE(answer_to("1").find("pending_approval"), std::string::npos);
  say("2", "tools/call", R"({"name":"write","arguments":{"n":2}})");
  EXPECT_EQ(find(answer_to("2"), {"result", "isError"}), "true");
  EXPECT_EQ(answer_to("2").find("pending_approval"), std::string::npos) << answer_to("2");
}

TEST_F(GatewayCallTest, ProgressThatNoGuardChangesKeepsItsBytes) {
  calls_.clear();
  connect();
  open();
  begin("1", R"({"name":"write","arguments":{},"_meta":{"progressToken":"t"}})");
  progress(R"({"progressToken":"t","progress":1.50,"message":"\u0061"})");
  EXPECT_EQ(told("notifications/progress"),
            R"({"progressToken":"t","progress":1.50,"message":"\u0061"} )");
  EXPECT_TRUE(std::ranges::none_of(governed_.recorder.of(core::Kind::Topic),
                                   [](const core::Draft& draft) { return draft.topic == "mcp"; }))
      << "nothing was changed";
  finish();
  EXPECT_NE(answer_to("1"), "");
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

TEST_F(GatewayMeterTest, RestartsAreCountedFromZero) {
  connect();
  open();
  EXPECT_TRUE(line("sallyport_upstream_restarts_total{").ends_with(" 0"));
  server_->start(true);
  EXPECT_TRUE(line("sallyport_upstream_restarts_total{").ends_with(" 1"));
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
