// The next key of a log that several gateways sign.
#include <gtest/gtest.h>

#include "ledger/ledger.h"
#include "store/postgresql/postgresql_store.h"
#include "support/eventually.h"
#include "support/ledger_checks.h"
#include "support/private_postgresql.h"

namespace sallyport::store {
namespace {

using test::PrivatePostgresql;

class SharedKeysTest : public testing::Test {
 protected:
  void SetUp() override {
    if (PrivatePostgresql::instance() == nullptr) GTEST_SKIP() << "postgresql is not installed";
    url_ = PrivatePostgresql::instance()->new_database();
    first_.emplace(*this, "first");
    std::filesystem::copy(folder_ / "first", folder_ / "second",
                          std::filesystem::copy_options::recursive);
    second_.emplace(*this, "second");
  }

  struct Gateway {
    Gateway(SharedKeysTest& test, const std::string& name)
        : store(std::move(*PostgresqlStore::open({.log = {.url = test.url_}}))),
          ledger(
              std::move(*ledger::Ledger::open({*store, test.redactor_, test.clock_, test.entropy_},
                                              {.data_folder = test.folder_ / name}))) {}

    std::unique_ptr<PostgresqlStore> store;
    std::unique_ptr<ledger::Ledger> ledger;
  };

  std::filesystem::path next_key(const std::string& name) const {
    return folder_ / name / "keys" / "signing.key.next";
  }
  static void append(Gateway& gateway) {
    std::vector<core::Draft> drafts = {test::TestLedger::event({{"n", 1}})};
    const auto written =
        gateway.ledger->append_blocking(std::move(drafts), core::Urgency::Announces);
    EXPECT_TRUE(written) << written.error().message;
  }

  test::TempFolder folder_;
  std::string url_;
  core::NoRedactor redactor_;
  SystemClock clock_;
  SystemEntropy entropy_;
  std::optional<Gateway> first_;
  std::optional<Gateway> second_;
};

// SC-54
TEST_F(SharedKeysTest, TheKeyIsRotatedWhenEveryGatewayHasTheNextOne) {
  const auto refused = first_->ledger->rotate_key(false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
  EXPECT_TRUE(refused.error().message.starts_with("1 of the gateways")) << refused.error().message;
  append(*second_);
  std::filesystem::copy(next_key("first"), next_key("second"));
  auto rotated = first_->ledger->rotate_key(false);
  EXPECT_TRUE(test::eventually([&] {
    if (!rotated) rotated = first_->ledger->rotate_key(false);
    return rotated || rotated.error().code != ErrorCode::Conflict;
  }));
  ASSERT_TRUE(rotated) << rotated.error().message;
  for (std::optional<Gateway>* const gateway : {&first_, &second_}) append(**gateway);
  EXPECT_EQ(test::controls(*first_->store, "key_rotated").size(), 1u);
  EXPECT_EQ(test::verdict(*first_->store), "ok");
  // The staged key takes the old one's place.
  EXPECT_TRUE(test::eventually([&] { return !std::filesystem::exists(next_key("second")); }));
}

}  // namespace
}  // namespace sallyport::store
