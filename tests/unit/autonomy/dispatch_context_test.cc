#include "autonomy/dispatch_context.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::autonomy {
namespace {

DispatchContext sample() {
  return {.dispatch_id = "d-1",
          .trigger = {.id = "ev-1",
                      .provider = "github",
                      .kind = "issue.opened",
                      .trace_id = "trace_1",
                      .headers = {{"x-event", "issues"}}},
          .replay_of_event_id = "ev-0",
          .binding_id = "b-1",
          .binding_version = 3,
          .agent_id = "bot",
          .action = "write_file",
          .autonomy_tier = Autonomy::Suggest};
}

// AT-12
TEST(DispatchContextTest, ItsJsonHasExactlyTheseMembers) {
  EXPECT_EQ(canonical_json(to_json(sample())),
            R"({"action":"write_file","agent_id":"bot","autonomy_tier":"suggest",)"
            R"("binding_id":"b-1","binding_version":3,"dispatch_id":"d-1",)"
            R"("replay_of_event_id":"ev-0","trigger":{"headers":{"x-event":"issues"},)"
            R"("id":"ev-1","kind":"issue.opened","provider":"github","trace_id":"trace_1"}})");
  DispatchContext bare = sample();
  bare.replay_of_event_id.reset();
  bare.autonomy_tier.reset();
  EXPECT_FALSE(to_json(bare).contains("replay_of_event_id"));
  EXPECT_TRUE(to_json(bare).at("autonomy_tier").is_null());
}

}  // namespace
}  // namespace sallyport::autonomy
