// Requests through the whole proxy, against a real HTTP server and a clock that stands still.
#include "proxy/front.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>

#include "support/fake_recorder.h"
#include "support/governed.h"
#include "support/test_clock.h"
#include "unit/agent/played_provider.h"

namespace sallyport::proxy {
namespace {

const std::string kQuestion =
    R"({"model":"claude-opus-5","max_tokens":5,"messages":[{"role":"user","content":"hello"}]})";

std::string reply(std::string_view status, std::string_view headers, std::string_view body) {
  return fmt::format("HTTP/1.1 {}\r\n{}content-length: {}\r\nconnection: close\r\n\r\n{}", status,
                     headers, body.size(), body);
}

class Client final : public net::ServerExchange {
 public:
  explicit Client(net::ServerRequest request, bool can_stream = true)
      : request_(std::move(request)), can_stream_(can_stream) {}

  const net::ServerRequest& request() const override { return request_; }
  void on_gone(std::function<void()> callback) override { on_gone_ = std::move(callback); }
  bool gone() const override { return !on_gone_; }
  Async<bool> respond(net::ServerResponse sent) override {
    response = std::move(sent);
    co_return true;
  }
  Async<bool> begin(net::ServerResponse head) override {
    response = std::move(head);
    co_return true;
  }
  bool streaming() const override { return false; }
  bool can_stream() const override { return can_stream_; }
  Async<bool> write(std::string piece) override {
    response.body += piece;
    co_return true;
  }

  void leave() { std::exchange(on_gone_, nullptr)(); }
  std::string header(std::string_view name) const {
    const auto found =
        std::ranges::find_if(response.headers, [&](const auto& one) { return one.first == name; });
    return found == response.headers.end() ? "" : found->second;
  }

  net::ServerResponse response;

 private:
  net::ServerRequest request_;
  bool can_stream_;
  std::function<void()> on_gone_;
};

class ModelFrontTest : public testing::Test {
 protected:
  void TearDown() override {
    provider_.tasks.cancel();
    loop_.poll();
  }

  void open(core::ModelRules rules = {}) {
    core::PlanBuilder plan;
    plan.autonomy(Autonomy::ActAuto).model_rules(std::move(rules));
    plans_.emplace(*plan.build());
    governed_.clock = &clock_;
    governed_.recorder.refuse =
        [this](const std::vector<core::Draft>& drafts) -> std::optional<Error> {
      if (!on_record_ || drafts.back().kind != core::Kind::ModelAudit) return std::nullopt;
      return on_record_();
    };
    front_.emplace(ModelFront::Parts{.governor = governed_.governor(),
                                     .recorder = governed_.recorder,
                                     .plans = *plans_,
                                     .clock = clock_,
                                     .entropy = entropy_,
                                     .digest = KeyedDigest("k"),
                                     .metrics = metrics_,
                                     .tracer = tracer_,
                                     .executor = loop_.get_executor(),
                                     .approvals_url = {},
                                     .authenticate = {},
                                     .needs_token = [] { return true; },
                                     .log = [](std::string_view) {}},
                   Settings{}, upstreams({"first"}));
    const agent::Play play = [this](agent::Provided& provider,
                                    agent::tcp::socket& socket) -> Async<void> {
      co_await agent::hear(provider, socket, "\r\n\r\n");
      co_await agent::say(socket, answer_);
      socket.close();
    };
    provider_.tasks.start(agent::accept_all(provider_, play));
  }

  UpstreamList upstreams(const std::vector<std::string>& names,
                         llm::Api api = llm::Api::AnthropicMessages,
                         const std::vector<std::string>& pass_through = {}) {
    Settings settings;
    for (const std::string& name : names) {
      settings.upstreams.push_back({.name = name,
                                    .api = api,
                                    .url = provider_.url(),
                                    .key = UpstreamSettings::Key::Env,
                                    .key_env = "KEY",
                                    .pass_through = pass_through});
    }
    return *open_upstreams(loop_.get_executor(), settings, clock_,
                           [this](const std::string&) { return key_; });
  }

  void obtain(const std::string& kind, const std::string& id) {
    core::Draft draft{.kind = core::Kind::Event, .body = {{"n", 1}}};
    draft.facts.push_back(OwnedState::fact(
        kind, id,
        {.agent_id = "agent:ada", .upstream = "first", .request_id = "r-1", .at = clock_.wall()}));
    ASSERT_TRUE(test::run_now(governed_.recorder.append({draft}, core::Urgency::Reports)));
  }

  bool owns(const std::string& kind, const std::string& id) {
    return OwnedState(governed_.recorder).find(kind, id).has_value();
  }

  // A member of the last record.
  std::string recorded(std::string_view pointer) {
    const std::vector<core::Draft> records = governed_.recorder.of(core::Kind::ModelAudit);
    return records.empty() ? "(none)" : test::text_at(records.back(), pointer);
  }

  // Returns the status. The whole response is in `client_`.
  unsigned ask(std::string method = "POST", std::string path = "/v1/messages",
               std::string body = kQuestion) {
    const std::size_t mark = std::min(path.find('?'), path.size());
    net::ServerRequest request{.method = std::move(method),
                               .path = path.substr(0, mark),
                               .query = path.substr(std::min(mark + 1, path.size())),
                               .headers = {{"content-type", "application/json"}},
                               .body = std::move(body),
                               .principal = "agent:ada"};
    std::ranges::copy(more_headers_, std::back_inserter(request.headers));
    client_.emplace(std::move(request), can_stream_);
    bool done = false;
    boost::asio::co_spawn(loop_, front_->handle(*client_), [&](const std::exception_ptr& thrown) {
      EXPECT_FALSE(thrown);
      done = true;
    });
    while (!done && loop_.run_one() > 0) {
    }
    loop_.poll();  // the last events
    return client_->response.status;
  }

  boost::asio::io_context loop_;
  test::TestClock clock_;
  SystemEntropy entropy_;
  Metrics metrics_;
  telemetry::Tracer tracer_{entropy_, metrics_};
  test::Governed governed_;
  std::optional<core::FixedPlan> plans_;
  agent::Provided provider_{loop_.get_executor()};
  std::string answer_;  // of the provider, to every request
  std::optional<std::string> key_ = "sk-provider-key";
  // Called when the record of a request is written. It returns an error to make the write fail.
  std::function<std::optional<Error>()> on_record_;
  std::vector<std::pair<std::string, std::string>> more_headers_;  // of clients
  bool can_stream_ = true;
  std::optional<Client> client_;  // the last one
  std::optional<ModelFront> front_;
};

// With one upstream the id once reached a wrong provider; with two the proxy crashed.
// MP-25, MP-35
TEST_F(ModelFrontTest, StateOfAnUpstreamThatIsNotConfiguredIsNotFound) {
  open();
  obtain("response", "resp_1");
  const std::string more = R"({"model":"m","input":"go on","previous_response_id":"resp_1"})";
  using Names = std::vector<std::string>;
  for (const Names& names : {Names{"second"}, Names{"second", "third"}}) {
    front_->replace(Settings{}, upstreams(names, llm::Api::OpenAiResponses));
    EXPECT_EQ(ask("GET", "/v1/responses/resp_1", ""), 404u);
    EXPECT_EQ(ask("POST", "/v1/responses", more), 404u);
  }
  EXPECT_EQ(provider_.connections, 0);
  front_->replace(Settings{}, upstreams({"second", "first"}, llm::Api::OpenAiResponses));
  answer_ = reply("200 OK", "content-type: application/json\r\n",
                  R"({"id":"resp_1","object":"response","status":"completed","output":[]})");
  EXPECT_EQ(ask("GET", "/v1/responses/resp_1", ""), 200u);
  EXPECT_EQ(provider_.connections, 1);
  // Another entry of the same provider, such as one for each API.
  UpstreamList entries = upstreams({"second"}, llm::Api::OpenAiResponses);
  entries.push_back(upstreams({"first"}, llm::Api::AnthropicMessages).front());
  front_->replace(Settings{}, std::move(entries));
  EXPECT_EQ(ask("GET", "/v1/responses/resp_1", ""), 200u);
}

// A request that tested the circuit but made no attempt, here without a key, once kept it open.
// MP-76
TEST_F(ModelFrontTest, ATestWithoutAnAttemptIsLeftToTheNextRequest) {
  open();
  answer_ = reply("500 Oops", "", "{}");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(), 500u);
  EXPECT_EQ(ask(), 503u);
  clock_.advance(std::chrono::seconds(15));
  key_.reset();
  EXPECT_EQ(ask(), 403u);
  key_ = "sk-provider-key";
  EXPECT_EQ(ask(), 500u);
  EXPECT_EQ(provider_.connections, 6);
}

// A client that left while the record of a refused answer was written once cancelled a connection
// that was destroyed.
// MP-79 (partly)
TEST_F(ModelFrontTest, AClientMayLeaveAfterAnAnswerThatIsNotPassedOn) {
  open();
  on_record_ = [this]() -> std::optional<Error> {
    client_->leave();
    return std::nullopt;
  };
  for (const std::string& answer :
       {reply("302 Found", "location: /\r\n", ""),
        reply("200 OK", "content-type: text/event-stream\r\n", "data: {}\n\n")}) {
    answer_ = answer;
    EXPECT_EQ(ask(), 502u);
    EXPECT_TRUE(client_->gone());
  }
}

// The answer once contained `deny`, as if its record were durable.
// MP-68
TEST_F(ModelFrontTest, AnErrorOfTheProviderWhoseRecordFailsIsAnErrorOfTheLedger) {
  open();
  on_record_ = [] {
    return std::optional(Error{.code = ErrorCode::Unavailable, .message = "full"});
  };
  answer_ = reply("400 Bad Request", "", "{}");
  EXPECT_EQ(ask(), 503u);
  EXPECT_EQ(client_->header("x-sallyport-decision"), "error");
  EXPECT_EQ(governed_.recorder.owed.size(), 1u);
}

// A request that a hook or the ledger refused once counted as sent, and `keep: content` stored it.
// MP-69
TEST_F(ModelFrontTest, ARefusedAttemptIsNotCountedAndItsTextIsNotStored) {
  const auto hear = [](const Event& event, const Subject&) -> Result<void> {
    if (!std::holds_alternative<event::ModelRequestStarted>(event)) return {};
    return fail(ErrorCode::Unavailable, "no");
  };
  ASSERT_TRUE(governed_.hooks.with_hook(std::make_shared<test::FunctionHook>("siem", hear)));
  open({.keeps_content = true});
  EXPECT_EQ(ask(), 403u);
  governed_.recorder.refuse_announcements =
      Error{.code = ErrorCode::Unavailable, .message = "full"};
  EXPECT_EQ(ask(), 503u);
  EXPECT_EQ(provider_.connections, 0);
  const std::vector<core::Draft> records = governed_.recorder.of(core::Kind::ModelAudit);
  ASSERT_EQ(records.size(), 2u);
  for (const core::Draft& record : records) EXPECT_EQ(test::text_at(record, "/attempts"), "0");
  for (const core::Draft& draft : governed_.recorder.written) {
    EXPECT_NE(test::text_at(draft, "/record"), "model_message");
  }
}

// The attempt at the next upstream was once announced without the reservation, so the request
// passed any budget and its use was never counted.
// MP-71 MP-77
TEST_F(ModelFrontTest, AnAnnouncementThatIsNotOnRecordIsNotTriedAtAnotherUpstream) {
  open({.fails_over = true});
  front_->replace(Settings{}, upstreams({"first", "second"}));
  answer_ = reply("400 Bad Request", "", "{}");
  bool fails = true;
  governed_.recorder.refuse = [&](const std::vector<core::Draft>& drafts) -> std::optional<Error> {
    const bool announces = drafts.front().kind == core::Kind::Event;
    if (!announces || !std::exchange(fails, false)) return std::nullopt;
    return Error{.code = ErrorCode::Unavailable, .message = "busy"};
  };
  EXPECT_EQ(ask(), 503u);
  EXPECT_FALSE(fails);
  EXPECT_EQ(provider_.connections, 0);
  EXPECT_EQ(ask(), 400u) << "the next request reaches the provider";
  EXPECT_EQ(provider_.connections, 1);
}

const std::string kJson = "content-type: application/json\r\n";

// The record of such a request once was dropped, with the hits of its checks.
// MP-66, MP-75
TEST_F(ModelFrontTest, ANumberThatNoEntryHoldsIsRecordedAsTheLargestOne) {
  open();
  answer_ = reply("400 Bad Request", "", "{}");
  more_headers_ = {{"x-stainless-retry-count", "9007199254740992"}};
  EXPECT_EQ(ask(), 400u);
  EXPECT_EQ(recorded("/client_retry"), "9007199254740991");
}

// MP-66, MP-68, MP-72
TEST_F(ModelFrontTest, ARecordThatDoesNotFitIsWrittenReduced) {
  open();
  int writes = 0;
  on_record_ = [&]() -> std::optional<Error> {
    if (++writes > 1) return std::nullopt;
    return Error{.code = ErrorCode::InvalidInput, .message = "a number"};
  };
  answer_ = reply("400 Bad Request", "", "{}");
  EXPECT_EQ(ask(), 400u);
  EXPECT_EQ(writes, 2);
  EXPECT_EQ(recorded("/outcome"), "failed");
  EXPECT_EQ(recorded("/agent_id"), "agent:ada");
  EXPECT_NE(recorded("/reason").find("could not be written"), std::string::npos);
}

// MP-71
TEST_F(ModelFrontTest, ManyChoicesDoNotPassABudget) {
  open({.budgets = {{.output_tokens = 1'000}}});
  front_->replace(Settings{}, upstreams({"first"}, llm::Api::OpenAiChat));
  for (const char* const asks : {R"("n":2,"max_tokens":600)", R"("n":3.0,"max_tokens":400)",
                                 R"("n":1125899906842624,"max_tokens":16384)",
                                 R"("n":18446744073709551615,"max_tokens":1)"}) {
    EXPECT_EQ(ask("POST", "/v1/chat/completions",
                  fmt::format(R"({{"model":"m",{},"messages":[]}})", asks)),
              402u)
        << asks;
  }
  EXPECT_EQ(provider_.connections, 0);
}

// MP-65
TEST_F(ModelFrontTest, AResumedStreamIsAskedForFromItsStartInEverySpelling) {
  open();
  front_->replace(Settings{}, upstreams({"first"}, llm::Api::OpenAiResponses));
  obtain("response", "resp_1");
  answer_ = reply("200 OK", kJson, R"({"id":"resp_1","status":"completed","output":[]})");
  for (const char* const query : {"starting_after=6", "starting%5Fafter=6", "starting_after=%36"}) {
    provider_.heard.clear();
    EXPECT_EQ(ask("GET", fmt::format("/v1/responses/resp_1?{}&stream=true", query), ""), 200u);
    EXPECT_TRUE(provider_.heard.starts_with("GET /v1/responses/resp_1?stream=true HTTP")) << query;
  }
  const int before = provider_.connections;
  for (const char* const query :
       {"starting_after=+6", "starting_after=%20%36", "starting_after=", "starting_after",
        "starting_after[]=6", "x;starting_after=6", "starting_after=1&starting_after=2", "%zz=1"}) {
    EXPECT_EQ(ask("GET", fmt::format("/v1/responses/resp_1?{}", query), ""), 400u) << query;
  }
  EXPECT_EQ(provider_.connections, before);
}

// MP-72
TEST_F(ModelFrontTest, ARequestThatWasSentWholeIsNeverFree) {
  open({.budgets = {{.tokens = 100'000}}});
  answer_ = "";  // the connection ends
  EXPECT_EQ(ask(), 502u);
  EXPECT_EQ(recorded("/usage_source"), "estimated");
  EXPECT_NE(recorded("/usage/input_tokens"), "0");
}

// MP-72
TEST_F(ModelFrontTest, RoutesWithoutAnOutputStageCountWhatTheProviderReports) {
  open();
  front_->replace(Settings{}, upstreams({"first"}, llm::Api::OpenAiChat));
  answer_ = reply("200 OK", kJson,
                  "\n"
                  R"({"data":[],"usage":{"prompt_tokens":777}})");
  EXPECT_EQ(ask("POST", "/v1/embeddings", R"({"model":"m","input":[[1,2,3]]})"), 200u);
  EXPECT_EQ(recorded("/usage/input_tokens"), "777");
  EXPECT_EQ(recorded("/usage_source"), "reported");
  answer_ = reply("200 OK", kJson, R"({"data":[]})");
  EXPECT_EQ(ask("POST", "/v1/embeddings", R"({"model":"m","input":[[1,2,3]]})"), 200u);
  EXPECT_EQ(recorded("/usage/input_tokens"), "3");
  EXPECT_EQ(recorded("/usage_source"), "estimated");
}

// MP-81
TEST_F(ModelFrontTest, AnAnswerThatIsNotAJsonObjectIsNotCompleted) {
  open();
  const std::string html = "content-type: text/html\r\n";
  for (const std::string& answer : {reply("200 OK", kJson, ""), reply("200 OK", kJson, "{gar"),
                                    reply("200 OK", kJson, "[]"), reply("200 OK", html, "<p>")}) {
    answer_ = answer;
    for (const char* const path : {"/v1/messages", "/v1/messages/count_tokens"}) {
      front_->replace(Settings{}, upstreams({"first"}));  // with a closed circuit
      EXPECT_EQ(ask("POST", path), 502u) << path << answer;
      EXPECT_EQ(recorded("/outcome"), "failed");
    }
  }
}

// MP-25
TEST_F(ModelFrontTest, DeletingAPartOfAnObjectKeepsTheObject) {
  open();
  front_->replace(Settings{}, upstreams({"first"}, llm::Api::OpenAiChat, {"/v1/vector_stores"}));
  obtain("vector_store", "vs_1");
  answer_ = reply("200 OK", kJson, "{}");
  EXPECT_EQ(ask("DELETE", "/v1/vector_stores/vs_1/files/file_1", ""), 200u);
  EXPECT_TRUE(owns("vector_store", "vs_1"));
  EXPECT_EQ(ask("DELETE", "/v1/vector_stores/vs_1", ""), 200u);
  EXPECT_FALSE(owns("vector_store", "vs_1"));
}

// MP-25
TEST_F(ModelFrontTest, AFileThatAToolOfTheProviderMadeWorksForTheAgent) {
  open();
  obtain("file", "file_1");
  answer_ = reply(
      "200 OK", kJson,
      R"({"id":"msg_1","type":"message","role":"assistant","content":[{"type":"bash_code_execution_tool_result","tool_use_id":"s","content":{"content":[{"type":"bash_code_execution_output","file_id":"file_2"}]}}],"stop_reason":"end_turn"})");
  EXPECT_EQ(ask(), 200u);
  EXPECT_TRUE(owns("file", "file_2"));
}

// MP-1
TEST_F(ModelFrontTest, APathThatLooksLikeAGovernedRouteDoesNotPassUngoverned) {
  open();
  front_->replace(Settings{},
                  upstreams({"first"}, llm::Api::OpenAiChat, {"/v1/chat/completions", "/v1/Chat"}));
  for (const char* const path :
       {"/v1/chat/completions/", "/v1/chat/completions//", "/v1/Chat/Completions"}) {
    EXPECT_EQ(ask("POST", path), 404u) << path;
  }
  EXPECT_EQ(provider_.connections, 0);
}

// MP-3
TEST_F(ModelFrontTest, AnUpgradeIsRefusedOnPathsThatAreAnsweredHere) {
  open();
  more_headers_ = {{"upgrade", "websocket"}};
  EXPECT_EQ(ask("GET", "/v1/models", ""), 426u);
  EXPECT_EQ(recorded("/outcome"), "refused");
}

// MP-75, MP-81
TEST_F(ModelFrontTest, AnErrorWhoseBodyBreaksOffIsAFailureOfTheUpstream) {
  open();
  answer_ = "HTTP/1.1 429 Slow\r\ncontent-length: 100\r\n\r\n{\"error\":";
  EXPECT_EQ(ask(), 502u);
  EXPECT_NE(client_->response.body.find("cannot be read"), std::string::npos);
  EXPECT_EQ(recorded("/outcome"), "failed");
}

// MP-76
TEST_F(ModelFrontTest, AnswersThatBreakOffOpenTheCircuit) {
  open();
  answer_ = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(), 502u);
  EXPECT_EQ(ask(), 503u);
}

// MP-66
TEST_F(ModelFrontTest, AStreamForAClientThatCannotReadItReachesNoProvider) {
  open();
  can_stream_ = false;
  const std::string stream = R"({"model":"m","max_tokens":5,"stream":true,"messages":[]})";
  EXPECT_EQ(ask("POST", "/v1/messages", stream), 505u);
  EXPECT_EQ(provider_.connections, 0);
  EXPECT_EQ(recorded("/outcome"), "refused");
  EXPECT_EQ(client_->header("content-type"), "application/json");
}

}  // namespace
}  // namespace sallyport::proxy
