#include "guards/redact/storage_redactor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::guards {
namespace {

using core::Removal;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const std::string kAwsId = "AKIAIOSFODNN7EXAMPLE";

const StorageRedactor& redactor() {
  static const StorageRedactor shared(*Detectors::build());
  return shared;
}

struct Redacted {
  std::string text;
  std::vector<Removal> removals;
};

Redacted redact(std::string_view input, std::string_view name = "body") {
  json::value value = parse_json(input).value().value;
  const bool clean = redactor().is_clean(name, canonical_json(value));
  Redacted result;
  result.removals = redactor().redact(name, value);
  EXPECT_TRUE(!clean || result.removals.empty()) << input << " is called clean";
  result.text = json::serialize(value);
  json::value again = value;
  EXPECT_THAT(redactor().redact(name, again), IsEmpty()) << result.text;
  EXPECT_EQ(again, value) << "a second time changes nothing";
  return result;
}

void expect_untouched(std::string_view input) {
  const Redacted result = redact(input);
  EXPECT_EQ(json::parse(result.text), json::parse(input));
  EXPECT_THAT(result.removals, IsEmpty());
}

// LE-55, AU-81, AU-82
TEST(StorageRedactorTest, MatchesInStringsAreReplacedByTheirCategory) {
  const Redacted result =
      redact(R"({"a":["mail jane@example.com or 10.0.0.1",")" + kAwsId + R"("]})");
  EXPECT_EQ(result.text,
            R"({"a":["mail [REDACTED:pii] or [REDACTED:internal]","[REDACTED:secret]"]})");
  EXPECT_THAT(result.removals, ElementsAre(Removal{"/a/0", "pii", "jane@example.com"},
                                           Removal{"/a/0", "internal", "10.0.0.1"},
                                           Removal{"/a/1", "secret", kAwsId}));
}

// AP-38: in a shell, the words after an assignment are a command.
TEST(StorageRedactorTest, WordsBehindAPasswordStayInACommandAndGoElsewhere) {
  EXPECT_EQ(redact(R"({"command":"password=hunter22 wipe every disk"})").text,
            R"({"command":"password=[REDACTED:secret] wipe every disk"})");
  EXPECT_EQ(redact(R"({"line":"password=hunter22 wipe every disk"})").text,
            R"({"line":"password=[REDACTED:secret]"})");
}

// AU-82
TEST(StorageRedactorTest, EverythingElseKeepsItsShape) {
  expect_untouched(
      R"({"s":"hello","e":"","n":null,"t":true,"i":12345,"d":1.5,"o":{},"a":[[]],"x":"ключ"})");
}

// AU-83
TEST(StorageRedactorTest, PathsAreJsonPointersFromTheGivenValue) {
  EXPECT_THAT(redact(R"("a@b.io")").removals, ElementsAre(Removal{"", "pii", "a@b.io"}));
  EXPECT_THAT(redact(R"({"a/b":{"c~d":["","a@b.io"]}})").removals,
              ElementsAre(Removal{"/a~1b/c~0d/1", "pii", "a@b.io"}));
  EXPECT_THAT(redact(R"({"":"a@b.io"})").removals, ElementsAre(Removal{"/", "pii", "a@b.io"}));
}

// PI-51, PI-62
TEST(StorageRedactorTest, LongIntegersAreScannedAsText) {
  const Redacted result = redact(R"([4111111111111111,-4111111111111111,4111111111111112])");
  EXPECT_EQ(result.text, R"(["[REDACTED:pii]","-[REDACTED:pii]",4111111111111112])");
  EXPECT_THAT(result.removals, ElementsAre(Removal{"/0", "pii", "4111111111111111"},
                                           Removal{"/1", "pii", "4111111111111111"}));
}

// PI-51: a double that is stored as an integer is an integer.
TEST(StorageRedactorTest, WholeDoublesAreScannedAsTheTextTheyAreStoredAs) {
  EXPECT_EQ(redact("[4.111111111111111e15]").text, R"(["[REDACTED:pii]"])");
}

// PI-51, PI-62
TEST(StorageRedactorTest, MatchesInNamesRewriteTheName) {
  const Redacted result = redact(R"({"jane@example.com":1,"x":2})");
  EXPECT_EQ(result.text, R"({"[REDACTED:pii]":1,"x":2})");
  EXPECT_THAT(result.removals, ElementsAre(Removal{"/[REDACTED:pii]", "pii", "jane@example.com"}));
}

// PI-62
TEST(StorageRedactorTest, NamesThatWouldClashAreNumberedAndNoValueIsLost) {
  const Redacted result =
      redact(R"({"a@b.io":1,"[REDACTED:pii]":2,"c@d.io":3,"[REDACTED:pii]#2":4})");
  EXPECT_EQ(result.text, R"({"[REDACTED:pii]#3":1,"[REDACTED:pii]":2,"[REDACTED:pii]#4":3,)"
                         R"("[REDACTED:pii]#2":4})");
}

// PI-62: looking for a free number must not start over for each name.
TEST(StorageRedactorTest, ThousandsOfClashingNamesAreRenamed) {
  json::object object;
  for (int i = 0; i < 20000; ++i) object["u" + std::to_string(i) + "@example.com"] = i;
  json::value value = object;
  EXPECT_EQ(redactor().redact("body", value).size(), 20000U);
  EXPECT_EQ(value.as_object().size(), 20000U);
  EXPECT_EQ(value.at("[REDACTED:pii]#20000"), 19999);
}

// AU-83, AU-84: a path is stored beside the value.
TEST(StorageRedactorTest, PathsBelowARewrittenNameDoNotTellTheName) {
  const Redacted result = redact(R"({"jane@example.com":{"ip":"10.0.0.1"}})");
  EXPECT_THAT(result.removals, ElementsAre(Removal{"/[REDACTED:pii]", "pii", "jane@example.com"},
                                           Removal{"/[REDACTED:pii]/ip", "internal", "10.0.0.1"}));
}

// PI-54
TEST(StorageRedactorTest, AServiceAccountBecomesNull) {
  const std::string account = R"({"type":"service_account","project_id":"p","private_key":"abc"})";
  const Redacted result = redact(R"({"file":)" + account + R"(,"n":1})");
  EXPECT_EQ(result.text, R"({"file":null,"n":1})");
  ASSERT_EQ(result.removals.size(), 1U);
  EXPECT_EQ(result.removals[0].path, "/file");
  EXPECT_EQ(result.removals[0].category, "secret");
  EXPECT_EQ(parse_json(result.removals[0].removed).value().value, json::parse(account));
  EXPECT_EQ(redact(account).text, "null");
  expect_untouched(R"({"type":"service_account","project_id":"p"})");
  EXPECT_EQ(redact(R"({"type":"user","private_key":"abc"})").text,
            R"({"type":"user","private_key":"[REDACTED:secret]"})");
}

// LE-55, AU-82
TEST(StorageRedactorTest, ASensitiveNameTakesTheWholeValue) {
  const Redacted result = redact(R"({"password":"x","Api-Key":"a b","pwd":1234,"token":1.5})");
  EXPECT_EQ(result.text, R"({"password":"[REDACTED:secret]","Api-Key":"[REDACTED:secret]",)"
                         R"("pwd":"[REDACTED:secret]","token":"[REDACTED:secret]"})");
  EXPECT_THAT(result.removals,
              ElementsAre(Removal{"/password", "secret", "x"}, Removal{"/Api-Key", "secret", "a b"},
                          Removal{"/pwd", "secret", "1234"}, Removal{"/token", "secret", "1.5"}));
}

// LE-55
TEST(StorageRedactorTest, TheNameOfTheGivenValueCounts) {
  const Redacted result = redact(R"("x")", "password");
  EXPECT_EQ(result.text, R"("[REDACTED:secret]")");
  EXPECT_THAT(result.removals, ElementsAre(Removal{"", "secret", "x"}));
  EXPECT_THAT(redact(R"("x")", "reason").removals, IsEmpty());
}

// LE-55
TEST(StorageRedactorTest, ASensitiveNameReachesIntoArraysAndObjects) {
  const Redacted result =
      redact(R"({"cookie":["a=1",5,{"deep":["b",7,null,true,""]}],"after":"plain"})");
  EXPECT_EQ(result.text, R"({"cookie":["[REDACTED:secret]",5,{"deep":["[REDACTED:secret]",7,null,)"
                         R"(true,""]}],"after":"plain"})");
  EXPECT_THAT(result.removals, ElementsAre(Removal{"/cookie/0", "secret", "a=1"},
                                           Removal{"/cookie/2/deep/0", "secret", "b"}));
}

// LE-55
TEST(StorageRedactorTest, ValuesThatSayNothingStayUnderASensitiveName) {
  expect_untouched(R"({"password":null,"token":true,"secret":"","credentials":{},"cookie":[]})");
}

// LE-55
TEST(StorageRedactorTest, CountersAndBookmarksStay) {
  expect_untouched(
      R"({"max_tokens":4096,"usage":{"input_tokens":12},"progressToken":"p","nextPageToken":"n"})");
}

// AU-81: tool descriptions are stored, and their schemas name members.
TEST(StorageRedactorTest, ASchemaOfAPasswordIsNoPassword) {
  expect_untouched(R"({"properties":{"password":{"type":"string","description":"your password"},)"
                   R"("credentials":{"type":"object","properties":{"token":{"type":"string"}}}}})");
  EXPECT_EQ(
      redact(R"({"properties":{"password":{"type":"string","default":"x","examples":["y"]}}})")
          .text,
      R"({"properties":{"password":{"type":"string","default":"[REDACTED:secret]",)"
      R"("examples":["[REDACTED:secret]"]}}})");
  EXPECT_EQ(redact(R"({"properties":{"password":"x"}})").text,
            R"({"properties":{"password":"[REDACTED:secret]"}})");
  EXPECT_EQ(
      redact(R"({"properties":{"password":{"type":"secureString","text":"x"}}})").text,
      R"({"properties":{"password":{"type":"[REDACTED:secret]","text":"[REDACTED:secret]"}}})");
  EXPECT_EQ(redact(R"({"properties":{"password":{"value":"x"}}})").text,
            R"({"properties":{"password":{"value":"[REDACTED:secret]"}}})");
}

// PI-67
TEST(StorageRedactorTest, MarksAreNeverMatchedAgain) {
  expect_untouched(R"({"password":"[REDACTED:secret]","token":"[REDACTED:url_password]",)"
                   R"("url":"https://u:[REDACTED:secret]@h","line":"token=[REDACTED:pii]",)"
                   R"("quoted":"secret: '[REDACTED:secret]'","mail":"[REDACTED:pii]@example"})");
  EXPECT_EQ(redact(R"({"password":"[REDACTED:secret] and x"})").text,
            R"({"password":"[REDACTED:secret]"})");
}

// PI-52, AU-84: the loser of an overlap extends beyond the winner on the left and is itself a
// secret.
TEST(StorageRedactorTest, WhatSticksOutOfALongerMatchIsTakenOutToo) {
  const std::string left = "glpat-" + std::string(20, 'a');
  const std::string right = "eyJ" + std::string(60, 'b') + ".eyJ" + std::string(60, 'c') + ".d";
  const Redacted result = redact("\"" + left + "-" + right + "\"");
  EXPECT_EQ(result.text, R"("[REDACTED:secret][REDACTED:secret]")");
  EXPECT_THAT(result.removals, UnorderedElementsAre(Removal{"", "secret", right},
                                                    Removal{"", "secret", left + "-"}));
}

// AU-84
TEST(StorageRedactorTest, ASecretPlantedInEachPlaceInTurnIsFoundInNone) {
  const std::string shape = R"({"a":"@","@":1,"b":[{"c":"x @ y"},["@"]],"d":{"@":{"e":"@"}}})";
  for (std::size_t at = shape.find('@'); at != std::string::npos; at = shape.find('@', at + 1)) {
    std::string planted = shape;
    planted.replace(at, 1, kAwsId);
    const Redacted result = redact(planted);
    EXPECT_EQ(result.text.find(kAwsId), std::string::npos) << planted;
    ASSERT_EQ(result.removals.size(), 1U) << planted;
    EXPECT_EQ(result.removals[0].removed, kAwsId);
    EXPECT_EQ(result.removals[0].path.find(kAwsId), std::string::npos);
  }
}

// LE-55
TEST(StorageRedactorTest, JsonInATextMayStandBehindBlanks) {
  const Redacted result = redact(R"({"text":"\r\n\t {\"password\": \"a b c\"}"})");
  EXPECT_EQ(result.text, R"({"text":"{\"password\":\"[REDACTED:secret]\"}"})");
  expect_untouched(R"({"text":" { no JSON at all"})");
}

TEST(StorageRedactorTest, AnIdentifierLosesSecretsAndKeepsAddresses) {
  std::string agent = "jane@example.com/10.0.0.1";
  EXPECT_FALSE(redactor().redact_identifier(agent));
  EXPECT_EQ(agent, "jane@example.com/10.0.0.1");
  std::string session = "s-" + kAwsId + "-1";
  EXPECT_TRUE(redactor().redact_identifier(session));
  EXPECT_EQ(session, "s-[REDACTED:secret]-1");
  std::string mixed = kAwsId + "@example.com";
  EXPECT_TRUE(redactor().redact_identifier(mixed));
  EXPECT_EQ(mixed, "[REDACTED:secret]@example.com");
}

TEST(StorageRedactorTest, DeepValuesAreWalkedToTheirEnd) {
  const Redacted result = redact(std::string(120, '[') + "\"a@b.io\"" + std::string(120, ']'));
  ASSERT_EQ(result.removals.size(), 1U);
  EXPECT_EQ(result.removals[0].path.size(), 240U);
}

// A megabyte of JSON in a text holds half a million values, and a message has many such texts.
TEST(StorageRedactorTest, JsonTextsBeyondABoundAreSearchedAsTexts) {
  std::string many = "[1";
  for (int i = 0; i < 200'000; ++i) many += ",1";
  json::array texts;
  for (int i = 0; i < 3; ++i) texts.push_back(json::value(many + ",\"" + kAwsId + "\"]"));
  texts.push_back(json::value(R"({"password":"opensesame"})"));
  json::value value = texts;
  const std::vector<Removal> removals = redactor().redact("body", value);
  EXPECT_EQ(json::serialize(value).find(kAwsId), std::string::npos);
  EXPECT_GE(removals.size(), 3u);
}

// LE-55, AU-82: a tool that answers in JSON text names its sensitive members there.
TEST(StorageRedactorTest, JsonInATextIsReadByItsMemberNames) {
  const Redacted object = redact(R"({"t":"{\"password\":\"opensesame\",\"m\":\"a@b.io\"}"})");
  EXPECT_EQ(object.text,
            R"({"t":"{\"m\":\"[REDACTED:pii]\",\"password\":\"[REDACTED:secret]\"}"})");
  EXPECT_THAT(object.removals,
              ElementsAre(Removal{"/t", "secret", "opensesame"}, Removal{"/t", "pii", "a@b.io"}));
  EXPECT_EQ(redact(R"(["[{\"pwd\":\"open\"}]"])").text, R"(["[{\"pwd\":\"[REDACTED:secret]\"}]"])");
  expect_untouched(R"(["{\"a\": 1}","[ ]","{","x{\"password\":\"open\"}"])");
  expect_untouched(R"(["{\"n\":12345678901234567890,\"password\":\"opensesame\"}"])");
}

// LE-55
TEST(StorageRedactorTest, JsonInATextIsReadUpToOneMebibyte) {
  for (const std::size_t size : {1U << 20, (1U << 20) + 1}) {
    std::string text = R"({"password":"open"})";
    text += std::string(size - text.size(), ' ');
    json::value value(text);
    EXPECT_EQ(redactor().redact("body", value).size(), size == 1U << 20 ? 1U : 0U);
  }
}

// AP-38
TEST(StorageRedactorTest, ACommandIsKnownByAnyNameAroundIt) {
  const auto text_of = [](json::value value, std::string_view name) {
    (void)redactor().redact(name, value);
    return json::serialize(value);
  };
  const json::value words("password=hunter22 wipe every disk");
  const std::string kept = R"("password=[REDACTED:secret] wipe every disk")";
  EXPECT_EQ(text_of(words, "command"), kept);
  EXPECT_EQ(text_of(words, "args"), R"("password=[REDACTED:secret]")");
  EXPECT_EQ(text_of(json::array{words}, "command"), "[" + kept + "]");
  EXPECT_EQ(text_of(json::value(json::serialize(json::object{{"x", words}})), "command"),
            R"("{\"x\":\"password=[REDACTED:secret] wipe every disk\"}")");
  EXPECT_EQ(text_of(json::object{{"argv", json::array{json::object{{"x", words}}}}}, "body"),
            R"({"argv":[{"x":)" + kept + "}]}");
}

// LE-55: identifiers are searched only for secrets, and a clean identifier stays clean.
TEST(StorageRedactorTest, AnIdentifierLosesSecretsAndNothingElse) {
  for (int i = 0; i < 600; ++i) {
    std::string clean = "call-" + std::to_string(i % 300) + " of jane@example.com";
    const std::string before = clean;
    EXPECT_FALSE(redactor().redact_identifier(clean));
    EXPECT_FALSE(redactor().redact_identifier(clean)) << "the second time from memory";
    EXPECT_EQ(clean, before);
    std::string secret = "id " + kAwsId;
    EXPECT_TRUE(redactor().redact_identifier(secret));
    EXPECT_EQ(secret.find(kAwsId), std::string::npos);
  }
}

TEST(StorageRedactorTest, PlainContentIsKnownToBeCleanFromItsText) {
  for (const char* const text :
       {R"("a plain text")",
        R"({"path":"/srv/data/report.txt","offset":12,"deep":[true,null,{"x":"y"}]})",
        R"("two lines\nand a \"quote\"")", "12345678", "{}", "[]", R"("")"}) {
    EXPECT_TRUE(redactor().is_clean("input", text)) << text;
  }
}

// LE-55: text that the quick check passes would be unchanged by the redactor.
TEST(StorageRedactorTest, WhatIsCalledCleanHasNothingToTakeOut) {
  std::mt19937 random(11);  // NOLINT(cert-msc51-cpp)
  const std::vector<std::string> words = {"report",   "a\"b",
                                          "x\ny",     " {\"password\":\"hunter2\"}",
                                          kAwsId,     "jane@example.com",
                                          "10.0.0.1", "service_account",
                                          "[1,2]"};
  const std::vector<std::string> names = {"path",        "password",    "apiKey",
                                          "properties",  "type",        kAwsId,
                                          "private_key", "token_count", "n"};
  const auto one_of = [&](const auto& list) { return list[random() % list.size()]; };
  const std::function<json::value(int)> made = [&](int depth) -> json::value {
    switch (random() % (depth == 0 ? 3 : 5)) {
      case 0:
        return json::value(one_of(words));
      case 1:
        return json::value(random() % 3 == 0 ? std::uint64_t{4111111111111111} : random() % 1000);
      case 2:
        return random() % 2 == 0 ? json::value(nullptr) : json::value(true);
      case 3: {
        json::array list;
        for (std::size_t i = random() % 3; i > 0; --i) list.push_back(made(depth - 1));
        return list;
      }
      default: {
        json::object object;
        for (std::size_t i = random() % 4; i > 0; --i) object[one_of(names)] = made(depth - 1);
        return object;
      }
    }
  };
  int clean = 0;
  for (int round = 0; round < 3000; ++round) {
    json::value value = made(3);
    const std::string name = one_of(names);
    const std::string text = canonical_json(value);
    if (!redactor().is_clean(name, text)) continue;
    ++clean;
    EXPECT_THAT(redactor().redact(name, value), IsEmpty()) << name << ": " << text;
  }
  EXPECT_GT(clean, 100);
}

}  // namespace
}  // namespace sallyport::guards
