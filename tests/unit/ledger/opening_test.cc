#include "ledger/entry/opening.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "ledger/entry/sealed_names.h"

namespace sallyport::ledger {
namespace {

Salt salt_of(std::uint8_t byte) {
  Salt salt;
  salt.fill(byte);
  return salt;
}

Opening opening(std::string path, std::string value, Form form = Form::Json) {
  return {.path = std::move(path), .form = form, .salt = salt_of(0xaa), .value = std::move(value)};
}

json::value commitment(const Opening& to) {
  return {{"$sealed", seal_digest(to.form, to.salt, to.value)}};
}

std::string json_of(const Opening& opening) {
  std::string out;
  append_opening_json(out, opening);
  return out;
}

Result<Opening> read(std::string_view text) {
  return opening_from_json(parse_json(text)->value);
}

// LE-13
TEST(OpeningTest, SealsOfTheSpecificationHold) {
  EXPECT_EQ(seal_digest(Form::Json, salt_of(0xaa), R"({"path":"/tmp/x"})"),
            "sha256:8b828a4020f822285b72a35479d9cbdcaaabe56a91aa81307996958a641f617c");
  EXPECT_EQ(seal_digest(Form::Raw, salt_of(0xaa), R"({"id":12345678901234567890})"),
            "sha256:f442a50e850bde2a9c21a64d972fd5f482ac78fdc9e44dd7a3400449b55ff805");
}

// LE-13
TEST(OpeningTest, FormSaltAndValueAreAllCommittedTo) {
  const std::string seal = seal_digest(Form::Json, salt_of(0xaa), "1");
  EXPECT_NE(seal_digest(Form::Raw, salt_of(0xaa), "1"), seal);
  EXPECT_NE(seal_digest(Form::Json, salt_of(0xab), "1"), seal);
  EXPECT_NE(seal_digest(Form::Json, salt_of(0xaa), "2"), seal);
}

// LE-14
TEST(OpeningTest, TheSealedNamesAreThoseOfTheSpecification) {
  const std::vector<std::string_view> names = {"input",
                                               "requested_input",
                                               "effective_input",
                                               "raw_input",
                                               "structured_input",
                                               "args",
                                               "result",
                                               "value",
                                               "released",
                                               "original",
                                               "payload",
                                               "output_preview",
                                               "query_preview",
                                               "prepared_snapshot",
                                               "snapshot",
                                               "command",
                                               "cwd",
                                               "working_directory",
                                               "reason",
                                               "message",
                                               "detail",
                                               "details",
                                               "description",
                                               "text",
                                               "prompt",
                                               "answer",
                                               "error",
                                               "excerpt",
                                               "escalations",
                                               "nonce",
                                               "listen_context",
                                               "undo_metadata"};
  for (const std::string_view name : names) EXPECT_TRUE(is_sealed_name(name)) << name;
  EXPECT_GE(sealed_names().size(), names.size());
  EXPECT_TRUE(std::ranges::is_sorted(sealed_names()));
  for (const std::string_view name :
       {"", "Input", "inputs", "call_id", "control", "outcome", "n"}) {
    EXPECT_FALSE(is_sealed_name(name)) << name;
  }
}

// LE-29
TEST(OpeningTest, AnOpeningHasTheFormOfAReceipt) {
  EXPECT_EQ(json_of(opening("/body/effective_input", R"({"path":"/tmp/x"})")),
            R"({"form":"json","path":"/body/effective_input",)"
            R"("salt":"qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=","value":{"path":"/tmp/x"}})");
  EXPECT_EQ(json_of(opening("/body/a~1b", "\x01\xff", Form::Raw)),
            R"({"form":"raw","path":"/body/a~1b",)"
            R"("salt":"qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=","value":"Af8="})");
}

// LE-16
TEST(OpeningTest, WhatIsPackedIsUnpackedInEveryState) {
  Opening withheld = opening("/body/original", "");
  withheld.state = OpeningState::Withheld;
  Opening erased{.path = "/body/text", .form = Form::Raw, .state = OpeningState::Erased};
  const std::vector<Opening> all = {
      opening("/body/input", R"({"a":[1,null,"é"]})"), opening("/body/result", "\"text\""),
      opening("/body/raw_input", std::string("{\"id\":1e999}\0\xff", 14), Form::Raw), withheld,
      erased};
  const Result<std::vector<Opening>> read = unpack_openings(pack_openings(all));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, all);
  EXPECT_EQ(pack_openings({}), "");
  EXPECT_TRUE(unpack_openings("")->empty());
  withheld.value = "\"never stored\"";
  EXPECT_EQ(pack_openings({withheld}).find("never stored"), std::string::npos);
}

// LE-16, LE-59
TEST(OpeningTest, WithheldAndErasedOpeningsHoldNothingElse) {
  Opening gone = opening("/body/text", "\"never stored\"");
  gone.state = OpeningState::Erased;
  EXPECT_EQ(pack_openings({gone}), std::string("je\0\0\0\x0a/body/text", 16));
  gone.state = OpeningState::Withheld;
  EXPECT_EQ(pack_openings({gone}),
            std::string("jw\0\0\0\x0a/body/text", 16) + std::string(32, '\xaa'));
}

// LE-16
TEST(OpeningTest, DamagedStoredOpeningsAreRefused) {
  const std::string packed =
      pack_openings({opening("/body/input", "{}"), opening("/body/text", "\x01", Form::Raw)});
  const std::size_t first = pack_openings({opening("/body/input", "{}")}).size();
  for (std::size_t size = 1; size < packed.size(); ++size) {
    EXPECT_EQ(unpack_openings(packed.substr(0, size)).has_value(), size == first) << size;
  }
  for (const std::size_t place : {0, 1}) {
    std::string changed = packed;
    changed[place] = 'x';
    EXPECT_FALSE(unpack_openings(changed));
  }
}

// LE-29, LE-78
TEST(OpeningTest, MalformedOpeningsAreRefused) {
  const std::string good =
      R"({"form":"raw","path":"/body/text","salt":"qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=",)"
      R"("value":"Af8="})";
  ASSERT_TRUE(read(good));
  const auto without = [&](std::string_view from, std::string_view to) {
    std::string changed = good;
    return changed.replace(changed.find(from), from.size(), to);
  };
  for (const std::string& bad :
       {std::string("[]"), std::string("{}"), std::string("null"), std::string("\"x\""),
        without(R"("form":"raw",)", ""), without("\"raw\"", "\"text\""), without("\"raw\"", "1"),
        without(R"("path":"/body/text",)", ""), without("\"/body/text\"", "7"),
        without("qqo=", "qqq="), without("qqo=", "qqo"), without("\"qqqq", "\""),
        without("qqqq", "qq_q"), without(R"(,"value":"Af8=")", ""), without("Af8=", "Af9="),
        without("Af8=", "Af8"), without("\"Af8=\"", "{}"), without("\"Af8=\"", "null"),
        without("{", R"({"extra":1,)")}) {
    EXPECT_FALSE(read(bad)) << bad;
  }
}

// LE-12, LE-35
TEST(OpeningTest, OnlyTheCommittedValueOpensAField) {
  const Opening good = opening("/body/list/1/text", R"({"a":1})");
  const json::value entry = {
      {"body", {{"list", json::array{1, json::object{{"text", commitment(good)}}}}}}};
  EXPECT_TRUE(check_opening(entry, good));
  for (const auto& change : std::initializer_list<void (*)(Opening&)>{
           [](Opening& o) { o.value = R"({"a":2})"; }, [](Opening& o) { o.value += ' '; },
           [](Opening& o) { o.salt[31] ^= 1; }, [](Opening& o) { o.form = Form::Raw; }}) {
    Opening changed = good;
    change(changed);
    const Result<void> checked = check_opening(entry, changed);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().message, "an opening does not match its commitment");
    EXPECT_EQ(checked.error().where, good.path);
  }
}

// LE-29
TEST(OpeningTest, APathThatLeadsToNoSealedFieldIsRefused) {
  const Opening good = opening("/body/text", "1");
  json::value entry = {{"body", {{"text", commitment(good)}, {"list", {1, 2}}, {"n", 1}}}};
  entry.as_object()["body"].as_object()["fake"] =
      json::object{{"$sealed", commitment(good).at("$sealed")}, {"more", 1}};
  ASSERT_TRUE(check_opening(entry, good));
  for (const std::string_view path : {"",
                                      "/",
                                      "//",
                                      "body/text",
                                      "/body",
                                      "/body/",
                                      "/body/text/",
                                      "/body/text/$sealed",
                                      "/body/TEXT",
                                      "/body/te~xt",
                                      "/body/te~2xt",
                                      "/body/text~",
                                      "/body/../body/text",
                                      "/body/./text",
                                      "/body/list/0",
                                      "/body/list/-",
                                      "/body/list/01",
                                      "/body/list/-1",
                                      "/body/list/99999999999999999999999",
                                      "/body/n",
                                      "/body/n/0",
                                      "/body/fake",
                                      "#/body/text",
                                      "/body/text/0",
                                      "/body/*",
                                      "/body\n/text"}) {
    Opening elsewhere = good;
    elsewhere.path = path;
    EXPECT_FALSE(check_opening(entry, elsewhere)) << path;
    elsewhere.state = OpeningState::Withheld;
    EXPECT_FALSE(check_opening(entry, elsewhere)) << path;
  }
}

// LE-29
TEST(OpeningTest, NamesWithSlashAndTildeAreEscapedInPaths) {
  const Opening good = opening("/body/a~1b~0c/text", "1");
  const json::value entry = {{"body", {{"a/b~c", {{"text", commitment(good)}}}}}};
  EXPECT_TRUE(check_opening(entry, good));
}

// LE-16
TEST(OpeningTest, WithheldAndErasedOpeningsOnlyNameTheirField) {
  const json::value entry = {{"body", {{"text", commitment(opening("", "1"))}}}};
  for (const OpeningState state : {OpeningState::Withheld, OpeningState::Erased}) {
    Opening gone{.path = "/body/text", .state = state};
    EXPECT_TRUE(check_opening(entry, gone));
    gone.path = "/body";
    EXPECT_FALSE(check_opening(entry, gone));
  }
}

}  // namespace
}  // namespace sallyport::ledger
