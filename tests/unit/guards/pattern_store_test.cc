#include "guardrails/check/pattern_store.h"

#include <gtest/gtest.h>

#include <map>

#include "guards/detect/detectors.h"

namespace sallyport::guards {
namespace {

class Kept final : public guardrails::PatternStore {
 public:
  std::optional<std::string> load(const std::string& digest) const override {
    const auto found = patterns.find(digest);
    if (found == patterns.end()) return std::nullopt;
    return found->second;
  }
  void keep(const std::string& digest, std::string_view bytes) const override {
    ++compiled;
    patterns[digest] = std::string(bytes);
  }

  mutable std::map<std::string, std::string> patterns;
  mutable int compiled = 0;
};

// Not the default ones: a process compiles those once and asks no store again.
DetectorSet most_detectors() {
  DetectorSet most = default_detectors();
  most.reset(index_of(Detector::CreditCard));
  return most;
}

std::string found_by(const guardrails::PatternStore* store,
                     const DetectorSet& wanted = most_detectors()) {
  const auto detectors = Detectors::build(wanted, store);
  EXPECT_TRUE(detectors);
  std::string names;
  for (const Hit& hit : (*detectors)->scan("mail a@b.org, key AKIAIOSFODNN7EXAMPLE, 10.0.0.1")) {
    names += std::string(name_of(hit.detector)) + ":" + std::to_string(hit.begin) + " ";
  }
  return names;
}

TEST(PatternStoreTest, WhatWasKeptFindsWhatIsCompiledAnew) {
  const Kept kept;
  const std::string anew = found_by(nullptr);
  EXPECT_FALSE(anew.empty());
  EXPECT_EQ(found_by(&kept), anew);
  EXPECT_EQ(found_by(&kept), anew);
  EXPECT_EQ(kept.compiled, 1);
}

TEST(PatternStoreTest, OtherDetectorsAreOtherPatterns) {
  const Kept kept;
  (void)found_by(&kept);
  DetectorSet few;
  few.set(index_of(Detector::Email));
  EXPECT_EQ(found_by(&kept, few), "email:5 ");
  EXPECT_EQ(kept.patterns.size(), 2u);
}

TEST(PatternStoreTest, ADamagedCopyIsCompiledAgain) {
  const Kept kept;
  const std::string good = found_by(&kept);
  for (auto& [digest, bytes] : kept.patterns) bytes[bytes.size() / 2] ^= 0x20;
  EXPECT_EQ(found_by(&kept), good);
  EXPECT_EQ(kept.compiled, 2);
  for (auto& [digest, bytes] : kept.patterns) bytes.resize(7);
  EXPECT_EQ(found_by(&kept), good);
  EXPECT_EQ(kept.compiled, 3);
}

TEST(PatternStoreTest, AProcessCompilesTheDefaultDetectorsOnce) {
  const Kept kept;
  const auto first = Detectors::build();
  const auto second = Detectors::build(default_detectors(), &kept);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(kept.compiled, 0);
}

}  // namespace
}  // namespace sallyport::guards
