// One request to a model: attempts, waits and their events, against a real HTTP server and a clock
// that the waits advance.
#include "agent/model/model_round.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/model/open_model.h"
#include "played_provider.h"
#include "stream_samples.h"
#include "support/test_clock.h"

namespace sallyport::agent {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

std::string response(std::string_view status, std::string_view headers, std::string_view body) {
  return fmt::format("HTTP/1.1 {}\r\n{}content-length: {}\r\nconnection: close\r\n\r\n{}", status,
                     headers, body.size(), body);
}
std::string stream(std::string_view body) {
  return response("200 OK", "content-type: text/event-stream\r\n", body);
}

struct Api {
  const char* name;
  Provider provider;
  const char* path;
  const char* answer;  // one text, `Hi`
};

const char* const kChat =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";
const char* const kMessages =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":"
    "{\"input_tokens\":7,\"output_tokens\":1}}}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
    "\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n"
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
    "\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

const Api kApis[] = {
    {"chat", Provider::OpenAi, "/chat/completions", kChat},
    {"messages", Provider::Anthropic, "/v1/messages", kMessages},
};

class ModelRoundTest : public testing::TestWithParam<Api> {
 protected:
  struct Seen {
    std::vector<milliseconds> waits{};
    std::vector<std::string> events{};
    std::optional<ModelAnswer> answer{};
    std::optional<NoAnswer> none{};
    int connections = 0;
    json::object record{};
  };

  // The server gives these responses to one connection after another, then repeats the last one.
  Seen ask(std::vector<std::string> responses) {
    Seen seen;
    governed_.clock = &clock_;
    const Play play = [&](Provided& provider, tcp::socket& socket) -> Async<void> {
      const std::size_t turn = static_cast<std::size_t>(provider.connections) - 1;
      co_await hear(provider, socket, "\r\n\r\n");
      co_await say(socket, responses[std::min(turn, responses.size() - 1)]);
      socket.close();
    };
    beside_provider(play, [&](Provided& provider) -> Async<void> {
      co_await exchange(provider, seen);
      seen.connections = provider.connections;
    });
    for (const core::Draft& draft : governed_.recorder.written) {
      if (draft.kind == core::Kind::Event) seen.events.push_back(line_of(draft.body));
      if (draft.kind == core::Kind::ModelAudit) seen.record = draft.body;
    }
    return seen;
  }

  Async<void> exchange(Provided& provider, Seen& seen) {
    const auto executor = co_await boost::asio::this_coro::executor;
    core::Governor& governor = governed_.governor();
    core::HostEvents events(governor.emitter(), governed_.recorder, governed_.recorder);
    core::FailOpenLog fail_open("i-1");
    const auto store = *sessions::SessionStore::open({}, clock_);
    RuntimeParts parts{.executor = executor,
                       .pool = pool_,
                       .governor = governor,
                       .recorder = governed_.recorder,
                       .events = events,
                       .fail_open = fail_open,
                       .plans = plans_,
                       .redactor = redactor_,
                       .clock = clock_,
                       .entropy = entropy_,
                       .digest = KeyedDigest("k"),
                       .store = *store,
                       .last_record = {},
                       .data_folder = {},
                       .log = [](std::string_view) {},
                       .wait = [&](milliseconds time, std::stop_token cancel) -> Async<bool> {
                         seen.waits.push_back(time);
                         clock_.advance(time);
                         if (on_wait) on_wait();
                         co_return !cancel.stop_requested();
                       }};
    const std::string url = provider.url();
    auto model = *open_model({.provider = GetParam().provider, .base_url = url, .model = "m-1"},
                             {.executor = executor,
                              .redactor = redactor_,
                              .clock = clock_,
                              .variable = [](const std::string&) { return std::nullopt; }});
    RunControl control(limits_, clock_, executor, cancel_.get_token());
    ModelRound one(parts, *model, control, {"writer", "s-1", "r-1", "t-1"},
                   {.retry = {.jitter = jitter_}});
    ModelRequest request{.model = "m-1"};
    request.history = {{.content = {json::object{{"type", "text"}, {"text", "Hello"}}}}};
    auto answer = co_await one.run(std::move(request));
    if (answer) {
      seen.answer = *answer;
    } else {
      seen.none = answer.error();
    }
  }

  static std::string line_of(const json::object& event) {
    std::string line(event.at("kind").as_string());
    if (const auto* attempt = event.if_contains("attempt")) {
      line += fmt::format(" {}", attempt->to_number<int>());
    }
    if (const auto* success = event.if_contains("success")) {
      line += success->as_bool() ? " yes" : " no";
    }
    return line;
  }

  std::function<void()> on_wait;
  std::stop_source cancel_;
  LimitSettings limits_;
  double jitter_ = 0;
  test::TestClock clock_;
  test::Governed governed_;
  core::NoRedactor redactor_;
  SystemEntropy entropy_;
  core::FixedPlan plans_{*core::PlanBuilder().autonomy(Autonomy::ActAuto).build()};
  boost::asio::thread_pool pool_{1};
};

const std::string kBusy = response("503 Service Unavailable", "", "overloaded");

// EV-99, EV-100, EV-104, RT-13, RT-14, RT-20
TEST_P(ModelRoundTest, AnAnswerIsAskedForSixTimesAtMostWithTheWaitsOfTheSchedule) {
  const Seen seen = ask({kBusy});
  EXPECT_THAT(seen.waits, ElementsAre(500ms, 1000ms, 2000ms, 4000ms, 5000ms));
  EXPECT_EQ(seen.connections, 6);
  ASSERT_TRUE(seen.none && seen.none->error);
  EXPECT_EQ(seen.none->error->message, "http 503: overloaded");
  EXPECT_EQ(seen.events.size(), 12u);
  EXPECT_EQ(seen.events.back(), "model_request_finished 6 no");
  EXPECT_EQ(seen.record.at("attempts").to_number<int>(), 6);
  EXPECT_EQ(seen.record.at("outcome"), "failed");
}

// EV-45, EV-16, EV-17
TEST_P(ModelRoundTest, ALaterAttemptThatOpensIsTheAnswer) {
  const Seen seen = ask({kBusy, stream(GetParam().answer)});
  ASSERT_TRUE(seen.answer) << (seen.none && seen.none->error ? seen.none->error->message : "");
  EXPECT_EQ(seen.answer->text, "Hi");
  EXPECT_THAT(seen.events, ElementsAre("model_request_started 1", "model_request_finished 1 no",
                                       "model_request_started 2", "model_request_finished 2 yes",
                                       "model_response_finished 2 yes"));
  EXPECT_EQ(seen.record.at("outcome"), "completed");
}

// EV-101
TEST_P(ModelRoundTest, TheProviderMayAskForALongerWaitOfAMinuteAtMost) {
  const Seen seen =
      ask({response("429 Too Many Requests", "retry-after: 7\r\n", ""),
           response("429 Too Many Requests", "retry-after: 3600\r\n", ""),
           response("429 Too Many Requests", "retry-after: 0\r\n", ""), stream(GetParam().answer)});
  EXPECT_THAT(seen.waits, ElementsAre(7000ms, 60'000ms, 2000ms));
}

// EV-102
TEST_P(ModelRoundTest, JitterLengthensAWaitByAQuarterAtMost) {
  jitter_ = 0.25;
  const Seen seen = ask({kBusy});
  const milliseconds plain[] = {500ms, 1000ms, 2000ms, 4000ms, 5000ms};
  ASSERT_EQ(seen.waits.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_GE(seen.waits[i], plain[i]);
    EXPECT_LE(seen.waits[i], plain[i] + plain[i] / 4);
  }
}

// EV-91, EV-99
TEST_P(ModelRoundTest, OnlyTransientErrorsAreTriedAgain) {
  for (const char* status : {"400 Bad Request", "401 Unauthorized", "403 Forbidden",
                             "404 Not Found", "413 Too Large", "422 Unprocessable"}) {
    const Seen seen = ask({response(status, "", "no")});
    EXPECT_TRUE(seen.waits.empty()) << status;
    EXPECT_TRUE(seen.none && seen.none->error) << status;
  }
  for (const char* status :
       {"408 Timeout", "429 Too Many", "500 Oops", "502 Bad Gateway", "529 Overloaded"}) {
    const Seen seen = ask({response(status, "", "no"), stream(GetParam().answer)});
    EXPECT_EQ(seen.waits.size(), 1u) << status;
    EXPECT_TRUE(seen.answer) << status;
  }
}

// EV-92: a connection that ends before an answer is `transport`.
TEST_P(ModelRoundTest, AConnectionThatBreaksBeforeTheAnswerIsTriedAgain) {
  const Seen seen = ask({"", stream(GetParam().answer)});
  EXPECT_THAT(seen.waits, ElementsAre(500ms));
  EXPECT_TRUE(seen.answer);
}

// EV-46, EV-104, RT-19
TEST_P(ModelRoundTest, NothingIsTriedAgainOnceAnAnswerWasOpened) {
  const std::string whole = GetParam().answer;
  const Seen seen = ask({stream(whole.substr(0, whole.size() / 2)), stream(whole)});
  EXPECT_TRUE(seen.waits.empty());
  EXPECT_EQ(seen.connections, 1);
  ASSERT_TRUE(seen.none && seen.none->error);
  EXPECT_EQ(seen.none->error->kind, RuntimeError::Kind::StreamResponse);
  EXPECT_THAT(seen.events, ElementsAre("model_request_started 1", "model_request_finished 1 yes",
                                       "model_response_finished 1 no"));
}

// EV-103
TEST_P(ModelRoundTest, AWaitThatWouldPassTheDeadlineIsNotBegun) {
  limits_.deadline = 2s;
  const Seen seen = ask({kBusy});
  EXPECT_THAT(seen.waits, ElementsAre(500ms, 1000ms));
  ASSERT_TRUE(seen.none && seen.none->abort);
  EXPECT_EQ(seen.none->abort->cause, core::AbortCause::DeadlineExceeded);
  EXPECT_EQ(seen.record.at("outcome"), "cancelled");
}

// EV-103, EV-106
TEST_P(ModelRoundTest, ACancelEndsTheWaitAndNothingMoreIsSent) {
  on_wait = [this] { cancel_.request_stop(); };
  const Seen seen = ask({kBusy});
  EXPECT_EQ(seen.waits.size(), 1u);
  EXPECT_EQ(seen.connections, 1);
  ASSERT_TRUE(seen.none && seen.none->abort);
  EXPECT_EQ(seen.none->abort->reason(), "cancelled");
}

// EV-104, EV-98
TEST_P(ModelRoundTest, EachAttemptCountsTowardTheBudget) {
  limits_.model_requests = 3;
  const Seen seen = ask({kBusy});
  EXPECT_EQ(seen.connections, 3);
  ASSERT_TRUE(seen.none && seen.none->abort);
  EXPECT_EQ(seen.none->abort->cause, core::AbortCause::ModelBudgetExceeded);
}

// EV-60: a start event that cannot be written stops the attempt.
TEST_P(ModelRoundTest, NothingIsSentThatIsNotOnRecord) {
  governed_.recorder.refuse_announcements =
      Error{.code = ErrorCode::Unavailable, .message = "full"};
  const Seen seen = ask({stream(GetParam().answer)});
  EXPECT_EQ(seen.connections, 0);
  ASSERT_TRUE(seen.none && seen.none->error);
  EXPECT_EQ(seen.none->error->kind, RuntimeError::Kind::Store);
  EXPECT_EQ(seen.record.at("attempts").to_number<int>(), 0);
}

INSTANTIATE_TEST_SUITE_P(Apis, ModelRoundTest, testing::ValuesIn(kApis),
                         [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace sallyport::agent
