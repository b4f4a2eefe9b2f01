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
  (void)log_.line("[fs] 12:00:01 ERROR " + kBegin);
  EXPECT_EQ(log_.line("[fs] 12:00:02 ERROR " + kLine), "[fs] " + kMark);
  EXPECT_EQ(log_.line("[fs] 12:00:02 ERROR ab=="), "[fs] " + kMark);
  EXPECT_EQ(log_.line("[fs] 12:00:03 ERROR " + kEnd), "[fs] " + kMark);
  EXPECT_EQ(log_.line("[fs] 12:00:04 INFO  ready"), "[fs] 12:00:04 INFO  ready");
}

// AU-84: our own addresses are what a person looks for there.
TEST_F(LogRedactorTest, OurOwnLinesLoseSecretsAndKeepAddresses) {
  EXPECT_EQ(log_.line("served at http://127.0.0.1:80/mcp"), "served at http://127.0.0.1:80/mcp");
  EXPECT_EQ(log_.line("[fs] at 10.0.0.1"), "[fs] at [REDACTED:internal]");
  EXPECT_EQ(log_.line("the server sent `AKIAIOSFODNN7EXAMPLE`"), "the server sent `" + kMark + "`");
}

}  // namespace
}  // namespace sallyport::guards
