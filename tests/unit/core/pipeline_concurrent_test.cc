// One Governor, many threads: no call sees anything of another.
#include <gtest/gtest.h>

#include <atomic>
#include <boost/json.hpp>
#include <map>
#include <mutex>
#include <thread>

#include "core/call/governor.h"
#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::FunctionGuard;
using test::FunctionHook;
using test::FunctionResultGuard;
using test::Governed;

constexpr int kThreads = 8;
constexpr int kCallsOfAThread = 125;

std::string marker(int thread, int call) {
  return "m-" + std::to_string(thread) + "-" + std::to_string(call);
}

Call marked(const std::string& mark) {
  Call call = Governed::read_file();
  call.tool_call_id = mark;
  call.input = {{"mark", mark}};
  return call;
}

// Stores nothing, because many threads call it at once.
class EchoUpstream final : public Upstream {
 public:
  Task<Envelope> invoke(Call call, std::shared_ptr<Delivery> delivery, std::stop_token) override {
    co_await delivery->progress({{"on the way", call.input.at("mark")}});
    co_return Envelope::of({{"echo", call.input.at("mark")}});
  }
};

// Verdicts that differ from call to call, each with the call's own evidence.
Verdict verdict_of(const std::string& mark, const Envelope& envelope) {
  Verdict verdict = Verdict::allow();
  switch (mark.back() % 4) {
    case 0:
      verdict = Verdict::deny("withheld " + mark);
      break;
    case 1:
      if (envelope.value.as_object().contains("echo")) {
        verdict = Verdict::rewrite(Envelope::of({{"masked", mark}}).to_json());
      }
      break;
    case 2:
      verdict = Verdict::escalate("look at " + mark);
      break;
    default:
      break;
  }
  verdict.evidence = json::value(mark);
  return verdict;
}

class PipelineConcurrentTest : public testing::Test {
 protected:
  PipelineConcurrentTest() {
    governed.plan
        .guard(std::make_shared<FunctionGuard>("before",
                                               [](const Call& call) {
                                                 Verdict verdict = Verdict::allow();
                                                 verdict.evidence = call.input.at("mark");
                                                 return verdict;
                                               }))
        .result_guard(std::make_shared<FunctionResultGuard>(
            "after", [](const Envelope& envelope, const ResultContext& context) {
              return verdict_of(std::string(context.call->input.at("mark").as_string()), envelope);
            }));
  }

  template <class Work>
  static void on_all_threads(Work work) {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([thread, work] {
        for (int i = 0; i < kCallsOfAThread; ++i) work(marker(thread, i));
      });
    }
  }

  static std::string wanted_output(const std::string& mark) {
    switch (mark.back() % 4) {
      case 0:
        return "Result withheld by after: withheld " + mark;
      case 1:
        return R"({"masked":")" + mark + R"("})";
      default:
        return R"({"echo":")" + mark + R"("})";
    }
  }

  Governed governed;
};

// PI-14 PI-17 AU-16
TEST_F(PipelineConcurrentTest, AThousandCallsEachGetTheirOwnAnswerAndEvidence) {
  Governor& governor = governed.governor();
  const auto upstream = std::make_shared<EchoUpstream>();
  std::atomic<int> wrong = 0;
  on_all_threads([&](const std::string& mark) {
    std::string on_the_way;
    const Result<Answer> answer = test::run_now(
        governor.run(marked(mark), upstream, Caller{.progress = [&](const json::value& message) {
                       on_the_way = canonical_json(message);
                     }}));
    const bool dropped = mark.back() % 4 == 0;
    const std::string wanted = dropped ? "" : R"({"on the way":")" + mark + R"("})";
    if (!answer || answer->result.output != wanted_output(mark) || on_the_way != wanted) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
  const std::vector<Draft> records = governed.recorder.records();
  ASSERT_EQ(records.size(), static_cast<std::size_t>(kThreads * kCallsOfAThread));
  for (const Draft& record : records) {
    const json::value mark = record.body.at("requested_input").at("mark");
    EXPECT_EQ(record.body.at("tool_call_id"), mark);
    ASSERT_EQ(record.body.at("guards").as_array().size(), 1u);
    EXPECT_EQ(record.body.at("guards").at(0).at("evidence"), mark);
    const json::value& post = record.body.at("post_invocation");
    ASSERT_EQ(post.at("evidence").as_array().size(), 1u);
    EXPECT_EQ(post.at("evidence").at(0).at("details"), mark);
    const std::string text = canonical_json(post.at("escalations"));
    const std::string mark_text(mark.as_string());
    EXPECT_EQ(text, mark_text.back() % 4 == 2 ? R"(["look at )" + mark_text + R"("])" : "[]");
  }
}

// EV-63
TEST_F(PipelineConcurrentTest, AHookHearsTheEventsOfEachCallInTheirOrder) {
  std::mutex mutex;
  std::map<std::string, std::vector<std::string>> heard;
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
      "watch", [&](const Event& event, const Subject& subject) -> Result<void> {
        const std::lock_guard lock(mutex);
        heard[subject.call_id].emplace_back(event_type(event));
        return {};
      })));
  Governor& governor = governed.governor();
  const auto upstream = std::make_shared<EchoUpstream>();
  on_all_threads([&](const std::string& mark) {
    (void)test::run_now(governor.run(marked(mark), upstream, {}));
  });
  EXPECT_EQ(heard.size(), static_cast<std::size_t>(kThreads * kCallsOfAThread));
  for (const auto& [call_id, events] : heard) {
    std::vector<std::string> wanted = {"tool_authorization_started", "tool_authorization_finished",
                                       "tool_execution_started"};
    if (events.size() == 5) wanted.emplace_back("policy_denied");
    wanted.emplace_back("tool_execution_finished");
    EXPECT_EQ(events, wanted) << call_id;
  }
}

// PI-83 AU-16
TEST_F(PipelineConcurrentTest, TheSameMessageFromManyThreadsIsOneItemWithTheRightCount) {
  Governed shared;
  shared.plan.result_guard(std::make_shared<FunctionResultGuard>(
      "after", [](const Envelope&, const ResultContext&) { return Verdict::escalate("same"); }));
  Governor& governor = shared.governor();
  const auto upstream = std::make_shared<EchoUpstream>();
  on_all_threads([&](const std::string& mark) {
    (void)test::run_now(governor.run(marked(mark), upstream, {}));
  });
  const auto items = governor.escalations().waiting();
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 1u);
  EXPECT_EQ(items->front().count, static_cast<std::uint64_t>(kThreads * kCallsOfAThread));
}

}  // namespace
}  // namespace sallyport::core
