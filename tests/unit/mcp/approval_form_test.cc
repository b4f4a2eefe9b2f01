#include "mcp/call/approval_form.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "mcp/client/client_question.h"
#include "mcp/message/json_text.h"
#include "mcp/server/server_questions.h"

namespace sallyport::mcp {
namespace {

json::object request(const std::string& text) {
  return {{"request_id", "apr_1"},
          {"tool_name", "write_file"},
          {"server", "files"},
          {"action", "fs.write"},
          {"agent_id", "uid:dana"},
          {"deadline", "2026-11-16T02:00:00Z"},
          {"binding", "sha256:0123456789abcdef"},
          {"args", json::array{json::object{{"text", text}}}}};
}

std::string message(const std::string& text) {
  return std::string(
      approval_form(request(text), {{"description", "Confirm?"}}).at("message").as_string());
}

// AP-38 (partly) AP-39 (partly) AP-40 (partly)
TEST(ApprovalFormTest, ThePersonSeesTheInputWithEveryHiddenCharacterAndTheBinding) {
  const std::string shown = message("p\u0430y\u202e\x1b[31m");
  EXPECT_NE(shown.find("p\u0430\\u{0430}y\\u{202E}\\u{001B}[31m"), std::string::npos) << shown;
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
  EXPECT_TRUE(shown.ends_with("01234567"));
}

// AP-41 (partly)
TEST(ApprovalFormTest, LongTextsSayHowMuchIsLeftOutAndWhatShowsThem) {
  const std::string shown = message("head" + std::string(10'000, 'x') + "tail");
  EXPECT_LT(shown.size(), 4'000u);
  EXPECT_NE(shown.find("8008 bytes left out, `sallyport approvals show apr_1 --full` shows them"),
            std::string::npos)
      << shown;
  EXPECT_NE(shown.find("tail\""), std::string::npos);
}

TEST(ApprovalFormTest, OnlyAHiddenPartIsSaidToBeHidden) {
  EXPECT_EQ(message("plain").find("hidden"), std::string::npos);
  EXPECT_EQ(message("plain").find("--reveal"), std::string::npos);
  const json::array hidden{
      json::object{{"path", "/text"}, {"detector", "private_key_pem"}, {"bytes", 5}, {"of", 9}}};
  const json::object form = approval_form(request("plain"), {{"hidden", hidden}});
  const std::string shown(form.at("message").as_string());
  EXPECT_NE(shown.find("hidden: `text`: 5 of 9 bytes hidden"), std::string::npos) << shown;
  EXPECT_NE(shown.find("`sallyport approvals show apr_1 --reveal`"), std::string::npos) << shown;
}

TEST(ServerQuestionsTest, AFormNamesTheServerThatAsksWhateverItsMessageIs) {
  EXPECT_EQ(marked_form(R"({"message":"which?","x":1})", "files"),
            R"({"message":"[from server `files`] which?","x":1})");
  for (const char* const params : {"", "{}", R"({"message":7})", R"({"message":null})"}) {
    EXPECT_EQ(find(marked_form(params, "files"), {"message"}), R"("[from server `files`] ")")
        << params;
  }
}

std::optional<Reply> said(std::string_view text) {
  return reply_in_form(json::parse(text));
}

// AP-12 (partly) AP-31 (partly)
TEST(ApprovalFormTest, OnlyAPlainYesIsOne) {
  using Kind = Reply::Kind;
  const auto yes = said(R"({"action":"accept","content":{"decision":"approve","note":"fine"}})");
  EXPECT_EQ(yes->kind, Kind::Approved);
  EXPECT_EQ(yes->reason, "fine");
  for (const char* const no :
       {R"({"action":"accept","content":{"decision":"deny"}})", R"({"action":"accept"})",
        R"({"action":"accept","content":{"decision":true}})",
        R"({"action":"decline","content":{"decision":"approve"}})", R"({"action":"decline"})"}) {
    EXPECT_EQ(said(no)->kind, Kind::Denied) << no;
  }
  for (const char* const nothing : {R"({"action":"cancel"})", "{}", "null", "[]"}) {
    EXPECT_FALSE(said(nothing)) << nothing;
  }
}

// AP-31 (partly)
TEST(ApprovalFormTest, FormsAreShownByClientsThatDeclaredThem) {
  const auto shows = [](std::string_view text) {
    return shows_forms(json::parse(text).as_object());
  };
  EXPECT_TRUE(shows(R"({"elicitation":{}})"));
  EXPECT_TRUE(shows(R"({"elicitation":{"form":{},"url":{}}})"));
  EXPECT_FALSE(shows(R"({"elicitation":{"url":{}}})"));
  EXPECT_FALSE(shows("{}"));
}

TEST(ServerQuestionsTest, AClientIsAskedOnlyWhatItDeclared) {
  const struct {
    std::string_view method, params, capabilities;
    bool modern, legacy;
  } kCases[] = {
      {"sampling/createMessage", "{}", R"({"sampling":{}})", true, true},
      {"sampling/createMessage", "{}", R"({"roots":{}})", false, false},
      {"roots/list", "{}", R"({"roots":{}})", true, true},
      {"roots/list", "{}", R"({"sampling":{}})", false, false},
      {"elicitation/create", "{}", R"({"elicitation":{}})", true, true},
      {"elicitation/create", "{}", R"({"roots":{}})", false, false},
      {"elicitation/create", R"({"mode":"url","url":"https://x"})", R"({"elicitation":{"url":{}}})",
       true, true},
      {"elicitation/create", R"({"mode":"url","url":"https://x"})", R"({"elicitation":{}})", false,
       false},
      {"other/thing", "{}", "{}", false, true},
  };
  for (const auto& one : kCases) {
    const json::object capabilities = json::parse(one.capabilities).as_object();
    EXPECT_EQ(may_be_asked(Era::Modern, one.method, one.params, capabilities), one.modern)
        << one.method << one.capabilities;
    EXPECT_EQ(may_be_asked(Era::Legacy, one.method, one.params, capabilities), one.legacy)
        << one.method << one.capabilities;
  }
  EXPECT_EQ(json::serialize(capability_for("sampling/createMessage", "{}")), R"({"sampling":{}})");
  EXPECT_EQ(json::serialize(capability_for("elicitation/create", "{}")), R"({"elicitation":{}})");
  EXPECT_EQ(json::serialize(capability_for("elicitation/create", R"({"mode":"url"})")),
            R"({"elicitation":{"url":{}}})");
  EXPECT_EQ(feature_of("roots/list"), "roots");
  EXPECT_EQ(feature_of("made/up"), "server_request");
}

}  // namespace
}  // namespace sallyport::mcp
