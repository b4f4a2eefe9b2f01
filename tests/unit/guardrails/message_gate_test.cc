#include "guardrails/stream/message_gate.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "guardrails/stream/message_delta.h"
#include "unit/guardrails/random_document.h"
#include "unit/guardrails/running.h"

namespace sallyport::guardrails {

namespace {

using State = MessageCall::State;

std::shared_ptr<const Guardrails> checks() {
  return guard(
      {R"("type":"regex","stage":"output","id":"aws","patterns":["AKIA[A-Z0-9]{16}"])",
       R"("type":"blocklist","stage":"output","id":"seen","on_fail":"log","words":["ticket"])",
       R"("type":"blocklist","stage":"output","id":"name","on_fail":"redact","words":["Smith"])",
       R"("type":"regex","stage":"tool_use","id":"drop","tools":["sql*"],"patterns":["drop\\s+table"])",
       R"("type":"blocklist","stage":"tool_use","id":"hide","tools":["mail"],"on_fail":"redact","words":["Smith"])"});
}

constexpr const char* kKey = "AKIAIOSFODNN7EXAMPLE";

}  // namespace

// GR-54
TEST(MessageGate, ChannelsHaveTheirOwnOffsetsHoldBackAndLogs) {
  MessageGate gate(checks());
  EXPECT_EQ(gate.push(Channel::Text, "ticket one AKIA")->text(), "ticket one ");
  const Passed reasoning = *gate.push(Channel::Reasoning, "ticket Smi");
  EXPECT_EQ(reasoning.text(), "ticket ");
  ASSERT_EQ(reasoning.logs.size(), 1u);
  EXPECT_EQ(reasoning.logs.front().start, 0u);
  EXPECT_EQ(gate.held(Channel::Text), 4u);
  EXPECT_EQ(gate.held(Channel::Reasoning), 3u);
  EXPECT_TRUE(gate.push(Channel::Text, " ticket")->logs.empty());  // once for each channel
  EXPECT_EQ(gate.push(Channel::Reasoning, "th.")->text(), "[redacted].");
  EXPECT_EQ(gate.bytes_in(Channel::Text), 22u);
  EXPECT_EQ(gate.bytes_in(Channel::Reasoning), 13u);
}

// GR-54
TEST(MessageGate, AMatchNeverSpansTwoChannels) {
  MessageGate gate(checks());
  EXPECT_FALSE(gate.push(Channel::Text, "AKIAIOSFOD")->block);
  EXPECT_FALSE(gate.push(Channel::Reasoning, "NN7EXAMPLE")->block);
  EXPECT_EQ(gate.finish(Channel::Text)->text(), "AKIAIOSFOD");
  EXPECT_FALSE(gate.finish(Channel::Reasoning)->block);
  EXPECT_FALSE(gate.blocked_on());
}

// GR-54
TEST(MessageGate, ArgumentsAreKeptUntilTheyAreCompleteAndThenDecided) {
  MessageGate gate(checks());
  ASSERT_TRUE(gate.open_call("c1", "sql_run"));
  EXPECT_EQ(*gate.push_arguments("c1", R"({"query":"drop)"), "");
  EXPECT_FALSE(*gate.start_call("c1"));  // not decided yet
  EXPECT_EQ(*gate.push_arguments("c1", R"(\n table users"})"), "");
  const CallDecision refused = *gate.close_call("c1");
  EXPECT_EQ(refused.seen.verdict, Verdict::Block);
  EXPECT_EQ(refused.seen.decision->reason,
            "guardrail check 'drop' refused this call (guardrail.regex)");
  EXPECT_FALSE(refused.arguments);
  EXPECT_FALSE(*gate.start_call("c1"));
  // A refused call is not a refused message.
  EXPECT_EQ(gate.push(Channel::Text, "sorry")->text(), "sorry");

  ASSERT_TRUE(gate.open_call("c2", "mail"));
  ASSERT_TRUE(gate.push_arguments("c2", R"({"to": "Smith"})"));
  EXPECT_EQ(gate.close_call("c2")->arguments, R"({"to":"[redacted]"})");
  EXPECT_TRUE(*gate.start_call("c2"));
  EXPECT_FALSE(*gate.start_call("c2"));  // once
}

// GR-43 GR-54
TEST(MessageGate, ArgumentsThatNoCheckLooksAtPassAsTheyCome) {
  MessageGate gate(checks());
  ASSERT_TRUE(gate.open_call("c1", "read_file"));
  EXPECT_EQ(*gate.push_arguments("c1", R"({"path": "/t)"), R"({"path": "/t)");
  EXPECT_EQ(*gate.push_arguments("c1", R"(mp"})"), R"(mp"})");
  EXPECT_EQ(gate.close_call("c1")->arguments, "");
  EXPECT_TRUE(*gate.start_call("c1"));
}

// GR-55
TEST(MessageGate, ABlockEndsTheMessageOnEveryChannel) {
  for (const Channel blocking : {Channel::Text, Channel::Reasoning}) {
    const Channel other = blocking == Channel::Text ? Channel::Reasoning : Channel::Text;
    MessageGate gate(checks());
    gate.count_tokens(17);
    ASSERT_TRUE(gate.push(other, "wait, AKI"));
    for (const char* const id : {"running", "ready", "half", "free"}) {
      ASSERT_TRUE(gate.open_call(id, id == std::string("free") ? "read_file" : "sql_run"));
      ASSERT_TRUE(gate.push_arguments(id, "{\"query\":"));
    }
    for (const char* const id : {"running", "ready"}) {
      ASSERT_TRUE(gate.push_arguments(id, "\"select 1\"}"));
      ASSERT_TRUE(gate.close_call(id)->arguments);
    }
    EXPECT_TRUE(*gate.start_call("running"));

    const Passed blocked = *gate.push(blocking, std::string("key ") + kKey + " and more");
    ASSERT_TRUE(blocked.block);
    EXPECT_EQ(blocked.text(), "key [This answer was withheld by a guardrail.]");
    EXPECT_EQ(gate.blocked_on(), blocking);

    EXPECT_EQ(gate.push(other, "A is what I held")->text(), "");
    EXPECT_EQ(gate.push(blocking, "more")->text(), "");
    EXPECT_EQ(gate.finish(other)->text(), "");
    EXPECT_EQ(gate.finish(blocking)->text(), "");
    EXPECT_EQ(gate.held(other), 0u);
    EXPECT_EQ(*gate.push_arguments("free", "\"x\"}"), "");
    EXPECT_FALSE(gate.close_call("half")->arguments);
    for (const char* const id : {"ready", "half", "free"}) EXPECT_FALSE(*gate.start_call(id)) << id;
    ASSERT_TRUE(gate.open_call("late", "read_file"));
    EXPECT_FALSE(*gate.start_call("late"));

    std::string states;
    for (const MessageCall& call : gate.calls()) {
      states += call.id + "=" + std::string(to_string(call.state)) + " ";
    }
    EXPECT_EQ(states, "running=started ready=dropped half=dropped free=dropped late=dropped ");
    EXPECT_EQ(gate.tokens(), 17u);
  }
}

// GR-55
TEST(MessageGate, TheNextMessageIsArmedAfresh) {
  const auto guardrails = checks();
  MessageGate first(guardrails);
  ASSERT_TRUE(first.push(Channel::Text, kKey)->block);
  MessageGate second(guardrails);
  EXPECT_EQ(second.push(Channel::Text, "ticket")->text(), "ticket");
  EXPECT_TRUE(second.push(Channel::Text, kKey)->block);
}

// GR-54 GR-84
TEST(MessageGate, WhatCannotBeDecidedDoesNotRun) {
  MessageGate gate(checks());
  ASSERT_TRUE(gate.open_call("c1", "sql"));
  ASSERT_TRUE(gate.push_arguments("c1", "{\"query\":"));
  EXPECT_EQ(gate.close_call("c1").error().code, ErrorCode::InvalidInput);
  EXPECT_FALSE(*gate.start_call("c1"));
  EXPECT_EQ(gate.open_call("c1", "sql").error().code, ErrorCode::Conflict);
  EXPECT_EQ(gate.start_call("nobody").error().code, ErrorCode::NotFound);

  ASSERT_TRUE(gate.open_call("c2", "sql"));
  const std::string much(MessageGate::kMostArgumentBytes, ' ');
  ASSERT_TRUE(gate.push_arguments("c2", much));
  EXPECT_EQ(gate.push_arguments("c2", " ").error().code, ErrorCode::Exhausted);
  EXPECT_FALSE(gate.close_call("c2")->arguments);
  EXPECT_FALSE(*gate.start_call("c2"));
}

// A refused call once kept its share of the limit, so later small calls were refused too.
TEST(MessageGate, ARefusedCallLeavesRoomForTheNext) {
  MessageGate gate(checks());
  ASSERT_TRUE(gate.open_call("c1", "sql"));
  ASSERT_TRUE(gate.push_arguments("c1", std::string(MessageGate::kMostArgumentBytes, ' ')));
  EXPECT_EQ(gate.push_arguments("c1", " ").error().code, ErrorCode::Exhausted);
  ASSERT_TRUE(gate.open_call("c2", "sql"));
  ASSERT_TRUE(gate.push_arguments("c2", "{}"));
  EXPECT_TRUE(gate.close_call("c2")->arguments);
}

// GR-36: numbers that only the received text holds are not rewritten.
TEST(MessageGate, ArgumentsThatCannotBeWrittenAgainAreNotRedacted) {
  MessageGate gate(checks());
  ASSERT_TRUE(gate.open_call("c1", "mail"));
  ASSERT_TRUE(gate.push_arguments("c1", R"({"to":"Smith","n":12345678901234567890123})"));
  EXPECT_FALSE(gate.close_call("c1")->arguments);
  EXPECT_FALSE(*gate.start_call("c1"));
}

// GR-1 GR-43
TEST(MessageGate, WithoutChecksEverythingPassesAtOnce) {
  MessageGate gate(compiled("{}"));
  EXPECT_FALSE(gate.armed());
  EXPECT_EQ(gate.push(Channel::Text, kKey)->text(), kKey);
  ASSERT_TRUE(gate.open_call("c1", "bash"));
  EXPECT_EQ(*gate.push_arguments("c1", "not JSON"), "not JSON");
  EXPECT_TRUE(gate.close_call("c1"));
  EXPECT_TRUE(*gate.start_call("c1"));
}

namespace {

struct SeenOfMessage {
  std::array<SeenOfStream, 2> channels;
  std::optional<Channel> blocked_on;
};

// Both texts in any cutting, in random turns.
SeenOfMessage run(std::shared_ptr<const Guardrails> guardrails,
                  const std::array<std::string, 2>& texts, Random& random) {
  MessageGate gate(std::move(guardrails));
  SeenOfMessage seen;
  std::array<std::size_t, 2> from{};
  std::array<bool, 2> finished{};
  while (!finished[0] || !finished[1]) {
    const std::size_t at = below(random, 2);
    if (finished[at]) continue;
    const auto channel = static_cast<Channel>(at);
    const std::string_view rest = std::string_view(texts[at]).substr(from[at]);
    const std::string_view delta = rest.substr(0, below(random, 5));
    seen.channels[at].add(*gate.push(channel, delta));
    from[at] += delta.size();
    finished[at] = from[at] == texts[at].size();
    if (finished[at]) seen.channels[at].add(*gate.finish(channel));
  }
  seen.blocked_on = gate.blocked_on();
  return seen;
}

SeenOfStream alone(const Guardrails& guardrails, const std::string& text) {
  SeenOfStream seen = stream(guardrails, text);
  seen.invalid_utf8 = 0;
  return seen;
}

}  // namespace

// GR-44 GR-54 GR-55
TEST(MessageGateProperty, EachChannelIsAStreamOfItsOwnUntilOneOfThemEndsTheMessage) {
  Random random(5);
  int blocked = 0;
  for (int round = 0; round < 300; ++round) {
    const std::string document = document_of(random_checks(random, {}));
    const auto guardrails = compiled(document);
    const std::array<std::string, 2> texts{random_text(random, 6), random_text(random, 6)};
    SCOPED_TRACE(document + "\n" + testing::PrintToString(texts));
    const std::array<SeenOfStream, 2> expected{alone(*guardrails, texts[0]),
                                               alone(*guardrails, texts[1])};
    const SeenOfMessage seen = run(guardrails, texts, random);
    ASSERT_EQ(seen.blocked_on.has_value(), expected[0].block || expected[1].block);
    for (std::size_t at = 0; at < 2; ++at) {
      const bool ended_by_other = seen.blocked_on && *seen.blocked_on != static_cast<Channel>(at);
      if (ended_by_other) {
        ASSERT_TRUE(expected[at].text.starts_with(seen.channels[at].text));
        ASSERT_FALSE(seen.channels[at].block);
      } else {
        ASSERT_EQ(seen.channels[at], expected[at]);
      }
    }
    blocked += seen.blocked_on ? 1 : 0;
  }
  EXPECT_GT(blocked, 30);
}

// GR-54
TEST(MessageGateProperty, ArgumentsAreDecidedTheSameHoweverTheyCome) {
  Random random(6);
  const auto guardrails =
      guard({R"("type":"blocklist","stage":"tool_use","on_fail":"redact","words":["key"])"});
  const std::string arguments = R"({"q":"abc k\u0065y é"})";
  for (int round = 0; round < 50; ++round) {
    MessageGate gate(guardrails);
    ASSERT_TRUE(gate.open_call("c", "sql"));
    for (std::size_t from = 0; from < arguments.size();) {
      const std::string_view delta = std::string_view(arguments).substr(from, below(random, 5));
      ASSERT_EQ(*gate.push_arguments("c", delta), "");
      from += delta.size();
    }
    ASSERT_EQ(gate.close_call("c")->arguments, R"({"q":"abc [redacted] é"})");
  }
}

// GR-54
TEST(MessageDeltaTest, ALineIsReadStrictly) {
  const auto call = read_message_delta(
      R"({"channel":"tool_call","id":"c1","tool":"bash","delta":"{","done":true,"started":true})");
  ASSERT_TRUE(call);
  EXPECT_FALSE(call->channel);
  EXPECT_EQ(call->call + call->tool + *call->delta, "c1bash{");
  EXPECT_TRUE(call->done && call->started);
  EXPECT_EQ(read_message_delta(R"({"channel":"reasoning"})")->channel, Channel::Reasoning);
  EXPECT_EQ(read_message_delta(R"({"tokens":12})")->tokens, 12u);
  for (const char* const bad :
       {"", "[]", "{}", R"({"channel":"audio","delta":"x"})", R"({"channel":"text","detla":"x"})",
        R"({"channel":"text","delta":1})", R"({"channel":"text","id":"c1"})",
        R"({"channel":"tool_call","delta":"x"})", R"({"channel":"tool_call","id":""})",
        R"({"channel":"text","done":"yes"})", R"({"tokens":-1})", R"({"tokens":1,"delta":"x"})"}) {
    EXPECT_FALSE(read_message_delta(bad)) << bad;
  }
}

}  // namespace sallyport::guardrails
