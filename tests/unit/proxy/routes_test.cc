#include "proxy/routes.h"

#include <gtest/gtest.h>

namespace sallyport::proxy {
namespace {

Route routed(std::string method, std::string path) {
  return route_of({.method = std::move(method), .path = std::move(path)});
}

// MP-1
TEST(RoutesTest, OnlyTheListedPathsAreServed) {
  EXPECT_EQ(routed("POST", "/v1/messages").kind, Route::Kind::Generate);
  EXPECT_EQ(routed("POST", "/v1/chat/completions").api, llm::Api::OpenAiChat);
  EXPECT_EQ(routed("POST", "/v1/responses/compact").kind, Route::Kind::Spend);
  EXPECT_EQ(routed("GET", "/v1/responses/resp_1").id, "resp_1");
  EXPECT_EQ(routed("POST", "/v1/responses/resp_1/cancel").kind, Route::Kind::Stored);
  EXPECT_EQ(routed("GET", "/v1/models/org/name").id, "org/name");
  for (const char* const path :
       {"/v1/files", "/v1/messages/batches", "/v1/responses//cancel", "/v1/responses/a/b/c",
        "/v1beta/models/gemini:generateContent", "/v1/messages/", "/v1/Messages"}) {
    EXPECT_EQ(routed("POST", path).kind, Route::Kind::Elsewhere) << path;
  }
  EXPECT_EQ(routed("GET", "/v1/messages").kind, Route::Kind::Elsewhere);
}

// MP-23
TEST(RoutesTest, TheNameOfAModelMayBeEscaped) {
  EXPECT_EQ(routed("GET", "/v1/models/qwen%2Fqwen3").id, "qwen/qwen3");
  EXPECT_EQ(routed("GET", "/v1/models/a%zz").id, "a%zz");
  EXPECT_EQ(routed("GET", "/v1/models/a%ff").id, "a%ff");
}

}  // namespace
}  // namespace sallyport::proxy
