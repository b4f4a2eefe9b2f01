#include "trust/approver_book.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "core/approval/approval_request.h"
#include "trust/reviewers.h"
#include "vectors.h"

namespace sallyport::trust {
namespace {

constexpr const char* kAnswer =
    "ed25519:9svL5Wulrizndjbe/HnyYPHDSuyD8ur/"
    "JpXcySp/icNBDMm8uD5rMNgbfGR7qtIvjxorHrY6IAs6kCZ/yD6iAA==";

core::ResponseStatement published() {
  return {.request_id = "apr_01966f4c-5000-7000-8000-000000000001",
          .reviewer = "user:ops-lead",
          .binding = "sha256:5a14079d74ca0b0ce578b981e78078af312b9bd6802427882de4bde624a8e2fd",
          .responded_at = "2026-11-15T02:02:00Z",
          .approved = true};
}

// AP-16
TEST(ApproverBookTest, ThePublishedAnswerIsThatOfKeyB) {
  const ApproverBook book(vectors::people());
  EXPECT_TRUE(book.check("user:ops-lead", published().text(), kAnswer));
}

// AP-10 (partly) AP-44 (partly)
TEST(ApproverBookTest, AChangedAnswerAnotherKeyAndAStrangerAreRefused) {
  const ApproverBook book(vectors::people());
  core::ResponseStatement changed = published();
  changed.approved = false;
  EXPECT_FALSE(book.check("user:ops-lead", changed.text(), kAnswer));
  changed = published();
  changed.binding.back() = '0';
  EXPECT_FALSE(book.check("user:ops-lead", changed.text(), kAnswer));
  for (const char* const bad : {"", "ed25519:", "ed25519:AAAA", "ledger:7", "signed"}) {
    EXPECT_FALSE(book.check("user:ops-lead", published().text(), bad)) << bad;
  }
  EXPECT_FALSE(book.check("user:eve", published().text(), kAnswer));
  Reviewers other = vectors::people();
  other.people[0].key = vectors::key_from_seed(0x40).key;
  EXPECT_FALSE(ApproverBook(other).check("user:ops-lead", published().text(), kAnswer));
}

// AP-15
TEST(ApproverBookTest, OnlyTheRoleApproverApproves) {
  Reviewers people = vectors::people();
  people.people[0].roles = {"controller"};
  const Result<void> checked =
      ApproverBook(people).check("user:ops-lead", published().text(), kAnswer);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::Unauthenticated);
}

// AP-28 (partly)
TEST(ApproverBookTest, OneWhoIsKnownByATokenNeedsNoSignatureAndOneWithAKeyDoes) {
  const ApproverBook book({{{.name = "user:bo",
                             .roles = {"approver"},
                             .key = std::nullopt,
                             .token = token_digest("a long enough token")},
                            {.name = "user:cy", .roles = {"approver"}}}});
  EXPECT_TRUE(book.check("user:bo", "anything", ""));
  EXPECT_FALSE(book.check("user:cy", "anything", ""));
}

TEST(ApproverBookTest, AnApproverWithoutAKeyIsAProgram) {
  Reviewers people = vectors::people();
  const Reviewer person = people.people[0];
  people.people = {person,
                   {.name = "user:bo", .roles = {"approver"}, .token = token_digest("a token")},
                   {.name = "user:cy", .roles = {"controller"}, .token = token_digest("another")}};
  const ApproverBook book(people);
  EXPECT_FALSE(book.is_program(person.name)) << "its signature is that of a person";
  EXPECT_TRUE(book.is_program("user:bo"));
  EXPECT_FALSE(book.is_program("user:cy")) << "it approves nothing";
  EXPECT_FALSE(book.is_program("user:eve"));
}

TEST(ApproverBookTest, AListOfReviewersTakesTheDigestOfATokenAndNeverTheTokenItself) {
  const auto read = [](const std::string& token) {
    return reviewers_from_json(json::array{
        json::object{{"name", "user:bo"}, {"token", token}, {"roles", json::array{"approver"}}}});
  };
  const Result<Reviewers> good = read(token_digest("secret"));
  ASSERT_TRUE(good);
  EXPECT_EQ(good->people[0].token, "sha256:" + hex(sha256("secret")));
  EXPECT_FALSE(read("secret"));
  EXPECT_FALSE(read("sha256:" + std::string(63, 'a')));
  EXPECT_FALSE(read("sha256:" + std::string(64, 'g')));
}

}  // namespace
}  // namespace sallyport::trust
