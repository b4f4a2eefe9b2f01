// Subscriptions, tasks and a server's unrequested messages, over every pair of eras.
#include <algorithm>

#include "unit/mcp/gateway_bench.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;
using test::kVersion;

constexpr std::string_view kTasks = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";
constexpr std::string_view kOffersAll =
    R"({"protocolVersion":"2025-11-25","serverInfo":{"name":"files","version":"1"},"capabilities":)"
    R"({"tools":{},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true}}})";

class GatewaySubscriptionTest : public test::GatewayTest {
 protected:
  static std::string meta(std::string_view capabilities = "{}") {
    return fmt::format(R"("_meta":{{{},"io.modelcontextprotocol/clientCapabilities":{}}})",
                       kVersion, capabilities);
  }
  void ask(const std::string& id, const std::string& method, const std::string& members = {},
           std::string_view capabilities = "{}") {
    say(id, method, "{" + members + (members.empty() ? "" : ",") + meta(capabilities) + "}");
  }
  void listen(const std::string& id, const std::string& wanted,
              std::string_view capabilities = "{}") {
    ask(id, "subscriptions/listen", "\"notifications\":" + wanted, capabilities);
  }
  // The notifications on this subscription, by the last word of their method.
  std::string told(std::string_view id) const {
    std::string all;
    for (const std::string& text : client_->told) {
      const auto mark = find(text, {"params", "_meta", "io.modelcontextprotocol/subscriptionId"});
      const auto method = find(text, {"method"});
      if (mark != id || !method) continue;
      all += std::string(method->substr(1, method->size() - 2)).substr(14) + " ";
    }
    return all;
  }
  std::string acknowledged(std::string_view id) {
    std::string text;
    until([&] {
      for (const std::string& one : client_->told) {
        if (find(one, {"params", "_meta", "io.modelcontextprotocol/subscriptionId"}) == id &&
            one.contains("acknowledged")) {
          text = one;
        }
      }
      return !text.empty();
    });
    return std::string(find(text, {"params", "notifications"}).value_or(""));
  }
  // Sends a notification of the server, and a round trip after it.
  void tells(const std::string& method, const std::string& params = "{}") {
    server_->notify(notification_text("notifications/" + method, params));
    const std::string id = std::to_string(++round_);
    if (stateless_client_) {
      ask(id, "prompts/list");
    } else {
      say(id, "prompts/list", "{}");
    }
    EXPECT_NE(answer_to(id), "");
  }
  std::size_t count(std::string_view method) const {
    return static_cast<std::size_t>(std::ranges::count_if(client_->told, [&](const auto& text) {
      return find(text, {"method"}) == json_quoted(method);
    }));
  }
  std::string task() {
    call("1", std::string(kTasks));
    return std::string(find(answer_to("1"), {"result", "taskId"}).value_or(""));
  }
  std::string about(const std::string& id, const std::string& method, const std::string& task,
                    std::string_view capabilities = kTasks) {
    ask(id, method, "\"taskId\":" + task, capabilities);
    return answer_to(id);
  }

  bool stateless_client_ = true;
  int round_ = 1000;
};

TEST_F(GatewaySubscriptionTest, AStatelessClientHearsOfASessionServerWhatItSubscribedTo) {
  says_["initialize"] = kOffersAll;
  connect();
  ask("1", "tools/list");
  EXPECT_NE(answer_to("1"), "");
  listen("\"all\"",
         R"({"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,)"
         R"("resourceSubscriptions":["u:1",7],"other":true})");
  EXPECT_EQ(acknowledged("\"all\""),
            R"({"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,)"
            R"("resourceSubscriptions":["u:1"]})");
  until([&] { return server_->times("resources/subscribe") == 1; });
  listen("\"some\"", R"({"toolsListChanged":false,"promptsListChanged":true})");
  EXPECT_EQ(acknowledged("\"some\""), R"({"promptsListChanged":true})");
  listen("\"none\"", "{}");
  EXPECT_EQ(acknowledged("\"none\""), "{}");
  tells("tools/list_changed");
  tells("prompts/list_changed");
  tells("resources/list_changed");
  tells("resources/updated", R"({"uri":"u:1"})");
  tells("resources/updated", R"({"uri":"u:2"})");
  tells("resources/updated", "{}");
  EXPECT_EQ(told("\"all\""),
            "subscriptions/acknowledged tools/list_changed prompts/list_changed "
            "resources/list_changed resources/updated ");
  EXPECT_EQ(told("\"some\""), "subscriptions/acknowledged prompts/list_changed ");
  EXPECT_EQ(told("\"none\""), "subscriptions/acknowledged ");
  EXPECT_EQ(count("notifications/resources/updated"), 1u);

  listen("\"same\"", R"({"resourceSubscriptions":["u:1"]})");
  EXPECT_NE(acknowledged("\"same\""), "");
  client_->say(notification_text("notifications/cancelled", R"({"requestId":"all"})"));
  tells("prompts/list_changed");
  EXPECT_EQ(server_->times("resources/unsubscribe"), 0u) << "another one still wants it";
  client_->say(notification_text("notifications/cancelled", R"({"requestId":"same"})"));
  until([&] { return server_->times("resources/unsubscribe") == 1; });
  EXPECT_TRUE(told("\"all\"").ends_with("resources/updated ")) << "it was cancelled";
}

TEST_F(GatewaySubscriptionTest, OnlyWhatTheServerOffersIsGranted) {
  connect();
  ask("1", "tools/list");
  EXPECT_NE(answer_to("1"), "");
  listen("2", R"({"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,)"
              R"("resourceSubscriptions":["u:1"]})");
  EXPECT_EQ(acknowledged("2"), R"({"toolsListChanged":true})");
  ask("3", "subscriptions/listen");
  EXPECT_EQ(find(answer_to("3"), {"error", "code"}), std::to_string(kInvalidParams));
}

TEST_F(GatewaySubscriptionTest, ASubscriptionBetweenStatelessPeersIsPassedOnUnderTheirOwnIds) {
  connect(true);
  says_["subscriptions/listen"] = "";
  ask("1", "tools/list");
  EXPECT_NE(answer_to("1"), "");
  listen("\"mine\"", R"({"toolsListChanged":true,"taskIds":["sallyport-task-x",7]})");
  until([&] { return server_->times("subscriptions/listen") > 0; });
  const Message sent = server_->last("subscriptions/listen");
  EXPECT_EQ(find(sent.params_text(), {"notifications"}), R"({"toolsListChanged":true})");
  const std::string mark =
      fmt::format(R"("_meta":{{"io.modelcontextprotocol/subscriptionId":{}}})", sent.id);
  server_->notify(notification_text("notifications/subscriptions/acknowledged",
                                    "{" + mark + R"(,"notifications":{}})"));
  EXPECT_EQ(acknowledged("\"mine\""), R"({"toolsListChanged":true})")
      << "tools that are held back are told of here";
  tells("resources/updated", "{" + mark + R"(,"uri":"u"})");
  EXPECT_EQ(told("\"mine\""), "subscriptions/acknowledged resources/updated ");
  tells("resources/updated",
        R"({"_meta":{"io.modelcontextprotocol/subscriptionId":99},"uri":"u"})");
  EXPECT_EQ(count("notifications/resources/updated"), 1u) << "a subscription of no client";
  client_->say(notification_text("notifications/cancelled", R"({"requestId":"mine"})"));
  until([&] { return !server_->abandoned.empty(); });
}

TEST_F(GatewaySubscriptionTest, AClientOfSessionsHearsAStatelessServerWithoutMarks) {
  stateless_client_ = false;
  connect(true);
  says_["subscriptions/listen"] = "";
  open();
  tells("resources/updated", R"({"_meta":{"io.modelcontextprotocol/subscriptionId":1},"uri":"u"})");
  tells("prompts/list_changed", R"({"_meta":{"io.modelcontextprotocol/subscriptionId":1,"x":1}})");
  tells("subscriptions/acknowledged", R"({"notifications":{}})");
  EXPECT_EQ(find(client_->message("notifications/resources/updated"), {"params"}),
            R"({"uri":"u"})");
  EXPECT_EQ(find(client_->message("notifications/prompts/list_changed"), {"params"}),
            R"({"_meta":{"x":1}})");
  EXPECT_EQ(count("notifications/subscriptions/acknowledged"), 0u);
  say("1", "resources/subscribe", R"({"uri":"u"})");
  EXPECT_EQ(answer_to("1"), result_text("1", "{}"));
  EXPECT_EQ(server_->times("resources/subscribe"), 0u) << "a stateless server has no such request";
  say("2", "logging/setLevel", R"({"level":"info"})");
  EXPECT_EQ(answer_to("2"), result_text("2", "{}"));
  EXPECT_EQ(server_->times("logging/setLevel"), 0u);
  say("3", "tasks/list", "{}");
  EXPECT_EQ(find(answer_to("3"), {"error", "code"}), std::to_string(kMethodNotFound));
}

TEST_F(GatewaySubscriptionTest, WhatAServerSaysBetweenSessionsPasses) {
  stateless_client_ = false;
  connect();
  open();
  tells("tools/list_changed");
  tells("message", R"({"level":"info","data":"x"})");
  tells("made_up");
  EXPECT_EQ(count("notifications/tools/list_changed"), 1u);
  EXPECT_EQ(count("notifications/message"), 1u);
  EXPECT_EQ(count("notifications/made_up"), 0u);
}

TEST_F(GatewaySubscriptionTest, ALogLineReachesAStatelessCallThatAskedForIt) {
  calls_.clear();
  connect();
  call("1", "{}");
  until([&] { return server_->times("tools/call") == 1; });
  tells("message", R"({"level":"info","data":"x"})");
  EXPECT_EQ(count("notifications/message"), 0u) << "it did not ask";
  say("2", "tools/call",
      fmt::format(
          R"({{"name":"write","_meta":{{{},"io.modelcontextprotocol/clientCapabilities":{{}},)"
          R"("io.modelcontextprotocol/logLevel":"info"}}}})",
          kVersion));
  until([&] { return server_->times("tools/call") == 2; });
  tells("message", R"({"level":"debug","data":"x"})");
  tells("message", R"({"level":"loud","data":"x"})");
  EXPECT_EQ(count("notifications/message"), 0u) << "it asked for more severe ones";
  tells("message", R"({"level":"info","data":"x"})");
  EXPECT_EQ(count("notifications/message"), 1u);
  say("3", "tools/call",
      fmt::format(
          R"({{"name":"write","_meta":{{{},"io.modelcontextprotocol/clientCapabilities":{{}},)"
          R"("io.modelcontextprotocol/logLevel":"loud"}}}})",
          kVersion));
  EXPECT_EQ(find(answer_to("3"), {"error", "code"}), std::to_string(kInvalidParams));
}

TEST_F(GatewaySubscriptionTest, ATaskIsCancelledUpdatedAndNothingElse) {
  use(asking(60s));
  connect(true);
  const std::string id = task();
  EXPECT_EQ(find(about("2", "tasks/update", id), {"result", "resultType"}), R"("complete")");
  EXPECT_EQ(find(about("3", "tasks/get", id), {"result", "status"}), R"("working")")
      << "an update cancels nothing";
  EXPECT_NE(about("4", "tasks/get", id).find("waiting for a person"), std::string::npos);
  EXPECT_EQ(find(about("5", "tasks/get", id, "{}"), {"error", "code"}),
            std::to_string(kMissingCapability));
  EXPECT_EQ(find(about("6", "tasks/result", id), {"error", "code"}),
            std::to_string(kMethodNotFound));
  EXPECT_EQ(find(about("7", "tasks/cancel", id), {"result", "resultType"}), R"("complete")");
  until([&] { return !gateway_->holds_calls(); });
  EXPECT_EQ(find(about("8", "tasks/get", id), {"result", "status"}), R"("cancelled")");
  EXPECT_FALSE(find(client_->answer_to("8"), {"result", "result"}));
  EXPECT_EQ(server_->times("tools/call"), 0u);
}

// A request with answers waited for their record, and was judged by the capabilities of a request
// that came meanwhile.
TEST_F(GatewaySubscriptionTest, ARequestWithAnswersIsJudgedByItsOwnCapabilities) {
  says_["server/discover"] =
      fmt::format(R"({{"supportedVersions":["2026-07-28"],"capabilities":{}}})", kTasks);
  serves_others_ = true;
  connect(true);
  ask("1", "tools/list");
  EXPECT_NE(answer_to("1"), "");
  const std::string update = R"("taskId":"t","inputResponses":{"k":{"action":"accept"}})";
  ask("2", "tasks/update", update);
  ask("3", "tools/list", "", kTasks);
  EXPECT_EQ(find(answer_to("2"), {"error", "code"}), std::to_string(kMissingCapability));
  ask("4", "tasks/update", update, kTasks);
  ask("5", "tools/list");
  EXPECT_EQ(find(answer_to("4"), {"error", "code"}), std::to_string(kInvalidParams));
}

// The first request named a task, and was told that there is none before the server had opened.
TEST_F(GatewaySubscriptionTest, ARequestAboutATaskWaitsForTheServerToOpen) {
  says_["server/discover"] =
      fmt::format(R"({{"supportedVersions":["2026-07-28"],"capabilities":{}}})", kTasks);
  serves_others_ = true;
  connect(true);
  for (const char* const method : {"tasks/get", "tasks/cancel", "tasks/update"}) {
    ask(json_quoted(method), method, R"("taskId":"t")");
  }
  for (const char* const method : {"tasks/get", "tasks/cancel", "tasks/update"}) {
    EXPECT_EQ(find(answer_to(json_quoted(method)), {"error", "code"}),
              std::to_string(kMissingCapability))
        << method;
  }
}

TEST_F(GatewaySubscriptionTest, ACancelOfATaskThatHasEndedChangesNothing) {
  use(asking(60s));
  connect(true);
  const std::string id = task();
  decide(sallyport::Reply::approve("user:eve"));
  until([&] { return !gateway_->holds_calls(); });
  EXPECT_EQ(find(about("2", "tasks/cancel", id), {"result", "resultType"}), R"("complete")");
  const std::string ended = about("3", "tasks/get", id);
  EXPECT_EQ(find(ended, {"result", "status"}), R"("completed")");
  EXPECT_TRUE(find(ended, {"result", "result", "content"}));
}

// Only a call of a tool may become a task.
TEST_F(GatewaySubscriptionTest, ARequestThatIsNoToolCallIsHeldWhileAPersonIsAsked) {
  use(asking(60s));
  connect(true);
  ask("1", "resources/read", R"("uri":"u")", kTasks);
  decide(sallyport::Reply::approve("user:eve"));
  EXPECT_EQ(find(answer_to("1"), {"result", "resultType"}), R"("complete")");
  EXPECT_EQ(server_->times("resources/read"), 1u);
}

TEST_F(GatewaySubscriptionTest, ASubscriptionToATaskHearsItsEndAlsoAfterwards) {
  use(asking(60s));
  connect(true);
  const std::string id = task();
  listen("\"s\"", R"({"taskIds":[)" + id + R"(,"sallyport-task-other"]})", kTasks);
  EXPECT_EQ(acknowledged("\"s\""), "{\"taskIds\":[" + id + "]}");
  EXPECT_EQ(server_->times("subscriptions/listen"), 0u) << "only tasks of ours";
  EXPECT_EQ(told("\"s\""), "subscriptions/acknowledged ") << "it has not ended";
  decide(sallyport::Reply::approve("user:eve"));
  until([&] { return told("\"s\"").ends_with("tasks "); });
  until([&] { return !gateway_->holds_calls(); });
  const auto completed = [&](std::string_view mark) {
    return std::ranges::any_of(client_->told, [&](const std::string& text) {
      return find(text, {"params", "status"}) == R"("completed")" &&
             find(text, {"params", "_meta", "io.modelcontextprotocol/subscriptionId"}) == mark;
    });
  };
  until([&] { return completed("\"s\""); });
  listen("\"late\"", R"({"taskIds":[)" + id + "]}", kTasks);
  until([&] { return completed("\"late\""); });
}

TEST_F(GatewaySubscriptionTest, TheTaskOfAProcessThatHasEndedIsLostAndIsItsOwnersAlone) {
  use(asking(60s));
  connect(true);
  const auto kept = [&](std::string_view id, std::string_view owner) {
    core::Draft draft{.kind = core::Kind::Approval, .body = {{"record", "mcp_task"}}};
    draft.facts.push_back(
        {"mcp_task", std::string(id),
         json::serialize(json::object{
             {"owner", owner}, {"approval_id", "apr_1"}, {"created_at", "2026-01-01T00:00:00Z"}})});
    const auto written =
        sallyport::test::run_now(governed_.recorder.append({draft}, core::Urgency::Announces));
    EXPECT_TRUE(written);
  };
  kept("sallyport-task-own", "agent:a");
  kept("sallyport-task-foreign", "agent:b");
  const std::string own = about("1", "tasks/get", "\"sallyport-task-own\"");
  EXPECT_EQ(find(own, {"result", "status"}), R"("failed")");
  EXPECT_NE(own.find("apr_1"), std::string::npos);
  EXPECT_EQ(find(own, {"result", "taskId"}), R"("sallyport-task-own")");
  EXPECT_EQ(find(about("2", "tasks/get", "\"sallyport-task-foreign\""), {"error", "code"}),
            std::to_string(kInvalidParams));
}

// A subscription was cut off without a result when the gateway ended.
TEST_F(GatewaySubscriptionTest, ASubscriptionIsAnsweredWhenTheGatewayEnds) {
  for (const bool stateless_server : {false, true}) {
    says_["subscriptions/listen"] = "";
    ended_ = false;
    connect(stateless_server);
    ask("1", "tools/list");
    EXPECT_NE(answer_to("1"), "");
    listen("\"s\"", R"({"toolsListChanged":true})");
    until([&] { return !stateless_server || server_->times("subscriptions/listen") == 1; });
    gateway_->stop();
    EXPECT_EQ(
        find(answer_to("\"s\""), {"result"}),
        R"({"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"s"}})");
    EXPECT_EQ(find(client_->told.back(), {"method"}), R"("notifications/cancelled")");
    EXPECT_EQ(find(client_->told.back(), {"params"}), R"({"requestId":"s"})");
    until([this] { return ended_ && gateway_->quiet(); });
  }
}

// A client waited for ever for requests that were open when the gateway ended.
TEST_F(GatewaySubscriptionTest, AnOpenRequestIsAnsweredWhenTheGatewayEnds) {
  says_["prompts/list"] = "";
  stateless_client_ = false;
  connect();
  open();
  say("1", "prompts/list", "{}");
  until([&] { return server_->times("prompts/list") == 1; });
  gateway_->stop();
  EXPECT_EQ(find(answer_to("1"), {"error", "code"}), std::to_string(kInternalError));
}

// The result of a subscription that the server ended named the subscription by the gateway's id.
TEST_F(GatewaySubscriptionTest, ASubscriptionThatTheServerEndsIsAnsweredUnderTheIdOfTheClient) {
  connect(true);
  says_["subscriptions/listen"] = "";
  ask("1", "tools/list");
  EXPECT_NE(answer_to("1"), "");
  listen("\"mine\"", R"({"toolsListChanged":true})");
  until([&] { return server_->times("subscriptions/listen") == 1; });
  const std::string id = server_->last("subscriptions/listen").id;
  server_->reply(std::stoull(id), R"({"resultType":"complete","_meta":{"x":1,)"
                                  R"("io.modelcontextprotocol/subscriptionId":)" +
                                      id + "}}");
  EXPECT_EQ(find(answer_to("\"mine\""), {"result", "_meta"}),
            R"({"x":1,"io.modelcontextprotocol/subscriptionId":"mine"})");
  until([&] { return count("notifications/cancelled") == 1; });
}

// A server that was away may have other tools, prompts and resources by now.
TEST_F(GatewaySubscriptionTest, AReturnedServerIsToldOfToAClientOfSessions) {
  says_["initialize"] =
      R"({"protocolVersion":"2025-11-25","serverInfo":{"name":"files","version":"1"},)"
      R"("capabilities":{"tools":{},"prompts":{"listChanged":true},"resources":{}}})";
  stateless_client_ = false;
  connect();
  open();
  server_->end("it crashed");
  server_->start(true);
  until([&] { return count("notifications/prompts/list_changed") == 1; });
  EXPECT_EQ(count("notifications/tools/list_changed"), 1u);
  EXPECT_EQ(count("notifications/resources/list_changed"), 0u)
      << "it does not say when they change";
}

TEST_F(GatewaySubscriptionTest, AReturnedServerIsToldOfOnTheSubscriptionsThatNameItsLists) {
  connect(true);
  says_["subscriptions/listen"] = "";
  ask("1", "tools/list");
  EXPECT_NE(answer_to("1"), "");
  listen("\"tools\"", R"({"toolsListChanged":true})");
  listen("\"others\"", R"({"promptsListChanged":true})");
  until([&] { return server_->times("subscriptions/listen") == 2; });
  server_->end("it crashed");
  server_->start(true);
  until([&] { return !told("\"tools\"").empty(); });
  EXPECT_EQ(told("\"tools\""), "tools/list_changed ");
  EXPECT_EQ(told("\"others\""), "");
}

TEST_F(GatewaySubscriptionTest, TheTasksOfTheServerAndOursAreGrantedTogether) {
  use(asking(60s));
  connect(true);
  says_["subscriptions/listen"] = "";
  const std::string id = task();
  int number = 0;
  for (const auto& [given, granted] : {std::pair(R"({"taskIds":["t"]})", R"(["t",)" + id + "]"),
                                       {R"({"taskIds":7})", "[" + id + "]"},
                                       {"{}", "[" + id + "]"}}) {
    const std::string as = fmt::format("\"s{}\"", ++number);
    listen(as, R"({"toolsListChanged":true,"taskIds":["t",)" + id + "]}", kTasks);
    until([&] { return server_->times("subscriptions/listen") == std::size_t(number); });
    server_->notify(notification_text(
        "notifications/subscriptions/acknowledged",
        fmt::format(
            R"({{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}},"notifications":{}}})",
            server_->last("subscriptions/listen").id, given)));
    EXPECT_EQ(find(acknowledged(as), {"taskIds"}), granted);
  }
}

TEST_F(GatewaySubscriptionTest,
       AStatelessClientIsPromisedChangesOfToolsBecauseHeldOnesAreAccepted) {
  connect(true);
  ask("1", "server/discover");
  EXPECT_EQ(find(answer_to("1"), {"result", "capabilities", "tools", "listChanged"}), "true");
}

TEST_F(GatewaySubscriptionTest, ARequestThatGoesNowhereIsSaidToAndAStrayMemberIsDropped) {
  stateless_client_ = false;
  connect();
  open();
  say("1", "tools/call", R"({"name":"write","arguments":{"n":1},"extra":"x","task":{}})");
  EXPECT_NE(answer_to("1"), "");
  EXPECT_EQ(server_->last("tools/call").params_text(),
            R"({"name":"write","arguments":{"n":1},"task":{}})");
  say("2", "ping", "{}");
  EXPECT_EQ(answer_to("2"), result_text("2", "{}"));
  EXPECT_EQ(server_->times("ping"), 0u);
  client_->say(notification_text("tools/call", R"({"name":"write"})"));
  say("3", "ping", "{}");
  EXPECT_NE(answer_to("3"), "");
  EXPECT_TRUE(std::ranges::any_of(
      log_, [](const std::string& line) { return line.contains("a request without an id"); }));
  EXPECT_EQ(server_->times("tools/call"), 1u);
}

TEST_F(GatewaySubscriptionTest, AVersionThatIsNotSpokenHereIsNotHandedOn) {
  connect();
  say("0", "initialize",
      R"({"protocolVersion":"1999-01-01","capabilities":{},"clientInfo":{"name":"ann"}})");
  EXPECT_NE(answer_to("0"), "");
  EXPECT_EQ(find(server_->last("initialize").params_text(), {"protocolVersion"}),
            R"("2025-11-25")");
}

TEST_F(GatewaySubscriptionTest, AStatelessClientDiscoversAServerOfSessions) {
  connect();
  ask("1", "tools/list");
  EXPECT_NE(answer_to("1"), "");
  const std::size_t before = server_->times("server/discover");
  ask("2", "server/discover");
  const std::string found = answer_to("2");
  EXPECT_EQ(find(found, {"result", "supportedVersions"}), R"(["2026-07-28"])");
  EXPECT_FALSE(find(found, {"result", "capabilities", "extensions"})) << "no person is asked here";
  EXPECT_EQ(server_->times("server/discover"), before) << "it is answered here";
}

TEST_F(GatewaySubscriptionTest, ThePossibilityOfAPersonIsOfferedAsTasks) {
  use(asking(60s));
  connect();
  ask("1", "server/discover");
  EXPECT_TRUE(find(answer_to("1"),
                   {"result", "capabilities", "extensions", "io.modelcontextprotocol/tasks"}));
}

TEST_F(GatewaySubscriptionTest, WhatAResultGuardWithholdsReachesNoClient) {
  const auto judged = std::make_shared<sallyport::test::FunctionResultGuard>(
      "words", [](const Envelope& envelope, const ResultContext&) -> Result<Verdict> {
        const std::string text = json::serialize(envelope.value);
        if (text.contains("forbidden")) return Verdict::deny("a forbidden word");
        if (text.contains("secret")) return Verdict::rewrite(json::object{{"changed", true}});
        return Verdict::allow();
      });
  stateless_client_ = false;
  use(core::PlanBuilder().autonomy(Autonomy::ActAuto).result_guard(judged));
  says_["resources/list"] = R"({"resources":[],"x":"forbidden"})";
  connect();
  open();
  say("1", "resources/list", "{}");
  EXPECT_EQ(find(answer_to("1"), {"error", "code"}), std::to_string(kDenied));
  EXPECT_EQ(answer_to("1").find("forbidden\""), std::string::npos);
  tells("message", R"({"level":"info","data":"forbidden"})");
  EXPECT_EQ(count("notifications/message"), 0u);
  tells("message", R"({"level":"info","data":"fine"})");
  EXPECT_EQ(count("notifications/message"), 1u);
  EXPECT_EQ(find(client_->message("notifications/message"), {"params", "data"}), R"("fine")");
}

}  // namespace
}  // namespace sallyport::mcp
