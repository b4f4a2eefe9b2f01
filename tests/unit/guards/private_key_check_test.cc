#include "guards/detect/private_key_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

// The lines of a key, each behind a prefix with its number in the place of `%`.
std::string with_prefix(const std::string& prefix, const std::vector<std::string>& lines,
                        const std::string& between = "\n") {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string before = prefix;
    if (const std::size_t at = before.find('%'); at != std::string::npos) {
      before.replace(at, 1, std::to_string(9 + i));
    }
    text += (i == 0 ? "" : between) + before + lines[i];
  }
  return text;
}

// What `cat -n`, `grep -n`, a comment or a frame writes before each line left the whole key visible
// but for its BEGIN line.
// PI-54 AU-84
TEST(PrivateKeyCheckTest, EachLineMayHaveTheNumberOrTheMarkThatAnotherProgramWrote) {
  const std::vector<std::string> lines = {kHead, kFull, kFull, "ab==", kTail};
  for (const std::string prefix :
       {"     %\t", "  %\u2192", "%: ", "%:", "id_rsa:%:", "/etc/ssl/a-1.pem:%:", "a.pem:", "# ",
        "// ", " * ", "\u2502 ", "| ", "> ", "+", "%\\t"}) {
    const std::string text = with_prefix(prefix, lines);
    EXPECT_THAT(found(text), key(text.substr(text.find(kHead)))) << prefix;
    EXPECT_THAT(found("x\n" + text + "\nreboot"), key(text.substr(text.find(kHead)))) << prefix;
  }
  for (const std::string prefix : {"-", "a.pem-%-"}) {
    const std::string text = with_prefix(prefix, lines);
    EXPECT_THAT(found(text), key(text.substr(text.find("-" + kHead)))) << prefix;
  }
  const std::string escaped = with_prefix("%\\t", lines, "\\n");
  EXPECT_THAT(found(escaped), key(escaped.substr(escaped.find(kHead))));
  const std::string framed =
      with_prefix("\u2502 ", {kHead + "  \u2502", kFull + " \u2502", "ab==    \u2502", kTail});
  EXPECT_THAT(found(framed), key(framed.substr(framed.find(kHead))));
  EXPECT_THAT(found(with_prefix("%:", {kHead, "Proc-Type: 4,ENCRYPTED", "", kFull, kTail})),
              testing::SizeIs(2));
}

// AP-38: a command behind a BEGIN line stays visible.
TEST(PrivateKeyCheckTest, WithoutTheEndOfTheKeyAPrefixHidesNothing) {
  for (const std::vector<std::string>& lines : {std::vector<std::string>{kHead, kFull, "reboot"},
                                                {kHead, kFull, kFull},
                                                {kHead, "reboot", kTail},
                                                {kHead, kFull, "reboot", kTail},
                                                {kHead, kTail},
                                                {kHead, kFull + " reboot", kTail}}) {
    EXPECT_THAT(found(with_prefix("# ", lines)), key(kHead)) << lines[1];
  }
  for (const std::string prefix : {"rm -rf / # ", "kill %; ", "reboot # "}) {
    EXPECT_THAT(found(with_prefix(prefix, {kHead, kFull, kTail})), key(kHead)) << prefix;
  }
  const std::vector<std::string> long_key(300, kFull);
  std::vector<std::string> far = {kHead};
  far.insert(far.end(), long_key.begin(), long_key.end());
  far.push_back(kTail);
  EXPECT_THAT(found(with_prefix("# ", far)), key(kHead));
  EXPECT_THAT(found("# " + kHead + "\n" + kFull + "\n# " + kTail), key(kHead + "\n" + kFull));
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
