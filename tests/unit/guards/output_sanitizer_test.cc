#include "guards/redact/output_sanitizer.h"

#include <gtest/gtest.h>

#include <random>

#include "base/bytes.h"
#include "base/encoding.h"
#include "unit/guards/sanitizing.h"

namespace sallyport::guards {
namespace {

const std::string kAws = "AKIAIOSFODNN7EXAMPLE";
const std::string kCard = "4111111111111111";

// PI-51 PI-56 PI-62
TEST(OutputSanitizerTest, StringsNamesAndLongIntegersAreScannedAndTheRestStays) {
  EXPECT_EQ(sanitize(R"({"a":["x AKIAIOSFODNN7EXAMPLE y",1,true,null,12345678]})").text,
            R"({"a":["x **** y",1,true,null,12345678]})");
  EXPECT_EQ(sanitize(R"({"AKIAIOSFODNN7EXAMPLE":1})").text,
            R"({"[REDACTED:aws_access_key_id]":1})");
  EXPECT_EQ(sanitize("[4111111111111111,4111111111111112]").text,
            R"(["****1111",4111111111111112])");
}

// PI-64
TEST(OutputSanitizerTest, EvidenceCountsByDetectorInOrderOfName) {
  EXPECT_EQ(sanitize(R"({"k":"AKIAIOSFODNN7EXAMPLE","m":"a@b.example, c@d.example"})",
                     R"({"categories":{"pii":true}})")
                .evidence,
            "aws_access_key_id=1;email=2");
}

// PI-51
TEST(OutputSanitizerTest, WhatIsCleanIsAllowedWithoutAWord) {
  const Verdict verdict = everything().sanitize(Envelope::of({{"a", "hello"}}));
  EXPECT_EQ(verdict, Verdict::allow());
}

// PI-52
TEST(OutputSanitizerTest, TheLongestMatchWins) {
  EXPECT_EQ(sanitize(R"("https://u:AKIAIOSFODNN7EXAMPLE1@h/")").evidence, "url_password=1");
  EXPECT_EQ(sanitize(R"({"token":"AKIAIOSFODNN7EXAMPLE"})").evidence, "aws_access_key_id=1");
}

// PI-53
TEST(OutputSanitizerTest, ASecretCutInTwoIsFoundInBothParts) {
  EXPECT_EQ(
      sanitize(
          R"({"content":[{"type":"text","text":"a AKIAIOSF"},{"type":"text","text":"ODNN7EXAMPLE b"}]})")
          .text,
      R"({"content":[{"type":"text","text":"a ****"},{"type":"text","text":"**** b"}]})");
  Envelope stream{.kind = Envelope::Kind::Stream,
                  .chunks = {"AKIA", 7, "IOSFODNN7", "EXAMPLE"},
                  .complete = true};
  EXPECT_EQ(sanitize(everything(), stream).text,
            R"({"kind":"stream","stream":{"chunks":["****",7,"****","****"],"complete":true}})");
}

// PI-53: joined to its neighbour it no longer has a word edge.
TEST(OutputSanitizerTest, ASecretAtTheEndOfOneBlockIsFoundBesideAnotherBlock) {
  EXPECT_EQ(
      sanitize(R"([{"type":"text","text":"AKIAIOSFODNN7EXAMPLE"},{"type":"text","text":"x"}])")
          .text,
      R"([{"type":"text","text":"****"},{"type":"text","text":"x"}])");
}

// PI-53: an image or an empty block between two texts once hid a secret that was cut in two.
TEST(OutputSanitizerTest, ASecretIsFoundWhateverStandsBetweenItsParts) {
  EXPECT_EQ(
      sanitize(
          R"({"content":[{"type":"text","text":"AKIAIOSF"},{"type":"image","data":"AA=="},)"
          R"({"type":"text","text":""},{"type":"resource","resource":{"uri":"u","text":"ODNN7EXAMPLE"}}]})")
          .text,
      R"({"content":[{"type":"text","text":"****"},{"type":"image","data":"AA=="},)"
      R"({"type":"text","text":"****"},{"type":"resource","resource":{"uri":"u","text":"****"}}]})");
  EXPECT_EQ(
      sanitize(R"({"contents":[{"uri":"a","text":"AKIAIOSF"},{"uri":"b","text":"ODNN7EXAMPLE"}]})")
          .text,
      R"({"contents":[{"uri":"a","text":"****"},{"uri":"b","text":"****"}]})");
}

// PI-51: text in base64 is text as well.
TEST(OutputSanitizerTest, ASecretThatStandsThereAsBase64IsTakenOutOfIt) {
  const auto encoded = [](const std::string& text) { return base64(as_bytes(text)); };
  const std::string dirty =
      R"({"blob":")" + encoded("key=AKIAIOSFODNN7EXAMPLE, and so on") + R"("})";
  const std::string clean = R"({"blob":")" + encoded("key=****, and so on") + R"("})";
  EXPECT_EQ(sanitize(dirty).text, clean);
  EXPECT_EQ(sanitize(dirty).evidence, "aws_access_key_id=1");
  EXPECT_EQ(sanitize(clean).text, clean);
  const std::string image = R"({"data":")" + encoded("\x89PNG AKIAIOSFODNN7EXAMPLE \x01") + R"("})";
  EXPECT_EQ(sanitize(image).text, image);
}

// PI-53
TEST(OutputSanitizerTest, UnrelatedStringsAreNotOneText) {
  const std::string text = R"(["AKIAIOSF","ODNN7EXAMPLE",{"a":"password=","b":"hunter2hunter2"}])";
  EXPECT_EQ(sanitize(text).text, text);
}

// PI-54
TEST(OutputSanitizerTest, AMembersStringIsASecretByItsName) {
  EXPECT_EQ(
      sanitize(R"({"db_password":"hunter2xyz","password":"hello you, 1","token":"short1"})").text,
      R"({"db_password":"****","password":"hello you, 1","token":"short1"})");
  const Sanitized aws =
      sanitize(R"({"aws_secret_access_key":"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"})");
  EXPECT_EQ(aws.text, R"({"aws_secret_access_key":"****"})");
  EXPECT_EQ(aws.evidence, "aws_secret_access_key=1");
}

// PI-54
TEST(OutputSanitizerTest, AServiceAccountBecomesNull) {
  const Sanitized found = sanitize(R"({"f":{"type":"service_account","private_key":"abc"},"n":1})");
  EXPECT_EQ(found.text, R"({"f":null,"n":1})");
  EXPECT_EQ(found.evidence, "gcp_service_account=1");
}

// A service account with one more member was released with its key.
// PI-54
TEST(OutputSanitizerTest, AServiceAccountWithOtherMembersBecomesNullToo) {
  const std::string account =
      R"({"password":"abcdefg1","type":"service_account","private_key":"x"})";
  const Sanitized found =
      sanitize(R"({"structuredContent":{"f":)" + account + R"(},"content":[]})");
  EXPECT_EQ(found.text, R"({"structuredContent":{"f":null},"content":[]})");
  EXPECT_EQ(found.evidence, "gcp_service_account=1");
}

// PI-54: it runs to the end of its own string and no further.
TEST(OutputSanitizerTest, APrivateKeyWithoutEndDoesNotReachIntoOtherStrings) {
  EXPECT_EQ(
      sanitize(R"(["-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq1","plain","a@b.io"])").text,
      R"(["****","plain","a***@b.io"])");
}

// PI-55
TEST(OutputSanitizerTest, StrategiesFollowTheCategoryUnlessADetectorHasItsOwn) {
  const std::string text = R"(["AKIAIOSFODNN7EXAMPLE","a@b.io","10.0.0.1"])";
  EXPECT_EQ(sanitize(text).text, R"(["****","a***@b.io","[REDACTED:private_ip]"])");
  EXPECT_EQ(sanitize(text, "{}").text, R"(["****","a@b.io","10.0.0.1"])");
  EXPECT_EQ(sanitize(text, R"({"categories":{"pii":true},"strategies":{"pii":"mask",
                     "email":"type_label"}})")
                .text,
            R"(["****","[REDACTED:email]","10.0.0.1"])");
}

// PI-57
TEST(OutputSanitizerTest, AFingerprintIsTheKeyedDigestOfTheMatch) {
  EXPECT_EQ(
      sanitize(R"(["AKIAIOSFODNN7EXAMPLE"])", R"({"strategies":{"secret":"fingerprint"}})").text,
      R"(["[FP:d3608e7190c42874]"])");
}

// PI-58
TEST(OutputSanitizerTest, DropRemovesTheMatchAndAnEmptyStringBecomesNull) {
  EXPECT_EQ(sanitize(R"(["AKIAIOSFODNN7EXAMPLE","a AKIAIOSFODNN7EXAMPLE b",""])",
                     R"({"strategies":{"secret":"drop"}})")
                .text,
            R"([null,"a  b",""])");
}

// PI-59
TEST(OutputSanitizerTest, PartialLeavesWhatPeopleRecognise) {
  EXPECT_EQ(sanitize(R"(["4111 1111 1111 1111","123-45-6789","jane@example.com",
                        "DE89370400440532013000","+14155550123"])")
                .text,
            R"(["****1111","***-**-6789","j***@example.com","DE89****","****"])");
}

// PI-60
TEST(OutputSanitizerTest, TypeLabelNamesTheDetector) {
  EXPECT_EQ(sanitize(R"("see 10.0.0.1")").text, R"("see [REDACTED:private_ip]")");
}

// PI-61
TEST(OutputSanitizerTest, KeepChangesNothingAndCounts) {
  const Sanitized kept = sanitize(R"(["a@b.io"])", R"({"categories":{"pii":true},
                                  "strategies":{"email":"keep"}})");
  EXPECT_EQ(kept.text, R"(["a@b.io"])");
  EXPECT_EQ(kept.evidence, "email=1");
}

// PI-62
TEST(OutputSanitizerTest, NamesThatWouldClashAreNumbered) {
  EXPECT_EQ(sanitize(R"({"a@b.io":1,"c@d.io":2,"[REDACTED:email]":3})").text,
            R"({"[REDACTED:email]#2":1,"[REDACTED:email]#3":2,"[REDACTED:email]":3})");
}

// PI-63
TEST(OutputSanitizerTest, AllowExemptsDenyAddsAndDenyWins) {
  const auto guard = sanitizer(R"({"categories":{"pii":true},
      "allow":[{"text":"a@b.io"},{"pattern":"[a-z]+@example\\.org"}],
      "deny":[{"name":"ticket","pattern":"ACME-[0-9]{3}"},{"name":"bob","text":"bob@example.org"}],
      "strategies":{"custom:ticket":"type_label"}})");
  const Sanitized found = sanitize(
      R"(["a@b.io","x@example.org","x@example.org.uk","bob@example.org","ACME-123"])", *guard);
  EXPECT_EQ(found.text, R"(["a@b.io","x@example.org","x***@example.org.uk","****",)"
                        R"("[REDACTED:custom:ticket]"])");
  EXPECT_EQ(found.evidence, "custom:bob=1;custom:ticket=1;email=1");
}

// PI-65
TEST(OutputSanitizerTest, ALongStringIsCutOnACharacterBoundaryAndMarked) {
  const auto guard = sanitizer(R"({"max_string_bytes":10})");
  EXPECT_EQ(sanitize(R"("123456789é tail")", *guard).text,
            R"("123456789[TRUNCATED_UNSCANNED_OUTPUT]")");
  EXPECT_EQ(sanitize(R"("123456789[TRUNCATED_UNSCANNED_OUTPUT]")", *guard).text,
            R"("123456789[TRUNCATED_UNSCANNED_OUTPUT]")");
  EXPECT_EQ(sanitize(R"("1234567890")", *guard).text, R"("1234567890")");
}

class SteppingClock final : public Clock {
 public:
  WallTime wall() const override { return {}; }
  SteadyTime steady() const override { return now_ += std::chrono::milliseconds{600}; }

 private:
  mutable SteadyTime now_{};
};

// PI-66
TEST(OutputSanitizerTest, WhatCannotBeReadToItsEndIsBlocked) {
  EXPECT_EQ(sanitize(R"(["0123456789","0123456789"])", R"({"max_total_bytes":20})").text,
            "blocked: content is over 20 bytes");
  json::value deep = 1;
  for (int i = 0; i < 128; ++i) deep = json::array{deep};
  EXPECT_EQ(everything().sanitize(Envelope::of(deep)).kind, Verdict::Kind::Allow);
  EXPECT_EQ(everything().sanitize(Envelope::of(json::array{deep})).reason,
            "content is nested deeper than 128 levels");
  const SteppingClock clock;
  const auto slow = *OutputSanitizer::build({}, "key", clock);
  EXPECT_EQ(slow->sanitize(Envelope::of(json::array{kAws})).reason,
            "content was not scanned within the time limit");
}

// PI-27
TEST(OutputSanitizerTest, ErrorsAndReasonsAreScanned) {
  Envelope error = Envelope::error("no " + kAws, -32000);
  error.data = json::array{kAws};
  EXPECT_EQ(sanitize(everything(), error).text,
            R"({"kind":"error","error":{"message":"no ****","code":-32000,"data":["****"]}})");
  Envelope stream{.kind = Envelope::Kind::Stream, .complete = false, .reason = kAws};
  EXPECT_EQ(sanitize(everything(), stream).text,
            R"({"kind":"stream","stream":{"chunks":[],"complete":false,"reason":"****"}})");
}

// PI-67
TEST(OutputSanitizerTest, AForgedMarkHidesNothing) {
  EXPECT_EQ(sanitize(R"("[REDACTED:AKIAIOSFODNN7EXAMPLE]")").text, R"("[REDACTED:****]")");
  EXPECT_EQ(sanitize(R"("[FP:4111111111111111]")").text, R"("[FP:4111111111111111]")");
}

// The value of a member `password` that was a passphrase only without the other findings, or only
// up to the limit, was found by the second scan.
// PI-67
TEST(OutputSanitizerTest, AValueThatBecomesAPassphraseIsOneAtOnce) {
  const std::string token = "ghp_" + std::string(200, 'a');
  EXPECT_EQ(sanitize(R"({"password":"correct horse battery )" + token + "\"}").text,
            R"({"password":"****"})");
  EXPECT_EQ(sanitize(R"({"password":"correct horse battery staple )" + token + "\"}",
                     R"({"max_string_bytes":28})")
                .text,
            R"({"password":"****[TRUNCATED_UNSCANNED_OUTPUT]"})");
}

// PI-63, PI-67: text that a deny entry finds inside a mark stays there.
TEST(OutputSanitizerTest, OnlyMarksThatAreWrittenAreLeftAlone) {
  const auto guard =
      sanitizer(R"({"deny":[{"name":"word","pattern":"email|secret|word|0123|a\\[b"}]})");
  for (const std::string mark : {"[REDACTED:email]", "[REDACTED:secret]", "[REDACTED:custom:word]",
                                 "[FP:0123456789abcdef]"}) {
    EXPECT_EQ(sanitize("\"word " + mark + "\"", *guard).text, "\"**** " + mark + "\"");
  }
  EXPECT_EQ(sanitize(R"("[REDACTED:other word]")", *guard).text, R"("[REDACTED:other ****]")");
  EXPECT_EQ(sanitize(R"("[REDACTED:custom:email]")", *guard).text, R"("[REDACTED:custom:****]")");
  EXPECT_EQ(sanitize(R"("[FP:0123456789abcde]")", *guard).text, R"("[FP:****456789abcde]")");
  EXPECT_EQ(sanitize(R"("[FP:0123456789abcdeg]")", *guard).text, R"("[FP:****456789abcdeg]")");
  EXPECT_EQ(sanitize(R"("xa[bx")", *guard).text, R"("x****x")");
}

// PI-63: a pattern that matches line ends is applied to each string separately.
TEST(OutputSanitizerTest, ADenyEntryNeverReachesIntoAnotherString) {
  EXPECT_EQ(sanitize(R"(["S1E","S2E"])", R"({"deny":[{"name":"a","pattern":"S[\\s\\S]*E"}]})").text,
            R"(["****","****"])");
}

std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> pieces = {"AKIAIOSFODNN7EXAMPLE",
                                                  "AKIA",
                                                  "IOSFODNN7EXAMPLE",
                                                  "a@b.io",
                                                  "jane@example.com",
                                                  "4111111111111111",
                                                  "1111 ",
                                                  "123456789",
                                                  " ",
                                                  "-",
                                                  "=",
                                                  "token",
                                                  "password=",
                                                  "hunter2xyz",
                                                  "https://u:",
                                                  "@h",
                                                  "[FP:",
                                                  "]",
                                                  "[REDACTED:",
                                                  "****",
                                                  "10.0.0.1",
                                                  "x",
                                                  "\n",
                                                  "-----BEGIN PRIVATE KEY-----",
                                                  "123-45-6789",
                                                  "DE89370400440532013000",
                                                  "eyJa.eyJb.c",
                                                  "\"",
                                                  ":",
                                                  "ACME-123",
                                                  "é",
                                                  "Bearer "};
  std::string text;
  for (unsigned i = random() % 6; i > 0; --i) text += pieces[random() % pieces.size()];
  return text;
}

json::value random_value(std::mt19937& random, int depth) {
  switch (random() % (depth > 0 ? 6 : 3)) {
    case 0:
      return json::value(random_text(random));
    case 1:
      return random() % 2 == 0 ? json::value(4111111111111111) : json::value(random());
    case 2:
      return json::object{{"type", "text"}, {"text", random_text(random)}};
    case 3: {
      json::object object;
      for (unsigned i = random() % 4; i > 0; --i) {
        object[random_text(random)] = random_value(random, depth - 1);
      }
      return object;
    }
    default: {
      json::array array;
      for (unsigned i = random() % 4; i > 0; --i) array.push_back(random_value(random, depth - 1));
      return random() % 2 == 0 ? json::value(array) : json::object{{"content", array}};
    }
  }
}

// PI-67
TEST(OutputSanitizerTest, ASecondScanChangesNothingAndNoKnownSecretIsLeft) {
  std::mt19937 random(7);
  for (const std::string strategy : {"mask", "fingerprint", "partial", "type_label"}) {
    const auto guard = sanitizer(
        R"({"categories":{"secret":true,"pii":true,"internal":true},"max_string_bytes":60,
            "deny":[{"name":"acme","pattern":"ACME.*"}],"strategies":{"secret":")" +
        strategy + R"(","pii":")" + strategy + R"(","internal":")" + strategy +
        R"(","custom:acme":")" + strategy + "\"}}");
    for (int i = 0; i < 1500; ++i) {
      const Envelope original = Envelope::of(random_value(random, 3));
      const Verdict first = guard->sanitize(original);
      ASSERT_NE(first.kind, Verdict::Kind::Deny) << first.reason;
      const Envelope once = released(original, first);
      const Verdict second = guard->sanitize(once);
      ASSERT_EQ(second.kind, Verdict::Kind::Allow) << strategy << "\n"
                                                   << json::serialize(original.value) << "\n"
                                                   << json::serialize(once.value) << "\n"
                                                   << json::serialize(second.value);
      ASSERT_EQ(json::serialize(once.value).find(" " + kAws + " "), std::string::npos);
    }
  }
}

// PI-68
TEST(OutputSanitizerTest, SettingsThatCannotBeMeantAreRefusedWithTheirPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"category":{}})", "category"},
      {R"({"categories":{"pi":true}})", "categories.pi"},
      {R"({"detectors":{"emial":true}})", "detectors.emial"},
      {R"({"strategies":{"emial":"mask"}})", "strategies.emial"},
      {R"({"strategies":{"secret":"hide"}})", "strategies.secret"},
      {R"({"strategies":{"email":"mask"}})", "strategies.email"},
      {R"({"strategies":{"custom:x":"mask"}})", "strategies.custom:x"},
      {R"({"deny":[{"name":"a","pattern":"("}]})", "deny[0].pattern"},
      {R"({"deny":[{"name":"a","pattern":"x*"}]})", "deny[0].pattern"},
      {R"({"deny":[{"name":"A b","text":"x"}]})", "deny[0].name"},
      {R"({"deny":[{"name":"a","text":"x"},{"name":"a","text":"y"}]})", "deny[1].name"},
      {R"({"allow":[{"pattern":"a)(b"}]})", "allow[0].pattern"},
      {R"({"allow":[{"text":"x","pattern":"x"}]})", "allow[0]"},
      {R"({"allow":[{"text":"x"}],"deny":[{"name":"a","text":"x"}]})", "allow[0]"},
      {R"({"max_string_bytes":0})", "max_string_bytes"}};
  for (const auto& [settings, place] : cases) {
    const auto read = sanitizer_settings_from_json(json::parse(settings));
    ASSERT_FALSE(read) << settings;
    EXPECT_EQ(read.error().where, place) << read.error().message;
  }
}

// PI-57
TEST(OutputSanitizerTest, TraitsNameTheGuardAndHoldTheSettingsButNotTheKey) {
  static const SystemClock clock;
  const auto guard = *OutputSanitizer::build({}, "the-key-itself", clock);
  EXPECT_EQ(guard->traits().name, "output-sanitizer");
  EXPECT_EQ(guard->traits().limit, std::chrono::seconds{1});
  const std::string settings = json::serialize(guard->traits().settings);
  EXPECT_NE(settings.find(R"("max_string_bytes":1000000)"), std::string::npos);
  EXPECT_EQ(settings.find("the-key-itself"), std::string::npos);
}

}  // namespace
}  // namespace sallyport::guards
