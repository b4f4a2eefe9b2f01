#include "core/handoff/model_calls.h"

#include <gtest/gtest.h>

#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core::model_calls {
namespace {

class ModelCallsTest : public testing::Test {
 protected:
  Call call_of(std::string tool = "read") const {
    return {.tool_call_id = "toolu_1", .agent_id = "agent:a", .session_id = "s", .tool = tool};
  }
  void propose(std::string call_id, std::string tool = "read") {
    Draft draft{.kind = Kind::Event, .body = {{"x", 1}}};
    draft.changes.push_back(add(call_of(), {.call_id = std::move(call_id), .tool = tool_mark(tool)},
                                recorder, clock.wall()));
    std::vector<Draft> drafts;
    drafts.push_back(std::move(draft));
    ASSERT_TRUE(test::run_now(recorder.append(std::move(drafts), Urgency::Announces)));
  }
  std::string found(const std::string& agent = "agent:a") {
    std::string ids;
    const auto all = find(recorder, recorder, agent, "toolu_1");
    EXPECT_TRUE(all);
    if (!all) return ids;
    for (const Proposed& one : *all) ids += one.call_id + " ";
    return ids;
  }

  test::FakeRecorder recorder;
  test::TestClock clock;
};

TEST_F(ModelCallsTest, CallsUnderAnIdAreFoundNewestFirstByTheirAgent) {
  EXPECT_EQ(found(), "");
  propose("c1");
  propose("c2");
  EXPECT_EQ(found(), "c2 c1 ");
  EXPECT_EQ(found("agent:b"), "");
}

TEST_F(ModelCallsTest, CallsThatAreTooOldGoWithTheNextOne) {
  propose("c1");
  clock.advance(std::chrono::hours(1));
  propose("c2");
  clock.advance(kKnownFor - std::chrono::hours(1));
  propose("c3");
  EXPECT_EQ(found(), "c3 c2 ") << "the first is as old as it may not be";
}

// Earlier releases wrote the id of the request, or one word.
TEST_F(ModelCallsTest, ADeferredCallIsReadInEveryFormThatWasWritten) {
  const auto stored = [&](std::string text) {
    std::vector<Draft> drafts(1);
    drafts[0].facts.push_back({std::string(kDeferred), "k", std::move(text)});
    EXPECT_TRUE(test::run_now(recorder.append(std::move(drafts), Urgency::Reports)));
    return find_deferred(recorder, "k");
  };
  EXPECT_EQ(find_deferred(recorder, "k").value(), std::nullopt);
  EXPECT_EQ(stored("apr_1").value()->request_id, "apr_1");
  EXPECT_EQ(stored("apr_1").value()->state, Deferred::State::Open);
  EXPECT_EQ(stored("bypassed").value()->state, Deferred::State::Bypassed);
  EXPECT_EQ(stored("bypassed").value()->request_id, "");
  for (const auto state :
       {Deferred::State::Open, Deferred::State::Seen, Deferred::State::Bypassed}) {
    const Deferred deferred{
        .state = state, .request_id = "apr_2", .asked = "x", .at = clock.wall()};
    const Deferred read = *stored(*deferred_fact("k", deferred).value).value();
    EXPECT_EQ(read.state, state);
    EXPECT_EQ(read.request_id, "apr_2");
    EXPECT_EQ(read.asked, "x");
    EXPECT_EQ(read.at, clock.wall());
  }
  EXPECT_FALSE(stored("{"));
}

TEST_F(ModelCallsTest, ATooLongListLosesItsOldest) {
  for (int i = 0; i < 100; ++i) propose("c" + std::to_string(i));
  const std::string all = found();
  EXPECT_TRUE(all.starts_with("c99 c98 "));
  EXPECT_EQ(all.find("c0 "), std::string::npos);
}

TEST_F(ModelCallsTest, ToolsAreComparedInTheLettersOfModelApis) {
  EXPECT_EQ(tool_mark("a.b"), tool_mark("a_b"));
  EXPECT_EQ(tool_mark("a/b"), tool_mark("a_b"));
  EXPECT_NE(tool_mark("a-b"), tool_mark("a_b"));
  EXPECT_NE(tool_mark("A"), tool_mark("a"));
  for (const char* const name : {"a", "z", "A", "Z", "0", "9", "-"}) {
    EXPECT_NE(tool_mark(name), tool_mark("_")) << name;
  }
  for (const char* const name : {"`", "{", "@", "[", "/", ":"}) {
    EXPECT_EQ(tool_mark(name), tool_mark("_")) << name;
  }
  Call call = call_of("read");
  EXPECT_TRUE(is_same_tool({.tool = tool_mark("read")}, call));
  EXPECT_FALSE(is_same_tool({.tool = tool_mark("write")}, call));
  call.server = "files";
  EXPECT_TRUE(is_same_tool({.tool = tool_mark("files.read")}, call));
  EXPECT_FALSE(is_same_tool({.tool = tool_mark("other.read")}, call));
}

TEST_F(ModelCallsTest, ADeferredCallReadsBackAsItWasWritten) {
  const std::string key = deferred_key("agent:a", "s", "toolu_1");
  EXPECT_NE(key, deferred_key("agent:a", "s", "toolu_2"));
  EXPECT_FALSE(find_deferred(recorder, key).value());
  for (const Deferred::State state :
       {Deferred::State::Open, Deferred::State::Seen, Deferred::State::Bypassed}) {
    Draft draft{.kind = Kind::Event, .body = {{"x", 1}}};
    draft.facts.push_back(deferred_fact(
        key,
        {.state = state, .request_id = "r", .asked = asked_digest(call_of()), .at = clock.wall()}));
    std::vector<Draft> drafts;
    drafts.push_back(std::move(draft));
    ASSERT_TRUE(test::run_now(recorder.append(std::move(drafts), Urgency::Announces)));
    const auto read = find_deferred(recorder, key);
    ASSERT_TRUE(read && *read);
    EXPECT_EQ((*read)->state, state);
    EXPECT_EQ((*read)->request_id, "r");
    EXPECT_EQ((*read)->asked, asked_digest(call_of()));
    EXPECT_EQ((*read)->at, clock.wall());
  }
}

}  // namespace
}  // namespace sallyport::core::model_calls
