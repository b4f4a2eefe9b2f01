// The parts that all routes share, each alone.
#include <gtest/gtest.h>

#include <latch>

#include "api/cursor.h"
#include "api/problem.h"
#include "api/rates.h"
#include "api/readers.h"
#include "api/sessions.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::api {
namespace {

using namespace std::chrono_literals;

// CO-43 (partly) CO-66 (partly)
TEST(CursorTest, BelongsToOneListAndItsFilters) {
  const Query query = *Query::parse("agent=bot&limit=5");
  const Cursor cursor{.position = 1ull << 40, .tree_size = 77, .back = true};
  const std::string text = cursor.text("calls", query);
  EXPECT_EQ(*Cursor::parse(text, "calls", query), cursor);
  EXPECT_EQ(*Cursor::parse(text, "calls", *Query::parse("limit=9&agent=bot&cursor=x")), cursor);
  EXPECT_EQ(Cursor::parse(text, "entries", query).error().cause, "bad_cursor");
  EXPECT_EQ(Cursor::parse(text, "calls", *Query::parse("agent=other")).error().cause, "bad_cursor");
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(Cursor::parse(changed, "calls", query)) << i;
  }
  for (const char* const wrong : {"", "!", "AAAA"}) {
    EXPECT_FALSE(Cursor::parse(wrong, "calls", query));
  }
}

TEST(QueryTest, ValuesAreUnescapedAndNumbersHaveRanges) {
  const Query query = *Query::parse("a=%C3%BC+x&&b=7&empty=&c");
  EXPECT_EQ(query.get("a"), "\xC3\xBC x");
  EXPECT_FALSE(query.get("empty"));
  EXPECT_EQ(**query.number("b", 1, 10), 7u);
  EXPECT_FALSE(query.number("b", 8, 10));
  EXPECT_FALSE(*query.number("none", 8, 10));
  EXPECT_FALSE(query.number("a", 0, 10));
  for (const char* const wrong : {"a=%", "a=%4", "a=%zz", "a=%ff", "%00%=1"}) {
    EXPECT_FALSE(Query::parse(wrong)) << wrong;
  }
}

// CO-66 (partly)
TEST(ProblemTest, CausesAreCodesAndStatesOfQuestionsAreTold) {
  EXPECT_EQ(problem_of({ErrorCode::Conflict, "x", "", "binding_mismatch"}).status, 412u);
  const Problem used = problem_of({ErrorCode::Conflict, "x", "", "used"});
  EXPECT_EQ(used.status, 409u);
  EXPECT_EQ(used.code, "not_pending");
  EXPECT_EQ(used.to_json().at("state").as_string(), "used");
  EXPECT_EQ(problem_of({ErrorCode::NotFound, "x", "", ""}).code, "not_found");
  EXPECT_EQ(problem_of({ErrorCode::InvalidInput, "x", "/a", ""}).to_json().at("place").as_string(),
            "/a");
}

TEST(RateTest, NamesThatCameLongAgoMakeRoom) {
  test::TestClock clock;
  Rate rate(clock, {.most = 1, .window = 1s, .names = 2});
  EXPECT_TRUE(rate.take("a").ok);
  clock.advance(1ms);
  EXPECT_TRUE(rate.take("b").ok);
  EXPECT_FALSE(rate.take("b").ok);
  EXPECT_TRUE(rate.take("c").ok);  // in the place of a
  EXPECT_FALSE(rate.take("b").ok);
}

TEST(SessionsTest, OnePersonHasSoManyAndTheLeastUsedOneGoes) {
  test::TestClock clock;
  SystemEntropy entropy;
  Sessions sessions(clock, entropy);
  std::vector<Sessions::Opened> opened;
  for (std::size_t i = 0; i <= Sessions::kMostEach; ++i) {
    opened.push_back(sessions.open({.name = "user:ada", .method = "token"}, ""));
    clock.advance(1s);
    if (i == 0) EXPECT_EQ(opened[0].page_secret.size(), 43u);
  }
  EXPECT_EQ(sessions.of("user:ada").size(), Sessions::kMostEach);
  EXPECT_EQ(sessions.find(opened[0].cookie, opened[0].page_secret, true), nullptr);
  EXPECT_NE(sessions.find(opened[1].cookie, opened[1].page_secret, true), nullptr);
}

// CO-66 (partly)
TEST(ReadersTest, TheQueueIsBoundedAndEachReadHasADeadline) {
  std::latch release(1);
  Readers readers({.threads = 1, .waiting = 1, .longest = 50ms});
  const auto all = [&]() -> Async<bool> {
    std::function<Result<int>(const Readers::Wanted&)> stuck = [&](const auto& wanted) {
      release.wait();
      return wanted() ? Result<int>(1) : fail(ErrorCode::Cancelled, "late");
    };
    const Result<int> first = co_await readers.run<int>(stuck);
    EXPECT_EQ(first.error().cause, "timeout");
    std::function<Result<int>(const Readers::Wanted&)> quick = [](const auto&) { return 2; };
    // The first one still runs, so this one waits too long, and the next one is refused.
    EXPECT_EQ((co_await readers.run<int>(quick)).error().cause, "timeout");
    EXPECT_EQ((co_await readers.run<int>(quick)).error().cause, "busy");
    release.count_down();
    boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
    for (int i = 0; i < 2000; ++i) {
      const Result<int> read = co_await readers.run<int>(quick);
      if (read) co_return true;
      pause.expires_after(5ms);
      co_await pause.async_wait(boost::asio::use_awaitable);
    }
    co_return false;
  };
  EXPECT_TRUE(test::run_now(all()));
}

}  // namespace
}  // namespace sallyport::api
