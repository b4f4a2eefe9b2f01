#include "core/plan/grant_carrier.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::core {
namespace {

// CG-10
TEST(GrantCarrierTest, AHeaderIsReadWithOrWithoutItsPadding) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"YQ==", "a"},
      {"YQ", "a"},
      {"YWI=", "ab"},
      {"YWI", "ab"},
      {"YWJj", "abc"},
      {"_-8", "\xff\xef"},
      {"-_8", "\xfb\xff"},
      {"/+8", "/+8"},
      {"not one", "not one"},
      {"", ""},
      {"Y", "Y"},
  };
  for (const auto& [value, token] : kCases) {
    Call call;
    take_grant_header(value, call);
    ASSERT_EQ(call.grants.size(), 1u);
    EXPECT_EQ(call.grants.front(), token) << value;
  }
}

// CG-10 CG-12
TEST(GrantCarrierTest, ATokenIsTakenOutOfTheParams) {
  const struct {
    std::string_view params, left;
    std::vector<std::string> grants;
  } kCases[] = {
      {R"({"a":1})", R"({"a":1})", {}},
      {R"({"_meta":1})", R"({"_meta":1})", {}},
      {R"({"_meta":{"x":1}})", R"({"_meta":{"x":1}})", {}},
      {R"({"_meta":{"sallyport/grant":{"t":1}}})", "{}", {R"({"t":1})"}},
      {R"({"_meta":{"x":1,"sallyport/grant":{"t":1}}})", R"({"_meta":{"x":1}})", {R"({"t":1})"}},
      {R"({"_meta":{"sallyport/grant":[1]}})", "{}", {"[1]"}},
      {R"({"_meta":{"sallyport/grant":[1,2]}})", "{}", {"1", "2"}},
  };
  for (const auto& [text, left, grants] : kCases) {
    json::object params = json::parse(text).as_object();
    Call call;
    take_grant(params, call);
    EXPECT_EQ(json::serialize(params), left);
    EXPECT_EQ(call.grants, grants) << text;
  }
}

}  // namespace
}  // namespace sallyport::core
