#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <stdexcept>

#include "base/encoding.h"
#include "base/keyed_digest.h"
#include "ledger/entry/entry.h"
#include "support/test_clock.h"

namespace sallyport::ledger {
namespace {

std::vector<Opening> openings_of(const SealedDraft& sealed) {
  return *unpack_openings(sealed.packed_openings());
}

// Removes `hunter2` from every string, fails on `boom`, and removes addresses only from text that
// is no identifier.
class FakeRedactor final : public core::Redactor {
 public:
  std::vector<core::Removal> redact(std::string_view name, json::value& value) const override {
    std::vector<core::Removal> removals;
    if (name == "password") {
      removals.push_back({"", "secret", canonical_json(value)});
      value = "[REDACTED:secret]";
    } else {
      walk(value, "", removals);
    }
    return removals;
  }

  bool redact_identifier(std::string& text) const override {
    return replace(text, "hunter2", "[REDACTED:secret]");
  }

 private:
  static bool replace(std::string& text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) return false;
    text.replace(at, from.size(), to);
    return true;
  }

  static void walk(json::value& value, const std::string& path,
                   std::vector<core::Removal>& removals) {
    if (json::object* const object = value.if_object()) {
      for (auto& member : *object) {
        walk(member.value(), path + "/" + std::string(member.key()), removals);
      }
    }
    if (!value.is_string()) return;
    std::string text(value.get_string());
    if (text == "boom") throw std::runtime_error("boom");
    const std::size_t at = text.find("hunter2");
    const std::size_t of = text.size();
    if (replace(text, "hunter2", "[REDACTED:secret]")) {
      removals.push_back({path, "secret", "hunter2", "fake", at, of});
    }
    if (replace(text, "bob@example.com", "[REDACTED:pii]")) {
      removals.push_back({path, "pii", "bob@example.com"});
    }
    value = text;
  }
};

class RedactionTest : public testing::Test {
 protected:
  Result<SealedDraft> try_seal(core::Draft draft) {
    const SealedDraft::Parts parts{redactor_, digest_, entropy_, "instance"};
    return SealedDraft::seal(std::move(draft), uuid7(clock_, entropy_), parts, last_);
  }

  SealedDraft seal(core::Draft draft) {
    Result<SealedDraft> sealed = try_seal(std::move(draft));
    EXPECT_TRUE(sealed) << sealed.error().message;
    return std::move(sealed).value();
  }

  json::value entry(const SealedDraft& sealed) {
    const std::string bytes = sealed.bytes(0, clock_.wall(), 0);
    const json::value entry = *parse_own_json(bytes);
    EXPECT_EQ(canonical_json(entry), bytes);
    EXPECT_TRUE(check_entry(entry));
    for (const Opening& opening : openings_of(sealed)) EXPECT_TRUE(check_opening(entry, opening));
    return entry;
  }

  test::TestClock clock_;
  FakeRedactor redactor_;
  KeyedDigest digest_{"key"};
  SystemEntropy entropy_;
  SealedDraft::LastSubject last_;
};

// LE-55, LE-56
TEST_F(RedactionTest, ValueAndCommitmentAreMadeFromWhatIsLeft) {
  const SealedDraft sealed = seal({.body = {{"input", {{"a", "my hunter2"}, {"b", 1}}}, {"n", 1}}});
  const json::value made = entry(sealed);
  EXPECT_EQ(openings_of(sealed).at(0).value, R"({"a":"my [REDACTED:secret]","b":1})");
  EXPECT_EQ(made.at("redactions"),
            (json::value{{{"path", "/input/a"},
                          {"category", "secret"},
                          {"digest", "hmac-sha256:" + hex(hmac_sha256("key", "hunter2"))},
                          {"detector", "fake"}}}));
  EXPECT_EQ(canonical_json(made).find("hunter2"), std::string::npos);
  EXPECT_EQ(sealed.packed_openings().find("hunter2"), std::string::npos);
}

// WB-9
TEST_F(RedactionTest, AValueThatWasItsWholeStringIsSaidToBeWhole) {
  const json::value made =
      entry(seal({.body = {{"input", {{"a", "hunter2"}, {"b", "hunter2 x"}}}}}));
  EXPECT_EQ(made.at_pointer("/redactions/0/whole"), json::value(true));
  EXPECT_FALSE(made.at_pointer("/redactions/1").as_object().contains("whole"));
}

// WB-7
TEST_F(RedactionTest, ExactContentThatIsKeptAsItIsIsNotRedacted) {
  const SealedDraft sealed =
      seal({.body = {{"text", "my hunter2"}},
            .exact = {{.path = "/text", .bytes = "\"my hunter2\"", .unredacted = true}}});
  EXPECT_EQ(openings_of(sealed).at(0).value, "\"my hunter2\"");
  EXPECT_FALSE(entry(sealed).as_object().contains("redactions"));
}

// LE-55, LE-56
TEST_F(RedactionTest, ASensitiveNameTakesTheWholeValue) {
  const SealedDraft sealed = seal({.body = {{"list", {{{"password", 1234}}}}}});
  const json::value made = entry(sealed);
  EXPECT_EQ(made.at_pointer("/body/list/0/password"), "[REDACTED:secret]");
  EXPECT_EQ(made.at_pointer("/redactions/0/path"), "/list/0/password");
}

// LE-1, LE-56
TEST_F(RedactionTest, NothingReplacedMeansNoList) {
  EXPECT_FALSE(entry(seal({.body = {{"text", "harmless"}}})).as_object().contains("redactions"));
}

// LE-55
TEST_F(RedactionTest, AFieldThatTheRedactorCannotReadIsTakenWhole) {
  const SealedDraft sealed =
      seal({.body = {{"text", {{"a", "hunter2"}, {"z", "boom"}}}, {"n", "boom"}}});
  const json::value made = entry(sealed);
  EXPECT_EQ(openings_of(sealed).at(0).value, "\"[REDACTED:unreadable]\"");
  EXPECT_EQ(made.at_pointer("/body/n"), "[REDACTED:unreadable]");
  const json::array& redactions = made.at("redactions").as_array();
  ASSERT_EQ(redactions.size(), 2U);
  // In the order of the body.
  EXPECT_EQ(redactions[0].at("path"), "/n");
  EXPECT_EQ(redactions[1].at("path"), "/text");
  EXPECT_EQ(redactions[1].at("category"), "unreadable");
  EXPECT_EQ(redactions[1].at("digest").as_string(), digest_(R"({"a":"hunter2","z":"boom"})"));
}

// LE-55: an address in an agent's id was once removed from the body but not from the entry, and the
// receipt failed because the two differed
TEST_F(RedactionTest, IdentifiersAreTheSameInTheEntryAndItsBody) {
  for (const std::string& id : {std::string("bob@example.com"), std::string("bot-hunter2")}) {
    core::Draft draft;
    draft.subject = Subject{"", id, id, id, id, id, id};
    for (const char* name :
         {"call_id", "session_id", "agent_id", "server", "tool_name", "trace_id"}) {
      draft.body[name] = id;
    }
    draft.body["text"] = id;
    const json::value made = entry(seal(draft));
    EXPECT_TRUE(check_meaning(made)) << canonical_json(made);
    EXPECT_EQ(canonical_json(made).find("hunter2"), std::string::npos);
  }
  core::Draft draft{.body = {{"agent_id", "bob@example.com"}}};
  EXPECT_EQ(entry(seal(draft)).at_pointer("/body/agent_id"), "bob@example.com");
  draft.body = {{"agent_id", "bot-hunter2"}};
  EXPECT_EQ(entry(seal(draft)).at_pointer("/redactions/0/path"), "/agent_id");
}

// LE-55
TEST_F(RedactionTest, DraftsThatShareASubjectShowItAlikeAndTheNextOneItsOwn) {
  const core::SharedSubject shared = Subject{.call_id = "call_1", .agent_id = "bot-hunter2"};
  for (int i = 0; i < 2; ++i) {
    const json::value made = entry(seal({.subject = shared}));
    EXPECT_EQ(made.at("call_id"), "call_1");
    EXPECT_EQ(canonical_json(made).find("hunter2"), std::string::npos);
  }
  EXPECT_EQ(shared->agent_id, "bot-hunter2");
  EXPECT_EQ(entry(seal({.subject = Subject{.agent_id = "bot-2"}})).at("agent_id"), "bot-2");
  EXPECT_FALSE(entry(seal({})).as_object().contains("agent_id"));
}

// LE-56, WB-9
TEST_F(RedactionTest, AnIdentifierThatWasASecretIsSaidToBeWhole) {
  const auto listed = [&](std::string id) {
    return entry(seal({.body = {{"agent_id", std::move(id)}}})).at_pointer("/redactions/0");
  };
  const json::value whole = listed("hunter2");
  EXPECT_EQ(whole.at("whole"), true);
  EXPECT_EQ(whole.at("detector"), "fake");
  EXPECT_EQ(whole.at("category"), "secret");
  EXPECT_EQ(whole.at("digest").as_string(), digest_("hunter2"));
  for (const std::string id : {"bot-hunter2", "hunter2-bot", "hunter2]"}) {
    EXPECT_FALSE(listed(id).as_object().contains("whole")) << id;
    EXPECT_EQ(listed(id).at("digest").as_string(), digest_(id));
  }
}

// LE-56
TEST_F(RedactionTest, AListOfRedactionsNamesTwoHundredAndCountsTheRest) {
  const auto list = [&](std::size_t count, std::size_t bytes) {
    core::Draft draft{.body = {{"n", 1}}};
    for (std::size_t i = 0; i < count; ++i) {
      draft.redactions.push_back(json::value(std::string(bytes - 2, 'x')));
    }
    return entry(seal(draft)).at("redactions").as_array();
  };
  EXPECT_EQ(list(200, 10).size(), 200u);
  const json::array longer = list(203, 10);
  ASSERT_EQ(longer.size(), 201u);
  EXPECT_EQ(longer.back().at("category"), "3 more");
  EXPECT_EQ(list(24, 1024).size(), 24u) << "24 KiB";
  EXPECT_EQ(list(24, 1025).back().at("category"), "1 more");
}

core::Draft with_exact(json::object body, core::ExactContent exact) {
  core::Draft draft{.body = std::move(body)};
  draft.exact.push_back(std::move(exact));
  return draft;
}

// LE-10
TEST_F(RedactionTest, ReceivedBytesAreKeptAsTheyCame) {
  const std::string received = R"({ "id" : 123456789012345678901234567890 })";
  const SealedDraft sealed = seal(with_exact({{"input", {{"id", 1.2345678901234568e29}}}},
                                             {.path = "/input", .bytes = received, .raw = true}));
  entry(sealed);
  EXPECT_EQ(openings_of(sealed).at(0).form, Form::Raw);
  EXPECT_EQ(openings_of(sealed).at(0).value, received);
}

// LE-10, LE-55
TEST_F(RedactionTest, ReceivedBytesWithASecretAreNotKept) {
  const SealedDraft sealed =
      seal(with_exact({{"input", {{"a", "hunter2"}}}},
                      {.path = "/input", .bytes = R"({"a":"hunter2"})", .raw = true}));
  entry(sealed);
  EXPECT_EQ(openings_of(sealed).at(0).form, Form::Json);
  EXPECT_EQ(openings_of(sealed).at(0).value, R"({"a":"[REDACTED:secret]"})");
}

// LE-16, LE-56
TEST_F(RedactionTest, WithheldContentIsCommittedToAndNeverStored) {
  const SealedDraft sealed =
      seal(with_exact({{"original", "placeholder"}},
                      {.path = "/original", .bytes = R"({"a":"hunter2"})", .withheld = true}));
  const json::value made = entry(sealed);
  const Opening opening = openings_of(sealed).at(0);
  EXPECT_EQ(opening.state, OpeningState::Withheld);
  EXPECT_TRUE(opening.value.empty());
  EXPECT_EQ(sealed.packed_openings().find("hunter2"), std::string::npos);
  EXPECT_EQ(made.at_pointer("/body/original/$sealed").as_string(),
            seal_digest(Form::Json, opening.salt, R"({"a":"hunter2"})"));
}

// LE-55
TEST_F(RedactionTest, BytesThatStoringWouldChangeAreWithheldWhereAskedFor) {
  const auto released = [&](std::string text) {
    const std::string bytes = "{\"a\":\"" + text + "\"}";
    return seal(with_exact({{"released", {{"a", text}}}},
                           {.path = "/released", .bytes = bytes, .withheld_if_redacted = true}));
  };
  const SealedDraft secret = released("hunter2");
  const json::value made = entry(secret);
  EXPECT_EQ(openings_of(secret).at(0).state, OpeningState::Withheld);
  EXPECT_EQ(secret.packed_openings().find("hunter2"), std::string::npos);
  EXPECT_EQ(made.at_pointer("/body/released/$sealed").as_string(),
            seal_digest(Form::Json, openings_of(secret).at(0).salt, R"({"a":"hunter2"})"));
  const SealedDraft harmless = released("tea");
  EXPECT_EQ(openings_of(harmless).at(0).state, OpeningState::Open);
  EXPECT_EQ(openings_of(harmless).at(0).value, R"({"a":"tea"})");
}

// LE-16: exact content whose path met no sealed field was once dropped, and text that should have
// been withheld was stored as it was in the body
TEST_F(RedactionTest, ExactContentForNoSealedFieldIsRefused) {
  for (const std::string_view path : {"", "/", "/n", "/input/text", "/inputs", "input",
                                      "/body/input", "/error", "/result/0", "/../input"}) {
    const Result<SealedDraft> sealed =
        try_seal(with_exact({{"input", {{"text", "a"}}}, {"n", 1}, {"error", nullptr}},
                            {.path = std::string(path), .bytes = "1", .withheld = true}));
    ASSERT_FALSE(sealed) << path;
    EXPECT_EQ(sealed.error().where, path);
  }
}

// LE-7: exact content that is wrongly called JSON would have made the stored openings unreadable
TEST_F(RedactionTest, ExactContentIsCanonicalJsonOrRaw) {
  for (const std::string_view bytes : {"", "{", R"({"b":1,"a":2})", "1.0", "\"a\" ", "\xff",
                                       "12345678901234567890", "1,2", R"({"a":1,"a":1})"}) {
    EXPECT_FALSE(try_seal(with_exact({{"input", 1}}, {"/input", std::string(bytes)}))) << bytes;
    EXPECT_TRUE(try_seal(
        with_exact({{"input", 1}}, {.path = "/input", .bytes = std::string(bytes), .raw = true})));
  }
  EXPECT_TRUE(try_seal(with_exact({{"input", 1}}, {"/input", R"({"a":2,"b":1})"})));
}

}  // namespace
}  // namespace sallyport::ledger
