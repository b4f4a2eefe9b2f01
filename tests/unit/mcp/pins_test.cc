#include "mcp/server/pins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"

namespace sallyport::mcp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<ToolDefinition> tools(const std::string& description) {
  const json::value list{
      {"tools",
       {{{"name", "a"}, {"description", description}}, {{"name", "b"}, {"description", "b"}}}}};
  return definitions_in(list.as_object());
}

class PinsTest : public testing::Test {
 protected:
  std::set<std::string> look(const std::string& description) {
    return test::run_now(book.look("files", tools(description)))->changed;
  }
  Verdict::Kind judged(const std::string& tool) {
    const PinGuard guard(book);
    const Call call{.server = "files", .tool = tool};
    return test::run_now(judge(guard, call));
  }
  static Async<Verdict::Kind> judge(const PinGuard& guard, const Call& call) {
    const core::GuardContext context;
    const Result<Verdict> verdict = co_await guard.judge(call, context);
    co_return verdict->kind;
  }

  test::FakeRecorder recorder;
  PinBook book{recorder};
};

// AT-26 (partly)
TEST_F(PinsTest, AChangedDefinitionIsHeldUntilItIsAccepted) {
  EXPECT_THAT(look("first"), IsEmpty());
  EXPECT_THAT(look("first"), IsEmpty());
  EXPECT_EQ(all_pins(recorder)->size(), 2u);
  EXPECT_THAT(look("second"), ElementsAre("a"));
  EXPECT_EQ(judged("a"), Verdict::Kind::Deny);
  EXPECT_EQ(judged("b"), Verdict::Kind::Allow);

  const std::optional<Pin> pin = *find_pin(recorder, "files", "a");
  ASSERT_TRUE(pin && pin->held());
  EXPECT_EQ(pinned_definition(recorder, pin->changed_sequence)->at("description"), "second");
  ASSERT_TRUE(test::run_now(accept_pin(recorder, *pin, "uid:ann")));
  EXPECT_EQ(judged("a"), Verdict::Kind::Allow);
  EXPECT_THAT(look("second"), IsEmpty());
}

// Earlier releases pinned fewer members: such a pin is valid once, and is rewritten.
TEST_F(PinsTest, APinOfAnEarlierReleaseThatFitsIsWrittenAnewOverTheWholeDefinition) {
  const auto definition = [](json::object more) {
    more["name"] = "a";
    more["description"] = "first";
    const json::value list{{"tools", json::array{more}}};
    return definitions_in(list.as_object());
  };
  const auto seen = [&](json::object more) {
    return test::run_now(book.look("files", definition(std::move(more))))->changed;
  };
  const ToolDefinition first = definition({}).front();
  core::Draft old{.kind = core::Kind::Topic, .topic = "tool_pins"};
  old.facts.push_back({"tool_pin", R"(["files","a"])", first.first_hash, true});
  std::vector<core::Draft> drafts;
  drafts.push_back(std::move(old));
  ASSERT_TRUE(test::run_now(recorder.append(std::move(drafts), core::Urgency::Announces)));
  EXPECT_THAT(seen({{"_meta", 1}}), IsEmpty());
  EXPECT_TRUE((*find_pin(recorder, "files", "a"))->hash.starts_with("2:"));
  EXPECT_THAT(seen({{"_meta", 1}}), IsEmpty());
  EXPECT_THAT(seen({{"_meta", 2}}), ElementsAre("a"));
}

TEST_F(PinsTest, OneThatBecomesWhatItWasIsFreeAgain) {
  (void)look("first");
  EXPECT_THAT(look("second"), ElementsAre("a"));
  EXPECT_THAT(look("first"), IsEmpty());
  EXPECT_EQ(judged("a"), Verdict::Kind::Allow);
  EXPECT_FALSE((*find_pin(recorder, "files", "a"))->held());
}

TEST_F(PinsTest, WhatWasAcceptedIsWhatWasLookedAt) {
  (void)look("first");
  (void)look("second");
  const Pin seen = **find_pin(recorder, "files", "a");
  (void)look("third");
  const Result<void> accepted = test::run_now(accept_pin(recorder, seen, "uid:ann"));
  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().code, ErrorCode::Conflict);
  EXPECT_EQ(judged("a"), Verdict::Kind::Deny);
}

// Two processes that saw a tool first at the same moment once overwrote each other's pin.
TEST_F(PinsTest, TheFirstOfTwoProcessesPinsATool) {
  PinBook other{recorder};
  recorder.before_append = [&] {
    EXPECT_TRUE(test::run_now(other.look("files", tools("second"))));
  };
  EXPECT_THAT(look("first"), ElementsAre("a"));
  EXPECT_EQ(judged("a"), Verdict::Kind::Deny);
  const std::optional<Pin> pin = *find_pin(recorder, "files", "a");
  ASSERT_TRUE(pin && pin->held());
  EXPECT_EQ(pinned_definition(recorder, pin->sequence)->at("description"), "second");
  EXPECT_EQ(pinned_definition(recorder, pin->changed_sequence)->at("description"), "first");
}

TEST_F(PinsTest, ALookThatIsAlwaysOvertakenFails) {
  recorder.refuse = [](const std::vector<core::Draft>&) -> std::optional<Error> {
    return Error{ErrorCode::Conflict, "changed meanwhile", {}, {}};
  };
  const Result<HeldBack> seen = test::run_now(book.look("files", tools("first")));
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, ErrorCode::Unavailable);
  EXPECT_EQ(recorder.commits, 16u);
}

TEST_F(PinsTest, AChangedToolStaysHeldHoweverOftenItIsSeen) {
  (void)look("first");
  for (int i = 0; i < 3; ++i) EXPECT_THAT(look("second"), ElementsAre("a")) << i;
  EXPECT_EQ(judged("a"), Verdict::Kind::Deny);
  EXPECT_TRUE((*find_pin(recorder, "files", "a"))->held());
}

// Its pin may have been removed or be unreadable: no person has accepted the tool.
TEST_F(PinsTest, AHeldToolWhosePinIsNotThereStaysHeld) {
  (void)look("first");
  EXPECT_THAT(look("second"), ElementsAre("a"));
  std::vector<core::Draft> drafts(1);
  drafts[0].kind = core::Kind::Topic;
  drafts[0].facts.push_back({"tool_pin", R"(["files","a"])", std::nullopt});
  ASSERT_TRUE(test::run_now(recorder.append(std::move(drafts), core::Urgency::Announces)));
  ASSERT_EQ(*find_pin(recorder, "files", "a"), std::nullopt);
  EXPECT_EQ(judged("a"), Verdict::Kind::Deny);
  EXPECT_EQ(judged("b"), Verdict::Kind::Allow);
}

TEST_F(PinsTest, TheSameToolOfAnotherServerIsAnotherTool) {
  (void)look("first");
  EXPECT_THAT(test::run_now(book.look("other", tools("second")))->changed, IsEmpty());
}

// A server that changes the names of its tools without end.
TEST_F(PinsTest, BeyondTheMostOfAServerNewToolsAreHeldBackAndKeptNowhere) {
  PinBook small{recorder, 3};
  const auto list = [](std::vector<std::string> names) {
    json::array listed;
    for (const std::string& name : names) listed.push_back(json::object{{"name", name}});
    return definitions_in(json::object{{"tools", listed}});
  };
  const auto look = [&](const std::string& server, std::vector<std::string> names) {
    return test::run_now(small.look(server, list(std::move(names))))->beyond;
  };
  EXPECT_THAT(look("files", {"a", "b"}), IsEmpty());
  EXPECT_FALSE(small.beyond("files", "c"));
  EXPECT_THAT(look("files", {"a", "c", "d"}), ElementsAre("d"));
  EXPECT_THAT(look("files", {"e", "d"}), ElementsAre("d", "e"));
  EXPECT_THAT(look("file", {"d"}), IsEmpty()) << "of another server";
  EXPECT_EQ(all_pins(recorder)->size(), 4u);
  EXPECT_TRUE(small.beyond("files", "d"));
  EXPECT_FALSE(small.beyond("files", "c"));
  EXPECT_FALSE(small.beyond("files", "resources/read")) << "is no tool";
  EXPECT_FALSE(small.beyond("file", "e"));

  PinBook later{recorder, 3};
  EXPECT_THAT(test::run_now(later.look("files", list({"d"})))->beyond, ElementsAre("d"));
}

// The second check once took its own first check for proof that the server is full.
TEST_F(PinsTest, ALookThatIsOvertakenStillPinsWhatHasRoom) {
  PinBook small{recorder, 3};
  json::array listed;
  for (const char* const name : {"a", "b", "c", "d"})
    listed.push_back(json::object{{"name", name}});
  const auto tools = definitions_in(json::object{{"tools", listed}});
  recorder.before_append = [&] {
    const std::vector<ToolDefinition> first{tools.front()};
    EXPECT_TRUE(test::run_now(PinBook{recorder}.look("files", first)));
  };
  EXPECT_THAT(test::run_now(small.look("files", tools))->beyond, ElementsAre("d"));
  EXPECT_EQ(all_pins(recorder)->size(), 3u);
}

// Without an entry that says so, the server is full all the same.
TEST_F(PinsTest, ALookThatCannotBeRecordedStillHoldsBackWhatHasNoRoom) {
  PinBook small{recorder, 2};
  (void)test::run_now(small.look("files", tools("first")));
  json::array listed{json::object{{"name", "new"}}};
  recorder.refuse_announcements = Error{.code = ErrorCode::Unavailable, .message = "busy"};
  const auto with_new = definitions_in(json::object{{"tools", listed}});
  EXPECT_FALSE(test::run_now(small.look("files", with_new)));
  EXPECT_TRUE(small.beyond("files", "new"));
  recorder.refuse_announcements.reset();
  EXPECT_THAT(test::run_now(small.look("files", with_new))->beyond, ElementsAre("new"));
  EXPECT_EQ(test::text_at(recorder.written.back(), "/record"), "tool_pins_full");
}

TEST_F(PinsTest, ACommandIsQuotedForAShell) {
  EXPECT_TRUE(pins_command("show", "files", "read").starts_with("sallyport pins show files read"));
  EXPECT_NE(pins_command("show", "a b", "it's").find(R"('a b' 'it'\''s')"), std::string::npos)
      << pins_command("show", "a b", "it's");
}

TEST_F(PinsTest, WhatWasHeldIsRecalledByTheNextProcess) {
  (void)look("first");
  (void)look("second");
  PinBook next{recorder};
  EXPECT_FALSE(next.held("files", "a")) << "it has not looked yet";
  ASSERT_TRUE(next.recall());
  EXPECT_TRUE(next.held("files", "a"));
  EXPECT_FALSE(next.held("files", "b"));
  EXPECT_FALSE(next.held("other", "a"));
  const std::optional<Pin> pin = *find_pin(recorder, "files", "a");
  ASSERT_TRUE(test::run_now(accept_pin(recorder, *pin, "uid:ann")));
  EXPECT_FALSE(next.held("files", "a")) << "another process accepted it";
}

}  // namespace
}  // namespace sallyport::mcp
