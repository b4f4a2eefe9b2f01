#include "api/http_api.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/openapi.h"
#include "api/schema.h"
#include "base/together.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::api {
namespace {

using net::ServerRequest;
using net::ServerResponse;
using namespace std::chrono_literals;

constexpr const char* kToken = "token-of-ada-0123456789";

class TestPeople final : public People {
 public:
  Result<std::optional<Person>> with_token(std::string_view token) override {
    if (token != kToken || !registered) return std::optional<Person>();
    return std::optional(Person{"user:ada", roles, "token", ""});
  }
  Result<std::optional<Roles>> roles_of(const std::string& name) override {
    if (name != "user:ada" || !registered) return std::optional<Roles>();
    return std::optional(roles);
  }
  Roles roles{Role::Viewer};
  bool registered = true;
};

class TestExchange final : public net::ServerExchange {
 public:
  explicit TestExchange(ServerRequest request) : request_(std::move(request)) {}
  const ServerRequest& request() const override { return request_; }
  void on_gone(std::function<void()>) override {}
  bool gone() const override { return false; }
  Async<bool> respond(ServerResponse given) override {
    response = std::move(given);
    co_return true;
  }
  Async<bool> begin(ServerResponse head) override {
    response = std::move(head);
    co_return true;
  }
  bool streaming() const override { return false; }
  Async<bool> write(std::string piece) override {
    response.body += piece;
    co_return true;
  }
  ServerResponse response{.status = 0};

 private:
  ServerRequest request_;
};

std::string header_of(const ServerResponse& response, std::string_view name) {
  std::string all;
  for (const auto& [key, value] : response.headers) {
    if (key == name) all += (all.empty() ? "" : "|") + value;
  }
  return all;
}

std::string code_of(const ServerResponse& response) {
  const json::value body = json::parse(response.body.empty() ? "{}" : response.body);
  const json::value* const code = body.as_object().if_contains("code");
  return code ? std::string(code->as_string()) : "";
}

class HttpApiTest : public ::testing::Test {
 protected:
  HttpApiTest() : api_({clock_, entropy_, people_}) {
    const auto add = [&](std::string method, std::string pattern, Access access, Roles roles,
                         auto handler) {
      Route route{.method = method,
                  .pattern = pattern,
                  .access = access,
                  .roles = roles,
                  .handler = std::move(handler)};
      route.words.name = method + pattern;
      route.words.response = schema::object();
      api_.add(std::move(route));
    };
    const Read show = [this](const Request& request) -> Result<Response> {
      return Response{.body = json::object{{"value", value_}, {"who", request.person.name}}};
    };
    const Act count = [this](Request request) -> Task<Response> {
      ++acts_;
      co_return Response{.body = json::object{{"acts", acts_}, {"said", request.body}}};
    };
    add("GET", "things", Access::Person, {Role::Viewer}, Read(show));
    add("GET", "things/{id}", Access::Person, {Role::Viewer},
        Read([](const Request& request) -> Result<Response> {
          return Response{.body = json::object{{"id", request.at("id")}}};
        }));
    add("GET", "things/stream", Access::Person, {Role::Viewer},
        Stream(
            [](Request, net::ServerExchange& exchange, std::function<bool()> still) -> Async<void> {
              co_await exchange.begin({});
              co_await exchange.write(still() ? "may" : "may not");
            }));
    add("POST", "things", Access::Person, {Role::Viewer}, Act(count));
    add("POST", "secrets", Access::Person, {Role::Controller}, Act(count));
    add("POST", "session/token", Access::Login, {}, Act(count));
    add("GET", "session", Access::Session, {}, Read(show));
  }

  ServerResponse ask(ServerRequest request) {
    request.peer = "127.0.0.1";
    const auto all = [&]() -> Async<ServerResponse> {
      if (auto refusal = co_await api_.refuse(request)) co_return std::move(*refusal);
      TestExchange exchange(request);
      co_await api_.handle(exchange);
      co_return exchange.response;
    };
    return test::run_now(all());
  }
  static ServerRequest by_token(std::string method, std::string path, std::string body = "") {
    return {.method = std::move(method),
            .path = "/api/v1/" + std::move(path),
            .headers = {{"authorization", std::string("Bearer ") + kToken}},
            .body = std::move(body)};
  }
  void sign_in() {
    opened_ = api_.sessions().open({.name = "user:ada", .method = "token"}, "127.0.0.1");
  }
  ServerRequest by_session(std::string method, std::string path) const {
    ServerRequest request{.method = method, .path = "/api/v1/" + std::move(path)};
    request.headers = {{"cookie", "a=b; sallyport=" + opened_.cookie},
                       {"x-sallyport-page", opened_.page_secret}};
    if (method != "GET") {
      request.headers.insert(request.headers.end(),
                             {{"origin", "http://localhost:1"},
                              {"content-type", "application/json; charset=utf-8"},
                              {"sec-fetch-site", "same-origin"}});
    }
    return request;
  }
  static ServerRequest without(ServerRequest request, std::string_view header) {
    std::erase_if(request.headers, [&](const auto& pair) { return pair.first == header; });
    return request;
  }
  static ServerRequest with(ServerRequest request, std::string name, std::string value) {
    request.headers.emplace_back(std::move(name), std::move(value));
    return request;
  }

  test::TestClock clock_;
  SystemEntropy entropy_;
  TestPeople people_;
  int acts_ = 0;
  std::string value_ = "one";
  Sessions::Opened opened_{};
  HttpApi api_;
};

// CO-66 (partly) CO-4 (partly)
TEST_F(HttpApiTest, EveryAnswerHasTheHeadersOfPagesAndEveryRefusalIsAProblem) {
  const ServerResponse good = ask(by_token("GET", "things"));
  EXPECT_EQ(good.status, 200u);
  const ServerResponse refused = ask({.method = "GET", .path = "/api/v1/things"});
  const ServerResponse named =
      api_.format_refusal({.status = 403, .body = "not served\n", .cause = "host_not_served"});
  for (const ServerResponse& one : {good, refused, named}) {
    EXPECT_EQ(header_of(one, "x-content-type-options"), "nosniff");
    EXPECT_EQ(header_of(one, "cross-origin-opener-policy"), "same-origin");
    EXPECT_EQ(header_of(one, "cache-control"), "no-store");
  }
  EXPECT_EQ(header_of(refused, "content-type"), "application/problem+json");
  const json::object said = json::parse(refused.body).as_object();
  EXPECT_EQ(said.at("status").to_number<int>(), 401);
  EXPECT_EQ(said.at("title").as_string(), "Unauthorized");
  EXPECT_EQ(said.at("type").as_string(), "about:blank");
  EXPECT_EQ(said.at("error"), said.at("detail"));
  EXPECT_EQ(code_of(refused), "no_session");
  EXPECT_EQ(code_of(named), "host_not_served");
}

TEST_F(HttpApiTest, PathsAndMethodsThatAreNotThereAreToldApart) {
  EXPECT_EQ(code_of(ask(by_token("GET", "nothing"))), "not_found");
  const ServerResponse other = ask(by_token("PUT", "things"));
  EXPECT_EQ(other.status, 405u);
  EXPECT_EQ(header_of(other, "allow"), "GET, HEAD, POST");
  EXPECT_EQ(ask(by_token("HEAD", "things")).status, 200u);
  EXPECT_EQ(json::parse(ask(by_token("GET", "things/a%20b")).body).at("id").as_string(), "a b");
  EXPECT_EQ(ask(by_token("GET", "things/stream")).body, "may");
  EXPECT_EQ(ask(by_token("GET", "things/%zz")).status, 404u);
}

// CO-67 (partly)
TEST_F(HttpApiTest, ARoleThatIsMissingIsForbiddenAndATokenOpensNoSession) {
  EXPECT_EQ(code_of(ask(by_token("POST", "secrets"))), "role");
  people_.roles = {Role::Controller};
  EXPECT_EQ(ask(by_token("POST", "secrets")).status, 200u);
  EXPECT_EQ(code_of(ask(by_token("GET", "things"))), "role");
  EXPECT_EQ(code_of(ask(by_token("GET", "session"))), "no_session");
  people_.registered = false;
  EXPECT_EQ(code_of(ask(by_token("POST", "secrets"))), "unknown_token");
}

// CO-11 (partly)
TEST_F(HttpApiTest, NeitherTheCookieNorThePageSecretIsEnough) {
  sign_in();
  EXPECT_EQ(ask(by_session("GET", "things")).status, 200u);
  for (const char* const path : {"things", "things/stream", "session"}) {
    EXPECT_EQ(ask(without(by_session("GET", path), "cookie")).status, 401u);
    EXPECT_EQ(ask(without(by_session("GET", path), "x-sallyport-page")).status, 401u);
  }
  ServerRequest other = by_session("GET", "things");
  opened_ = api_.sessions().open({.name = "user:bob", .method = "token"}, "");
  other.headers[1].second = opened_.page_secret;
  EXPECT_EQ(code_of(ask(other)), "session_ended");
}

// CO-14 (partly)
TEST_F(HttpApiTest, AWriteOfAPageNeedsAllThatABrowserSaysAboutItsOrigin) {
  sign_in();
  const ServerRequest whole = by_session("POST", "things");
  EXPECT_EQ(code_of(ask(without(whole, "origin"))), "origin_missing");
  EXPECT_EQ(code_of(ask(without(whole, "content-type"))), "content_type");
  EXPECT_EQ(code_of(ask(without(whole, "x-sallyport-page"))), "page_secret_missing");
  EXPECT_EQ(code_of(ask(without(whole, "cookie"))), "no_session");
  for (const char* const site : {"same-site", "cross-site", "none"}) {
    EXPECT_EQ(code_of(ask(with(without(whole, "sec-fetch-site"), "sec-fetch-site", site))),
              "cross_site");
  }
  EXPECT_EQ(acts_, 0);
  EXPECT_EQ(ask(without(whole, "sec-fetch-site")).status, 200u);
  EXPECT_EQ(ask(whole).status, 200u);
  EXPECT_EQ(acts_, 2);
}

// CO-14 (partly) CO-23 (partly) CO-24 (partly)
TEST_F(HttpApiTest, ALoginNeedsAPrivateOriginAndTheSixthInAMinuteWaits) {
  const auto login = [&](const std::string& origin) {
    ServerRequest request{.method = "POST", .path = "/api/v1/session/token"};
    request.headers = {{"content-type", "application/json"}};
    if (!origin.empty()) request.headers.emplace_back("origin", origin);
    return ask(request);
  };
  EXPECT_EQ(code_of(login("")), "origin_missing");
  EXPECT_EQ(code_of(login("http://gate.example")), "tls_required");
  EXPECT_EQ(login("https://gate.example").status, 200u);
  EXPECT_EQ(login("http://sallyport.localhost:8765").status, 200u);
  EXPECT_EQ(login("http://127.0.0.1:8765").status, 200u);
  const ServerResponse sixth = login("http://localhost:8765");
  EXPECT_EQ(code_of(sixth), "too_many_logins");
  EXPECT_EQ(header_of(sixth, "retry-after"), "60");
  EXPECT_EQ(header_of(sixth, "ratelimit"), "\"default\";r=0;t=60");
  clock_.advance(61s);
  EXPECT_EQ(login("http://localhost:8765").status, 200u);
}

// CO-12 (partly)
TEST(SessionCookieTest, HttpsGetsAPrefixAndSecure) {
  EXPECT_EQ(session_cookie("https://gate.example", "abc"),
            "__Host-sallyport=abc; Secure; HttpOnly; SameSite=Strict; Path=/");
  EXPECT_EQ(session_cookie("http://localhost:1", "abc"),
            "sallyport=abc; HttpOnly; SameSite=Strict; Path=/");
  EXPECT_EQ(session_cookie("http://localhost:1", ""),
            "sallyport=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
}

// CO-24 (partly)
TEST_F(HttpApiTest, ASessionEndsWhenItIsIdleOldOrItsPersonIsGone) {
  sign_in();
  clock_.advance(29min);
  EXPECT_EQ(ask(by_session("GET", "things")).status, 200u);
  clock_.advance(29min);
  EXPECT_EQ(ask(by_session("GET", "things")).status, 200u);
  clock_.advance(30min);
  EXPECT_EQ(code_of(ask(by_session("GET", "things"))), "session_ended");
  sign_in();
  for (int i = 0; i < 25; ++i) {
    clock_.advance(28min);
    EXPECT_EQ(ask(by_session("GET", "things")).status, 200u);
  }
  clock_.advance(20min);
  EXPECT_EQ(code_of(ask(by_session("GET", "things"))), "session_ended");
  sign_in();
  people_.registered = false;
  EXPECT_EQ(code_of(ask(by_session("GET", "things"))), "session_ended");
  people_.registered = true;
  EXPECT_EQ(code_of(ask(by_session("GET", "things"))), "session_ended");
}

// CO-66 (partly)
TEST_F(HttpApiTest, TheFiftyFirstRequestInASecondWaits) {
  for (int i = 0; i < 50; ++i) EXPECT_EQ(ask(by_token("GET", "things")).status, 200u);
  const ServerResponse next = ask(by_token("GET", "things"));
  EXPECT_EQ(code_of(next), "too_many_requests");
  EXPECT_EQ(header_of(next, "retry-after"), "1");
  sign_in();
  EXPECT_EQ(ask(by_session("GET", "things")).status, 200u);
  clock_.advance(1s);
  EXPECT_EQ(ask(by_token("GET", "things")).status, 200u);
}

// CO-66 (partly)
TEST_F(HttpApiTest, AnETagSaysWhatTheClientHasAndWhatItMeant) {
  const ServerResponse first = ask(by_token("GET", "things"));
  const std::string tag = header_of(first, "etag");
  EXPECT_EQ(tag.size(), 34u);
  const ServerResponse same =
      ask(with(by_token("GET", "things"), "if-none-match", "\"x\", " + tag));
  EXPECT_EQ(same.status, 304u);
  EXPECT_EQ(same.body, "");
  EXPECT_EQ(header_of(same, "etag"), tag);
  value_ = "two";
  EXPECT_EQ(ask(with(by_token("GET", "things"), "if-none-match", tag)).status, 200u);
  EXPECT_EQ(ask(with(by_token("GET", "things"), "if-match", tag)).status, 412u);
  EXPECT_EQ(code_of(ask(with(by_token("POST", "things"), "if-match", tag))), "precondition_failed");
  EXPECT_EQ(acts_, 0);
}

// CO-37 (partly) CO-66 (partly)
TEST_F(HttpApiTest, ARepeatWithItsKeyGetsTheFirstAnswer) {
  const auto ask_with = [&](const std::string& key, const std::string& body) {
    return ask(with(by_token("POST", "things", body), "idempotency-key", key));
  };
  const ServerResponse first = ask_with("key-00001", "{\"a\":1}");
  const ServerResponse again = ask_with("key-00001", "{\"a\":1}");
  EXPECT_EQ(acts_, 1);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(header_of(first, "idempotency-replayed"), "");
  EXPECT_EQ(header_of(again, "idempotency-replayed"), "true");
  EXPECT_EQ(code_of(ask_with("key-00001", "{\"a\":2}")), "idempotency_key_reused");
  EXPECT_EQ(code_of(ask_with("short", "{}")), "invalid");
  EXPECT_EQ(acts_, 1);
  clock_.advance(10min);
  EXPECT_EQ(ask_with("key-00001", "{\"a\":2}").status, 200u);
  EXPECT_EQ(acts_, 2);
}

// CO-66 (partly)
TEST_F(HttpApiTest, BodiesAndQueriesAreBounded) {
  EXPECT_EQ(code_of(ask(by_token("POST", "things", std::string(70'000, ' ')))), "too_large");
  EXPECT_EQ(code_of(ask(by_token("POST", "things", "{"))), "invalid");
  ServerRequest twice = by_token("GET", "things");
  twice.query = "a=1&a=2";
  EXPECT_EQ(code_of(ask(twice)), "invalid");
  twice.query = "a=" + std::string(5000, 'x');
  EXPECT_EQ(code_of(ask(twice)), "invalid");
}

// CO-66 (partly): an unknown parameter was once ignored, and the route listed everything
TEST_F(HttpApiTest, AnUnknownParameterIsRefusedAndTheNearestNamed) {
  const auto said = [&](std::string method, std::string path, std::string query) {
    ServerRequest request = by_token(std::move(method), std::move(path));
    request.query = std::move(query);
    const ServerResponse response = ask(request);
    const json::value body = json::parse(response.body.empty() ? "{}" : response.body);
    const json::value* const detail =
        body.is_object() ? body.as_object().if_contains("detail") : nullptr;
    return std::to_string(response.status) + (detail ? " " + std::string(detail->as_string()) : "");
  };
  Route route{.method = "GET",
              .pattern = "filtered",
              .roles = {Role::Viewer},
              .handler = Read([](const Request&) -> Result<Response> { return Response{}; })};
  route.words.query = {{"agent", "", {}}, {"limit", "", {}}};
  Route open = route;
  open.pattern = "open";
  open.other_parameters = true;
  api_.add(std::move(route));
  api_.add(std::move(open));
  EXPECT_EQ(said("GET", "filtered", "agent=a&limit=2"), "200");
  EXPECT_EQ(
      said("GET", "filtered", "limit=2&agnet=a"),
      "400 unknown query parameter `agnet`, did you mean `agent`; this route takes agent, limit");
  EXPECT_EQ(
      said("HEAD", "filtered", "Agent="),
      "400 unknown query parameter `Agent`, did you mean `agent`; this route takes agent, limit");
  EXPECT_EQ(said("GET", "things/stream", "zzz"),
            "400 unknown query parameter `zzz`; this route takes none");
  EXPECT_EQ(said("POST", "things", "limit=2"),
            "400 unknown query parameter `limit`; this route takes none");
  EXPECT_EQ(acts_, 0);
  EXPECT_EQ(said("GET", "open", "agnet=a"), "200");
}

// CO-65 (partly)
TEST_F(HttpApiTest, TheDocumentHasEveryRouteAndNoOther) {
  const json::object document = openapi(api_.table(), "1.2.3");
  std::set<std::string> said;
  for (const auto& [path, item] : document.at("paths").as_object()) {
    for (const auto& [method, operation] : item.as_object()) {
      said.insert(std::string(method) + " " + std::string(path));
    }
  }
  EXPECT_EQ(said, (std::set<std::string>{"get /openapi.json", "get /session", "get /things",
                                         "get /things/stream", "get /things/{id}", "post /secrets",
                                         "post /session/token", "post /things"}));
  EXPECT_EQ(document.at("openapi").as_string(), "3.1.0");
  // No sign-in is needed to read it.
  const ServerResponse served = ask({.method = "GET", .path = "/api/v1/openapi.json"});
  EXPECT_EQ(served.status, 200u);
  EXPECT_EQ(json::parse(served.body).at("paths").as_object().size(),
            document.at("paths").as_object().size());
  const json::value& post = document.at("paths").at("/things").at("post");
  EXPECT_TRUE(post.at("responses").as_object().contains("422"));
}

}  // namespace
}  // namespace sallyport::api
