#include "agent/model/http_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>

#include "played_provider.h"
#include "stream_samples.h"
#include "support/test_clock.h"

namespace sallyport::agent {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using Kind = ProviderError::Kind;

constexpr const char* kKey = "a-key-of-the-test";

// Removes one word, as the real redactor removes secrets.
class WordRedactor final : public core::Redactor {
 public:
  std::vector<core::Removal> redact(std::string_view, json::value& value) const override {
    std::string text(value.as_string());
    if (const std::size_t at = text.find("hunter2"); at != std::string::npos) {
      text.replace(at, 7, "[REDACTED:word]");
    }
    value = text;
    return {};
  }
  bool redact_identifier(std::string&) const override { return false; }
};

struct Surroundings {
  WordRedactor redactor;
  test::TestClock clock;
  std::map<std::string, std::string> variables{{"THE_KEY", kKey}};

  ModelParts parts(boost::asio::any_io_executor executor) {
    return {.executor = std::move(executor),
            .redactor = redactor,
            .clock = clock,
            .variable = [this](const std::string& name) -> std::optional<std::string> {
              const auto found = variables.find(name);
              if (found == variables.end()) return std::nullopt;
              return found->second;
            }};
  }
};

ModelRequest hello() {
  ModelRequest request{.model = "m-1"};
  request.history = {{.content = json::array{json::object{{"type", "text"}, {"text", "Hello"}}}}};
  return request;
}

// The result of one request.
struct Asked {
  std::optional<ProviderError> refused{};  // it did not open
  Read read{};
  std::uint64_t bytes = 0;
  std::string request_id{};
};

Async<Asked> ask(Model& model, std::stop_token cancel = {}) {
  Asked asked;
  auto opened = co_await model.open(hello(), cancel);
  if (!opened) {
    asked.refused = opened.error();
    co_return asked;
  }
  while (true) {
    auto event = co_await (*opened)->next();
    if (!event) asked.read.error = event.error();
    if (!event || !*event) break;
    EXPECT_TRUE(asked.read.message.add(**event));
  }
  asked.bytes = (*opened)->bytes();
  asked.request_id = (*opened)->provider_request_id();
  co_return asked;
}

std::string streamed(std::string_view body, std::string_view more = {}) {
  return fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n{}\r\n{}",
      body.size(), more, body);
}

Play answering(std::string answer) {
  return [answer](Provided& provider, tcp::socket& socket) -> Async<void> {
    co_await hear(provider, socket, "\"stream\":true");
    co_await say(socket, answer);
  };
}

// Sends one request to a provider with this answer.
Asked asked_of(Provider provider, Play play, std::function<void(ModelParts&)> change = {},
               std::string* heard = nullptr) {
  Surroundings setup;
  Asked asked;
  beside_provider(play, [&](Provided& provided) -> Async<void> {
    ModelParts parts = setup.parts(provided.acceptor.get_executor());
    if (change) change(parts);
    auto model = open_model({.provider = provider,
                             .base_url = provided.url() + "/base/",
                             .model = "m-1",
                             .api_key_env = "THE_KEY"},
                            std::move(parts));
    EXPECT_TRUE(model) << model.error().message;
    asked = co_await ask(**model);
    EXPECT_EQ((*model)->credential(), kKey);
    EXPECT_EQ((*model)->upstream(), "127.0.0.1");
    if (heard != nullptr) *heard = provided.heard;
  });
  return asked;
}

// RT-13, RT-16
TEST(HttpModelTest, ChatCompletionsAreAskedForBelowTheBaseUrl) {
  std::string heard;
  const Asked asked = asked_of(
      Provider::OpenAi, answering(streamed(kChatStream, "x-request-id: r-1\r\n")), {}, &heard);
  ASSERT_FALSE(asked.refused);
  ASSERT_FALSE(asked.read.error);
  EXPECT_EQ(asked.read.message.calls().size(), 2u);
  EXPECT_EQ(asked.bytes, kChatStream.size());
  EXPECT_EQ(asked.request_id, "r-1");
  EXPECT_TRUE(heard.starts_with("POST /base/chat/completions HTTP/1.1\r\n")) << heard;
  EXPECT_THAT(heard, HasSubstr(fmt::format("authorization: Bearer {}\r\n", kKey)));
  EXPECT_THAT(heard, HasSubstr("\"stream_options\":{\"include_usage\":true}"));
  EXPECT_THAT(heard, Not(HasSubstr("x-api-key")));
}

// RT-14, RT-16
TEST(HttpModelTest, MessagesAreAskedForBelowTheBaseUrl) {
  std::string heard;
  const Asked asked =
      asked_of(Provider::Anthropic, answering(streamed(kAnthropicStream, "request-id: r-2\r\n")),
               {}, &heard);
  ASSERT_FALSE(asked.refused);
  ASSERT_FALSE(asked.read.error);
  EXPECT_EQ(asked.read.message.calls().size(), 2u);
  EXPECT_EQ(asked.request_id, "r-2");
  EXPECT_TRUE(heard.starts_with("POST /base/v1/messages HTTP/1.1\r\n")) << heard;
  EXPECT_THAT(heard, HasSubstr(fmt::format("x-api-key: {}\r\n", kKey)));
  EXPECT_THAT(heard, HasSubstr("anthropic-version: 2023-06-01\r\n"));
  EXPECT_THAT(heard, Not(HasSubstr("authorization")));
}

// EV-90, EV-94, RT-16
TEST(HttpModelTest, AnErrorStatusComesWithItsBodyAndItsRetryAfter) {
  const std::string body = fmt::format("key {} and hunter2 {}", kKey, std::string(9000, 'x'));
  const Asked asked = asked_of(
      Provider::OpenAi,
      answering(fmt::format("HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: {}\r\n\r\n{}",
                            body.size(), body)));
  ASSERT_TRUE(asked.refused);
  EXPECT_EQ(asked.refused->kind, Kind::Http);
  EXPECT_EQ(asked.refused->status, 429u);
  EXPECT_EQ(asked.refused->retry_after_ms, 7000u);
  EXPECT_EQ(asked.refused->body.size(), 4096u);
  EXPECT_THAT(asked.refused->body, HasSubstr("key [REDACTED:credential] and [REDACTED:word]"));
}

// EV-94, RT-16
TEST(HttpModelTest, AnErrorFrameShowsNeitherKeyNorSecrets) {
  const std::string frame =
      fmt::format("data: {{\"error\":{{\"type\":\"x\",\"message\":\"{} hunter2\"}}}}\n\n", kKey);
  const Asked asked = asked_of(Provider::OpenAi, answering(streamed(frame)));
  ASSERT_TRUE(asked.read.error);
  EXPECT_EQ(asked.read.error->message, "[REDACTED:credential] [REDACTED:word]");
}

// The record of the request had the key if the provider repeated it in the id of the request.
// RT-16
TEST(HttpModelTest, TheIdOfARequestDoesNotShowTheKey) {
  const Asked asked =
      asked_of(Provider::OpenAi,
               answering(streamed(kChatStream, fmt::format("x-request-id: r-{}\r\n", kKey))));
  EXPECT_EQ(asked.request_id, "r-[REDACTED:credential]");
}

// A redirect would send the key to another server.
TEST(HttpModelTest, RedirectsAreNotFollowed) {
  const Asked asked =
      asked_of(Provider::OpenAi,
               answering("HTTP/1.1 307 Go\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"));
  ASSERT_TRUE(asked.refused);
  EXPECT_EQ(asked.refused->status, 307u);
}

// EV-92
TEST(HttpModelTest, FaultsOfTheConnectionAreToldApart) {
  const auto kind_after = [](std::string answer) {
    const Asked asked = asked_of(Provider::OpenAi, answering(std::move(answer)));
    return asked.refused      ? asked.refused->kind
           : asked.read.error ? asked.read.error->kind
                              : Kind::Http;
  };
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
  // The connection closes before the head.
  EXPECT_EQ(kind_after(""), Kind::Transport);
  // Cut bodies.
  EXPECT_EQ(kind_after(head + "Content-Length: 90\r\n\r\ndata: {}\n\n"), Kind::Decode);
  EXPECT_EQ(kind_after(head + "Transfer-Encoding: chunked\r\n\r\n4\r\ndata\r\n"), Kind::Decode);
  // Broken codings.
  EXPECT_EQ(kind_after(head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), Kind::Decode);
  EXPECT_EQ(kind_after(head + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd"),
            Kind::Decode);
  EXPECT_EQ(kind_after(head + "Content-Encoding: rot13\r\nContent-Length: 4\r\n\r\nabcd"),
            Kind::Decode);
  // A body that ends normally, but too early.
  EXPECT_EQ(kind_after(streamed("data: {\"choices\":[]}\n\n")), Kind::MalformedStream);
  EXPECT_EQ(kind_after("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
                       "\r\n{}"),
            Kind::MalformedStream);
}

// EV-92
TEST(HttpModelTest, AnAddressWithoutAServerIsATransportFault) {
  Surroundings setup;
  const auto work = [&]() -> Async<bool> {
    const auto executor = co_await boost::asio::this_coro::executor;
    std::string url;
    {
      Provided gone(executor);
      url = gone.url();
    }
    auto model = open_model({.base_url = url}, setup.parts(executor));
    const Asked asked = co_await ask(**model);
    EXPECT_TRUE(asked.refused);
    EXPECT_EQ(asked.refused->kind, Kind::Transport);
    co_return true;
  };
  test::run_now(work());
}

Play silent_after(std::string answer) {
  return [answer](Provided& provider, tcp::socket& socket) -> Async<void> {
    co_await hear(provider, socket, "\"stream\":true");
    co_await say(socket, answer);
    co_await hear(provider, socket, "never");
  };
}

// RT-20, EV-92
TEST(HttpModelTest, SilenceAfterOpeningIsATransportFault) {
  const Asked asked =
      asked_of(Provider::OpenAi,
               silent_after("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ndata\r\n"),
               [](ModelParts& parts) { parts.silence = 50ms; });
  ASSERT_TRUE(asked.read.error);
  EXPECT_EQ(asked.read.error->kind, Kind::Transport);
  EXPECT_THAT(asked.read.error->message, HasSubstr("no byte"));
}

// RT-20
TEST(HttpModelTest, SixtySecondsAreTheDefaultOfSilence) {
  Surroundings setup;
  boost::asio::io_context loop;
  EXPECT_EQ(setup.parts(loop.get_executor()).silence, 60s);
}

// RT-74
TEST(HttpModelTest, ACancelEndsEveryWaitAtOnce) {
  for (const char* const before :
       {"", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ndata\r\n",
        "HTTP/1.1 503 Busy\r\nContent-Length: 10\r\n\r\nab"}) {
    std::stop_source cancel;
    Surroundings setup;
    const Play play = [&](Provided& provider, tcp::socket& socket) -> Async<void> {
      co_await hear(provider, socket, "\"stream\":true");
      co_await say(socket, before);
      // Called from another thread, as from a signal handler's thread.
      std::thread([&] { cancel.request_stop(); }).join();
      co_await hear(provider, socket, "never");
    };
    const auto begun = std::chrono::steady_clock::now();
    beside_provider(play, [&](Provided& provided) -> Async<void> {
      auto model = open_model({.provider = Provider::Anthropic, .base_url = provided.url()},
                              setup.parts(provided.acceptor.get_executor()));
      const Asked asked = co_await ask(**model, cancel.get_token());
      const auto& error = asked.refused ? asked.refused : asked.read.error;
      EXPECT_TRUE(error);
      EXPECT_EQ(error->kind, Kind::Transport) << before;
      EXPECT_EQ(error->message, kCancelled) << before;
      // A later request is not sent either.
      const int connections = provided.connections;
      EXPECT_TRUE((co_await ask(**model, cancel.get_token())).refused);
      EXPECT_EQ(provided.connections, connections);
    });
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s);
  }
}

// RT-16
TEST(HttpModelTest, TheKeyIsReadAtEachRequest) {
  Surroundings setup;
  beside_provider(answering("HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n"),
                  [&](Provided& provided) -> Async<void> {
                    auto model = open_model({.base_url = provided.url(), .api_key_env = "THE_KEY"},
                                            setup.parts(provided.acceptor.get_executor()));
                    setup.variables["THE_KEY"] = "another-key";
                    co_await ask(**model);
                    EXPECT_THAT(provided.heard, HasSubstr("Bearer another-key\r\n"));
                    EXPECT_THAT(provided.heard, Not(HasSubstr(kKey)));
                    setup.variables.clear();
                    const Asked asked = co_await ask(**model);
                    EXPECT_TRUE(asked.refused);
                    EXPECT_EQ(asked.refused->kind, Kind::InvalidRequest);
                    EXPECT_EQ(provided.connections, 1);
                  });
}

// RT-90
TEST(HttpModelTest, SettingsThatCannotWorkAreRefusedBeforeTheFirstRequest) {
  Surroundings setup;
  boost::asio::io_context loop;
  const auto refusal = [&](ModelSettings settings) {
    const auto model = open_model(settings, setup.parts(loop.get_executor()));
    return model ? std::string("opened") : model.error().message;
  };
  EXPECT_THAT(refusal({.api_key_env = "UNSET"}), HasSubstr("`UNSET`"));
  setup.variables["ODD"] = "two\nlines";
  EXPECT_THAT(refusal({.api_key_env = "ODD"}), HasSubstr("`ODD`"));
  EXPECT_THAT(refusal({.api_key_env = "ODD"}), Not(HasSubstr("lines")));
  for (const char* const url : {"ftp://host/v1", "host/v1", "file:///etc/passwd", "https://"}) {
    EXPECT_THAT(refusal({.base_url = url}), HasSubstr("`base_url`")) << url;
  }
  EXPECT_THAT(refusal({.base_url = "http://example.com/v1"}), HasSubstr("without encryption"));
  EXPECT_THAT(refusal({.base_url = "https://user:secret@host/"}), Not(HasSubstr("secret")));
  EXPECT_EQ(refusal({.base_url = "http://127.0.0.1:1/v1"}), "opened");
  EXPECT_EQ(refusal({.provider = Provider::Anthropic, .api_key_env = "THE_KEY"}), "opened");
  EXPECT_EQ(refusal({}), "opened");
}

}  // namespace
}  // namespace sallyport::agent
