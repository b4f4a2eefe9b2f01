#include "autonomy/dispatch_context.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/uuid.h"

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
TEST(DispatchContextTest, ItsJsonHasExactlyTheseMembersAndReadsBack) {
  EXPECT_EQ(canonical_json(to_json(sample())),
            R"({"action":"write_file","agent_id":"bot","autonomy_tier":"suggest",)"
            R"("binding_id":"b-1","binding_version":3,"dispatch_id":"d-1",)"
            R"("replay_of_event_id":"ev-0","trigger":{"headers":{"x-event":"issues"},)"
            R"("id":"ev-1","kind":"issue.opened","provider":"github","trace_id":"trace_1"}})");
  EXPECT_EQ(dispatch_context_from_json(to_json(sample())), sample());
  DispatchContext bare = sample();
  bare.replay_of_event_id.reset();
  bare.autonomy_tier.reset();
  EXPECT_FALSE(to_json(bare).contains("replay_of_event_id"));
  EXPECT_EQ(dispatch_context_from_json(to_json(bare)), bare);
}

// AT-12
TEST(DispatchContextTest, WhatIsMissingUnknownOrOfAnotherTypeIsNamed) {
  const auto place = [](auto change) {
    json::object object = to_json(sample());
    change(object);
    const Result<DispatchContext> read = dispatch_context_from_json(object);
    return read ? std::string("accepted") : read.error().where;
  };
  EXPECT_EQ(place([](json::object& o) { o.erase("action"); }), "dispatch.action");
  EXPECT_EQ(place([](json::object& o) { o["tier"] = 1; }), "dispatch.tier");
  EXPECT_EQ(place([](json::object& o) { o["autonomy_tier"] = "high"; }), "dispatch.autonomy_tier");
  EXPECT_EQ(place([](json::object& o) { o["trigger"].as_object()["x"] = 1; }),
            "dispatch.trigger.x");
  EXPECT_EQ(
      place([](json::object& o) { o["trigger"].as_object()["headers"].as_object()["n"] = 1; }),
      "dispatch.trigger.headers.n");
  EXPECT_EQ(place([](json::object& o) { o["binding_version"] = -1; }), "dispatch.binding_version");
}

// AT-10
TEST(DispatchContextTest, TheAgentIsThePolicysThenTheContextsThenRuntime) {
  EXPECT_EQ(agent_of({.agent_id = "named"}, sample(), ""), "named");
  EXPECT_EQ(agent_of({}, sample(), ""), "bot");
  EXPECT_EQ(agent_of({}, {}, ""), "runtime");
  EXPECT_EQ(agent_of({.agent_id = "bot"}, sample(), "bot"), "bot");
  EXPECT_EQ(agent_of({.agent_id = "admin"}, sample(), "bot").error().where, "agent_id");
}

// AT-11
TEST(DispatchContextTest, TheTraceIsTheContextsElseAFreshOne) {
  const SystemClock clock;
  SystemEntropy entropy;
  EXPECT_EQ(trace_of(sample(), clock, entropy), "trace_1");
  const std::string fresh = trace_of({}, clock, entropy);
  ASSERT_TRUE(fresh.starts_with("trace-"));
  const std::optional<Uuid> id = parse_uuid(fresh.substr(6));
  ASSERT_TRUE(id);
  EXPECT_TRUE(is_version7(*id));
  EXPECT_NE(fresh, trace_of({}, clock, entropy));
}

}  // namespace
}  // namespace sallyport::autonomy
