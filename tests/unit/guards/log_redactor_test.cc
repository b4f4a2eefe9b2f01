#include "guards/redact/log_redactor.h"

#include <gtest/gtest.h>

#include "guards/redact/storage_redactor.h"

namespace sallyport::guards {
namespace {

const std::string kBegin = "-----BEGIN RSA PRIVATE KEY-----";
const std::string kEnd = "-----END RSA PRIVATE KEY-----";
const std::string kLine = "MIIEowIBAAKCAQEA7bq1Xo9mZ0PcVd5YtKf3sLw8Rj2hNg6UaQeTiyHuDxMzF4Wk";
const std::string kMark = "[REDACTED:secret]";

class LogRedactorTest : public testing::Test {
 protected:
  std::shared_ptr<const Detectors> detectors_ = *Detectors::build();
  StorageRedactor redactor_{detectors_};
  LogRedactor log_{redactor_, detectors_};
};

// AU-84
TEST_F(LogRedactorTest, AKeyOverSeveralLinesLosesAllOfThem) {
  EXPECT_EQ(log_.line("[fs] " + kBegin), "[fs] " + kMark);
  EXPECT_EQ(log_.line("[fs] " + kLine), "[fs] " + kMark);
  EXPECT_EQ(log_.line("[fs] "), "[fs] " + kMark);
  EXPECT_EQ(log_.line("[fs] ab=="), "[fs] " + kMark);
  EXPECT_EQ(log_.line("[fs] " + kEnd), "[fs] " + kMark);
  EXPECT_EQ(log_.line("[fs] ready"), "[fs] ready");
}

// AU-84
TEST_F(LogRedactorTest, WhatOthersSayMeanwhileEndsNoKey) {
  (void)log_.line("[fs] " + kBegin);
  EXPECT_EQ(log_.line("[db] ready"), "[db] ready");
  EXPECT_EQ(log_.line("the server does not open"), "the server does not open");
  EXPECT_EQ(log_.line("[fs] warning: it is late"), "[fs] warning: it is late");
  EXPECT_EQ(log_.line("[fs] " + kLine), "[fs] " + kMark);
}

// AU-84
TEST_F(LogRedactorTest, LinesMayBeginWithTheTime) {
  EXPECT_EQ(log_.line("[fs] 12:00:01 ERROR " + kBegin), "[fs] 12:00:01 ERROR " + kMark);
  EXPECT_EQ(log_.line("[fs] 12:00:02 ERROR " + kLine), "[fs] " + kMark);
  EXPECT_EQ(log_.line("[fs] 12:00:02 ERROR ab=="), "[fs] " + kMark);
  EXPECT_EQ(log_.line("[fs] 12:00:03 ERROR " + kEnd), "[fs] " + kMark);
  EXPECT_EQ(log_.line("[fs] 12:00:04 INFO  ready"), "[fs] 12:00:04 INFO  ready");
}

// AU-84: a reader of the log needs our own addresses.
TEST_F(LogRedactorTest, OurOwnLinesLoseSecretsAndKeepAddresses) {
  EXPECT_EQ(log_.line("served at http://127.0.0.1:80/mcp"), "served at http://127.0.0.1:80/mcp");
  EXPECT_EQ(log_.line("[fs] at 10.0.0.1"), "[fs] at [REDACTED:internal]");
  EXPECT_EQ(log_.line("the server sent `AKIAIOSFODNN7EXAMPLE`"), "the server sent `" + kMark + "`");
}

// AU-84
TEST_F(LogRedactorTest, AKeyThatDoesNotEndIsGivenUp) {
  (void)log_.line("[fs] " + kBegin);
  for (int i = 0; i < 16; ++i) (void)log_.line("[fs] it is late!");
  EXPECT_EQ(log_.line("[fs] " + kLine), "[fs] " + kMark);
  for (int i = 0; i < 17; ++i) (void)log_.line("[fs] it is late!");
  EXPECT_EQ(log_.line("[fs] " + kLine), "[fs] " + kLine);
  (void)log_.line("[fs] " + kBegin);
  for (int i = 0; i < 1001; ++i) ASSERT_EQ(log_.line("[fs] " + kLine), "[fs] " + kMark) << i;
  EXPECT_EQ(log_.line("[fs] " + kLine), "[fs] " + kLine);
}

// AU-84
TEST_F(LogRedactorTest, KeysOfManyServersAreOpenAtOnce) {
  const auto source = [](int i) { return "[s" + std::to_string(i) + "] "; };
  for (int i = 0; i < 256; ++i) (void)log_.line(source(i) + kBegin);
  (void)log_.line(source(0) + kBegin);
  EXPECT_EQ(log_.line(source(5) + kLine), source(5) + kMark);
  (void)log_.line(source(256) + kBegin);
  EXPECT_EQ(log_.line(source(5) + kLine), source(5) + kLine) << "one too many";
  EXPECT_EQ(log_.line(source(256) + kLine), source(256) + kMark);
}

// AU-84
TEST_F(LogRedactorTest, AServerIsNamedAtTheBeginningOfItsLine) {
  const std::string longest = "[" + std::string(253, 'a') + "] ";
  EXPECT_EQ(log_.line(longest + "at 10.0.0.1"), longest + "at [REDACTED:internal]");
  for (const std::string& line : {"[a" + longest.substr(1) + "at 10.0.0.1",
                                  std::string("at [fs] 10.0.0.1"), std::string("[10.0.0.1]")}) {
    EXPECT_EQ(log_.line(line), line);
  }
}

}  // namespace
}  // namespace sallyport::guards
