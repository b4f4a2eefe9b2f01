// Requests that a gateway refuses or passes unchanged: too many at once, and incomplete ones.
#include "unit/mcp/gateway_bench.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;
using test::kVersion;

class GatewayLimitsTest : public test::GatewayTest {
 protected:
  // A request of a stateless client, with these further members of `_meta`.
  void ask(const std::string& id, const std::string& method, const std::string& meta) {
    say(id, method, fmt::format(R"({{"_meta":{{{}{}}}}})", kVersion, meta));
  }
  static constexpr const char* kCapable = R"(,"io.modelcontextprotocol/clientCapabilities":{})";
  static constexpr const char* kLevel = R"(,"io.modelcontextprotocol/logLevel":"loud")";
  std::string code_of(const std::string& id) {
    return std::string(find(answer_to(id), {"error", "code"}).value_or(""));
  }
};

TEST_F(GatewayLimitsTest, ACallThatNoRecordCanHoldIsRefused) {
  connect();
  open();
  say("1", "tools/call", fmt::format(R"({{"name":"{}","arguments":{{}}}})", std::string(513, 'x')));
  EXPECT_EQ(code_of("1"), std::to_string(kInvalidParams));
  EXPECT_TRUE(governed_.recorder.records().empty());
}

TEST_F(GatewayLimitsTest, RequestsWaitForTheServerUpToALimit) {
  limits_.requests = 1;
  says_["server/discover"] = "";
  connect(true);
  ask("1", "prompts/list", kCapable);
  ask("2", "prompts/list", kCapable);
  EXPECT_EQ(code_of("2"), std::to_string(kTooMuch));
  EXPECT_EQ(client_->answer_to("1"), "");
  EXPECT_EQ(server_->times("prompts/list"), 0u);
}

TEST_F(GatewayLimitsTest, NoMoreTasksAreGivenThanMayWait) {
  limits_.waiting_calls = 1;
  use(asking(0s));
  connect(true);
  const std::string capabilities = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";
  call("1", capabilities);
  EXPECT_EQ(find(answer_to("1"), {"result", "resultType"}), R"("task")");
  call("2", capabilities, R"(,"more":1)");
  EXPECT_NE(find(answer_to("2"), {"result", "resultType"}), R"("task")");
}

TEST_F(GatewayLimitsTest, AStatelessClientHasTheAnswersOfASessionInItsOwnForm) {
  connect();
  ask("1", "prompts/list", kCapable);
  const std::string answer = answer_to("1");
  EXPECT_EQ(find(answer, {"result", "resultType"}), R"("complete")");
  EXPECT_EQ(find(answer, {"result", "cacheScope"}), R"("private")");
}

TEST_F(GatewayLimitsTest, AStatelessClientHasTheErrorsOfASessionInItsOwnForm) {
  says_["resources/read"] = R"({"error":{"code":-32002,"message":"none"}})";
  says_["prompts/get"] = R"({"error":{"code":-32099,"message":"odd"}})";
  says_["prompts/list"] = R"({"error":{"code":-32042,"message":"page","data":{"elicitations":)"
                          R"([{"url":"https://example.org","elicitationId":"e"}]}}})";
  connect();
  ask("1", "resources/read", kCapable);
  EXPECT_EQ(code_of("1"), std::to_string(kInvalidParams));
  ask("2", "prompts/get", kCapable);
  EXPECT_EQ(code_of("2"), "-32099");
  ask("3", "prompts/list", kCapable);
  EXPECT_EQ(find(answer_to("3"), {"result", "resultType"}), R"("input_required")");
}

TEST_F(GatewayLimitsTest, AClientOfSessionsHasTheErrorsOfItsServerAsTheyAre) {
  says_["resources/read"] = R"({"error":{"code":-32002,"message":"none"}})";
  connect();
  open();
  say("1", "resources/read", R"({"uri":"x:"})");
  EXPECT_EQ(code_of("1"), "-32002");
}

// The pages of a list are one list: a later page is no starting point.
TEST_F(GatewayLimitsTest, AListThatIsAskedForInItsMiddleIsReadFromItsBeginning) {
  connect();
  open();
  say("1", "prompts/list", R"({"cursor":"c"})");
  EXPECT_NE(answer_to("1"), "");
  EXPECT_EQ(server_->times("tools/list"), 0u);
  say("2", "tools/list", R"({"cursor":"c"})");
  EXPECT_NE(answer_to("2"), "");
  EXPECT_EQ(server_->times("tools/list"), 2u);
  EXPECT_EQ(find(server_->last("tools/list").params_text(), {"cursor"}), R"("c")");
}

TEST_F(GatewayLimitsTest, AListFromItsBeginningIsAskedForOnce) {
  connect();
  open();
  say("1", "tools/list", "{}");
  EXPECT_NE(answer_to("1"), "");
  EXPECT_EQ(server_->times("tools/list"), 1u);
}

TEST_F(GatewayLimitsTest, ALogLevelThatIsNoneIsRefusedInAWholeRequest) {
  connect(true);
  ask("0", "prompts/list", kCapable);
  EXPECT_EQ(code_of("0"), "");
  ask("1", "prompts/list", std::string(kCapable) + kLevel);
  EXPECT_EQ(code_of("1"), std::to_string(kInvalidParams));
  ask("2", "server/discover", kLevel);
  EXPECT_EQ(code_of("2"), "");
}

}  // namespace
}  // namespace sallyport::mcp
