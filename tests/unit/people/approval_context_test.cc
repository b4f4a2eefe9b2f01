#include "people/approval_context.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::app {
namespace {

json::array edits_of(std::string_view input) {
  ApprovalItem item;
  item.request["args"] = json::array{json::parse(input)};
  return edits_json(item);
}

// CO-30 (partly)
TEST(EditsTest, PairsOfTextsAndPreparedDifferencesAreFound) {
  EXPECT_EQ(
      edits_of(
          R"({"path":"a","old_string":"x","new_string":"y","edits":[{"oldText":"1","newText":"2"}]})"),
      json::parse(
          R"([{"path":"","before":"x","now":"y"},{"path":"/edits/0","before":"1","now":"2"}])"));
  EXPECT_EQ(
      edits_of(
          R"({"requested_input":{"old":"x","new":"y"},"prepared_snapshot":{"diff":"-x\n+y"}})"),
      json::parse(
          R"([{"path":"/requested_input","before":"x","now":"y"},{"path":"/prepared_snapshot/diff","diff":"-x\n+y"}])"));
  EXPECT_EQ(
      edits_of(
          R"({"before":"2026","after":"2025","old":1,"new":"x","diff":"-a","new_string":"y"})"),
      json::array());
  EXPECT_EQ(edits_of(R"("text")"), json::array());
}

TEST(EditsTest, AsManyAsAPageShowsAreFound) {
  json::array many;
  for (int i = 0; i < 1000; ++i) many.push_back(json::object{{"old", "a"}, {"new", "b"}});
  EXPECT_EQ(edits_of(json::serialize(many)).size(), 64u);
}

}  // namespace
}  // namespace sallyport::app
