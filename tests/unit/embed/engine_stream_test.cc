// Answers that arrive in pieces, and messages on the way.
#include <thread>

#include "engine_setup.h"

namespace sallyport::test {
namespace {

using Strings = std::vector<std::string>;

Tool speaks(int pieces) {
  return tool_of("speak", [=](const Invocation& invocation) -> Result<json::value> {
    for (int i = 0; i < pieces; ++i) {
      if (!invocation.chunk(json::value(std::to_string(i)))) break;
    }
    return json::value("not used");
  });
}

Strings streamed(Engine& engine, Result<Answer>& answer) {
  Strings heard;
  answer = engine.stream(call_of("speak"),
                         [&](const json::value& chunk) { heard.emplace_back(chunk.as_string()); });
  return heard;
}

// PI-25 (partly)
TEST(EngineStreamTest, PiecesAreHeldUntilTheGuardsHaveSeenAllAndComeInOrder) {
  std::atomic<bool> judged = false;
  const auto engine =
      opened(EngineBuilder("")
                 .tool(speaks(600))
                 .result_guard(
                     "sees", [&](const Envelope& result, const ResultContext&) -> Result<Verdict> {
                       EXPECT_EQ(result.kind, Envelope::Kind::Stream);
                       EXPECT_EQ(result.chunks.size(), 600u);
                       judged = true;
                       return Verdict::allow();
                     }));
  std::vector<int> heard;
  const Result<Answer> answer = engine->stream(call_of("speak"), [&](const json::value& chunk) {
    EXPECT_TRUE(judged);
    heard.push_back(std::stoi(std::string(chunk.as_string())));
  });
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->released.complete);
  ASSERT_EQ(heard.size(), 600u) << "more than wait between the threads at once";
  EXPECT_TRUE(std::ranges::is_sorted(heard));
}

// PI-24 (partly)
TEST(EngineStreamTest, AGuardChangesOrWithholdsAStreamAsAWhole) {
  const auto engine = opened(EngineBuilder("").tool(speaks(3)).result_guard(
      "keeps-first", [](const Envelope& result, const ResultContext&) -> Result<Verdict> {
        Envelope changed = result;
        changed.chunks.resize(1);
        return Verdict::rewrite(changed.to_json());
      }));
  Result<Answer> answer = fail(ErrorCode::Internal, "");
  EXPECT_EQ(streamed(*engine, answer), (Strings{"0"}));
  const auto closed = opened(EngineBuilder("").tool(speaks(3)).result_guard(
      "none", [](const Envelope&, const ResultContext&) -> Result<Verdict> {
        return Verdict::deny("private");
      }));
  EXPECT_EQ(streamed(*closed, answer), Strings());
  EXPECT_EQ(answer->result.output, "Result withheld by none: private");
}

// PI-26 (partly) PI-23 (partly)
TEST(EngineStreamTest, AStreamOverTheLimitsIsCutAndSaysSo) {
  std::atomic<int> taken = 0;
  const auto engine =
      opened(EngineBuilder("")
                 .tool(tool_of("many",
                               [&](const Invocation& invocation) -> Result<json::value> {
                                 while (invocation.chunk(json::value("x"))) ++taken;
                                 return json::value();
                               }))
                 .tool(tool_of("large", [&](const Invocation& invocation) -> Result<json::value> {
                   const std::string megabyte(1u << 20, 'x');
                   while (invocation.chunk(json::value(megabyte))) ++taken;
                   return json::value();
                 })));
  for (const auto& [tool, chunks, reason] : {std::tuple("many", 10'000u, "too many chunks"),
                                             std::tuple("large", 16u, "too many bytes")}) {
    taken = 0;
    const Result<Answer> answer = engine->call(call_of(tool));
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->released.complete);
    EXPECT_EQ(answer->released.reason, reason);
    EXPECT_EQ(answer->released.chunks.size(), chunks);
  }
}

TEST(EngineStreamTest, AStreamThatRunsOutOfTimeIsReleasedAsFarAsItCame) {
  const auto engine =
      opened(EngineBuilder("")
                 .tool(tool_of("speak",
                               [](const Invocation& invocation) -> Result<json::value> {
                                 (void)invocation.chunk("first");
                                 while (!invocation.stop_requested()) std::this_thread::yield();
                                 while (invocation.chunk("nobody listens"))
                                   std::this_thread::yield();
                                 return json::value();
                               }))
                 .time_limit(std::chrono::milliseconds(100)));
  Result<Answer> answer = fail(ErrorCode::Internal, "");
  EXPECT_EQ(streamed(*engine, answer), (Strings{"first"}));
  EXPECT_FALSE(answer->released.complete);
  EXPECT_EQ(answer->released.reason, "timed out after 100 ms");
  EXPECT_EQ(answer->effect, EffectState::Unknown);
}

TEST(EngineStreamTest, ACallOfAStreamingToolHasThePiecesTogetherAndACachedOneGivesThemAgain) {
  const auto engine = opened(EngineBuilder("").tool(speaks(3)));
  const Result<Answer> first = engine->call(call_of("speak", "t-1"));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->released.chunks.size(), 3u);
  Strings heard;
  const Result<Answer> again =
      engine->stream(call_of("speak", "t-1"),
                     [&](const json::value& chunk) { heard.emplace_back(chunk.as_string()); });
  EXPECT_EQ(again->outcome.kind, Outcome::Kind::Cached);
  EXPECT_EQ(heard, (Strings{"0", "1", "2"}));
}

TEST(EngineStreamTest, AToolThatFailsAfterSomePiecesReleasesItsErrorAlone) {
  const auto engine = opened(
      EngineBuilder("").tool(tool_of("speak", [](const Invocation& i) -> Result<json::value> {
        (void)i.chunk("half a secr");
        return fail(ErrorCode::Unavailable, "the line is dead");
      })));
  Result<Answer> answer = fail(ErrorCode::Internal, "");
  EXPECT_EQ(streamed(*engine, answer), Strings());
  EXPECT_EQ(answer->result.output, "the line is dead");
}

// PI-29
TEST(EngineStreamTest, ProgressPassesTheGuardsOneByOneAndADeniedMessageIsDroppedAlone) {
  Strings heard;
  const auto engine =
      opened(EngineBuilder("")
                 .tool(tool_of("work",
                               [](const Invocation& invocation) -> Result<json::value> {
                                 for (const char* const text : {"begin", "secret", "end"}) {
                                   invocation.progress(text);
                                 }
                                 return json::value("done");
                               }))
                 .result_guard(
                     "hush", [](const Envelope& result, const ResultContext&) -> Result<Verdict> {
                       if (result.value == "secret") return Verdict::deny("no");
                       if (result.value != "begin") return Verdict::allow();
                       return Verdict::rewrite(Envelope::of(json::value("BEGIN")).to_json());
                     }));
  const Result<Answer> answer =
      engine->call(call_of("work"), {.on_progress = [&](const json::value& message) {
                     heard.emplace_back(message.as_string());
                   }});
  EXPECT_EQ(heard, (Strings{"BEGIN", "end"}));
  EXPECT_EQ(answer->result.output, "done");
  EXPECT_EQ(engine->call(call_of("work"))->result.output, "done") << "nobody needs to listen";
}

}  // namespace
}  // namespace sallyport::test
