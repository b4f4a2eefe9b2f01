#include "ledger/proof/merkle.h"

#include <gtest/gtest.h>

#include "log_of_leaves.h"
#include "vectors.h"

namespace sallyport::ledger {
namespace {

using vectors::hash_from_hex;

constexpr std::string_view kLeaves[] = {
    "f94070abfd2da0bf72902eb13a808e794f954d9e2745c682a158f6ed0d4ac036",
    "fb5d93e6cf90bc9470cd9ea9d9e12348993db3e854ab2b7660e3594767045f6c",
    "3d1de776df086c1ae9f7049d2bb0c0475ad14185f987e064e8d10dcb2db4a322",
    "d74a2d1f2af1c1cad6c5e8a86fc869162e7d1ea01e729abff17851d10948f994",
};
constexpr std::string_view kRoots[] = {
    "f94070abfd2da0bf72902eb13a808e794f954d9e2745c682a158f6ed0d4ac036",
    "3badc80537f029e1bb77280dc85203cf2ed9748dc8f571230fcba5c326c91068",
    "2cfef7627597e00b564975774ad728ef210706759fca6d64138c6dfc1cbf2cda",
    "bd0070acbdc679a24cf44615841483fbfcc18aba00ae4dbe2a0c54af26cbd9fa",
};

// LE-17
TEST(MerkleTest, LeavesAndRootsOfTheSpecificationHold) {
  EXPECT_EQ(hex(Edge().root()), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Edge().root(), empty_root());
  Edge edge;
  std::vector<Hash> leaves;
  for (std::size_t n = 0; n < 4; ++n) {
    leaves.push_back(leaf_hash("{\"n\":" + std::to_string(n) + "}"));
    EXPECT_EQ(hex(leaves.back()), kLeaves[n]);
    edge.append(leaves.back());
    EXPECT_EQ(hex(edge.root()), kRoots[n]);
    EXPECT_EQ(edge.size(), n + 1);
    EXPECT_EQ(root_of(leaves), edge.root());
  }
}

// LE-17
TEST(MerkleTest, TheUsualPublicLeavesHaveTheirRoots) {
  Edge edge;
  edge.append(leaf_hash(""));
  EXPECT_TRUE(hex(edge.root()).starts_with("6e340b9c"));
  edge.append(leaf_hash(std::string_view("\0", 1)));
  EXPECT_TRUE(hex(edge.root()).starts_with("fac54203"));
  edge.append(leaf_hash("\x10"));
  EXPECT_TRUE(hex(edge.root()).starts_with("aeb6bcfe"));
  edge.append(leaf_hash("\x20\x21"));
  EXPECT_EQ(hex(edge.root()), "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7");
}

// LE-18
TEST(MerkleTest, ProofsOfTheSpecificationHold) {
  LogOfLeaves log(4);
  const Proof inclusion = log.inclusion(2, 4);
  ASSERT_EQ(inclusion.size(), 2U);
  EXPECT_EQ(hex(inclusion[0]), kLeaves[3]);
  EXPECT_EQ(hex(inclusion[1]), kRoots[1]);
  const Proof two = log.consistency(2, 4);
  ASSERT_EQ(two.size(), 1U);
  EXPECT_EQ(hex(two[0]), "126052db7798240e63a58487a3bd039a77d605a6a218f9470b582ed1e4901121");
  const Proof three = log.consistency(3, 4);
  ASSERT_EQ(three.size(), 3U);
  EXPECT_EQ(hex(three[0]), kLeaves[2]);
  EXPECT_EQ(hex(three[1]), kLeaves[3]);
  EXPECT_EQ(hex(three[2]), kRoots[1]);
}

// LE-17
TEST(MerkleTest, TheEdgeHasTheRootOfTheDefinitionAtEverySize) {
  LogOfLeaves log(600);
  Edge edge;
  for (std::uint64_t size = 1; size <= 600; ++size) {
    edge.append(log.leaf(size - 1));
    ASSERT_EQ(edge.root(), log.root(size)) << size;
  }
}

// LE-19
TEST(MerkleTest, WholeSubtreesCanBeTakenInsteadOfTheirLeaves) {
  LogOfLeaves log(700);
  for (const std::uint64_t size : {256U, 257U, 511U, 512U, 513U, 700U}) {
    Edge edge;
    std::vector<Hash> block;
    for (std::uint64_t i = 0; i < size; ++i) {
      block.push_back(log.leaf(i));
      if (block.size() < 256) continue;
      edge.append_subtree(root_of(block), 8);
      block.clear();
    }
    for (const Hash& leaf : block) edge.append(leaf);
    EXPECT_EQ(edge.size(), size);
    EXPECT_EQ(edge.root(), log.root(size)) << size;
  }
}

// LE-18
TEST(MerkleTest, EveryLeafIsProvedInEveryTreeUpTo300) {
  LogOfLeaves log(300);
  for (std::uint64_t size = 1; size <= 300; ++size) {
    for (std::uint64_t index = 0; index < size; ++index) {
      const Proof proof = log.inclusion(index, size);
      ASSERT_EQ(root_from_inclusion(index, size, log.leaf(index), proof), log.root(size))
          << index << " in " << size;
    }
  }
}

// LE-18
TEST(MerkleTest, SpoiledInclusionProofsLeadElsewhere) {
  LogOfLeaves log(300);
  std::uint64_t variety = 0;
  for (std::uint64_t size = 1; size <= 300; size += size < 70 ? 1 : 23) {
    for (std::uint64_t index = 0; index < size; ++index) {
      for (const Proof& proof : spoiled(log.inclusion(index, size), ++variety)) {
        ASSERT_NE(root_from_inclusion(index, size, log.leaf(index), proof), log.root(size))
            << index << " in " << size;
      }
    }
  }
}

// LE-18
TEST(MerkleTest, AProofIsForItsLeafPlaceAndSizeOnly) {
  LogOfLeaves log(64);
  for (std::uint64_t size = 2; size <= 64; ++size) {
    for (std::uint64_t index = 0; index < size; ++index) {
      const Proof proof = log.inclusion(index, size);
      const std::uint64_t other = (index + 1) % size;
      ASSERT_NE(root_from_inclusion(index, size, log.leaf(other), proof), log.root(size));
      ASSERT_NE(root_from_inclusion(other, size, log.leaf(index), proof), log.root(size));
    }
    EXPECT_EQ(root_from_inclusion(size, size, log.leaf(0), log.inclusion(0, size)), std::nullopt);
  }
  EXPECT_EQ(root_from_inclusion(0, 0, log.leaf(0), {}), std::nullopt);
}

// LE-78
TEST(MerkleTest, HugePlacesAndLongProofsEndInBoundedTime) {
  const Proof longest(64, hash_from_hex(kLeaves[0]));
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(root_from_inclusion(0, most, longest[0], longest));
  EXPECT_FALSE(root_from_inclusion(most, most, longest[0], longest));
  EXPECT_FALSE(root_from_inclusion(0, 2, longest[0], longest));
  EXPECT_FALSE(consistent(most - 1, longest[0], most, longest[0], longest));
}

}  // namespace
}  // namespace sallyport::ledger
