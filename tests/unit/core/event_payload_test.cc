// The contents of a call's events.
#include "event_sequence.h"

namespace sallyport::core {
namespace {

class UnreadableUpstream final : public Upstream {
 public:
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    invoked = true;
    co_return Envelope::of("ran");
  }
  Result<json::value> structured_input(const Call&) const override {
    return fail(ErrorCode::InvalidInput, "`path` is missing");
  }
  bool invoked = false;
};

class EventPayloadTest : public EventSequence {};

// EV-86
TEST_F(EventPayloadTest, ACallThatCannotBePreviewedIsDeniedWithTheCause) {
  const auto unreadable = std::make_shared<UnreadableUpstream>();
  governed.tool = unreadable;
  EXPECT_EQ(events_of_call(), kDenied);
  const json::object preview =
      payloads("tool_authorization_started").at(0).at("preview").as_object();
  EXPECT_TRUE(preview.at("structured_input").is_null());
  EXPECT_EQ(canonical_json(preview.at("raw_input")), R"({"path":"/tmp/x"})");
  EXPECT_EQ(reasons(), std::set<std::string>{"the call cannot be previewed: `path` is missing"});
  EXPECT_FALSE(unreadable->invoked);
}

// EV-6
TEST_F(EventPayloadTest, TheActorIsThePrincipalWhateverInputAndToolSay) {
  governed.upstream = std::make_shared<FakeUpstream>([](Call, std::stop_token) -> Task<Envelope> {
    co_return Envelope::of({{"agent_id", "agent:tool"}});
  });
  Call call = Governed::read_file();
  call.input = {{"agent_id", "agent:boss"}};
  ASSERT_TRUE(governed.call(call));
  ASSERT_EQ(governed.recorder.events(), kAllowed);
  for (const Draft& draft : governed.recorder.of(Kind::Event)) {
    EXPECT_EQ(draft.body.at("agent_id"), "agent:a");
  }
}

// EV-7 (partly)
TEST_F(EventPayloadTest, AnOutputPreviewIsCutAtACodePointBoundary) {
  governed.upstream = std::make_shared<FakeUpstream>([](Call, std::stop_token) -> Task<Envelope> {
    std::string text(4095, 'a');
    for (int i = 0; i < 100; ++i) text += "\xe2\x82\xac";
    co_return Envelope::of(json::value(text));
  });
  events_of_call();
  EXPECT_EQ(payloads("tool_execution_finished").at(0).at("output_preview"),
            json::value(std::string(4095, 'a')));
}

// EV-9
TEST_F(EventPayloadTest, WhatJoinsRowsStandsAroundThePayloadAndNotInIt) {
  events_of_call();
  for (const Draft& draft : governed.recorder.of(Kind::Event)) {
    EXPECT_EQ(draft.subject->session_id, "s-1");
    EXPECT_EQ(draft.subject->call_id, last.call_id);
    EXPECT_FALSE(draft.subject->policy_hash.empty());
    for (const char* const name : {"session_id", "call_id", "run_id", "policy_hash", "sequence"}) {
      EXPECT_FALSE(draft.body.contains(name)) << name;
    }
  }
}

}  // namespace
}  // namespace sallyport::core
