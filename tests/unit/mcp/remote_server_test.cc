// The requests to a remote tool server, and the interpretation of its answers.
#include "core/call/upstream.h"
#include "played_remote.h"

namespace sallyport::mcp {
namespace {

using namespace std::chrono_literals;
using net::ServerRequest;
using net::ServerResponse;
using test::FakeCredentials;
using test::KeptReply;
using test::RemoteServerTest;

TEST_F(RemoteServerTest, ASessionIsNamedFromItsOpeningToItsEnd) {
  open();
  EXPECT_EQ(heard.started, std::vector<bool>{false});
  ASSERT_TRUE(until([&] { return played.times("POST", "notifications/initialized") == 1; }));
  const ServerRequest opening = played.last("POST", "\"initialize\"");
  EXPECT_EQ(head(opening, "mcp-session-id"), "(none)");
  EXPECT_EQ(head(opening, "authorization"), "Bearer ours");
  EXPECT_EQ(head(opening, "accept"), "application/json, text/event-stream");
  EXPECT_EQ(head(opening, "content-type"), "application/json");
  const Response reply = ask("tools/list");
  ASSERT_TRUE(reply.message);
  EXPECT_EQ(reply.message->result_text(), "\"fine\"");
  const ServerRequest& listed = played.last("POST", "tools/list");
  EXPECT_EQ(head(listed, "mcp-session-id"), "s1");
  EXPECT_EQ(head(listed, "mcp-protocol-version"), "2025-06-18");
  EXPECT_EQ(head(listed, "mcp-method"), "(none)");
  ASSERT_TRUE(until([&] { return played.times("GET") == 1; }));
  end();
  EXPECT_EQ(head(played.last("DELETE"), "mcp-session-id"), "s1");
  EXPECT_EQ(played.times("GET"), 1u) << "a server that has no stream is not asked again";
  EXPECT_EQ(heard.ended.size(), 1u);
}

TEST_F(RemoteServerTest, AServerThatNamesNoSessionIsNotToldOfItsEnd) {
  played.answer = [](const ServerRequest& request) {
    const auto id = find(request.body, {"id"});
    return id ? ServerResponse::json(200, result_text(*id, "{}")) : ServerResponse{.status = 202};
  };
  open();
  EXPECT_TRUE(ask("ping").message);
  EXPECT_EQ(head(played.last("POST", "ping"), "mcp-session-id"), "(none)");
  EXPECT_EQ(head(played.last("POST", "ping"), "mcp-protocol-version"), kLegacyVersion);
  end();
  EXPECT_EQ(played.times("DELETE"), 0u);
}

TEST_F(RemoteServerTest, TheStreamOfASessionIsHeardAndAskedForAgain) {
  played.answer = [this](const ServerRequest& request) {
    if (request.method != "GET") return session(request);
    if (played.times("GET") == 1) {
      return stream("id: e7\n" + event(notification_text("notifications/a", "{}")) +
                    event(request_text("\"q\"", "sampling/createMessage", "{}")) +
                    event(result_text("99", "{}")) + event("nothing") + "data:\n\n");
    }
    return hanging(event(notification_text("notifications/b", "{}")));
  };
  open();
  ASSERT_TRUE(until([&] { return heard.told.size() == 2; }));
  EXPECT_EQ(heard.told, (std::vector<std::string>{"notifications/a", "notifications/b"}));
  EXPECT_EQ(heard.asked, std::vector<std::string>{"sampling/createMessage"});
  EXPECT_EQ(head(played.requests[2], "last-event-id"), "(none)");
  EXPECT_EQ(head(played.last("GET"), "last-event-id"), "e7");
  EXPECT_NE(log.find("an answer to no open request: `99`"), std::string::npos) << log;
  EXPECT_NE(log.find("something that is not a message: `nothing`"), std::string::npos) << log;
}

TEST_F(RemoteServerTest, AStreamThatIsRefusedForNowIsAskedForAgain) {
  played.answer = [this](const ServerRequest& request) {
    if (request.method != "GET") return session(request);
    if (played.times("GET") < 3) return ServerResponse{.status = 503};
    return played.times("GET") == 3 ? ServerResponse{.status = 403} : hanging();
  };
  open();
  ASSERT_TRUE(until([&] { return played.times("GET") == 3; }));
  EXPECT_TRUE(ask("ping").message);
  EXPECT_EQ(played.times("GET"), 3u) << "a no is a no";
}

TEST_F(RemoteServerTest, AnAnswerIsTakenFromItsOwnRequestOnly) {
  open();
  const struct {
    std::function<ServerResponse(const std::string& id)> answer;
    std::string message, malformed, error;
  } kCases[] = {
      {[](const std::string& id) { return ServerResponse::json(200, result_text(id, "1")); }, "1",
       "", ""},
      {[](const std::string& id) {
         return stream(event(notification_text("notifications/p", "{}")) + "data:\n\n" +
                       event(result_text("7777", "2")) + event(result_text(id, "1")));
       },
       "1", "", ""},
      {[](const std::string& id) {
         return ServerResponse::json(200, "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",");
       },
       "", "\"id\":", ""},
      {[](const std::string&) { return ServerResponse::json(200, "gibberish"); }, "", "gibberish",
       ""},
      {[](const std::string& id) {
         return stream(event("{\"jsonrpc\":\"2.0\",\"id\":" + id + ","));
       },
       "", "\"id\":", ""},
      {[](const std::string&) { return ServerResponse{.status = 202}; }, "", "",
       "the server gave no answer (HTTP 202)"},
      {[](const std::string&) { return ServerResponse{.status = 500}; }, "", "",
       "the server answered with HTTP 500"},
      {[](const std::string&) { return ServerResponse{.status = 401}; }, "", "", "--bearer-env"},
      {[](const std::string&) { return ServerResponse{.status = 403}; }, "", "", "--bearer-env"},
      {[](const std::string& id) {
         return ServerResponse::json(400, error_text(id, kInvalidParams, "wrong"));
       },
       "", "", "wrong"},
      {[](const std::string&) {
         return ServerResponse::json(500, error_text("", kInvalidParams, "wrong"));
       },
       "", "", "wrong"},
      {[](const std::string&) {
         return ServerResponse::json(400, error_text("777", kInvalidParams, "wrong"));
       },
       "", "", "the server answered with HTTP 400"},
      {[](const std::string& id) { return ServerResponse::json(500, result_text(id, "1")); }, "",
       "", "the server answered with HTTP 500"},
      {[](const std::string&) { return stream(event(notification_text("x", "{}"))); }, "", "",
       "the server ended its stream before it answered"},
  };
  for (std::size_t i = 0; i < std::size(kCases); ++i) {
    const auto& expected = kCases[i];
    played.answer = [&](const ServerRequest& request) {
      if (request.body.find("\"it\"") == std::string::npos) return session(request);
      return expected.answer(std::string(*find(request.body, {"id"})));
    };
    const Response reply = ask("it");
    if (!expected.malformed.empty()) {
      ASSERT_TRUE(reply.malformed) << i;
      EXPECT_NE(reply.malformed->find(expected.malformed), std::string::npos) << i;
    } else if (!expected.message.empty()) {
      ASSERT_TRUE(reply.message) << i << reply.error.message;
      EXPECT_EQ(reply.message->result_text(), expected.message) << i;
    } else if (reply.message) {
      EXPECT_TRUE(reply.message->is_error()) << i;
      EXPECT_EQ(reply.message->id, std::to_string(last_id)) << i;
      EXPECT_NE(reply.message->text.find(expected.error), std::string::npos) << i;
    } else {
      EXPECT_NE(reply.error.message.find(expected.error), std::string::npos)
          << i << reply.error.message;
    }
  }
  EXPECT_EQ(heard.told.size(), 2u);
}

TEST_F(RemoteServerTest, AnAnswerOverTheLimitIsNoMessage) {
  limits.frame_bytes = 1000;
  open();
  played.answer = [this](const ServerRequest& request) {
    const auto id = find(request.body, {"id"});
    if (!id) return session(request);
    const std::string text = result_text(*id, '"' + std::string(2000, 'x') + '"');
    return request.body.find("streamed") == std::string::npos
               ? ServerResponse::json(200, text)
               : stream("data: " + std::string(2000, 'y') + "\n\n" + event(text));
  };
  EXPECT_TRUE(ask("whole").malformed);
  EXPECT_TRUE(ask("streamed").malformed);
  EXPECT_NE(log.find("a message that is too long"), std::string::npos) << log;
}

TEST_F(RemoteServerTest, AForgottenSessionIsOpenedAgainAndTheRequestSentAgain) {
  const struct {
    ServerResponse refusal;
    bool lost;
  } kCases[] = {
      {{.status = 404}, true},
      {ServerResponse::json(400, R"({"jsonrpc":"2.0","error":{"code":-32000,"message":"x"}})"),
       true},
      {ServerResponse::json(400,
                            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"x"}})"),
       true},
      {ServerResponse::json(400,
                            R"({"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"x"}})"),
       false},
      {ServerResponse::json(400, R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"x"}})"),
       false},
      {ServerResponse::json(500, R"({"jsonrpc":"2.0","error":{"code":-32000,"message":"x"}})"),
       false},
  };
  open();
  open_again_by_itself();
  for (std::size_t i = 0; i < std::size(kCases); ++i) {
    const std::string stale = fmt::format("s{}", sessions);
    const std::size_t starts = heard.started.size();
    played.answer = [&](const ServerRequest& request) {
      const bool refused = request.body.find("\"it\"") != std::string::npos &&
                           head(request, "mcp-session-id") == stale;
      return refused ? kCases[i].refusal : session(request);
    };
    const Response reply = ask("it");
    EXPECT_EQ(reply.message && !reply.message->is_error(), kCases[i].lost) << i;
    EXPECT_EQ(heard.started.size() - starts, kCases[i].lost ? 1u : 0u) << i;
    if (kCases[i].lost) EXPECT_TRUE(heard.started.back());
  }
}

TEST_F(RemoteServerTest, ASessionIsOpenedAgainOnceForARequest) {
  open();
  open_again_by_itself();
  played.answer = [this](const ServerRequest& request) {
    return request.body.find("\"it\"") != std::string::npos ? ServerResponse{.status = 404}
                                                            : session(request);
  };
  EXPECT_EQ(ask("it").error.message, "the server answered with HTTP 404");
  EXPECT_EQ(played.times("POST", "\"it\""), 2u);
  EXPECT_EQ(sessions, 2);
}

TEST_F(RemoteServerTest, ANotificationFindsOutThatTheSessionIsGone) {
  open();
  open_again_by_itself();
  ASSERT_TRUE(until([&] { return played.times("GET") == 1; }));
  played.answer = [this](const ServerRequest& request) {
    return request.body.find("notifications/x") != std::string::npos ? ServerResponse{.status = 404}
                                                                     : session(request);
  };
  EXPECT_TRUE(server().send(notification_text("notifications/x", "{}")));
  EXPECT_TRUE(until([&] { return sessions == 2; }));
  EXPECT_EQ(heard.ended.size(), 1u);
}

TEST_F(RemoteServerTest, AStatelessServerGetsHeadersAndNoSession) {
  const std::string tools =
      R"({"tools":[{"name":"good","inputSchema":{"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}},)"
      R"({"name":"bad","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"no good"}}}}]})";
  played.answer = [&](const ServerRequest& request) {
    const auto id = find(request.body, {"id"});
    if (!id) return ServerResponse{.status = 202};
    if (request.body.find("tools/list") != std::string::npos) {
      return ServerResponse::json(200, result_text(*id, tools));
    }
    return stream(event(request_text("\"q\"", "sampling/createMessage", "{}")) +
                  event(result_text(*id, "1")));
  };
  const Response listed = ask("tools/list", modern_params());
  ASSERT_TRUE(listed.message);
  EXPECT_NE(listed.message->text.find("\"good\""), std::string::npos);
  EXPECT_EQ(listed.message->text.find("\"bad\""), std::string::npos);
  EXPECT_NE(log.find("`bad`"), std::string::npos);
  EXPECT_TRUE(
      ask("tools/call", modern_params(R"("name":"good","arguments":{"region":"eu"},)")).message);
  const ServerRequest call = played.last("POST", "tools/call");
  EXPECT_EQ(head(call, "mcp-method"), "tools/call");
  EXPECT_EQ(head(call, "mcp-name"), "good");
  EXPECT_EQ(head(call, "mcp-param-region"), "eu");
  EXPECT_EQ(head(call, "mcp-session-id"), "(none)");
  EXPECT_TRUE(heard.asked.empty()) << "it has no way to ask";
  EXPECT_NE(log.find("a question"), std::string::npos);
  EXPECT_TRUE(
      ask("tools/call", modern_params(R"("name":"other","arguments":{"region":"eu"},)")).message);
  EXPECT_EQ(head(played.last("POST", "other"), "mcp-param-region"), "(none)");
  const std::size_t before = played.requests.size();
  EXPECT_TRUE(server().send(notification_text("notifications/cancelled", "{\"requestId\":1}")));
  EXPECT_TRUE(ask("ping", modern_params()).message);
  EXPECT_EQ(played.requests.size(), before + 1) << "a closed stream is the cancel";
}

TEST_F(RemoteServerTest, AListThatIsNoneIsPassedOnAsItIs) {
  for (const char* const result : {R"({"tools":7})", "{}", "[]"}) {
    played.answer = [result](const ServerRequest& request) {
      const auto id = find(request.body, {"id"});
      return id ? ServerResponse::json(200, result_text(*id, result))
                : ServerResponse{.status = 202};
    };
    const Response listed = ask("tools/list", modern_params());
    ASSERT_TRUE(listed.message) << result;
    EXPECT_EQ(listed.message->result_text(), result);
  }
}

TEST_F(RemoteServerTest, AnAbandonedRequestIsCancelledAsItsEraDoes) {
  open();
  played.answer = [this](const ServerRequest& request) {
    return request.body.find("\"it\"") == std::string::npos ? session(request) : hanging();
  };
  const Ptr old = begin("it");
  const std::uint64_t id = last_id;
  ASSERT_TRUE(until([&] { return played.times("POST", "\"it\"") == 1; }));
  server().abandon(id, "\"enough\"");
  ASSERT_TRUE(until([&] { return played.times("POST", "notifications/cancelled") == 1; }));
  EXPECT_NE(played.last("POST", "notifications/cancelled").body.find("enough"), std::string::npos);
  server().abandon(id, "\"twice\"");
  const Ptr modern = begin("it", modern_params());
  ASSERT_TRUE(until([&] { return played.times("POST", "\"it\"") == 2; }));
  server().abandon(last_id, "\"enough\"");
  EXPECT_TRUE(ask("ping").message);
  EXPECT_EQ(played.times("POST", "notifications/cancelled"), 1u);
  EXPECT_EQ(old->times + modern->times, 0);
}

TEST_F(RemoteServerTest, AStreamThatBreaksOffGoesOnWhereItWas) {
  open();
  ASSERT_TRUE(until([&] { return played.times("GET") == 1; }));
  int gets = 0;
  played.answer = [&](const ServerRequest& request) {
    if (request.method == "GET" && head(request, "last-event-id") == "e1") {
      return stream(++gets == 1 ? "id: e2\n" + event(notification_text("notifications/p", "{}"))
                                : "");
    }
    if (request.method == "GET") {
      return stream(event(result_text(std::to_string(last_id), "\"rest\"")));
    }
    if (request.body.find("\"it\"") == std::string::npos) return session(request);
    return stream("retry: 1\nid: e1\ndata:\n\n");
  };
  const Response reply = ask("it");
  ASSERT_TRUE(reply.message) << reply.error.message;
  EXPECT_EQ(reply.message->result_text(), "\"rest\"");
  EXPECT_EQ(head(played.last("GET"), "last-event-id"), "e2");
  EXPECT_EQ(heard.told, std::vector<std::string>{"notifications/p"});
  const std::size_t before = played.times("GET");
  EXPECT_FALSE(ask("it", modern_params()).message)
      << "a stateless server has nothing to go on with";
  EXPECT_EQ(played.times("GET"), before);
}

TEST_F(RemoteServerTest, AStreamThatSaysNothingNewIsGivenUp) {
  open();
  ASSERT_TRUE(until([&] { return played.times("GET") == 1; }));
  played.answer = [&](const ServerRequest& request) {
    const bool ours = request.method == "GET" || request.body.find("\"it\"") != std::string::npos;
    return ours ? stream("retry: 1\nid: e1\ndata:\n\n") : session(request);
  };
  EXPECT_EQ(ask("it").error.message, "the server ended its stream before it answered");
  EXPECT_EQ(played.times("GET"), 6u) << "five times in a row";
}

TEST_F(RemoteServerTest, ASubscriptionThatBreaksIsMadeAgain) {
  played.answer = [this](const ServerRequest& request) {
    const std::string id(find(request.body, {"id"}).value_or("0"));
    return played.requests.size() < 3 ? stream(event(notification_text("notifications/s", "{}")))
                                      : stream(event(result_text(id, "\"over\"")));
  };
  const Response reply = ask("subscriptions/listen", modern_params());
  ASSERT_TRUE(reply.message) << reply.error.message;
  EXPECT_EQ(played.requests.size(), 3u);
  EXPECT_EQ(heard.told.size(), 2u);
  played.answer = [](const ServerRequest&) { return ServerResponse{.status = 500}; };
  EXPECT_FALSE(ask("subscriptions/listen", modern_params()).message);
  EXPECT_EQ(played.requests.size(), 4u) << "one that was never made is not made again";
}

TEST_F(RemoteServerTest, TheOldestTransportIsFoundAndUsed) {
  played.answer = [this](const ServerRequest& request) {
    if (request.method == "GET") return hanging("event: endpoint\ndata: /messages\n\n");
    if (request.path != "/messages") return ServerResponse{.status = 405};
    const auto id = find(request.body, {"id"});
    if (request.body.find("refused") != std::string::npos) return ServerResponse{.status = 400};
    if (id) played.more.push_back(event(result_text(*id, "\"old\"")));
    if (request.body.find("broken") != std::string::npos) {
      played.more.back() = event("{\"id\":" + std::string(*id) + ",");
    }
    return ServerResponse{.status = 202};
  };
  const Response opened = ask("initialize");
  ASSERT_TRUE(opened.message) << opened.error.message;
  EXPECT_EQ(opened.message->result_text(), "\"old\"");
  server().ready();
  EXPECT_TRUE(ask("ping").message);
  EXPECT_EQ(ask("refused").error.message, "the server answered with HTTP 400");
  EXPECT_TRUE(ask("broken").malformed);
  played.more.push_back(event(notification_text("notifications/o", "{}")));
  ASSERT_TRUE(until([&] { return heard.told.size() == 1; }));
  EXPECT_TRUE(server().send(notification_text("notifications/initialized", "{}")));
  ASSERT_TRUE(until([&] { return played.times("POST", "notifications/initialized") == 1; }));
  EXPECT_EQ(played.last("POST", "notifications/initialized").path, "/messages");
  EXPECT_EQ(played.times("GET"), 1u);
  ++played.released;
  ASSERT_TRUE(until([&] { return heard.started.size() == 2; }));
  EXPECT_EQ(heard.ended, std::vector<std::string>{"the server ended its stream"});
  EXPECT_TRUE(heard.started.back());
}

TEST_F(RemoteServerTest, WhatIsNoOldestTransportLeavesTheRefusal) {
  const struct {
    unsigned refusal;
    ServerResponse stream;
    std::size_t gets;
  } kCases[] = {
      {405, {.status = 404}, 1},
      {404, ServerResponse::json(200, "{}"), 1},
      {400, stream("event: message\ndata: /messages\n\n"), 1},
      {400, stream("event: endpoint\ndata: http://elsewhere.example/messages\n\n"), 1},
      {400, stream(""), 1},
      {500, stream("event: endpoint\ndata: /messages\n\n"), 0},
  };
  for (const auto& one : kCases) {
    played.requests.clear();
    played.answer = [&](const ServerRequest& request) {
      return request.method == "GET" ? one.stream : ServerResponse{.status = one.refusal};
    };
    EXPECT_EQ(ask("initialize").error.message,
              fmt::format("the server answered with HTTP {}", one.refusal));
    EXPECT_EQ(played.times("GET"), one.gets) << one.refusal;
  }
  EXPECT_NE(log.find("an address of another server"), std::string::npos);
  played.requests.clear();
  played.answer = [](const ServerRequest&) { return ServerResponse{.status = 404}; };
  EXPECT_FALSE(ask("initialize", modern_params()).message);
  EXPECT_FALSE(ask("ping").message);
  EXPECT_EQ(played.times("GET"), 0u);
}

TEST_F(RemoteServerTest, ALoginIsRenewedAndTheRequestSentAgain) {
  credentials = std::make_shared<FakeCredentials>();
  const auto wants = [this](std::string token, ServerResponse refusal) {
    played.answer = [=, this](const ServerRequest& request) {
      return head(request, "authorization") == "Bearer " + token ? session(request) : refusal;
    };
  };
  wants("t1", {.status = 401});
  EXPECT_TRUE(ask("initialize").message);
  EXPECT_EQ(credentials->renewals, 1);
  ServerResponse narrow{.status = 403};
  narrow.headers.emplace_back("www-authenticate", "Bearer error=\"insufficient_scope\"");
  wants("t2", narrow);
  EXPECT_TRUE(ask("ping").message);
  wants("t3", {.status = 403});
  EXPECT_FALSE(ask("ping").message);
  narrow.status = 400;
  wants("t3", narrow);
  EXPECT_FALSE(ask("ping").message);
  ServerResponse other{.status = 403};
  other.headers.emplace_back("www-authenticate", "Bearer error=\"invalid_request\"");
  wants("t3", other);
  EXPECT_FALSE(ask("ping").message);
  EXPECT_EQ(credentials->renewals, 2) << "a plain no asks for no login";
  wants("never", {.status = 401});
  EXPECT_FALSE(ask("ping").message);
  EXPECT_EQ(credentials->renewals, 5) << "three times for one request";
  credentials->most = credentials->asked;
  const Response out = ask("ping");
  EXPECT_EQ(out.error.cause, kLoginRequired);
  EXPECT_NE(log.find("sallyport login"), std::string::npos);
  const std::size_t said = log.size();
  EXPECT_FALSE(ask("ping").message);
  EXPECT_EQ(log.size(), said) << "it is said once";
  credentials->most = 100;
  wants("t6", {.status = 401});
  EXPECT_TRUE(server().send(notification_text("notifications/x", "{}")));
  EXPECT_TRUE(until([&] {
    return played.times("POST", "notifications/x") == 2 &&
           head(played.last("POST", "notifications/x"), "authorization") == "Bearer t6";
  }));
}

TEST_F(RemoteServerTest, WhatIsNotSentIsSaid) {
  limits.requests = 1;
  open();
  ASSERT_TRUE(until([&] { return played.times("GET") == 1; }));
  EXPECT_FALSE(server().send("nothing"));
  played.answer = [](const ServerRequest&) { return hanging(); };
  const Ptr waiting = begin("it");
  EXPECT_EQ(server()
                .request([](std::string_view id) { return request_text(id, "x", "{}"); },
                         std::make_shared<KeptReply>())
                .error()
                .code,
            ErrorCode::Exhausted);
  EXPECT_TRUE(server().send(notification_text("a", "{}")));
  ASSERT_TRUE(until([&] { return played.times("POST", "\"a\"") == 1; }));
  EXPECT_FALSE(server().send(notification_text("b", "{}")));
  end();
  EXPECT_EQ(waiting->times, 1);
  EXPECT_FALSE(waiting->reply->message);
  EXPECT_FALSE(server().send(notification_text("c", "{}")));
  EXPECT_EQ(server()
                .request([](std::string_view id) { return request_text(id, "x", "{}"); },
                         std::make_shared<KeptReply>())
                .error()
                .code,
            ErrorCode::Unavailable);
}

TEST(RemoteServerMakerTest, PlainTextLeavesThisMachineOnlyWhereThatIsAllowed) {
  const auto made = [](std::string_view url, bool plain) {
    return RemoteServer::maker({.url = *net::Url::parse(url), .allow_plain = plain}).has_value();
  };
  EXPECT_TRUE(made("https://tools.example/mcp", false));
  EXPECT_TRUE(made("http://127.0.0.1/mcp", false));
  EXPECT_TRUE(made("http://tools.example/mcp", true));
  EXPECT_FALSE(made("http://tools.example/mcp", false));
}

TEST_F(RemoteServerTest, EachMessageOfABatchOfASessionIsTakenOnItsOwn) {
  open();
  played.answer = [](const ServerRequest& request) {
    const auto id = find(request.body, {"id"});
    if (!id) return ServerResponse{.status = 202};
    const std::string batch =
        "[" + notification_text("notifications/a", "{}") + "," + result_text(*id, "1") + "]";
    return find(request.body, {"method"}) == "\"streamed\"" ? stream(event(batch))
                                                            : ServerResponse::json(200, batch);
  };
  for (const char* const method : {"streamed", "plain"}) {
    const Response reply = ask(method);
    ASSERT_TRUE(reply.message) << method;
    EXPECT_EQ(reply.message->result_text(), "1");
  }
  EXPECT_EQ(heard.told.size(), 2u);
  EXPECT_TRUE(ask("plain", modern_params()).malformed) << "a stateless server has none";
}

// AU-17
TEST_F(RemoteServerTest, ARequestThatWasNotSentIsKnownNotToHaveBegun) {
  port = unused_port();
  EXPECT_EQ(ask("tools/call").error.cause, core::kNotBegun);
}

// AU-17
TEST_F(RemoteServerTest, ARequestThatTheServerHasGotMayHaveBegun) {
  played.answer = [](const ServerRequest&) { return ServerResponse{.status = 500}; };
  const Response refused = ask("tools/call");
  EXPECT_FALSE(refused.message);
  EXPECT_EQ(refused.error.cause, "");
}

}  // namespace
}  // namespace sallyport::mcp
