#include "base/entropy.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>
#include <vector>

namespace sallyport {
namespace {

using Bytes = std::array<std::uint8_t, 32>;

Bytes drawn(SystemEntropy& entropy) {
  Bytes bytes{};
  entropy.fill(bytes);
  return bytes;
}

// The pool of random bytes was once copied by fork, so a child drew the ids, salts and keys of its
// parent.
TEST(EntropyTest, AChildOfAForkDrawsOtherBytesThanItsParent) {
  SystemEntropy entropy;
  (void)drawn(entropy);  // the pool is full now
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Bytes bytes = drawn(entropy);
    _exit(::write(ends[1], bytes.data(), bytes.size()) == ssize_t(bytes.size()) ? 0 : 1);
  }
  Bytes theirs{};
  EXPECT_EQ(::read(ends[0], theirs.data(), theirs.size()), ssize_t(theirs.size()));
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_NE(theirs, drawn(entropy));
  EXPECT_NE(theirs, Bytes{});
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(EntropyTest, NoBytesAreHandedOutTwiceAcrossRefillsOfThePool) {
  SystemEntropy entropy;
  std::set<Bytes> seen;
  constexpr std::size_t kDraws = 1000;  // seven pools
  for (std::size_t i = 0; i < kDraws; ++i) seen.insert(drawn(entropy));
  EXPECT_EQ(seen.size(), kDraws);
  EXPECT_FALSE(seen.contains(Bytes{}));
}

TEST(EntropyTest, ARequestLargerThanThePoolIsFilledWhole) {
  SystemEntropy entropy;
  std::vector<std::uint8_t> bytes(3 * 4096);
  entropy.fill(bytes);
  for (std::size_t at = 0; at < bytes.size(); at += 32) {
    EXPECT_NE(std::vector<std::uint8_t>(32),
              std::vector(bytes.begin() + at, bytes.begin() + at + 32));
  }
}

}  // namespace
}  // namespace sallyport
