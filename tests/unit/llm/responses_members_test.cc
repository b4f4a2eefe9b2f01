// Members of events, parts and bodies of Responses at places where the API does not define them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "responses_script.h"

namespace sallyport::llm::test {
namespace {

using testing::ElementsAre;

// MP-41, MP-44, MP-45
TEST(ResponsesMembers, ABlockedBodyHasOnlyWhatWasLookedAt) {
  for (
      const char* const body :
      {R"({"id":"r","status":"completed","output":[],"notes":"FORBIDDEN SECRET"})",
       R"({"id":"r","status":"completed","output":[],"notes":"SECRET"})",
       R"({"id":"r","status":"failed","output":[],"error":{"code":"x","message":"FORBIDDEN SECRET"}})",
       R"({"id":"r","status":"failed","output":null,"error":{"message":"FORBIDDEN SECRET"}})",
       R"({"id":"r","status":"completed","output":[{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"FORBIDDEN","x":"SECRET"}],"notes":"SECRET"}]})",
       R"({"id":"r","status":"completed","output":[{"type":"reasoning","id":"m","summary":[],"notes":"FORBIDDEN SECRET"}]})",
       R"({"id":"r","status":"completed","output":[{"type":"reasoning","id":"m","x":"FORBIDDEN","summary":[],"content":"SECRET"}]})",
       R"({"id":"r","status":"completed","output":[],"data":[{"text":"SECRET"}]})",
       R"({"id":"r","status":"completed","output":[],"content_filters":[{"text":"SECRET"}]})"}) {
    FakeDoors doors;
    const auto adapter = responses_adapter(doors, {});
    const auto left = sallyport::test::run_now(adapter->on_body(body));
    ASSERT_TRUE(left) << left.error().message;
    EXPECT_EQ(left->find("SECRET"), std::string::npos) << *left;
    EXPECT_EQ(left->find("FORBIDDEN"), std::string::npos) << *left;
    EXPECT_EQ(json::parse(*left).at("status"), "incomplete");
    EXPECT_TRUE(adapter->observed().block) << body;
  }
}

// MP-9, MP-44
TEST(ResponsesMembers, AMemberThatItsEventDoesNotHaveIsChecked) {
  Script script;
  script.remote("lookup", "{}", "found").say("fine", {{0, 1, "title"}});
  for (const char* const member : {"text", "part", "output", "item", "delta", "notes"}) {
    const std::string strange = fmt::format(R"(,"{}":{{"x":"SECRET"}}}})", member);
    const std::size_t count = script.events().size();
    for (std::size_t i = 0; i < count; ++i) {
      auto events = script.events();
      if (events[i].data.find(fmt::format("\"{}\":", member)) != std::string::npos) continue;
      events[i].data.replace(events[i].data.size() - 1, 1, strange);
      const Left left = streamed(events);
      EXPECT_EQ(left.names().back(), "incomplete") << events[i].data;
      EXPECT_FALSE(left.holds("SECRET")) << events[i].data;
      EXPECT_THAT(left.asked.unknown, testing::Contains(member));
    }
  }
}

// MP-41, MP-47
TEST(ResponsesMembers, AnnotationsAreCheckedWhereverTheyComeAndAtAnyDepth) {
  const std::string cited =
      R"("annotations":[{"type":"file_citation","file_id":"f","deep":{"a":["SECRET"]}}])";
  Script script;
  script.say("fine");
  const std::string empty = R"("annotations":[])";
  std::size_t places = 0;
  for (std::size_t i = 0; i < script.events().size(); ++i) {
    auto events = script.events();
    const std::size_t at = events[i].data.find(empty);
    if (at == std::string::npos) continue;
    ++places;
    events[i].data.replace(at, empty.size(), cited);
    EXPECT_FALSE(streamed(events).holds("SECRET")) << events[i].data;
  }
  EXPECT_GE(places, 4u);  // both part events, the item and the response
  auto events = script.events();
  const std::size_t at = events[2].data.find(R"("content":[])");
  ASSERT_NE(at, std::string::npos) << events[2].data;
  events[2].data.replace(at, 12, R"("content":[{"type":"output_text","text":"",)" + cited + "}]");
  EXPECT_FALSE(streamed(events).holds("SECRET"));
}

// MP-25
TEST(ResponsesMembers, FilesOfTheProvidersToolsAreObserved) {
  FakeDoors doors;
  const auto adapter = responses_adapter(doors, {});
  ASSERT_TRUE(sallyport::test::run_now(adapter->on_body(
      R"({"id":"r","status":"completed","output":[{"type":"file_search_call","id":"f","status":"completed","queries":[],"results":[{"file_id":"file_2","text":"t"}]}]})")));
  EXPECT_THAT(adapter->observed().file_ids, ElementsAre("file_2"));
}

}  // namespace
}  // namespace sallyport::llm::test
