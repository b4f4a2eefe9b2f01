// The HTTP front, with requests as values and conversations that answer by a function.
#include "mcp/client/http_front.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/entropy.h"
#include "fake_links.h"
#include "mcp/message/era.h"
#include "oauth/challenge.h"
#include "support/test_clock.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;
using Headers = std::vector<std::pair<std::string, std::string>>;

// One request and its response.
class FakeExchange final : public net::ServerExchange {
 public:
  explicit FakeExchange(net::ServerRequest request) : request_(std::move(request)) {}

  const net::ServerRequest& request() const override { return request_; }
  net::ServerRequest& head() { return request_; }
  void on_gone(std::function<void()> tell) override { tell_ = std::move(tell); }
  bool gone() const override { return gone_; }
  Async<bool> respond(net::ServerResponse given) override {
    response = std::move(given);
    co_return !gone_;
  }
  Async<bool> begin(net::ServerResponse given) override {
    response = std::move(given);
    streaming_ = true;
    co_return !gone_;
  }
  bool streaming() const override { return streaming_; }
  Async<bool> write(std::string piece) override {
    if (gone_ || refuses_writes) co_return false;
    stream += piece;
    co_return true;
  }
  void go() {
    gone_ = true;
    if (tell_) tell_();
  }
  std::string header(std::string_view name) const {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return {};
  }
  bool hears(std::string_view text) const { return stream.find(text) != std::string::npos; }

  net::ServerResponse response{.status = 0};
  std::string stream;
  bool done = false;
  bool refuses_writes = false;

 private:
  net::ServerRequest request_;
  std::function<void()> tell_;
  bool gone_ = false;
  bool streaming_ = false;
};

// Answers `initialize` with the version it is asked for, and other requests with their method.
class FakeConversation final : public Conversation {
 public:
  explicit FakeConversation(std::unique_ptr<ClientLink> client) : link(std::move(client)) {}

  Task<void> run() override {
    while (std::optional<net::Line> line = co_await link->next()) {
      heard.push_back(line->text);
      const Result<Message> message = Message::read(line->text, {});
      if (!message || message->kind != Message::Kind::Request) continue;
      answer(*message);
    }
    link->close();
    ended = true;
    co_return Result<void>{};
  }
  void stop() override {
    ++stops;
    link->hang_up();
  }
  bool holds_calls() const override { return holds; }
  bool quiet() const override { return true; }

  bool heard_of(std::string_view text) const {
    return std::ranges::any_of(
        heard, [&](const std::string& one) { return one.find(text) != std::string::npos; });
  }

  std::unique_ptr<ClientLink> link;
  std::vector<std::string> heard;
  int stops = 0;
  bool holds = false;
  bool ended = false;

 private:
  void answer(const Message& message) {
    if (message.method == "initialize") {
      const auto version = find(message.text, {"params", "protocolVersion"});
      if (!version) {
        link->send(error_text(message.id, kInvalidParams, "no version"), {});
      } else {
        link->send(result_text(message.id, fmt::format("{{\"protocolVersion\":{}}}", *version)),
                   {});
      }
    } else if (message.method == "note") {
      link->send(notification_text("notifications/message", "{\n\"n\":\r1}"), message.id);
      link->send(result_text(message.id, "\"noted\""), {});
    } else if (message.method == "missing") {
      link->send(error_text(message.id, kMethodNotFound, "no"), {});
    } else if (message.method != "wait") {
      link->send(result_text(message.id, json_quoted(message.method)), {});
    }
  }
};

class HttpFrontTest : public testing::Test {
 protected:
  using Ptr = std::shared_ptr<FakeExchange>;  // shared with its handler

  HttpFront& front() {
    if (!front_) {
      front_.emplace(
          loop.get_executor(),
          HttpFront::Parts{
              .clock = clock,
              .entropy = entropy_,
              .open =
                  [this](const HttpFront::Caller& caller, std::unique_ptr<ClientLink> link) {
                    callers.push_back(caller);
                    talks.push_back(std::make_shared<FakeConversation>(std::move(link)));
                    return talks.back();
                  },
              .authenticate = [this](const net::ServerRequest& head) { return authenticate(head); },
              .policy = [this] { return policy; },
              .log = [](std::string_view) {}},
          settings);
    }
    return *front_;
  }

  // Begins an exchange, as the server does.
  Ptr begin(std::string method, Headers headers, std::string body = {}) {
    headers.emplace_back("content-type", "application/json");
    auto exchange = std::make_shared<FakeExchange>(net::ServerRequest{
        .method = std::move(method), .headers = std::move(headers), .body = std::move(body)});
    boost::asio::co_spawn(loop, serve(exchange), boost::asio::detached);
    return exchange;
  }
  Ptr finish(Ptr exchange) {
    EXPECT_TRUE(test::run_until(loop, [&] { return exchange->done; }));
    return exchange;
  }
  Ptr post(Headers headers, std::string body) {
    return finish(begin("POST", std::move(headers), std::move(body)));
  }
  Ptr open(std::string version = "2025-06-18", std::string user = "ann") {
    return post(
        {{"x-user", std::move(user)}},
        request_text("1", "initialize", fmt::format("{{\"protocolVersion\":\"{}\"}}", version)));
  }
  static Headers in(const Ptr& opened, Headers more = {}) {
    more.emplace_back("mcp-session-id", opened->header("mcp-session-id"));
    more.emplace_back("x-user", opened->request().principal);
    return more;
  }
  static Headers modern(std::string method, Headers more = {}) {
    more.emplace_back("x-user", "ann");
    more.emplace_back("mcp-protocol-version", kModernVersion);
    more.emplace_back("mcp-method", std::move(method));
    return more;
  }
  static std::string modern_text(std::string_view id, std::string_view method) {
    return request_text(id, method,
                        fmt::format(R"({{"_meta":{{"{}":"{}","{}":{{}},"progressToken":"mine"}}}})",
                                    kMetaVersion, kModernVersion, kMetaCapabilities));
  }
  // Runs until only waiting work is left.
  void settle() {
    do {
      loop.restart();
    } while (loop.poll() > 0);
  }
  // The sweep that `run` begins with.
  void sweep() {
    boost::asio::co_spawn(loop, front().run(), [this](std::exception_ptr) { ended = true; });
    settle();
  }

  boost::asio::io_context loop;
  sallyport::test::TestClock clock;
  HttpFront::Settings settings{.metadata = "https://here/meta"};
  std::string policy = "p1";
  std::vector<std::shared_ptr<FakeConversation>> talks;  // shared with the front
  std::vector<HttpFront::Caller> callers;
  std::optional<Error> no_entry;
  bool ended = false;

 private:
  Async<void> serve(Ptr exchange) {
    std::optional<net::ServerResponse> refused = co_await front().refuse(exchange->head());
    if (refused) {
      exchange->response = std::move(*refused);
    } else {
      co_await front().handle(*exchange);
    }
    exchange->done = true;
  }
  Task<std::string> authenticate(const net::ServerRequest& head) {
    if (no_entry) co_return std::unexpected(*no_entry);
    co_return std::string(head.header("x-user").value_or(""));
  }

  SystemEntropy entropy_;
  std::optional<HttpFront> front_;
};

TEST_F(HttpFrontTest, ASessionServesItsOwnerUntilItIsEnded) {
  const Ptr opened = open();
  EXPECT_EQ(opened->response.status, 200u);
  EXPECT_EQ(opened->header("mcp-session-id").size(), 64u);
  EXPECT_EQ(find(opened->response.body, {"result", "protocolVersion"}), "\"2025-06-18\"");
  EXPECT_EQ(front().open_sessions(), 1u);
  EXPECT_EQ(callers.at(0).principal, "ann");
  EXPECT_FALSE(callers.at(0).shared);
  EXPECT_TRUE(callers.at(0).session_id.starts_with("http-"));

  const Ptr listed = post(in(opened), request_text("2", "tools/list", "{}"));
  EXPECT_EQ(listed->response.status, 200u);
  EXPECT_EQ(find(listed->response.body, {"result"}), "\"tools/list\"");
  EXPECT_FALSE(listed->streaming());
  EXPECT_EQ(post(in(opened), notification_text("notifications/x", "{}"))->response.status, 202u);
  EXPECT_TRUE(talks.at(0)->heard_of("notifications/x"));

  Headers stolen = in(opened);
  stolen.back().second = "bob";
  EXPECT_EQ(post(stolen, request_text("3", "ping", ""))->response.status, 404u);
  EXPECT_EQ(finish(begin("DELETE", stolen))->response.status, 404u);
  const Ptr nowhere = post({{"x-user", "ann"}}, request_text("4", "ping", ""));
  EXPECT_EQ(nowhere->response.status, 400u);
  EXPECT_TRUE(find(nowhere->response.body, {"error", "data", "supported"}));
  EXPECT_EQ(
      post(in(opened, {{"mcp-protocol-version", "1999-01-01"}}), request_text("5", "ping", ""))
          ->response.status,
      400u);
  EXPECT_EQ(
      post(in(opened, {{"mcp-protocol-version", "2025-06-18"}}), request_text("5", "ping", ""))
          ->response.status,
      200u);

  EXPECT_EQ(finish(begin("DELETE", in(opened)))->response.status, 204u);
  EXPECT_EQ(talks.at(0)->stops, 1);
  EXPECT_EQ(front().open_sessions(), 0u);
  EXPECT_EQ(post(in(opened), request_text("6", "ping", ""))->response.status, 404u);
}

TEST_F(HttpFrontTest, ARequestIsLookedAtBeforeItsBody) {
  const Headers ann{{"x-user", "ann"}};
  const Ptr put = finish(begin("PUT", ann));
  EXPECT_EQ(put->response.status, 405u);
  EXPECT_EQ(put->header("allow"), "POST");
  for (const std::string method : {"GET", "DELETE"}) {
    EXPECT_EQ(finish(begin(method, ann))->response.status, 405u) << "no session is named";
  }
  const std::pair<Headers, bool> kTypes[] = {
      {{{"content-type", "application/json"}}, true},
      {{{"content-type", "application/json; charset=utf-8"}}, true},
      {{{"content-type", "Application/JSON;charset=UTF-8"}}, true},
      {{{"content-type", "text/plain"}}, false},
      {{{"content-type", "text/plain; application/json"}}, false},
      {{}, false},
  };
  for (const auto& [headers, taken] : kTypes) {
    net::ServerRequest head{.method = "POST", .headers = headers};
    head.headers.emplace_back("x-user", "ann");
    std::optional<std::optional<net::ServerResponse>> refused;
    boost::asio::co_spawn(loop, front().refuse(head),
                          [&](std::exception_ptr, auto given) { refused = std::move(given); });
    ASSERT_TRUE(test::run_until(loop, [&] { return refused.has_value(); }));
    EXPECT_EQ(!*refused, taken) << (headers.empty() ? "none" : headers[0].second);
    if (*refused) EXPECT_EQ((*refused)->status, 415u);
    EXPECT_EQ(head.principal, "ann");
  }
  EXPECT_EQ(post({{"x-user", ""}}, request_text("1", "ping", ""))->response.status, 503u);
}

TEST_F(HttpFrontTest, AClientWithoutEntryLearnsWhatToDo) {
  settings.scope = "gate";
  no_entry = Error{ErrorCode::Unauthenticated, "who are you", {}, {}};
  const Ptr unknown = post({}, "{}");
  EXPECT_EQ(unknown->response.status, 401u);
  EXPECT_EQ(unknown->header("www-authenticate"),
            "Bearer resource_metadata=\"https://here/meta\", scope=\"gate\"");
  const Ptr wrong = post({{"authorization", "Bearer x"}}, "{}");
  EXPECT_NE(wrong->header("www-authenticate").find("error=\"invalid_token\""), std::string::npos);
  no_entry->cause = oauth::kInsufficientScope;
  const Ptr narrow = post({{"authorization", "Bearer x"}}, "{}");
  EXPECT_EQ(narrow->response.status, 403u);
  EXPECT_NE(narrow->header("www-authenticate").find("error=\"insufficient_scope\""),
            std::string::npos);
  no_entry = Error{ErrorCode::Unavailable, "later", {}, {}};
  const Ptr later = post({}, "{}");
  EXPECT_EQ(later->response.status, 503u);
  EXPECT_EQ(later->header("retry-after"), "5");
  EXPECT_EQ(later->header("www-authenticate"), "");
}

TEST_F(HttpFrontTest, WithoutAScopeTheChallengeNamesNone) {
  no_entry = Error{ErrorCode::Unauthenticated, "who are you", {}, {}};
  EXPECT_EQ(post({}, "{}")->header("www-authenticate"),
            "Bearer resource_metadata=\"https://here/meta\"");
}

TEST_F(HttpFrontTest, WhatIsNoMessageIsRefusedByItsFault) {
  settings.limits.frame_bytes = 200;
  const Headers ann{{"x-user", "ann"}};
  EXPECT_EQ(post(ann, "{")->response.status, 400u);
  EXPECT_EQ(post(ann, "{}")->response.status, 400u);
  EXPECT_EQ(
      post(ann, request_text("1", "ping", '"' + std::string(300, 'x') + '"'))->response.status,
      413u);
  const Ptr opened = open("2025-03-26");
  EXPECT_EQ(post(in(opened), "[" + std::string(300, ' ') + "]")->response.status, 413u);
  EXPECT_EQ(post(in(opened), "[{]")->response.status, 400u);
}

TEST_F(HttpFrontTest, AnOpeningThatFailsLeavesNoSession) {
  const Ptr failed = post({{"x-user", "ann"}}, request_text("1", "initialize", "{}"));
  EXPECT_EQ(failed->response.status, 200u);
  EXPECT_TRUE(find(failed->response.body, {"error"}));
  EXPECT_EQ(front().open_sessions(), 0u);
  EXPECT_EQ(talks.at(0)->stops, 1);
  EXPECT_EQ(post(in(failed), request_text("2", "ping", ""))->response.status, 404u);
  // A notification of that name opens no session.
  EXPECT_EQ(post({{"x-user", "ann"}}, notification_text("initialize", "{}"))->response.status,
            400u);
  EXPECT_EQ(talks.size(), 1u);
}

TEST_F(HttpFrontTest, OnlyAnIdleSessionOfItsOwnMakesRoomForAPrincipal) {
  settings.front.sessions = 2;
  settings.front.sessions_each = 2;
  const Ptr first = open("2025-06-18", "ann");
  clock.advance(1s);
  const Ptr second = open("2025-06-18", "ann");
  const Ptr full = open("2025-06-18", "ann");
  EXPECT_EQ(full->response.status, 503u);
  EXPECT_EQ(full->header("retry-after"), "5");
  EXPECT_EQ(find(full->response.body, {"error", "code"}), std::to_string(kTooMuch));
  clock.advance(settings.front.evictable);
  EXPECT_EQ(open("2025-06-18", "bob")->response.status, 503u) << "the sessions are of another";
  talks.at(0)->holds = true;
  EXPECT_EQ(open("2025-06-18", "ann")->response.status, 200u) << "the second may go";
  EXPECT_EQ(talks.at(0)->stops, 0);
  EXPECT_EQ(talks.at(1)->stops, 1);
  EXPECT_EQ(front().open_sessions(), 2u);
  clock.advance(settings.front.evictable);
  talks.at(0)->holds = false;
  EXPECT_EQ(open("2025-06-18", "ann")->response.status, 200u);
  EXPECT_EQ(talks.at(0)->stops, 1) << "the one that was idle longest";
}

TEST_F(HttpFrontTest, APrincipalHasItsShareOfTheSessions) {
  settings.front.sessions = 3;
  settings.front.sessions_each = 1;
  EXPECT_EQ(open("2025-06-18", "ann")->response.status, 200u);
  EXPECT_EQ(open("2025-06-18", "ann")->response.status, 503u);
  EXPECT_EQ(open("2025-06-18", "bob")->response.status, 200u);
  EXPECT_EQ(front().open_sessions(), 2u);
}

TEST_F(HttpFrontTest, AnUnusedSessionEndsAfterItsTime) {
  const Ptr opened = open();
  const Ptr held = open();
  talks.at(1)->holds = true;
  clock.advance(settings.front.idle);
  sweep();
  EXPECT_EQ(front().open_sessions(), 2u);
  front().stop();
  EXPECT_TRUE(test::run_until(loop, [&] { return ended; }));
  EXPECT_TRUE(talks.at(0)->ended);
  EXPECT_TRUE(talks.at(1)->ended);
}

TEST_F(HttpFrontTest, AnUnusedSessionIsGoneAfterMoreThanItsTime) {
  const Ptr opened = open();
  const Ptr held = open();
  const Ptr stateless = post(modern("ping"), modern_text("1", "ping"));
  EXPECT_EQ(front().open_sessions(), 3u);
  talks.at(1)->holds = true;
  clock.advance(settings.front.idle + 1ms);
  sweep();
  EXPECT_EQ(front().open_sessions(), 1u);
  EXPECT_EQ(talks.at(0)->stops, 1);
  EXPECT_EQ(talks.at(1)->stops, 0);
  EXPECT_EQ(talks.at(2)->stops, 1);
  front().stop();
  EXPECT_EQ(open()->response.status, 503u);
  EXPECT_TRUE(test::run_until(loop, [&] { return ended; }));
}

TEST_F(HttpFrontTest, WhatComesBeforeTheAnswerMakesItAStream) {
  const Ptr old = open("2025-06-18");
  const Ptr noted = post(in(old), request_text("2", "note", "{}"));
  EXPECT_EQ(noted->header("content-type"), kEventStream);
  EXPECT_TRUE(noted->stream.starts_with("event: message\nid: 2-1\ndata: {")) << noted->stream;
  EXPECT_TRUE(noted->hears("\"params\":{ \"n\": 1}")) << "line ends would end the event";
  EXPECT_TRUE(noted->hears("id: 2-2\n"));
  EXPECT_TRUE(noted->hears("\"noted\""));
  const Ptr opened = open("2025-11-25");
  const Ptr primed = post(in(opened), request_text("2", "note", "{}"));
  // It named the place after the first message, which a client that came back then never got.
  EXPECT_TRUE(primed->stream.starts_with("id: 2-0\ndata: \n\nevent: message\nid: 2-1\n"));
  const Ptr plain =
      post(in(opened, {{"accept", "application/json"}}), request_text("3", "note", "{}"));
  EXPECT_FALSE(plain->streaming());
  EXPECT_EQ(find(plain->response.body, {"result"}), "\"noted\"");
}

TEST_F(HttpFrontTest, AnAnswerThatIsNotThereYetIsStreamedWithSignsOfLife) {
  settings.front.answer_wait = 1ms;
  settings.front.keep_alive = 1ms;
  const Ptr opened = open();
  const Ptr waiting = begin("POST", in(opened), request_text("2", "wait", "{}"));
  EXPECT_TRUE(test::run_until(loop, [&] { return waiting->hears(":\n\n:\n\n"); }));
  EXPECT_FALSE(waiting->done);
  talks.at(0)->link->send(result_text("2", "\"late\""), {});
  finish(waiting);
  EXPECT_TRUE(waiting->hears("\"late\""));
  // A client that reads no streams waits.
  const Ptr patient =
      begin("POST", in(opened, {{"accept", "application/json"}}), request_text("3", "wait", "{}"));
  settle();
  EXPECT_FALSE(patient->streaming());
  talks.at(0)->link->send(result_text("3", "\"late\""), {});
  EXPECT_EQ(find(finish(patient)->response.body, {"result"}), "\"late\"");
  const Ptr cut = begin("POST", in(opened), request_text("4", "wait", "{}"));
  EXPECT_TRUE(test::run_until(loop, [&] { return cut->hears(":\n\n"); }));
  talks.at(0)->stop();
  EXPECT_TRUE(finish(cut)->hears("the session has ended")) << "a stream ended without an answer";
}

TEST_F(HttpFrontTest, ARequestOfASessionThatEndsIsToldSo) {
  const Ptr opened = open();
  const Ptr waiting = begin("POST", in(opened), request_text("2", "wait", "{}"));
  settle();
  EXPECT_EQ(post(in(opened), request_text("2", "ping", ""))->response.status, 400u)
      << "the id is in use";
  talks.at(0)->stop();
  EXPECT_EQ(finish(waiting)->response.status, 503u);
  EXPECT_EQ(find(waiting->response.body, {"id"}), "2");
}

TEST_F(HttpFrontTest, ACancelledRequestEndsWithAnEmptyStream) {
  const Ptr opened = open();
  const Ptr waiting = begin("POST", in(opened), request_text("2", "wait", "{}"));
  settle();
  post(in(opened), notification_text("notifications/cancelled", "{\"requestId\":2}"));
  finish(waiting);
  EXPECT_TRUE(waiting->streaming());
  EXPECT_EQ(waiting->stream, "");
}

TEST_F(HttpFrontTest, TheStreamOfASessionIsReadByOneAtATime) {
  const Ptr opened = open();
  const Headers reads = in(opened, {{"accept", "text/event-stream"}});
  EXPECT_EQ(finish(begin("GET", in(opened, {{"accept", "application/json"}})))->response.status,
            406u);
  EXPECT_EQ(finish(begin("GET", in(opened, {{"mcp-protocol-version", "1"}})))->response.status,
            400u);
  Headers stolen = reads;
  stolen.back().second = "bob";
  EXPECT_EQ(finish(begin("GET", stolen))->response.status, 404u);
  const Ptr standing = begin("GET", reads);
  settle();
  EXPECT_EQ(finish(begin("GET", reads))->response.status, 409u);
  talks.at(0)->link->send(notification_text("notifications/a", "{}"), {});
  EXPECT_TRUE(test::run_until(loop, [&] { return standing->hears("notifications/a"); }));
  EXPECT_TRUE(standing->hears("id: 0-1\n"));
  standing->go();
  finish(standing);
  talks.at(0)->link->send(notification_text("notifications/b", "{}"), {});
  const Ptr back = begin("GET", in(opened, {{"last-event-id", "0-0"}}));
  EXPECT_TRUE(test::run_until(loop, [&] { return back->hears("notifications/b"); }));
  EXPECT_TRUE(back->hears("notifications/a")) << "what it says it has not heard is told again";
  back->go();
  finish(back);
  policy = "p2";
  const Ptr after = begin("GET", in(opened, {{"last-event-id", "0-0"}}));
  talks.at(0)->link->send(notification_text("notifications/c", "{}"), {});
  EXPECT_TRUE(test::run_until(loop, [&] { return after->hears("notifications/c"); }));
  EXPECT_FALSE(after->hears("notifications/a")) << "under another policy nothing is told again";
  after->go();
  finish(after);
}

TEST_F(HttpFrontTest, AClientThatLostAStreamHearsTheRestOfIt) {
  const Ptr opened = open();
  const Ptr noted = post(in(opened), request_text("2", "note", "{}"));
  const auto again = [&](std::string last) {
    return finish(begin("GET", in(opened, {{"last-event-id", std::move(last)}})));
  };
  const Ptr rest = again("2-1");
  EXPECT_FALSE(rest->hears("id: 2-1\n"));
  EXPECT_TRUE(rest->hears("id: 2-2\n"));
  EXPECT_TRUE(again("2-0")->hears("id: 2-1\n"));
  EXPECT_TRUE(again("2-2")->done) << "a stream whose answer was delivered stayed open";
  // 404 would say that the session has ended.
  for (const char* const unknown : {"77-0", "two", "2-1garbage", "2--1", "2-", "-2-1", " 2-1"}) {
    EXPECT_EQ(again(unknown)->response.status, 400u) << unknown;
  }
  policy = "p2";
  EXPECT_EQ(again("2-1")->response.status, 400u) << "it was said under another policy";
}

TEST_F(HttpFrontTest, WhatCouldNotBeWrittenIsThereForAClientThatComesBack) {
  const Ptr opened = open();
  const Ptr lost = begin("POST", in(opened), request_text("2", "note", "{}"));
  lost->refuses_writes = true;
  finish(lost);
  EXPECT_EQ(lost->stream, "");
  const Ptr back = begin("GET", in(opened, {{"last-event-id", "2-0"}}));
  finish(back);
  EXPECT_TRUE(back->hears("id: 2-1\n"));
  EXPECT_TRUE(back->hears("\"noted\""));
}

TEST_F(HttpFrontTest, BatchesBelongToOneRevision) {
  const Ptr opened = open("2025-03-26");
  const std::string batch = "[" + request_text("2", "ping", "") + "," +
                            notification_text("notifications/x", "{}") + "," +
                            request_text("3", "note", "{}") + ",{\"no\":1}]";
  const Ptr answered = post(in(opened), batch);
  EXPECT_EQ(answered->header("content-type"), kEventStream);
  EXPECT_TRUE(answered->hears("\"ping\""));
  EXPECT_TRUE(answered->hears("\"noted\""));
  EXPECT_TRUE(answered->hears("this is not a request"));
  EXPECT_FALSE(answered->hears("id: ")) << answered->stream;
  EXPECT_TRUE(talks.at(0)->heard_of("notifications/x"));
  EXPECT_EQ(post(in(opened), "[" + notification_text("x", "{}") + "]")->response.status, 202u);
  EXPECT_EQ(post(in(opened), "[]")->response.status, 400u);
  const auto of = [&](int count) {
    std::string all = notification_text("x", "{}");
    for (int i = 1; i < count; ++i) all += "," + notification_text("x", "{}");
    return "[" + all + "]";
  };
  EXPECT_EQ(post(in(opened), of(256))->response.status, 202u);
  EXPECT_EQ(post(in(opened), of(257))->response.status, 400u);
  EXPECT_EQ(post(in(open("2025-06-18")), batch)->response.status, 400u);
  EXPECT_EQ(post({{"x-user", "ann"}}, batch)->response.status, 400u);
  finish(begin("DELETE", in(opened)));
  EXPECT_EQ(post(in(opened), batch)->response.status, 404u) << "the session has ended";
}

TEST_F(HttpFrontTest, StatelessRequestsOfAPrincipalShareAConversation) {
  const Ptr first = post(modern("ping"), modern_text("7", "ping"));
  EXPECT_EQ(first->response.status, 200u);
  EXPECT_EQ(find(first->response.body, {"id"}), "7");
  EXPECT_EQ(first->header("mcp-session-id"), "");
  EXPECT_EQ(find(post(modern("ping"), modern_text("\"x\"", "ping"))->response.body, {"id"}),
            "\"x\"");
  EXPECT_EQ(talks.size(), 1u);
  EXPECT_TRUE(callers.at(0).shared);
  EXPECT_EQ(post(modern("missing"), modern_text("8", "missing"))->response.status, 404u);
  EXPECT_EQ(post(modern("other"), modern_text("9", "ping"))->response.status, 400u);
  EXPECT_EQ(post(modern("x"), notification_text("x", "{}"))->response.status, 202u);
  const Ptr noted = post(modern("note"), modern_text("10", "note"));
  EXPECT_TRUE(noted->hears("\"noted\""));
  EXPECT_FALSE(noted->hears("id: ")) << "no stream of a stateless client goes on";
}

TEST_F(HttpFrontTest, AStatelessClientCancelsByClosing) {
  const Ptr waiting = begin("POST", modern("wait"), modern_text("7", "wait"));
  settle();
  EXPECT_FALSE(talks.at(0)->heard_of("notifications/cancelled"));
  waiting->go();
  finish(waiting);
  EXPECT_TRUE(
      test::run_until(loop, [&] { return talks.at(0)->heard_of("notifications/cancelled"); }));
  // A client of the session era names itself, and may reconnect.
  const Ptr opened = open();
  const Ptr legacy = begin("POST", in(opened), request_text("2", "wait", "{}"));
  settle();
  legacy->go();
  finish(legacy);
  settle();
  EXPECT_FALSE(talks.at(1)->heard_of("notifications/cancelled"));
  const Ptr answered = post(modern("ping"), modern_text("8", "ping"));
  EXPECT_EQ(talks.at(0)->heard.size(), 3u) << "an answered request is not cancelled";
}

}  // namespace
}  // namespace sallyport::mcp
