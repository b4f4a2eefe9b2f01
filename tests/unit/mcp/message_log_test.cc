#include "mcp/message/message_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/entropy.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::mcp {
namespace {

class MessageLogTest : public testing::Test {
 protected:
  // Writes noted messages without pauses.
  json::array written() {
    log.hurry();
    sallyport::test::run_now([](MessageLog& one) -> Async<bool> {
      co_await one.write();
      co_return true;
    }(log));
    const auto topics = recorder.of(core::Kind::Topic);
    return topics.empty() ? json::array() : topics.back().body.at("messages").as_array();
  }

  sallyport::test::FakeRecorder recorder;
  core::NoRedactor redactor;
  sallyport::test::TestClock clock;
  SystemEntropy entropy;
  core::Escalations escalations{recorder, clock, entropy};
  MessageLog log{recorder, escalations, redactor, {.server = "files"}};
};

TEST_F(MessageLogTest, EqualMessagesAreCountedTogether) {
  using Action = MessageLog::Action;
  EXPECT_TRUE(log.note(Action::Withheld, Side::Server, "x", "words"))
      << "the first starts a writer";
  EXPECT_FALSE(log.note(Action::Withheld, Side::Server, "x", "more"));
  EXPECT_FALSE(log.note(Action::Withheld, Side::Client, "x"));
  EXPECT_FALSE(log.note(Action::Dropped, Side::Client, "x"));
  const json::array all = written();
  ASSERT_EQ(all.size(), 3u);
  std::string counts;
  for (const json::value& one : all) {
    counts += fmt::format("{} {} {}{} ", std::string(one.at("what").as_string()),
                          std::string(one.at("from").as_string()), one.at("count").to_number<int>(),
                          one.as_object().contains("evidence") ? " evidence" : "");
  }
  EXPECT_NE(counts.find("withheld server 2 evidence "), std::string::npos) << counts;
  EXPECT_NE(counts.find("withheld client 1 "), std::string::npos) << counts;
  EXPECT_NE(counts.find("dropped client 1 "), std::string::npos) << counts;
  EXPECT_TRUE(log.note(Action::Dropped, Side::Client, "x")) << "the writer has ended";
}

TEST_F(MessageLogTest, ManyMethodsAndMuchEvidenceAreBounded) {
  for (int i = 0; i < 500; ++i) {
    log.note(MessageLog::Action::Refused, Side::Client, fmt::format("method-{}", i));
    log.note(MessageLog::Action::Withheld, Side::Server, "one", fmt::format("evidence-{}", i));
  }
  const json::array all = written();
  EXPECT_LT(all.size(), 500u);
  std::uint64_t refused = 0;
  for (const json::value& one : all) {
    if (one.at("what") == "refused") refused += one.at("count").to_number<std::uint64_t>();
    if (one.at("what") == "withheld" && one.as_object().contains("evidence")) {
      EXPECT_LT(one.at("evidence").as_array().size(), 500u);
    }
  }
  EXPECT_EQ(refused, 500u) << "those beyond are counted together";
}

// Evidence of several kilobytes for each of a few methods made an entry that could not be written:
// the counts were lost, and the next call was refused.
// GR-73 (partly) LE-4 (partly)
TEST_F(MessageLogTest, AllEvidenceFitsIntoOneEntry) {
  log.note(MessageLog::Action::Noted, Side::Server, "large", std::string(16'000, 'x'));
  for (int i = 0; i < 30; ++i) {
    log.note(MessageLog::Action::Noted, Side::Server, fmt::format("method-{}", i),
             std::string(3000, static_cast<char>('a' + i % 26)));
  }
  const json::array all = written();
  EXPECT_EQ(all.size(), 31u);
  EXPECT_LT(canonical_json(all).size(), 30'000u);
  std::string large;
  for (const json::value& one : all) {
    if (one.at("method") == "large") large = json::serialize(one.at("evidence"));
  }
  EXPECT_EQ(large, R"(["[16000 bytes of evidence left out]"])");
  log.note(MessageLog::Action::Noted, Side::Server, "next", std::string(3000, 'y'));
  EXPECT_TRUE(written().at(0).as_object().contains("evidence")) << "the next entry has room";
}

// What guards found in a list or a notification had no entry, and a hit that changed nothing left no
// trace at all.
// GR-72 (partly)
TEST_F(MessageLogTest, AHitHasAnEntryAndThoseThatRepeatItAreCounted) {
  const auto found = [](const char* check, const char* action) {
    return FoundInMessage{
        .findings = {{.body = {{"check", check}, {"action", action}}, .excerpt = "words"}}};
  };
  using Action = MessageLog::Action;
  for (int i = 0; i < 3; ++i) log.note(Action::Noted, Side::Server, "x", "", found("a", "log"));
  log.note(Action::Noted, Side::Server, "y", "", found("a", "log"));
  log.note(Action::Withheld, Side::Server, "x", "", found("a", "block"));
  const json::array all = written();
  const std::vector<core::Draft> hits = recorder.of(core::Kind::GuardHit);
  ASSERT_EQ(hits.size(), 3u);
  EXPECT_EQ(hits[0].body.at("check"), "a");
  EXPECT_EQ(hits[0].subject->tool_name, "x");
  EXPECT_EQ(hits[0].subject->server, "files");
  EXPECT_EQ(hits[1].subject->tool_name, "y");
  EXPECT_EQ(hits[2].body.at("action"), "block");
  ASSERT_EQ(all.size(), 3u);
  for (const json::value& one : all) {
    const bool noted_x = one.at("what") == "noted" && one.at("method") == "x";
    EXPECT_EQ(one.as_object().contains("more_hits"), noted_x);
    if (noted_x) EXPECT_EQ(one.at("more_hits"), 2);
  }
}

// GR-84 (partly)
TEST_F(MessageLogTest, APeerThatFloodsDoesNotFillTheLogWithHits) {
  for (int i = 0; i < 2000; ++i) {
    const std::string check = fmt::format("check-{}", i);
    log.note(MessageLog::Action::Noted, Side::Server, "x", "",
             {.findings = {{.body = {{"check", check}, {"action", "log"}}}},
              .escalations = {{"g", check}}});
  }
  const json::array all = written();
  EXPECT_LE(recorder.of(core::Kind::GuardHit).size(), 256u);
  EXPECT_LE(recorder.of(core::Kind::Approval).size(), 256u);
  EXPECT_EQ(all.at(0).at("count"), 2000);
}

// An escalation about a list or a notification was dropped.
// PI-80 (partly) PI-83 PI-88
TEST_F(MessageLogTest, AnEscalationOpensAnItem) {
  for (int i = 0; i < 3; ++i) {
    log.note(MessageLog::Action::Noted, Side::Server, "x", "",
             {.findings = {}, .escalations = {{"g", "look\x1b"}}});
  }
  (void)written();
  const std::vector<core::Draft> items = recorder.of(core::Kind::Approval);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].body.at("message"), "look");
  EXPECT_EQ(items[0].body.at("guard"), "g");
  const auto waiting = core::waiting_escalations(recorder);
  ASSERT_TRUE(waiting);
  ASSERT_EQ(waiting->size(), 1u);
  EXPECT_EQ(waiting->front().count, 3u);
}

TEST_F(MessageLogTest, WhatCannotBeWrittenIsOwed) {
  log.note(MessageLog::Action::Dropped, Side::Client, "x");
  recorder.refuse_reports = Error{ErrorCode::Unavailable, "the disk is gone"};
  (void)written();
  EXPECT_EQ(recorder.owed.size(), 1u);
}

}  // namespace
}  // namespace sallyport::mcp
