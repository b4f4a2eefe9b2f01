#include "ledger/entry/absent_openings.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::ledger {
namespace {

std::string absent(std::string_view entry, std::string_view openings = "[]") {
  std::string all;
  for (const std::string& path :
       absent_openings(json::parse(entry).as_object(), json::parse(openings).as_array())) {
    all += path + " ";
  }
  return all;
}

// LE-64 (partly)
TEST(AbsentOpeningsTest, SealedFieldsWithoutAnOpeningAreNamed) {
  const std::string_view entry =
      R"({"body":{"a":{"$sealed":"x"},"b":[1,{"$sealed":"y"}],"c/d":{"e~":{"$sealed":"z"}},"f":1}})";
  EXPECT_EQ(absent(entry), "/body/a /body/b/1 /body/c~1d/e~0 ");
  EXPECT_EQ(absent(entry, R"([{"path":"/body/b/1"},7,{"other":1}])"), "/body/a /body/c~1d/e~0 ");
  EXPECT_EQ(absent(R"({"body":{"a":{"$sealed":"x","more":1}}})"), "") << "that is no seal";
  EXPECT_EQ(absent(R"({"body":{"a":{"sealed":"x"}}})"), "");
  EXPECT_EQ(absent("{}"), "");
}

// LE-64 (partly)
TEST(AbsentOpeningsTest, WhatIsNeverStoredIsNotAbsent) {
  const auto released = [](std::string_view redactions) {
    return absent(R"({"redactions":)" + std::string(redactions) +
                  R"(,"body":{"post_invocation":{"released":{"$sealed":"x"}}}})");
  };
  EXPECT_EQ(released("null"), "/body/post_invocation/released ");
  EXPECT_EQ(released("[]"), "/body/post_invocation/released ");
  EXPECT_EQ(released(R"([{"path":"/other"}])"), "/body/post_invocation/released ");
  EXPECT_EQ(released(R"([7,{"x":1}])"), "/body/post_invocation/released ");
  EXPECT_EQ(released(R"([{"path":"/post_invocation/released"}])"), "");
  EXPECT_EQ(released(R"([{"path":"/post_invocation/released/deep"}])"), "");
  EXPECT_EQ(released(R"([{"path":""}])"), "") << "a list that was cut short may have named it";
  EXPECT_EQ(absent(R"({"body":{"post_invocation":{"original":{"$sealed":"x"}}}})"), "");
  const std::string_view excerpt = R"("body":{"excerpt":{"$sealed":"x"}}})";
  EXPECT_EQ(absent(R"({"kind":"guard_hit",)" + std::string(excerpt)), "");
  EXPECT_EQ(absent(R"({"kind":"event",)" + std::string(excerpt)), "/body/excerpt ");
}

}  // namespace
}  // namespace sallyport::ledger
