// Waiting for a server: requests, late answers, and messages on the way.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mcp/message/json_text.h"
#include "mcp/server/inbox.h"
#include "mcp/server/pending_requests.h"
#include "support/governed.h"

namespace sallyport::mcp {
namespace {

using sallyport::test::run_now;

struct Waits final : Waiter {
  explicit Waits(bool hears = false) : late(hears) {}
  Async<void> answered(Response given) override {
    replies.push_back(std::move(given));
    co_return;
  }
  bool wants_late_answer() const override { return late; }
  void no_answer_came() override { nothing = true; }
  bool late;
  bool nothing = false;
  std::vector<Response> replies;
};

Message answer(std::string_view id) {
  return Message::read(result_text(id, "{}"), {}).value();
}

class PendingTest : public testing::Test {
 protected:
  std::shared_ptr<Waits> add(bool late = false) {
    auto waiter = std::make_shared<Waits>(late);
    id = pending.next_id().value();
    pending.add(id, waiter);
    return waiter;
  }
  std::vector<std::string> log;
  PendingRequests pending{2, [this](std::string_view line) { log.emplace_back(line); }};
  std::uint64_t id = 0;
};

TEST_F(PendingTest, NoMoreWaitThanMay) {
  (void)add();
  (void)add();
  EXPECT_EQ(pending.next_id().error().code, ErrorCode::Exhausted);
  EXPECT_TRUE(run_now(pending.answer(answer("1"))));
  EXPECT_FALSE(pending.contains(1));
  EXPECT_TRUE(pending.next_id());
}

TEST_F(PendingTest, AnAnswerIsTakenOnce) {
  const auto waiter = add();
  EXPECT_TRUE(run_now(pending.answer(answer("1"))));
  EXPECT_FALSE(run_now(pending.answer(answer("1"))));
  EXPECT_EQ(waiter->replies.size(), 1u);
  EXPECT_EQ(log, std::vector<std::string>{"the server sent an answer to no open request: `1`"});
  for (const char* const id : {"\"1\"", "-1", "1.5", "2"}) {
    EXPECT_FALSE(run_now(pending.answer(answer(id)))) << id;
  }
  EXPECT_EQ(log.size(), 5u);
}

TEST_F(PendingTest, AWreckEndsTheRequestThatItNames) {
  const auto waiter = add();
  EXPECT_FALSE(run_now(pending.answer_malformed("bytes", "", "torn")));
  EXPECT_FALSE(run_now(pending.answer_malformed("bytes", "7", "torn")));
  EXPECT_EQ(log.size(), 2u);
  EXPECT_TRUE(run_now(pending.answer_malformed("bytes", "1", "torn")));
  EXPECT_EQ(waiter->replies.at(0).malformed, "bytes");
}

TEST_F(PendingTest, ALateAnswerGoesOnceToThoseWhoHearIt) {
  const auto late = add(true);
  const std::uint64_t first = id;
  const auto deaf = add(false);
  EXPECT_TRUE(pending.abandon(first));
  EXPECT_FALSE(pending.abandon(first));
  EXPECT_TRUE(pending.abandon(id));
  EXPECT_FALSE(run_now(pending.answer(answer("1"))));
  EXPECT_FALSE(run_now(pending.answer(answer("1"))));
  EXPECT_FALSE(run_now(pending.answer(answer("2"))));
  EXPECT_EQ(late->replies.size(), 1u);
  EXPECT_EQ(deaf->replies.size(), 0u);
  EXPECT_TRUE(log.empty()) << "a late answer is no fault";
}

TEST_F(PendingTest, TheOldestOfTooManyLateOnesHearsNothing) {
  std::vector<std::shared_ptr<Waits>> all;
  for (int i = 0; i < 64; ++i) {
    all.push_back(add(true));
    pending.abandon(id);
  }
  EXPECT_FALSE(all.front()->nothing);
  all.push_back(add(true));
  pending.abandon(id);
  EXPECT_TRUE(all.front()->nothing);
  EXPECT_FALSE(all[1]->nothing);
}

TEST_F(PendingTest, WhenTheServerEndsAllAreTold) {
  const auto late = add(true);
  pending.abandon(id);
  const auto one = add();
  const auto two = add();
  run_now([](PendingRequests& pending) -> Async<bool> {
    co_await pending.fail_all("gone");
    co_return true;
  }(pending));
  EXPECT_EQ(one->replies.at(0).error.message, "gone");
  EXPECT_EQ(two->replies.at(0).error.message, "gone");
  EXPECT_TRUE(late->nothing);
}

TEST_F(PendingTest, AServerThatFloodsGetsAFewLines) {
  for (int i = 0; i < 50; ++i) pending.complain("noise", std::to_string(i));
  ASSERT_EQ(log.size(), 21u);
  EXPECT_EQ(log[19], "the server sent noise: `19`");
  EXPECT_EQ(log[20], "more of that kind is not reported");
}

TEST_F(PendingTest, OnlyAWholeNumberIsAnIdOfOurs) {
  EXPECT_EQ(number_of("12"), 12u);
  for (const char* const id : {"", "12 ", "x", "1.0", "-1", "\"1\"", "99999999999999999999"}) {
    EXPECT_EQ(number_of(id), std::nullopt) << id;
  }
}

Message word(int n, std::size_t bytes = 1) {
  return Message::read(notification_text(
                           "n", fmt::format(R"({{"n":{},"t":"{}"}})", n, std::string(bytes, 'x'))),
                       {.bytes = 64u << 20})
      .value();
}

Async<std::string> all_of(Inbox& inbox) {
  std::string out;
  while (true) {
    Inbox::Item item = co_await inbox.take();
    if (const Response* const reply = std::get_if<Response>(&item)) {
      co_return out + (reply->message ? "answer" : reply->error.message);
    }
    out += std::string(*find(std::get<Message>(item).text, {"params", "n"})) + " ";
  }
}

Async<std::string> words_in(std::size_t bound, std::vector<Message> words, bool answered) {
  Inbox inbox(co_await boost::asio::this_coro::executor, bound);
  for (Message& one : words) inbox.put(std::move(one));
  if (answered) co_await inbox.answered({.message = answer("1")});
  inbox.no_answer_came();
  inbox.put(word(99));
  co_return co_await all_of(inbox);
}

TEST(InboxTest, TheNewestWordsAreKeptAndTheAnswerIsLast) {
  std::vector<Message> words;
  for (int i = 0; i < 5; ++i) words.push_back(word(i));
  EXPECT_EQ(run_now(words_in(8, words, true)), "0 1 2 3 4 answer");
  EXPECT_EQ(run_now(words_in(5, words, true)), "0 1 2 3 4 answer");
  EXPECT_EQ(run_now(words_in(4, words, true)), "1 2 3 4 answer");
  EXPECT_EQ(run_now(words_in(8, {}, false)), "the call was given up on");
}

TEST(InboxTest, FewOfTheLargestWordsAreKept) {
  std::vector<Message> words;
  for (int i = 0; i < 4; ++i) words.push_back(word(i, 6u << 20));
  const std::string kept = run_now(words_in(100, words, true));
  EXPECT_TRUE(kept.ends_with("3 answer")) << kept;
  EXPECT_EQ(kept.find("0 "), std::string::npos) << "together they are too large";
}

}  // namespace
}  // namespace sallyport::mcp
