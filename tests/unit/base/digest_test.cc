#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/encoding.h"
#include "base/keyed_digest.h"

namespace sallyport {
namespace {

// LE-17, FIPS 180-4
TEST(DigestTest, Sha256HasItsPublishedValues) {
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// LE-13, LE-17
TEST(DigestTest, PartsAreHashedOneAfterTheOther) {
  EXPECT_EQ(sha256({"a", "", "bc"}), sha256("abc"));
  EXPECT_EQ(sha256({}), sha256(""));
  EXPECT_NE(sha256({"a", "cb"}), sha256("abc"));
}

// LE-15, RFC 4231 cases 1, 2 and 6
TEST(DigestTest, HmacHasItsPublishedValues) {
  EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmac_sha256(std::string(131, '\xaa'),
                            "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(DigestTest, ThreadsHashWithoutDisturbingEachOther) {
  std::vector<Hash> hashes(4);
  std::vector<std::jthread> threads;
  for (Hash& hash : hashes) {
    threads.emplace_back([&hash] {
      for (int i = 0; i < 1000; ++i) hash = sha256({"same", "text"});
    });
  }
  threads.clear();
  for (const Hash& hash : hashes) EXPECT_EQ(hash, sha256("sametext"));
}

}  // namespace
}  // namespace sallyport
