// What a client sees of a server's answer that guards have changed.
#include "mcp/message/given_answer.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::mcp {
namespace {

std::string shown(std::string_view result, const json::value& released) {
  const std::string text = R"({"jsonrpc":"2.0","id":1,"result":)" + std::string(result) + "}";
  return GivenAnswer(Message::read(text, {}).value()).showing(Envelope::of(released), "7");
}

// A server may answer with a bare text. Redacted, it once became an error.
// PI-48
TEST(GivenAnswerTest, ARedactedTextStaysAResult) {
  EXPECT_EQ(shown(R"("plain")", "plain"), R"({"jsonrpc":"2.0","id":7,"result":"plain"})");
  EXPECT_EQ(shown(R"("a@b.example")", "a***@b.example"),
            R"({"jsonrpc":"2.0","id":7,"result":"a***@b.example"})");
  EXPECT_EQ(shown("[1,2]", json::array{1}), R"({"jsonrpc":"2.0","id":7,"result":[1]})");
}

TEST(GivenAnswerTest, ATextInThePlaceOfAnObjectIsAnError) {
  EXPECT_EQ(shown(R"({"a":1})", json::object{{"a", 2}}),
            R"({"jsonrpc":"2.0","id":7,"result":{"a":2}})");
  const json::value error = json::parse(shown(R"({"a":1})", "withheld")).at("error");
  EXPECT_EQ(error.at("message"), "withheld");
}

GivenAnswer answer(std::string_view text) {
  return GivenAnswer(Message::read(std::string(text), {}).value());
}

TEST(GivenAnswerTest, AnUnchangedAnswerKeepsItsBytesUnderTheClientsId) {
  const GivenAnswer given = answer(R"({"id":5,"result":{"x": 1.50},"jsonrpc":"2.0"})");
  EXPECT_EQ(given.showing(given.envelope(), "\"a\""),
            R"({"id":"a","result":{"x": 1.50},"jsonrpc":"2.0"})");
}

TEST(GivenAnswerTest, AChangedErrorStaysAnErrorWithItsCode) {
  const GivenAnswer given = answer(
      R"({"jsonrpc":"2.0","id":5,"error":{"code":-32001,"message":"secret","data":{"k":1}}})");
  Envelope released = given.envelope();
  EXPECT_EQ(released.code, -32001);
  released.message = "gone";
  released.data = nullptr;
  EXPECT_EQ(given.showing(released, "7"),
            R"({"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"gone"}})");
}

}  // namespace
}  // namespace sallyport::mcp
