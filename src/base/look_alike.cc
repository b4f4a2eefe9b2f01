#include "base/look_alike.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uspoof.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "base/mutex.h"

namespace sallyport {

namespace {

constexpr std::size_t kBlock = 256;
// 0: the character itself. `kSeveral`: it looks like several ASCII characters.
using Block = std::array<char, kBlock>;
constexpr char kSeveral = 1;

struct CloseChecker {
  void operator()(USpoofChecker* checker) const { uspoof_close(checker); }
};

// The rank of a candidate; the smallest wins.
using Rank = std::tuple<bool, bool, bool, bool>;

class LookAlikes {
 public:
  LookAlikes() {
    UErrorCode error = U_ZERO_ERROR;
    checker_.reset(uspoof_open(&error));
    if (U_FAILURE(error) != 0) throw std::runtime_error("no data of confusable characters");
    for (char c = 0x20; c < 0x7F; ++c) by_skeleton_[skeleton(static_cast<UChar32>(c))] += c;
  }

  char of(char32_t character) {
    std::atomic<const Block*>& slot = blocks_[character / kBlock];
    const Block* block = slot.load(std::memory_order_acquire);
    if (block == nullptr) block = fill(slot, character / kBlock * kBlock);
    return (*block)[character % kBlock];
  }

 private:
  const Block* fill(std::atomic<const Block*>& slot, char32_t first) {
    const MutexLock lock(filling_);
    if (const Block* made = slot.load(std::memory_order_relaxed)) return made;
    auto block = std::make_unique<Block>();
    for (std::size_t i = 0; i < kBlock; ++i)
      (*block)[i] = look_up(first + static_cast<char32_t>(i));
    owned_.push_back(std::move(block));
    slot.store(owned_.back().get(), std::memory_order_release);
    return owned_.back().get();
  }

  char look_up(char32_t character) const {
    const auto point = static_cast<UChar32>(character);
    if (character < 0x80 || U_IS_SURROGATE(point)) return 0;
    const std::string wanted = skeleton(point);
    const auto found = by_skeleton_.find(wanted);
    if (found == by_skeleton_.end()) {
      return is_ascii(wanted) || is_ascii(folded(point)) ? kSeveral : '\0';
    }
    char best = 0;
    for (const char candidate : found->second) {
      if (best == 0 || rank(candidate, point, wanted) < rank(best, point, wanted)) best = candidate;
    }
    return best;
  }

  static bool is_ascii(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
  }

  // Full-width letters are ASCII in another form, but have their own skeletons.
  static std::string folded(UChar32 character) {
    UErrorCode error = U_ZERO_ERROR;
    const icu::Normalizer2* const nfkc = icu::Normalizer2::getNFKCInstance(error);
    if (U_FAILURE(error) != 0) throw std::runtime_error("no data of compatible characters");
    std::string bytes;
    return nfkc->normalize(icu::UnicodeString(character), error).toUTF8String(bytes);
  }

  static Rank rank(char candidate, UChar32 point, const std::string& skeleton) {
    const auto c = static_cast<UChar32>(static_cast<unsigned char>(candidate));
    return {u_charType(c) != u_charType(point), u_isalpha(c) == 0, u_isdigit(c) == 0,
            skeleton != std::string(1, candidate)};
  }

  std::string skeleton(UChar32 character) const {
    const icu::UnicodeString text(character);
    UErrorCode error = U_ZERO_ERROR;
    icu::UnicodeString out;
    uspoof_getSkeletonUnicodeString(checker_.get(), 0, text, out, &error);
    if (U_FAILURE(error) != 0) throw std::runtime_error("a character has no skeleton");
    std::string bytes;
    return out.toUTF8String(bytes);
  }

  std::unique_ptr<USpoofChecker, CloseChecker> checker_;
  std::map<std::string, std::string> by_skeleton_;  // ASCII characters
  std::array<std::atomic<const Block*>, 0x110000 / kBlock> blocks_{};
  Mutex filling_;
  std::vector<std::unique_ptr<const Block>> owned_ SALLYPORT_GUARDED_BY(filling_);
};

LookAlikes& table() {
  static LookAlikes table;
  return table;
}

}  // namespace

char32_t look_alike(char32_t character) {
  if (character < 0x80) return character;
  const char found = table().of(character);
  return found == 0 || found == kSeveral ? character : static_cast<unsigned char>(found);
}

bool looks_like_ascii(char32_t character) {
  return character >= 0x80 && table().of(character) != 0;
}

}  // namespace sallyport
