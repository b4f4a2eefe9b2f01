#include "mcp/message/dispatch_in_meta.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "mcp/message/json_text.h"

namespace sallyport::mcp {
namespace {

Message request_with(std::string_view dispatch, std::string_view more = {}) {
  return Message::read(
             request_text("1", "tools/call",
                          fmt::format(R"({{"name":"t","_meta":{{{}"sallyport/dispatch":{}}}}})",
                                      more, dispatch)),
             {})
      .value();
}

std::string place(std::string_view dispatch) {
  Message request = request_with(dispatch);
  Call call{.agent_id = "agent:a"};
  const Result<void> taken = take_dispatch(request, call);
  return taken ? "" : taken.error().where;
}

// AT-12
TEST(DispatchInMetaTest, WhereACallComesFromIsTakenOutOfTheRequest) {
  Message request = request_with(
      R"({"turn":3,"provider":"anthropic","model":"m","trigger":{"id":"evt-7","provider":"github","kind":"push","trace_id":"t-1"}})");
  Call call{.agent_id = "agent:a", .trace_id = "own"};
  ASSERT_TRUE(take_dispatch(request, call));
  EXPECT_EQ(call.turn, 3u);
  EXPECT_EQ(call.provenance.provider, "anthropic");
  EXPECT_EQ(call.provenance.model, "m");
  EXPECT_EQ(call.trigger_id, "evt-7");
  EXPECT_EQ(call.setting.trigger.at("provider"), "github");
  EXPECT_EQ(call.setting.trigger.at("kind"), "push");
  EXPECT_EQ(call.trace_id, "t-1");
  EXPECT_EQ(request.params_text(), R"({"name":"t"})");
  EXPECT_FALSE(request.params()->contains("_meta"));
}

// AT-12
TEST(DispatchInMetaTest, WhatIsNotSaidStaysAndOtherMembersStay) {
  Message request = request_with(R"({"trigger":{"id":"evt"}})", R"("progressToken":7,)");
  Call call{.agent_id = "agent:a", .trace_id = "own"};
  call.provenance.provider = "before";
  ASSERT_TRUE(take_dispatch(request, call));
  EXPECT_EQ(call.trace_id, "own");
  EXPECT_EQ(call.provenance.provider, "before");
  EXPECT_EQ(request.params_text(), R"({"name":"t","_meta":{"progressToken":7}})");
  EXPECT_TRUE(request.params()->contains("_meta"));
  for (const char* const params : {R"({"name":"t"})", R"({"name":"t","_meta":{"x":1}})"}) {
    Message other = Message::read(request_text("1", "tools/call", params), {}).value();
    EXPECT_TRUE(take_dispatch(other, call));
    EXPECT_EQ(other.params_text(), params);
  }
}

// AT-12
TEST(DispatchInMetaTest, WhatIsWrongIsNamed) {
  const std::string root = "_meta.sallyport/dispatch";
  const std::string longest(128, 'x');
  const std::pair<std::string, std::string> kCases[] = {
      {"{}", ""},
      {"[]", root},
      {R"({"other":1})", root + ".other"},
      {R"({"turn":0})", ""},
      {R"({"turn":-1})", root + ".turn"},
      {R"({"turn":"1"})", root + ".turn"},
      {R"({"turn":9007199254740991})", ""},
      {R"({"turn":9007199254740992})", root + ".turn"},
      {fmt::format(R"({{"model":"{}"}})", longest), ""},
      {fmt::format(R"({{"model":"{}x"}})", longest), root + ".model"},
      {R"({"provider":1})", root + ".provider"},
      {R"({"trigger":1})", root + ".trigger"},
      {R"({"trigger":{"who":"x"}})", root + ".trigger.who"},
      {R"({"trigger":{}})", "trigger_id"},
      {R"({"trigger":{"id":"e","kind":1}})", root + ".trigger.kind"},
      {R"({"trigger":{"id":"e","trace_id":1}})", root + ".trigger.trace_id"},
  };
  for (const auto& [dispatch, wrong] : kCases) EXPECT_EQ(place(dispatch), wrong) << dispatch;
  EXPECT_NE(place(R"({"scope":{"tier":"king"}})"), "");
  EXPECT_EQ(place(R"({"scope":{"tier":"suggest"}})"), "");
}

}  // namespace
}  // namespace sallyport::mcp
