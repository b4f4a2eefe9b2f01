#include "mcp/message/translation.h"

#include <gtest/gtest.h>

namespace sallyport::mcp {
namespace {

TEST(TranslationTest, RequestsOfASessionSayEverythingEachTime) {
  const ClientFacts client{
      .capabilities = R"({"roots":{}})", .info = R"({"name":"c"})", .log_level = "\"info\""};
  EXPECT_EQ(
      modern_params(R"({"n":1.50,"_meta":{"progressToken":7}})", client),
      R"({"n":1.50,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities":{"roots":{}},"io.modelcontextprotocol/clientInfo":{"name":"c"},)"
      R"("io.modelcontextprotocol/logLevel":"info","progressToken":7}})");
  EXPECT_EQ(modern_params("", {}),
            R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
            R"("io.modelcontextprotocol/clientCapabilities":{}}})");
}

TEST(TranslationTest, ServersOfSessionsDoNotHearItAgain) {
  EXPECT_EQ(legacy_params(modern_params(R"({"n":1.50,"_meta":{"k":1}})", {.info = "{}"})),
            R"({"n":1.50,"_meta":{"k":1}})");
  EXPECT_EQ(legacy_params(modern_params(R"({"n":1})", {})), R"({"n":1})");
  EXPECT_EQ(legacy_params(R"({"n":1})"), R"({"n":1})");
}

TEST(TranslationTest, AResultWithoutATypeIsComplete) {
  EXPECT_TRUE(is_complete("{}"));
  EXPECT_TRUE(is_complete(R"({"resultType":"complete"})"));
  for (const char* const type : {R"("")", R"("task")", R"("input_required")", "5", "null"}) {
    EXPECT_FALSE(is_complete(R"({"resultType":)" + std::string(type) + "}")) << type;
  }
}

TEST(TranslationTest, ResultsLoseWhatSessionsDoNotKnow) {
  EXPECT_EQ(
      legacy_result(
          "tools/call",
          R"({"resultType":"complete","content":[],"structuredContent":[1],"_meta":{"io.modelcontextprotocol/serverInfo":{}}})"),
      R"({"content":[]})");
  EXPECT_EQ(
      legacy_result("tools/call",
                    R"({"resultType":"complete","structuredContent":{"a":1.0},"_meta":{"k":1}})"),
      R"({"structuredContent":{"a":1.0},"_meta":{"k":1}})");
  EXPECT_EQ(
      legacy_result(
          "tools/list",
          R"({"resultType":"complete","ttlMs":5,"cacheScope":"public","tools":[{"name":"a","outputSchema":{"type":"array"}},{"name":"b","outputSchema":{"type":"object"}}]})"),
      R"({"tools":[{"name":"a"},{"name":"b","outputSchema":{"type":"object"}}]})");
}

TEST(TranslationTest, ResultsGetWhatTheStatelessEraWants) {
  EXPECT_EQ(
      modern_result("tools/list", R"({"tools":[]})", R"({"name":"s"})"),
      R"({"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}},"ttlMs":0,"cacheScope":"private","tools":[]})");
  EXPECT_EQ(modern_result("tools/list",
                          R"({"ttlMs":9,"cacheScope":"public","resultType":"complete"})", ""),
            R"({"ttlMs":0,"cacheScope":"private","resultType":"complete"})");
  EXPECT_EQ(modern_result("tools/call", R"({"resultType":"input_required"})", ""),
            R"({"resultType":"input_required"})");
}

TEST(TranslationTest, CodesThatAreGoneAreThoseOfToday) {
  EXPECT_EQ(modern_error(R"({"code":-32002,"message":"m"})"), R"({"code":-32602,"message":"m"})");
  EXPECT_EQ(modern_error(R"({"code":-32603,"message":"m"})"), R"({"code":-32603,"message":"m"})");
}

TEST(TranslationTest, APageThatMustBeVisitedIsAQuestion) {
  EXPECT_EQ(
      questions_from_error(
          R"({"code":-32042,"message":"m","data":{"elicitations":[{"url":"u","message":"go","elicitationId":"e"}]}})"),
      R"({"resultType":"input_required","inputRequests":{"page1":{"method":"elicitation/create","params":{"mode":"url","url":"u","message":"go"}}}})");
  EXPECT_EQ(questions_from_error(R"({"code":-32603,"message":"m"})"), "");
  EXPECT_EQ(legacy_params(R"({"uri":"u","inputResponses":{},"requestState":"s","_meta":{"k":1}})"),
            R"({"uri":"u","_meta":{"k":1}})");
}

TEST(TranslationTest, OpeningsAndDiscoveriesBecomeOneAnother) {
  const std::string discovery =
      R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{}},"instructions":"i","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}}})";
  EXPECT_EQ(
      opening_from_discovery(discovery, "2025-06-18"),
      R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s"},"instructions":"i"})");
  EXPECT_EQ(
      opening_from_discovery("{}", "1999-01-01"),
      R"({"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"unknown","version":"0"}})");
  EXPECT_EQ(
      discovery_from_opening(
          R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{}},"serverInfo":{"name":"s"}})"),
      R"({"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}},"ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
}

}  // namespace
}  // namespace sallyport::mcp
