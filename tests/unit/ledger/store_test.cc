#include "ledger/store.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace sallyport::ledger {
namespace {

// LE-73
TEST(CauseTest, ErrorsOfTheSystemHaveFewCauses) {
  EXPECT_EQ(cause_of(ENOSPC), "no_space");
  EXPECT_EQ(cause_of(EDQUOT), "no_space");
  EXPECT_EQ(cause_of(EROFS), "read_only");
  EXPECT_EQ(cause_of(EACCES), "not_owner");
  EXPECT_EQ(cause_of(EPERM), "not_owner");
  EXPECT_EQ(cause_of(EIO), "io");
  EXPECT_EQ(ledger_unavailable("corrupt", "x").error().code, ErrorCode::Corrupt);
  EXPECT_EQ(ledger_unavailable("io", "x").error().code, ErrorCode::Unavailable);
}

}  // namespace
}  // namespace sallyport::ledger
