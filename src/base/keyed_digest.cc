#include "base/keyed_digest.h"

#include <algorithm>
#include <array>

namespace sallyport {

KeyedDigest::KeyedDigest(std::string_view key) {
  std::array<char, 64> block{};
  if (key.size() > block.size()) {
    std::ranges::copy(text_of(sha256(key)), block.begin());
  } else {
    std::ranges::copy(key, block.begin());
  }
  const auto add = [&](RunningDigest& digest, char mask) {
    std::array<char, 64> masked = block;
    for (char& c : masked) c = static_cast<char>(c ^ mask);
    digest.add({masked.data(), masked.size()});
  };
  add(inner_, 0x36);
  add(outer_, 0x5c);
}

Hash KeyedDigest::bytes(std::string_view text) const {
  RunningDigest inner = inner_;
  inner.add(text);
  RunningDigest outer = outer_;
  outer.add(text_of(inner.finish()));
  return outer.finish();
}

}  // namespace sallyport
