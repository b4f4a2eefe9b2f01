#include "mcp/message/grant_in_meta.h"

#include <gtest/gtest.h>

#include "base/base64url.h"

namespace sallyport::mcp {
namespace {

// CG-10 CG-12
TEST(GrantInMetaTest, ATokenIsTakenOutOfARequestAndTheRestKeepsItsBytes) {
  const struct {
    std::string_view params, left;
    std::vector<std::string> grants;
  } kCases[] = {
      {R"({"n":1.50})", R"({"n":1.50})", {}},
      {R"({"_meta":{"x":1.0}})", R"({"_meta":{"x":1.0}})", {}},
      {R"({"n":1.50,"_meta":{"sallyport/grant":{"t":1}}})", R"({"n":1.50})", {R"({"t":1})"}},
      {R"({"_meta":{"x":1.0,"sallyport/grant":{"t":1}}})",
       R"({"_meta":{"x":1.0}})",
       {R"({"t":1})"}},
  };
  for (const auto& [params, left, grants] : kCases) {
    Message request =
        Message::read(request_text("1", "tools/call", std::string(params)), {}).value();
    Call call;
    take_grant(request, call);
    EXPECT_EQ(request.text, request_text("1", "tools/call", std::string(left)));
    EXPECT_EQ(call.grants, grants) << params;
  }
  Message bare = Message::read(R"({"jsonrpc":"2.0","id":1,"method":"m"})", {}).value();
  Call call;
  take_grant(bare, call);
  EXPECT_TRUE(call.grants.empty());
}

// CG-10
TEST(GrantInMetaTest, TokensOfHeadersStandBesideThatOfTheRequest) {
  const auto with = [](const std::string& params, const std::vector<std::string>& tokens) {
    net::ServerRequest head{.headers = {{"accept", "*/*"}}};
    for (const std::string& token : tokens) {
      head.headers.emplace_back("sallyport-grant", base64url(token));
    }
    Message request =
        Message::read(with_grant_headers(request_text("1", "m", params), head), {}).value();
    Call call;
    take_grant(request, call);
    EXPECT_EQ(request.text, request_text("1", "m", "{}"));
    return call.grants;
  };
  using Texts = std::vector<std::string>;
  const std::string one = R"({"t":1})";
  const std::string two = R"({"t":2})";
  EXPECT_EQ(with("{}", {}), Texts{});
  EXPECT_EQ(with("{}", {one}), Texts{one});
  EXPECT_EQ(with("{}", {one, two}), (Texts{one, two}));
  const std::string own = R"({"_meta":{"sallyport/grant":{"t":1}}})";
  EXPECT_EQ(with(own, {}), Texts{one});
  EXPECT_EQ(with(own, {two}), (Texts{one, two}));
  EXPECT_EQ(with("{}", {"no token"}), Texts{R"("no token")"});
}

}  // namespace
}  // namespace sallyport::mcp
