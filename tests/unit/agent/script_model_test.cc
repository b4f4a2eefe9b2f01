#include "agent/model/script_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>

#include "agent/model/script.h"
#include "support/governed.h"
#include "support/temp_folder.h"
#include "support/test_clock.h"

namespace sallyport::agent {
namespace {

using namespace std::chrono_literals;
using sessions::Role;
using testing::EndsWith;
using testing::HasSubstr;

struct Told {
  MessageBuilder message{};
  std::optional<ProviderError> error{};
  std::size_t events = 0;
};

class ScriptModelTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Model>> open(const std::string& text) {
    const auto file = folder_ / "talk.yaml";
    std::ofstream(file) << text;
    return open_model({.provider = Provider::Script, .model = "scripted", .script = file},
                      {.executor = loop_.get_executor(),
                       .redactor = redactor_,
                       .clock = clock_,
                       .variable = [](const std::string&) { return std::nullopt; }});
  }

  static Told tell(Model& model, ModelRequest request, std::stop_token cancel = {}) {
    const auto work = [&]() -> Async<Told> {
      Told told;
      auto stream = co_await model.open(std::move(request), cancel);
      if (!stream) {
        told.error = stream.error();
        co_return told;
      }
      while (true) {
        const auto event = co_await (*stream)->next();
        if (!event) told.error = event.error();
        if (!event || !*event) break;
        ++told.events;
        EXPECT_TRUE(told.message.add(**event));
      }
      co_return told;
    };
    return test::run_now(work());
  }

  static void say(ModelRequest& request, Role role, json::value block) {
    request.history.push_back({.role = role, .content = json::array{std::move(block)}});
  }
  static json::value text(const char* text) { return {{"type", "text"}, {"text", text}}; }
  static json::value call(const std::string& id) {
    return {{"type", "tool_call"}, {"id", id}, {"name", "t"}, {"input", json::object()}};
  }

  test::TempFolder folder_;
  boost::asio::io_context loop_;
  core::NoRedactor redactor_;
  test::TestClock clock_;
};

// RT-15
TEST_F(ScriptModelTest, TurnsArePlayedInOrderAndTheHistorySaysWhichIsNext) {
  const auto model = open(R"(
turns:
  - text: I look.
    calls: [{tool: read_file, input: {path: a.txt, limit: 3}}, {tool: shell, arguments: "{broken"}]
    usage: {input_tokens: 12, output_tokens: 5}
  - {text: Done., stop: max_tokens}
)");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->api(), "script");
  EXPECT_EQ((*model)->upstream(), "talk.yaml");
  ModelRequest request;
  say(request, Role::User, text("go"));
  const Told first = tell(**model, request);
  ASSERT_FALSE(first.error);
  EXPECT_EQ(first.message.text(), "I look.");
  ASSERT_EQ(first.message.calls().size(), 2u);
  EXPECT_EQ(first.message.calls()[0].name, "read_file");
  EXPECT_EQ(first.message.calls()[0].arguments, R"({"path":"a.txt","limit":3})");
  EXPECT_EQ(first.message.calls()[0].id, "script_0_0");
  EXPECT_EQ(first.message.calls()[1].arguments, "{broken");
  EXPECT_EQ(first.message.usage()->input_tokens, 12u);
  EXPECT_EQ(first.message.stop_reason(), "tool_use");
  // The same request gets the same answer.
  EXPECT_EQ(tell(**model, request).message.text(), "I look.");
  say(request, Role::Assistant, text("I look."));
  const Told second = tell(**model, request);
  EXPECT_EQ(second.message.text(), "Done.");
  EXPECT_TRUE(second.message.at_limit());
  say(request, Role::Assistant, text("Done."));
  const Told third = tell(**model, request);
  ASSERT_TRUE(third.error);
  EXPECT_FALSE(is_transient(*third.error));
  EXPECT_THAT(third.error->message, HasSubstr("turn 3"));
}

// RT-15, RT-64
TEST_F(ScriptModelTest, AfterCompactionTheIdsOfCallsSayWhichTurnIsNext) {
  std::string script = "summary: So far.\nturns:\n";
  for (int i = 0; i < 9; ++i) script += fmt::format("  - text: turn {}\n", i);
  const auto model = open(script);
  ASSERT_TRUE(model) << model.error().message;
  ModelRequest request;
  say(request, Role::User, text("summary"));
  say(request, Role::Assistant, call("script_5_0"));
  say(request, Role::Assistant, text("turn 6"));
  EXPECT_EQ(tell(**model, request).message.text(), "turn 7");
  request.purpose = Purpose::Summary;
  EXPECT_EQ(tell(**model, request).message.text(), "So far.");
}

// RT-17
TEST_F(ScriptModelTest, AnswersComeInPieces) {
  const auto model = open(
      "turns:\n  - {text: \"gr\xC3\xBC\xC3\x9F dich\", chunk: 1, pause_ms: 1, "
      "calls: [{tool: t, input: {a: b}}]}\n");
  ASSERT_TRUE(model) << model.error().message;
  const Told told = tell(**model, {});
  EXPECT_EQ(told.message.text(), "gr\xC3\xBC\xC3\x9F dich");
  EXPECT_EQ(told.message.calls()[0].arguments, R"({"a":"b"})");
  EXPECT_EQ(told.events, 9u + 1 + 9 + 1);
}

// EV-91, RT-19, RT-20
TEST_F(ScriptModelTest, FaultsAreThoseOfRealProviders) {
  const auto model = open(R"(
turns:
  - text: late
    error: {status: 503, body: busy, retry_after_ms: 20, times: 2}
  - text: half
    error_mid_stream: {kind: malformed_stream, message: broke off}
  - text: never
    error: {kind: retryable, delay_ms: 5}
)");
  ASSERT_TRUE(model) << model.error().message;
  ModelRequest request;
  for (std::uint64_t attempt = 1; attempt <= 3; ++attempt) {
    request.attempt = attempt;
    const Told told = tell(**model, request);
    EXPECT_EQ(told.error.has_value(), attempt <= 2) << attempt;
    if (told.error) {
      EXPECT_EQ(text_of(*told.error), "http 503: busy");
      EXPECT_EQ(told.error->retry_after_ms, 20u);
    }
  }
  say(request, Role::Assistant, text("late"));
  const Told half = tell(**model, request);
  EXPECT_EQ(half.message.text(), "half");
  EXPECT_EQ(half.message.stop_reason(), "");
  ASSERT_TRUE(half.error);
  EXPECT_EQ(half.error->kind, ProviderError::Kind::MalformedStream);
  say(request, Role::Assistant, text("half"));
  const Told last = tell(**model, request);
  ASSERT_TRUE(last.error);
  EXPECT_EQ(last.error->delay_ms, 5u);
}

// RT-15
TEST_F(ScriptModelTest, ATurnCanExpectAResult) {
  const auto model = open("turns:\n  - text: a\n  - {text: b, expect: forty-two}\n");
  ASSERT_TRUE(model) << model.error().message;
  ModelRequest request;
  say(request, Role::Tool, {{"type", "tool_result"}, {"text", "forty-two"}});
  say(request, Role::Assistant, text("a"));
  EXPECT_TRUE(tell(**model, request).error);
  say(request, Role::Tool, {{"type", "tool_result"}, {"text", "it is forty-two"}});
  EXPECT_EQ(tell(**model, request).message.text(), "b");
}

// RT-74
TEST_F(ScriptModelTest, ACancelEndsEveryWait) {
  const auto model = open(
      "turns:\n  - {text: slow, delay_ms: 600000}\n"
      "  - {text: slow, chunk: 1, pause_ms: 600000}\n");
  ASSERT_TRUE(model) << model.error().message;
  for (const bool opened : {false, true}) {
    ModelRequest request;
    if (opened) say(request, Role::Assistant, text("slow"));
    std::stop_source cancel;
    std::jthread later([&] {
      std::this_thread::sleep_for(20ms);
      cancel.request_stop();
    });
    const Told told = tell(**model, request, cancel.get_token());
    ASSERT_TRUE(told.error);
    EXPECT_EQ(told.error->message, kCancelled);
    EXPECT_EQ(told.events, opened ? 1u : 0u);
  }
}

// RT-94
TEST_F(ScriptModelTest, ABadTurnFailsAtLoadWithItsLine) {
  const auto place = [](const std::string& text) {
    const Result<Script> script = parse_script(text, "talk.yaml");
    return script ? "read" : script.error().where + " " + script.error().message;
  };
  const std::string good = "turns:\n  - text: a\n";
  EXPECT_EQ(place(good), "read");
  EXPECT_THAT(place(good + "  - txt: b\n"), HasSubstr("talk.yaml:3:"));
  EXPECT_THAT(place(good + "  - txt: b\n"), HasSubstr("did you mean `text`"));
  EXPECT_THAT(place(good + "  - {}\n"), HasSubstr("turn 2 is empty"));
  EXPECT_THAT(place(good + "  - text: 7\n"), HasSubstr("talk.yaml:3:"));
  EXPECT_THAT(place(good + "  - calls: [{input: {}}]\n"), HasSubstr("`tool` is missing"));
  EXPECT_THAT(place(good + "  - calls:\n    - {tool: t, input: []}\n"), HasSubstr("talk.yaml:4:"));
  EXPECT_THAT(place(good + "  - calls: [{tool: t, input: {}, arguments: x}]\n"),
              HasSubstr("not both"));
  EXPECT_THAT(place(good + "  - calls: [{tool: t, id: i}, {tool: t, id: i}]\n"),
              HasSubstr("same id"));
  EXPECT_THAT(place(good + "  - error: {kind: transport, status: 503}\n"),
              HasSubstr("talk.yaml:3:"));
  EXPECT_THAT(place(good + "  - error: {}\n"), HasSubstr("talk.yaml:3:"));
  EXPECT_THAT(place(good + "  - error: {kind: odd}\n"), HasSubstr("`kind` must be one of"));
  EXPECT_THAT(place(good + "  - error: {status: 503, message: x}\n"), HasSubstr("talk.yaml:3:"));
  EXPECT_THAT(place(good + "  - error: {kind: decode, delay_ms: 1}\n"), HasSubstr("`delay_ms`"));
  EXPECT_THAT(place(good + "  - error_mid_stream: {status: 503}\n"), HasSubstr("talk.yaml:3:"));
  EXPECT_THAT(place(good + "  - {text: a, usage: {input_tokens: -1}}\n"),
              HasSubstr("talk.yaml:3:"));
  EXPECT_THAT(place(good + "  - {text: a, delay_ms: soon}\n"), HasSubstr("talk.yaml:3:"));
  EXPECT_THAT(place("turns: []\n"), HasSubstr("at least one turn"));
  EXPECT_THAT(place("summary: a\n"), HasSubstr("`turns` is missing"));
  EXPECT_THAT(place("turns: [\n"), HasSubstr("talk.yaml:"));
  const auto model = open("turns:\n  - text: a\n  - txt: b\n");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().where, HasSubstr("talk.yaml:3:"));
}

// RT-94
TEST_F(ScriptModelTest, AScriptThatIsNotThereIsAnError) {
  const auto model = open_model(
      {.provider = Provider::Script, .script = folder_ / "none.yaml"},
      {.executor = loop_.get_executor(), .redactor = redactor_, .clock = clock_, .variable = {}});
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("none.yaml` cannot be read"));
  const auto empty = open("");
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("is empty"));
}

// RT-15
TEST_F(ScriptModelTest, JsonIsReadAsWell) {
  const auto model = open(R"({"turns": [{"text": "a", "calls": [{"tool": "t", "id": "mine"}]}]})");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(tell(**model, {}).message.calls()[0].id, "mine");
}

}  // namespace
}  // namespace sallyport::agent
