#include "core/record/ledger_error.h"

#include <gtest/gtest.h>

namespace sallyport::core {
namespace {

TEST(LedgerErrorTest, ItIsKnownAlsoWhereAnotherErrorQuotesIt) {
  const Error error = ledger_error("busy", "database is locked").error();
  EXPECT_EQ(error.code, ErrorCode::Unavailable);
  EXPECT_EQ(error.message, "ledger_unavailable: busy: database is locked");
  EXPECT_EQ(error.cause, "busy");
  EXPECT_EQ(ledger_error_detail(error), "database is locked");
  EXPECT_TRUE(is_ledger_error(error));
  EXPECT_TRUE(is_ledger_error({ErrorCode::Unavailable, "event sink failed: " + error.message}));
  EXPECT_EQ(ledger_error("corrupt", "x").error().code, ErrorCode::Corrupt);
}

TEST(LedgerErrorTest, AnyOtherErrorKeepsItsMessage) {
  const Error other{ErrorCode::Conflict, "the call does not wait any more", {}, "busy"};
  EXPECT_FALSE(is_ledger_error(other));
  EXPECT_EQ(ledger_error_detail(other), other.message);
}

}  // namespace
}  // namespace sallyport::core
