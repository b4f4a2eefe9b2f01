#include "core/call/call_json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"

namespace sallyport::core {
namespace {

Call whole_call() {
  Call call = test::Governed::read_file();
  call.call_id = "c-1";
  call.trace_id = "t-1";
  call.run_id = "run-1";
  call.trigger_id = "evt-1";
  call.server = "files";
  call.raw_input = R"({"n":9007199254740993})";
  call.grants = {"one", "two"};
  call.time_limit = std::chrono::milliseconds(1500);
  call.turn = 3;
  call.history_len = 7;
  call.provenance = {.provider = "p", .model = "m"};
  call.setting.front = "mcp";
  call.setting.folder = "/srv";
  call.setting.user = "uid:ada";
  call.setting.workspace = {"/srv", "/opt"};
  call.setting.interactive = true;
  call.setting.trigger = {{"kind", "push"}, {"provider", "github"}};
  return call;
}

TEST(CallJsonTest, ACallThatWaitsIsTheSameAfterARestart) {
  const Call call = whole_call();
  const Result<Call> read = call_from_json(to_json(call));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(call));
  EXPECT_EQ(read->run_id, "run-1");
  EXPECT_EQ(read->trigger_id, "evt-1");
  EXPECT_EQ(read->raw_input, call.raw_input);
  EXPECT_EQ(read->grants, call.grants);
  EXPECT_EQ(read->time_limit, call.time_limit);
  EXPECT_EQ(read->setting, call.setting);
}

TEST(CallJsonTest, WhatACallLacksIsNotStored) {
  const Call call = test::Governed::read_file();
  const json::object stored = to_json(call);
  for (const char* const name :
       {"raw_input", "grants", "time_limit_ms", "trigger_id", "run_id", "setting"}) {
    EXPECT_FALSE(stored.contains(name)) << name;
  }
  const Result<Call> read = call_from_json(stored);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->raw_input, std::nullopt);
  EXPECT_EQ(read->time_limit, std::nullopt);
  EXPECT_EQ(read->setting, CallSetting{});
  EXPECT_FALSE(call_from_json(json::object{{"call_id", "c"}}));
}

}  // namespace
}  // namespace sallyport::core
