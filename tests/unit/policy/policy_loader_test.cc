#include "policy/policy_loader.h"

#include <gtest/gtest.h>

#include <fstream>

#include "policy/shipped.h"
#include "support/temp_folder.h"

namespace sallyport::policy {
namespace {

class PolicyLoaderTest : public testing::Test {
 protected:
  void write(const std::string& text) { std::ofstream(path_) << text; }

  static std::string with_word(const std::string& word) {
    return "version: 1\nguardrails: {checks: [{type: blocklist, stage: output, words: [" + word +
           "]}]}\n";
  }

  test::TempFolder folder_;
  std::filesystem::path path_ = folder_.path() / "policy.yaml";
  SystemClock clock_;
  SystemEntropy entropy_;
  PolicyLoader loader_{PolicyOrigin::file(path_), {clock_, entropy_, "key"}};
};

// GR-76 GR-78
TEST_F(PolicyLoaderTest, EachAcceptedDocumentGetsTheNextGenerationAndTheSameOneNone) {
  write(with_word("one"));
  const auto first = loader_.refresh();
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->guardrails->generation(), 1u);
  const auto again = loader_.refresh();
  ASSERT_TRUE(again);
  EXPECT_FALSE(*again);
  write(with_word("two"));
  const auto second = loader_.refresh();
  ASSERT_TRUE(second && *second);
  EXPECT_EQ((*second)->guardrails->generation(), 2u);
  EXPECT_EQ((*first)->guardrails->generation(), 1u);
  EXPECT_EQ(loader_.generation(), 2u);
}

// GR-78
TEST_F(PolicyLoaderTest, AnotherPolicyWithTheSameChecksKeepsTheirGeneration) {
  write(with_word("one"));
  ASSERT_TRUE(loader_.refresh());
  write(with_word("one") + "durability: strict\n");
  const auto changed = loader_.refresh();
  ASSERT_TRUE(changed && *changed);
  EXPECT_EQ((*changed)->guardrails->generation(), 1u);
  EXPECT_EQ(loader_.generation(), 2u);  // that of the policy counts
}

// GR-8 GR-79 (partly)
TEST_F(PolicyLoaderTest, ARefusedFileLeavesWhatWasGoodAndTheNextGoodOneCounts) {
  write(with_word("one"));
  ASSERT_TRUE(loader_.refresh());
  write("version: 1\nguardrails: {checks: [{type: nothing}]}\n");
  EXPECT_FALSE(loader_.refresh());
  EXPECT_EQ(loader_.generation(), 1u);
  std::filesystem::remove(path_);
  EXPECT_FALSE(loader_.refresh());
  write(with_word("two"));
  ASSERT_TRUE(loader_.refresh());
  EXPECT_EQ(loader_.generation(), 2u);
}

TEST_F(PolicyLoaderTest, EveryShippedPolicyIsGood) {
  for (const ShippedPolicy& shipped : shipped_policies()) {
    PolicyLoader loader(PolicyOrigin::named(std::string(shipped.name)), {clock_, entropy_, "key"});
    const auto loaded = loader.refresh();
    ASSERT_TRUE(loaded) << shipped.name << ": " << loaded.error().where << ": "
                        << loaded.error().message;
    EXPECT_EQ((*loaded)->name, shipped.name);
  }
  EXPECT_FALSE(PolicyOrigin::shipped("nothing"));
}

TEST_F(PolicyLoaderTest, ThePolicyHasTheLastWordOverWhatTheFrontBringsAlong) {
  write("version: 1\ntools: [{tool: a, class: fs.write}]\n");
  PolicyLoader loader(
      PolicyOrigin::file(path_), {clock_, entropy_, "key"}, [](core::PlanBuilder& plan) {
        plan.tool("", "a", {Tier::Observe, "none"}).tool("", "b", {Tier::Observe, "none"});
      });
  const auto loaded = loader.refresh();
  ASSERT_TRUE(loaded && *loaded);
  EXPECT_EQ((*loaded)->plan->classify({.tool = "a"}).effect_class, "fs.write");
  EXPECT_EQ((*loaded)->plan->classify({.tool = "b"}).effect_class, "none");
}

}  // namespace
}  // namespace sallyport::policy
