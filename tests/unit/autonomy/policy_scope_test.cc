#include "autonomy/policy_scope.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::autonomy {
namespace {

// AT-13
TEST(PolicyScopeTest, NamesAreComparedWithTheirWildcards) {
  const struct {
    std::string pattern, session;
    bool covered;
  } kCases[] = {
      {"", "anything", true},
      {"a", "a", true},
      {"a", "ab", false},
      {"a", "A", false},
      {"*", "", true},
      {"*", "x", true},
      {"a*", "a", true},
      {"a*", "abc", true},
      {"a*", "ba", false},
      {"*a", "ba", true},
      {"*a", "ab", false},
      {"a*c", "abc", true},
      {"a*c", "ac", true},
      {"a*c", "abcd", false},
      {"ab*bc", "abc", false},
      {"a*b*c", "a1b2c", true},
      {"a*b*c", "a1c2b", false},
      {"a**c", "abc", true},
      {"*mid*", "a-mid-b", true},
      {"*mid*", "a-dim-b", false},
  };
  for (const auto& [pattern, session, covered] : kCases) {
    const PolicyScope scope{.session = pattern};
    EXPECT_EQ(scope.covers({.session_id = session}), covered) << pattern << " " << session;
  }
}

// AT-13
TEST(PolicyScopeTest, EveryNameThatIsGivenMustFit) {
  Call call{.agent_id = "agent:a", .session_id = "s", .server = "files"};
  call.agent_name = "helper";
  call.setting.front = "hook";
  PolicyScope all{.agent = "agent:a",
                  .agent_name = "helper",
                  .session = "s",
                  .server = "files",
                  .front = "hook"};
  EXPECT_TRUE(all.covers(call));
  EXPECT_EQ(to_json(all).at("for").as_object().size(), 5u);
  for (std::string PolicyScope::* name :
       {&PolicyScope::agent, &PolicyScope::agent_name, &PolicyScope::session, &PolicyScope::server,
        &PolicyScope::front}) {
    PolicyScope one = all;
    one.*name = "other";
    EXPECT_FALSE(one.covers(call)) << to_json(one);
    PolicyScope alone;
    alone.*name = all.*name;
    EXPECT_TRUE(alone.covers(call)) << to_json(alone);
    EXPECT_EQ(to_json(alone).at("for").as_object().size(), 1u);
  }
}

}  // namespace
}  // namespace sallyport::autonomy
