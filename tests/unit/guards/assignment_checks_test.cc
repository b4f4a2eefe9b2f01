#include "guards/detect/assignment_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "unit/guards/found.h"

namespace sallyport::guards {
namespace {

using testing::IsEmpty;

std::optional<Detector> by_name(std::string_view name, std::string_view value,
                                const DetectorSet& wanted = default_detectors()) {
  return secret_of_member(name, value, wanted);
}

// PI-54
TEST(AssignmentChecksTest, AValueWithoutQuotesStandsDirectlyBehindOneEqualsSign) {
  EXPECT_THAT(found("token=abcd1234"), only("password_assignment", "abcd1234"));
  for (const std::string text : {"token:abcd1234", "token= abcd1234", "token =abcd1234",
                                 "token==abcd1234", "\"token\"=abcd1234", "token=>abcd1234"}) {
    EXPECT_THAT(found(text), IsEmpty()) << text;
  }
  EXPECT_THAT(found("token == 'abcd1234'"), only("password_assignment", "abcd1234"));
}

// PI-54
TEST(AssignmentChecksTest, AListNamesAPasswordInFull) {
  for (const std::string name : {"passwd", "db_Password"}) {
    EXPECT_THAT(found(name + ": hunter22"), only("password_assignment", "hunter22")) << name;
  }
  for (const std::string text : {"pwd: hunter22", "password:hunter22", "password : hunter22"}) {
    EXPECT_THAT(found(text), IsEmpty()) << text;
  }
}

// PI-54
TEST(AssignmentChecksTest, AQuotedValueEndsWhereItsOwnQuoteCloses) {
  EXPECT_THAT(found(R"(token="abcd1234\\" x)"), only("password_assignment", R"(abcd1234\\)"));
  EXPECT_THAT(found(R"(token=\"abcd\\\"1234\" x)"), only("password_assignment", R"(abcd\\\"1234)"));
  EXPECT_THAT(found("token='abcd\"1234'"), only("password_assignment", "abcd\"1234"));
  const auto escaped = [](std::size_t backslashes) {
    const std::string quote = std::string(backslashes, '\\') + "\"";
    return found("token=" + quote + "abcd1234" + quote);
  };
  EXPECT_THAT(escaped(7), only("password_assignment", "abcd1234"));
  EXPECT_THAT(escaped(8), IsEmpty());
}

// PI-54, AP-38
TEST(AssignmentChecksTest, AValueWithoutQuotesEndsAtADelimiterAndIsNoPath) {
  for (const char delimiter : std::string(";&|\"' ")) {
    EXPECT_THAT(found(std::string("token=abcd1234") + delimiter + "x"),
                only("password_assignment", "abcd1234"))
        << delimiter;
  }
  EXPECT_THAT(found("password=/etc/app-1234"), IsEmpty());
  EXPECT_THAT(found("password=/abc+12345"), only("password_assignment", "/abc+12345"));
  EXPECT_THAT(found("password=etc/app1234"), only("password_assignment", "etc/app1234"));
  EXPECT_THAT(found("password=abcd123,"), IsEmpty()) << "the comma is no part of it";
}

// AU-82
TEST(AssignmentChecksTest, WordsOfAPhraseStandOneBlankApart) {
  EXPECT_THAT(found("password: six tall  green oaks"), IsEmpty());
  EXPECT_THAT(found("password: six tall required! oaks"), IsEmpty()) << "a word of prose";
  EXPECT_THAT(found("{\\\"password\\\": \\\""), IsEmpty());
  EXPECT_THAT(found("{\\\"password\\\": \\\"\""), IsEmpty());
  EXPECT_THAT(found("password: \"six tall green oaks"), IsEmpty()) << "it never closes";
  for (const char end : std::string(";&|,$(\"\\\n")) {
    EXPECT_THAT(found(std::string("password: six tall oaks") + end + "x"),
                only("passphrase_assignment", "six tall oaks"))
        << end;
  }
  for (const char end : std::string(":=/")) {
    EXPECT_THAT(found(std::string("password: six tall oaks last") + end + "x"),
                only("passphrase_assignment", "six tall oaks"))
        << end;
  }
  EXPECT_THAT(found("password=six/tall green oaks"), IsEmpty()) << "a path";
  EXPECT_THAT(found("password: six tall oaks. "), only("passphrase_assignment", "six tall oaks"));
}

// PI-54
TEST(AssignmentChecksTest, AnAwsSecretHasFewSlashes) {
  const std::string key = "aB3/" + std::string(36, 'x');
  EXPECT_EQ(by_name("aws_secret", key), Detector::AwsSecretAccessKey);
  EXPECT_EQ(by_name("aws_secret", "aB3////" + std::string(33, 'x')), Detector::AwsSecretAccessKey);
  // A value that is no AWS secret key is still a password.
  for (const std::string& value :
       {"aB3/////" + std::string(32, 'x'), "ab3/" + std::string(36, 'x'),
        "AB3/" + std::string(36, 'X'), "aB3_" + std::string(36, 'x'), key + "x"}) {
    EXPECT_EQ(by_name("aws_secret", value), Detector::PasswordAssignment) << value;
  }
  EXPECT_EQ(by_name("aws_secret", "aBc/" + std::string(36, 'x')), std::nullopt);
  const std::string text = "aws_secret=" + key;
  EXPECT_THAT(found(text), only("aws_secret_access_key", key));
  EXPECT_THAT(found(text + ";"), only("aws_secret_access_key", key));
}

// PI-54
TEST(AssignmentChecksTest, AMemberIsKnownByTheEndOfItsName) {
  for (const std::string name : {"password", "my.Api Key", "API-KEY", "x_token", "clientSecret",
                                 "PWD", "a_name_of_more_than_twenty_four_letters_password"}) {
    EXPECT_EQ(by_name(name, "hunter22"), Detector::PasswordAssignment) << name;
  }
  for (const std::string name : {"", "tokens", "password1", "key", "api/key"}) {
    EXPECT_EQ(by_name(name, "hunter22"), std::nullopt) << name;
  }
  for (const std::string value : {"hunter2", "hunter 22", "hunter\n22", "hunter$22", "hunters2("}) {
    EXPECT_EQ(by_name("password", value), std::nullopt) << value;
  }
  EXPECT_EQ(by_name("passphrase", "six tall oaks"), Detector::PassphraseAssignment);
  EXPECT_EQ(by_name("token", "six tall oaks"), std::nullopt);
}

// PI-54
TEST(AssignmentChecksTest, OnlyWantedDetectorsKnowAMember) {
  const auto without = [](Detector detector) {
    return default_detectors().reset(index_of(detector));
  };
  EXPECT_EQ(by_name("password", "hunter22", without(Detector::PasswordAssignment)), std::nullopt);
  EXPECT_EQ(by_name("password", "six tall oaks", without(Detector::PassphraseAssignment)),
            std::nullopt);
  EXPECT_EQ(by_name("aws_secret", std::string(40, 'k'), without(Detector::AwsSecretAccessKey)),
            std::nullopt);
}

// PI-54
TEST(AssignmentChecksTest, TheUserOfAUrlEndsWithItsAuthority) {
  for (const char end : std::string("/ \n\"?#\\")) {
    EXPECT_THAT(found(std::string("x://u:p") + end + "q@h"), IsEmpty()) << end;
  }
  EXPECT_THAT(found("x://u:a:b@h"), only("url_password", "a:b"));
  EXPECT_THAT(found("x://u@v:p"), IsEmpty());
  EXPECT_THAT(found("x://u:<p>@h"), IsEmpty());
}

}  // namespace
}  // namespace sallyport::guards
