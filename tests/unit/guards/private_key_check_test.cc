#include "guards/detect/private_key_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "unit/guards/found.h"

namespace sallyport::guards {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kHead = "-----BEGIN PRIVATE KEY-----";
const std::string kTail = "-----END PRIVATE KEY-----";
const std::string kFull = "MIIEowIBAAKCAQEA7bq1Xo9mZ0PcVd5YtKf3sLw8Rj2hNg6UaQeTiyHuDxMzF4Wk";

auto key(const std::string& bytes) {
  return only("private_key_pem", bytes);
}

// PI-54
TEST(PrivateKeyCheckTest, ABeginLineHasTwoDashesAndALabelOfFortyCharacters) {
  EXPECT_THAT(found("-BEGIN PRIVATE KEY"), IsEmpty());
  EXPECT_THAT(found("--ABEGIN PRIVATE KEY"), IsEmpty());
  EXPECT_THAT(found("-- BEGIN PRIVATE KEY"), key("-- BEGIN PRIVATE KEY"));
  const std::string longest = "--BEGIN " + std::string(33, 'X') + " PRIVATE KEY";
  EXPECT_THAT(found(longest), key(longest));
  EXPECT_THAT(found("--BEGIN " + std::string(34, 'X') + " PRIVATE KEY"), IsEmpty());
}

// PI-54
TEST(PrivateKeyCheckTest, ABeginLineEndsWithItsDashes) {
  EXPECT_THAT(found("--BEGIN PRIVATE KEY -- x"), key("--BEGIN PRIVATE KEY --"));
  EXPECT_THAT(found("--BEGIN PRIVATE KEY x"), key("--BEGIN PRIVATE KEY"));
  EXPECT_THAT(found("--BEGIN PRIVATE KEY BLOCK-- x"), key("--BEGIN PRIVATE KEY BLOCK--"));
}

// PI-54
TEST(PrivateKeyCheckTest, AnEndLineHasTwoDashesAndSaysWhatEnds) {
  const std::string lines = kHead + "\n" + kFull;
  for (const std::string end :
       {"--END PRIVATE KEY--", "-- END PRIVATE KEY", "--END EC PRIVATE KEY --"}) {
    EXPECT_THAT(found(lines + "\n" + end + " x"), key(lines + "\n" + end));
  }
  for (const std::string end :
       {"-END PRIVATE KEY-", "--ENDED PRIVATE KEY--", "--END CERTIFICATE--"}) {
    EXPECT_THAT(found(lines + "\n" + end + " x"), key(lines)) << end;
  }
}

// PI-54
TEST(PrivateKeyCheckTest, LinesOfAKeyAreLongAndMixed) {
  const std::string two_kinds = "ABCDEFGHabcdefghABCDEFGHabcdefghABCDEFGHabcdefgh";
  const std::string three_kinds = "ABCDEFGHabcdefgh12345678ABCDEFGH";
  for (const std::string& line : {two_kinds, three_kinds}) {
    EXPECT_THAT(found(kHead + "\n" + line + "\nand so on"), key(kHead + "\n" + line));
    EXPECT_THAT(found(kHead + "\n" + line.substr(1) + "\nand so on"), key(kHead));
  }
  EXPECT_THAT(found(kHead + "\n" + std::string(64, 'A') + "\nand so on"), key(kHead));
}

// PI-54
TEST(PrivateKeyCheckTest, TheLastLineOfAKeyMayBeShort) {
  const std::string lines = kHead + "\n" + kFull;
  for (const std::string last : {"ab==", "abcd", "abcdefghijklmnopq", "+a8="}) {
    const std::string block = lines + "\n" + last + "\n" + kTail;
    EXPECT_THAT(found(block), key(block)) << last;
  }
  for (const std::string last : {"abc", "abcdefghijklmno"}) {
    EXPECT_THAT(found(lines + "\n" + last + "\n" + kTail), key(lines)) << last;
  }
}

// PI-54
TEST(PrivateKeyCheckTest, AKeyOfOneShortLineIsMixedAndHasSixteenCharacters) {
  for (const std::string line : {"MIIEowIBAAKCAQEA", "ABCDEFGHIJKLMNO1", "ABCDEFGHIJKLMNOa"}) {
    const std::string block = kHead + "\n" + line + "\n" + kTail;
    EXPECT_THAT(found(block), key(block)) << line;
  }
  for (const std::string line :
       {"MIIEowIBAAKCAQE", "abcdefghijklmno1", "ABCDEFGHIJKLMNOP", "/IIEowIBAAKCAQEA"}) {
    EXPECT_THAT(found(kHead + "\n" + line + "\n" + kTail), key(kHead)) << line;
  }
}

// PI-54
TEST(PrivateKeyCheckTest, WhereATextWasCutALineMayBeShorter) {
  const std::string lines = kHead + "\n" + kFull;
  for (const std::string cut : {"ABCDEFG1", "ABCDEFGh"}) {
    EXPECT_THAT(found(lines + "\n" + cut), key(lines + "\n" + cut)) << cut;
    EXPECT_THAT(found(lines + "\n" + cut + "..."), key(lines + "\n" + cut)) << cut;
    EXPECT_THAT(found(lines + "\n" + cut + " and so on"), key(lines)) << cut;
  }
  for (const std::string cut : {"ABCDEF1", "ABCDEFGH", "abcdefg1", "/BCDEFG1"}) {
    EXPECT_THAT(found(lines + "\n" + cut), key(lines)) << cut;
  }
  const std::string first = kHead + "\nABCDEFGHIJKLMNO1";
  EXPECT_THAT(found(first), key(first));
  EXPECT_THAT(found(kHead + "\nABCDEFGHIJKLMN1"), key(kHead));
}

// PI-54
TEST(PrivateKeyCheckTest, AChecksumStandsBehindLinesAndBeforeTheEnd) {
  const std::string lines = kHead + "\n" + kFull;
  const std::string block = lines + "\nab==\n=Ab1d\n" + kTail;
  EXPECT_THAT(found(block), key(block));
  EXPECT_THAT(found(kHead + "\n=Ab1d\n" + kTail), key(kHead));
  EXPECT_THAT(found(lines + "\nab==\n=Ab1d\nand so on"), key(lines));
  EXPECT_THAT(found(lines + "\nab==\nxAb1d\n" + kTail), key(lines));
}

// PI-54
TEST(PrivateKeyCheckTest, LinesMayBeJoinedAsCodeAndMailWriteThem) {
  for (const std::string between : {"\\t", "\\\n", "\\\"\n", "\n| ", "`\n + `"}) {
    const std::string block = kHead + between + kFull + between + kTail;
    EXPECT_THAT(found("x " + block), key(block)) << between;
  }
  for (const std::string between : {"\\x", "\n# ", "\n; "}) {
    EXPECT_THAT(found(kHead + between + kFull), key(kHead)) << between;
  }
  const std::string lines = kHead + "\n" + kFull;
  EXPECT_THAT(found(lines + "\\"), key(lines));
  EXPECT_THAT(found(lines + "\nABCDEFG1\\"), key(lines + "\nABCDEFG1"));
}

// PI-54
TEST(PrivateKeyCheckTest, AHeaderHasAKnownNameAndTwoHundredCharacters) {
  const auto behind = [](const std::string& header) {
    return found(kHead + header + kFull + "\n" + kTail).size() == 2;
  };
  const std::string name = "\nComment: ";
  EXPECT_TRUE(behind(name + std::string(191, 'a') + "\n"));
  EXPECT_FALSE(behind(name + std::string(192, 'a') + "\n"));
  EXPECT_TRUE(behind("\\nVersion: 1\\n"));
  EXPECT_TRUE(behind("\"\n\"Version: 1\"\n\""));
  EXPECT_FALSE(behind("\nOther: 1\n"));
  EXPECT_FALSE(behind("\nVersion 1\n"));
}

// AU-84
TEST(PrivateKeyCheckTest, TheLastBoundaryOfALineSaysWhetherAKeyIsOpen) {
  EXPECT_EQ(opened_key("12:00 " + kHead), 6U);
  EXPECT_EQ(opened_key(kHead + " talks of a PRIVATE KEY"), 0U);
  EXPECT_EQ(opened_key(kTail + kHead), kTail.size() - 5);
  EXPECT_EQ(opened_key(kTail + " " + kHead), kTail.size() + 1);
  for (const std::string& line : {kHead + kTail, kTail, std::string("PRIVATE KEY"), std::string(),
                                  std::string("PRIVATE KEY, or BEGIN PRIVATE KEY")}) {
    EXPECT_EQ(opened_key(line), std::nullopt) << line;
  }
}

// AU-84
TEST(PrivateKeyCheckTest, ALineContinuesAKeyClosesItOrIsAnother) {
  for (const std::string& line : {std::string(), kFull, "  \"" + kFull + "\\n\",",
                                  std::string("Version: 1"), std::string("ab cd")}) {
    EXPECT_EQ(key_line(line), KeyLine::Inside) << line;
  }
  for (const std::string& line : {kTail, "a PRIVATE KEY " + kTail, kTail + " PRIVATE KEY"}) {
    EXPECT_EQ(key_line(line), KeyLine::Closes) << line;
  }
  for (const std::string& line :
       {std::string("ready!"), std::string("it is; late"), std::string("Other: 1"), kHead}) {
    EXPECT_EQ(key_line(line), KeyLine::Other) << line;
  }
}

}  // namespace
}  // namespace sallyport::guards
