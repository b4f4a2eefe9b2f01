// Who may answer a question, and with what.
#include "core/approval/reply_check.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/approval/doors.h"

namespace sallyport::core {
namespace {

json::object request(std::string_view kind = "approval") {
  return {{"kind", kind}, {"agent_id", "agent:bot"}, {"args", json::array{json::object()}}};
}

std::string where(const Result<void>& checked) {
  return checked ? "" : checked.error().where;
}

// AP-13
TEST(ReplyCheckTest, AListOfReviewersAdmitsTheirNamesAndThoseItWasPassedOnTo) {
  const ApprovalState passed_on{.also = {"user:cy"}};
  const auto answers = [&](const json::object& asked, const std::string& by) {
    return check_reviewer(Reply::approve(by), asked, passed_on).has_value();
  };
  json::object listed = request();
  EXPECT_TRUE(answers(listed, "user:eve")) << "nobody is named";
  listed["reviewers"] = json::array();
  EXPECT_TRUE(answers(listed, "user:eve")) << "nobody is named";
  listed["reviewers"] = json::array{"user:ada", "user:bo"};
  EXPECT_TRUE(answers(listed, "user:ada"));
  EXPECT_TRUE(answers(listed, "user:bo"));
  EXPECT_TRUE(answers(listed, "user:cy"));
  EXPECT_FALSE(answers(listed, "user:eve"));
}

TEST(ReplyCheckTest, ANameIsShortAndReadable) {
  EXPECT_TRUE(check_reviewer(Reply::approve(std::string(512, 'x')), request(), {}));
  EXPECT_EQ(where(check_reviewer(Reply::approve(std::string(513, 'x')), request(), {})), "by");
  EXPECT_EQ(where(check_reviewer(Reply::approve("\xff"), request(), {})), "by");
  EXPECT_EQ(where(check_reviewer(Reply::approve(""), request(), {})), "by");
  EXPECT_TRUE(check_reviewer(Reply::deny(""), request(), {})) << "anyone may say no";
}

// AP-13
TEST(ReplyCheckTest, AnAgentAndItsSubAgentsAnswerNothingOfTheirs) {
  for (const char* const name : {"agent:bot", "agent:bot/child", "agent:bot/a/b"}) {
    EXPECT_TRUE(is_requester(name, request())) << name;
  }
  for (const char* const name : {"agent:bo", "agent:bots", "agent:bot-child", "user:ada", ""}) {
    EXPECT_FALSE(is_requester(name, request())) << name;
  }
}

// AP-25
TEST(ReplyCheckTest, AnAnswerInWordsIsForQuestionsAndHasABound) {
  const auto said = [](std::string words, bool yes = true) {
    Reply reply = yes ? Reply::approve("user:ada") : Reply::deny("user:ada");
    reply.answer = std::move(words);
    return reply;
  };
  const json::object question = request("question");
  EXPECT_TRUE(check_reply(said("main"), question, {}));
  EXPECT_TRUE(check_reply(said(std::string(kLongestReason, 'x')), question, {}));
  EXPECT_EQ(where(check_reply(said(std::string(kLongestReason + 1, 'x')), question, {})), "answer");
  EXPECT_EQ(where(check_reply(said("\xff"), question, {})), "answer");
  EXPECT_EQ(where(check_reply(said(""), question, {})), "answer");
  EXPECT_TRUE(check_reply(said("", false), question, {}));
  EXPECT_EQ(where(check_reply(said("main", false), question, {})), "answer");
  EXPECT_EQ(where(check_reply(said("main"), request(), {})), "answer");
  EXPECT_TRUE(check_reply(said(""), request(), {}));
}

// RU-18
TEST(ReplyCheckTest, WhereARuleWantsAReasonAYesHasOneFromAPerson) {
  const ApprovalState wants{.reason_required = true};
  const auto yes = [](std::string reason, std::string_view door) {
    Reply reply = Reply::approve("user:ada");
    reply.reason = std::move(reason);
    reply.door = door;
    return reply;
  };
  EXPECT_TRUE(check_reply(yes("seen", "cli"), request(), wants));
  EXPECT_EQ(where(check_reply(yes("", "cli"), request(), wants)), "reason");
  EXPECT_EQ(where(check_reply(yes(" \t\r\n", "cli"), request(), wants)), "reason");
  EXPECT_EQ(where(check_reply(yes("seen", kHostDoor), request(), wants)), "reason")
      << "the words of a host are not those of its user";
  EXPECT_TRUE(check_reply(yes("", "cli"), request(), {}));
  EXPECT_TRUE(check_reply(Reply::deny("user:ada"), request(), wants));
}

}  // namespace
}  // namespace sallyport::core
