#include "guards/detect/detectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "unit/guards/found.h"

namespace sallyport::guards {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// PI-52
TEST(DetectorsTest, TheLongestOfOverlappingMatchesWins) {
  EXPECT_THAT(found("token=" + kAwsId), only("aws_access_key_id", kAwsId));
  EXPECT_THAT(found("token=x-" + kAwsId), only("password_assignment", "x-" + kAwsId));
  EXPECT_THAT(found("https://u:hunter2@example.com/"), only("email", "hunter2@example.com"));
  EXPECT_THAT(found("mail " + kModelKey + "@example.com"),
              only("email", kModelKey + "@example.com"));
}

// PI-52
TEST(DetectorsTest, TheFirstOfTheTableWinsAmongEquallyLongMatches) {
  EXPECT_THAT(found("Bearer " + kJwt), only("jwt", kJwt));
  EXPECT_THAT(found("Bearer " + kModelKey), only("model_api_key", kModelKey));
  EXPECT_THAT(found("password='" + kGithub + "'"), only("github_token", kGithub));
  EXPECT_THAT(found("x://u:4111111111111111@h"), only("url_password", "4111111111111111"));
}

// PI-52
TEST(DetectorsTest, NeighbouringMatchesAreReportedInOrder) {
  EXPECT_THAT(found("a@b.io,10.0.0.1 +12345678 " + kAwsId),
              ElementsAre("email|a@b.io", "private_ip|10.0.0.1", "phone_e164|+12345678",
                          "aws_access_key_id|" + kAwsId));
}

// PI-52: a detector that is not enabled neither reports hits nor wins overlaps.
TEST(DetectorsTest, AScanForSecretsAloneIsNotMaskedByALongerAddress) {
  const std::string text = kModelKey + "@example.com";
  EXPECT_THAT(describe(text, detectors().scan(text, detectors_of(Category::Secret))),
              only("model_api_key", kModelKey));
  EXPECT_THAT(detectors().scan(text, DetectorSet()), IsEmpty());
}

TEST(DetectorsTest, EmptyTextHasNoHits) {
  EXPECT_THAT(found(""), IsEmpty());
  EXPECT_THAT(found(std::string_view()), IsEmpty());
}

// PI-52: short texts use a short path, which must find the same as the long path.
TEST(DetectorsTest, ShortTextsAreScannedLikeTheSameTextAmongOthers) {
  constexpr auto kPieces =
      std::to_array<std::string_view>({"AKIAIOSFODNN7EXAMPLE",
                                       "a@b.io",
                                       "10.0.0.1",
                                       "::1",
                                       "fd00::1",
                                       "+12345678",
                                       "123-45-6789",
                                       "pwd=",
                                       "abcdefg1",
                                       "u://:p@h",
                                       " ",
                                       "\n",
                                       "xoxa-aaaaaaaaaa",
                                       "eyJ.eyJ.a",
                                       "NO9386011117947",
                                       "Bearer ",
                                       "=",
                                       "4222222222222",
                                       "--BEGIN PRIVATE KEY",
                                       "awssecret:",
                                       "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk",
                                       ".",
                                       "-",
                                       "sk_live_",
                                       "zzzzzzzzzzzzzzzz",
                                       "A",
                                       "1",
                                       "\""});
  const std::string padding(64, '\n');
  std::mt19937 random(54);
  int hits = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (unsigned n = 1 + random() % 3; n > 0; --n) text += kPieces[random() % kPieces.size()];
    if (text.size() > 63) continue;
    const std::vector<Hit> alone = detectors().scan(text);
    std::vector<Hit> among = detectors().scan(padding + text);
    for (Hit& hit : among) hit.begin -= padding.size(), hit.end -= padding.size();
    ASSERT_EQ(alone, among) << text;
    hits += static_cast<int>(alone.size());
  }
  EXPECT_GT(hits, 1000);
}

void expect_scans(std::span<const std::string_view> pieces, std::size_t bytes) {
  for (const std::string_view piece : pieces) {
    const std::vector<Hit> hits = detectors().scan(repeated(piece, bytes));
    for (std::size_t i = 1; i < hits.size(); ++i) {
      ASSERT_LE(hits[i - 1].end, hits[i].begin) << piece;
    }
  }
}

// PI-52: reading on from each of them to the end of its run would take many minutes.
TEST(DetectorsTest, RepeatedBeginningsTakeLinearTime) {
  constexpr auto kPieces = std::to_array<std::string_view>(
      {"a", "1", "A", "-", ".", "sk-", "sk-1", "glpat-", "xoxb-", "password=", "password=\"",
       "token\\", "\\", "--BEGIN PRIVATE KEY", "secret access key "});
  expect_scans(kPieces, 1 << 20);
}

// PI-52
TEST(DetectorsTest, RepeatedCandidatesTakeLinearTime) {
  constexpr auto kPieces = std::to_array<std::string_view>(
      {"@", "4 1 7 ", "password='x\"", ".eyJ", "eyJ.", "a://", "a://b:", "a@", "a@b.co",
       "PRIVATE KEY", "fd00:", " fd00::::", "::1", "AB12 ", "10.", "bearer ", "123-45-6789-",
       "+12345678", "AIza-"});
  expect_scans(kPieces, 1 << 18);
}

// PI-52: each value begins with one more backslash, so that none closes another.
TEST(DetectorsTest, UnclosedValuesInsideOfEachOtherTakeLinearTime) {
  std::string text;
  for (std::size_t escapes = 1; escapes < 6000; ++escapes) {
    text += "token=" + std::string(escapes, '\\') + "\"";
  }
  EXPECT_LE(detectors().scan(text).size(), 1U);
}

// PI-52
TEST(DetectorsTest, AMatchAtTheEndOfALargeTextIsFound) {
  const std::string text = repeated("lorem ipsum ", 4 << 20) + kAwsId;
  EXPECT_THAT(found(text), only("aws_access_key_id", kAwsId));
}

TEST(DetectorsTest, ManyThreadsMayScanAtOnce) {
  const std::string text = repeated("lorem ipsum ", 1000) + "jane@example.com, 10.0.0.1";
  std::vector<std::jthread> threads;
  std::vector<int> wrong(8, 0);
  for (int& count : wrong) {
    threads.emplace_back([&text, &count] {
      for (int i = 0; i < 500; ++i) count += detectors().scan(text).size() == 2 ? 0 : 1;
    });
  }
  threads.clear();
  EXPECT_THAT(wrong, testing::Each(0));
}

// One thread keeps one scratch space for all its sets of detectors.
TEST(DetectorsTest, OneThreadMayUseManySetsInTurn) {
  std::vector<std::shared_ptr<const Detectors>> sets;
  for (std::size_t i = 0; i < 6; ++i) {
    sets.push_back(build(detectors_of(i % 2 == 0 ? Category::Pii : Category::Internal)));
  }
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const std::string text = "a@b.io 10.0.0.1";
      EXPECT_THAT(describe(text, sets[i]->scan(text)),
                  only(i % 2 == 0 ? "email" : "private_ip", i % 2 == 0 ? "a@b.io" : "10.0.0.1"));
    }
  }
  EXPECT_THAT(build(DetectorSet())->scan("a@b.io"), IsEmpty());
}

}  // namespace
}  // namespace sallyport::guards
