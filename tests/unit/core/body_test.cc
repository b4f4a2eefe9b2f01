#include "core/record/body.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::core {
namespace {

Body text_body() {
  CanonicalWriter out;
  out.object([&] {
    out.put("n", 1);
    out.object("deep", [&] {
      out.put("large", std::string(100'000, 'x'));
      out.array("list", [&] { out.item("a"); });
    });
  });
  return out;
}

TEST(BodyTest, ATextSaysTheSameAsTheValueItWasWrittenFrom) {
  Body value = text_body().members();
  EXPECT_EQ(std::move(value).text(), text_body().text());
  EXPECT_EQ(text_body().at("n"), 1);
  EXPECT_EQ(text_body().if_contains("none"), nullptr);
}

TEST(BodyTest, AChangeOfATextIsSeenByThoseWhoReadIt) {
  Body body = text_body();
  EXPECT_FALSE(body.contains("new"));
  body["new"] = true;
  EXPECT_TRUE(body.at("new").as_bool());
  EXPECT_EQ(body.at("n"), 1);
}

TEST(BodyTest, OnlyThePickedMembersAreRead) {
  const json::object wanted{{"n", 1}, {"deep", json::object{{"list", json::array{"a"}}}}};
  EXPECT_EQ(text_body().pick({"n", "deep/list", "none", "n/none", "deep/none"}), wanted);
  const Body value = text_body().members();
  EXPECT_EQ(value.pick({"n", "deep/list"}), wanted);
  EXPECT_EQ(Body().pick({"n"}), json::object());
}

// LE-1: content that no entry can hold is detected before it is written.
TEST(BodyTest, WhatIsNoUtf8OrTooDeepIsNotSound) {
  EXPECT_TRUE(text_body().is_sound());
  CanonicalWriter bad;
  bad.object([&] { bad.put("text", "\xff"); });
  EXPECT_FALSE(Body(std::move(bad)).is_sound());
  json::value deep = "end";
  for (int i = 0; i < 130; ++i) deep = json::array{deep};
  CanonicalWriter nested;
  nested.object([&] { nested.put("deep", deep); });
  EXPECT_FALSE(Body(std::move(nested)).is_sound());
  EXPECT_FALSE(Body(json::object{{"deep", deep}}).is_sound());
}

}  // namespace
}  // namespace sallyport::core
