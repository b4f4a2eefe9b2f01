#include "mcp/message/message_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"

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
  MessageLog log{recorder, redactor, {.server = "files"}};
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

TEST_F(MessageLogTest, WhatCannotBeWrittenIsOwed) {
  log.note(MessageLog::Action::Dropped, Side::Client, "x");
  recorder.refuse_reports = Error{ErrorCode::Unavailable, "the disk is gone"};
  (void)written();
  EXPECT_EQ(recorder.owed.size(), 1u);
}

}  // namespace
}  // namespace sallyport::mcp
