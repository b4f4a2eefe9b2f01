#include "store/postgresql/leases.h"

#include <gtest/gtest.h>

#include "store/postgresql/engine_check.h"
#include "store/postgresql/sql_state.h"

namespace sallyport::store::postgresql {
namespace {

using namespace std::chrono_literals;

// One observer, with a lease of ten seconds and a clock that the test sets.
class ObservationsTest : public testing::Test {
 protected:
  void see(std::chrono::milliseconds later, std::int64_t count) {
    now_ += later;
    seen_.see({{.instance = "a", .host = "h", .count = count}}, now_);
  }
  bool lost() const { return !seen_.silent(now_).empty(); }

  Observations seen_{10s};
  Observations::Time now_{1000s};
};

// SC-26, SC-27 (partly)
TEST_F(ObservationsTest, OneIsSilentAfterAWholeLeaseWithTheSameCount) {
  see(0s, 5);
  for (int i = 0; i < 4; ++i) see(2s, 5);
  EXPECT_FALSE(lost()) << "eight seconds";
  see(2s, 5);
  EXPECT_TRUE(lost());
  see(2s, 6);
  EXPECT_FALSE(lost()) << "it has given a sign";
}

// SC-28
TEST_F(ObservationsTest, AnOutageBeginsEveryWaitAnew) {
  see(0s, 5);
  for (int i = 0; i < 4; ++i) see(2s, 5);
  seen_.interrupt();
  now_ += 3600s;
  EXPECT_FALSE(lost()) << "what was not looked at says nothing";
  see(0s, 5);
  for (int i = 0; i < 4; ++i) see(2s, 5);
  EXPECT_FALSE(lost());
  see(2s, 5);
  EXPECT_TRUE(lost());
}

// SC-27
TEST_F(ObservationsTest, AGapOfMoreThanHalfALeaseIsAnInterruption) {
  see(0s, 5);
  see(4s, 5);
  see(6s, 5);
  EXPECT_FALSE(lost());
  see(4s, 5);
  see(4s, 5);
  EXPECT_FALSE(lost());
  see(4s, 5);
  EXPECT_TRUE(lost());
}

// SC-43
TEST(SqlStateTest, EveryStateHasOneCauseAndAnUnknownOneIsIo) {
  constexpr std::pair<std::string_view, std::string_view> kTable[] = {
      {"53100", "no_space"},  {"53200", "io"},        {"53300", "busy"},
      {"25006", "read_only"}, {"25P03", "busy"},      {"55P03", "busy"},
      {"57014", "busy"},      {"57P03", "busy"},      {"40001", "busy"},
      {"40P01", "busy"},      {"42501", "not_owner"}, {"28P01", "not_owner"},
      {"28000", "not_owner"}, {"3D000", "not_owner"}, {"42P01", "corrupt"},
      {"42703", "corrupt"},   {"3F000", "corrupt"},   {"23505", "corrupt"},
      {"XX001", "corrupt"},   {"XX002", "corrupt"},   {"08006", "io"},
      {"57P01", "io"},        {"ZZZZZ", "io"},        {"", "io"}};
  for (const auto& [state, cause] : kTable) EXPECT_EQ(cause_of(state), cause) << state;
}

// SC-19 (partly)
TEST(StandbysTest, TheSettingOfTheServerSaysHowManyACommitWaitsFor) {
  EXPECT_EQ(standbys_waited_for(""), 0);
  EXPECT_EQ(standbys_waited_for("a, b"), 1);
  EXPECT_EQ(standbys_waited_for("*"), 1);
  EXPECT_EQ(standbys_waited_for("2 (a, b)"), 2);
  EXPECT_EQ(standbys_waited_for("FIRST 3 (a, b, c)"), 3);
  EXPECT_EQ(standbys_waited_for("ANY 2 (a1, b9, c)"), 2);
}

}  // namespace
}  // namespace sallyport::store::postgresql
