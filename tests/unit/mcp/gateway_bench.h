// Whole gateways between a client and a server that are in this process.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "mcp/gateway.h"
#include "support/governed.h"
#include "unit/mcp/fake_links.h"

namespace sallyport::mcp::test {

using namespace std::chrono_literals;

inline constexpr std::string_view kVersion =
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"ann","version":"1"})";

class GatewayTest : public testing::Test {
 protected:
  void connect(bool stateless_server = false) {
    ASSERT_TRUE(governed_.build());
    auto link = std::make_unique<FakeClient>(loop_.get_executor());
    client_ = link.get();
    GatewaySettings settings{.name = "files",
                             .make_server =
                                 [&](Server::Parts parts) {
                                   auto made = std::make_unique<FakeServer>(
                                       std::move(parts),
                                       [this, stateless_server](const Message& request) {
                                         return answer(request, stateless_server);
                                       });
                                   server_ = made.get();
                                   return made;
                                 },
                             .agent_id = "agent:a",
                             .session_id = "s-1",
                             .serves_others = serves_others_,
                             .grant = grant_,
                             .limits = limits_,
                             .log = [this](std::string_view line) { log_.emplace_back(line); }};
    gateway_ = std::make_shared<Gateway>(
        loop_.get_executor(),
        GatewayParts{governed_.governor(), plans_, governed_.recorder, redactor_, *governed_.clock,
                     entropy_, pins_, meter_},
        std::move(settings), std::move(link));
    boost::asio::co_spawn(loop_, gateway_->run(),
                          [this](const std::exception_ptr&, Result<void>) { ended_ = true; });
  }
  void use(core::PlanBuilder plan) {
    governed_.plan = plan;
    plans_.change(plan.build().value());
  }
  // Every call needs a person's approval.
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
  // Makes call 1, for which a stateless server asks the person a question. Returns the question
  // that a client of sessions gets then.
  std::string asked_by_stateless_server() {
    connect(true);
    calls_ = R"({"resultType":"input_required","inputRequests":{"q":{"method":)"
             R"("elicitation/create","params":{"message":"which?"}}},"requestState":"s"})";
    open();
    call("1");
    until([&] { return !client_->message("elicitation/create").empty(); });
    return client_->message("elicitation/create");
  }
  std::string answer_to(const std::string& id) {
    (void)run_until(loop_, [&] { return !client_->answer_to(id).empty(); });
    return client_->answer_to(id);
  }
  void until(const std::function<bool()>& holds) { EXPECT_TRUE(run_until(loop_, holds)); }
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
  void decide(sallyport::Reply reply) {
    const std::string id = approval_id();
    std::optional<Result<void>> said;
    boost::asio::co_spawn(loop_, governed_.governor().approvals().answer(id, std::move(reply)),
                          [&](const std::exception_ptr&, Result<void> got) { said = got; });
    until([&] { return said.has_value(); });
    EXPECT_TRUE(*said) << (*said ? "" : said->error().message);
  }
  std::string answer(const Message& request, bool stateless) {
    if (const auto said = says_.find(request.method); said != says_.end()) return said->second;
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
  std::map<std::string, std::string> says_;  // the server, to requests of these methods
  bool serves_others_ = false;
  std::string grant_;
  GatewayMeter* meter_ = nullptr;
  FakeClient* client_ = nullptr;
  FakeServer* server_ = nullptr;
  std::shared_ptr<Gateway> gateway_;  // shared with abandoned calls
  std::vector<std::string> log_;
  bool ended_ = false;
};

}  // namespace sallyport::mcp::test
