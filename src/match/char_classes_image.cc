
#include "match/char_classes.h"

namespace sallyport::match {

namespace {

// Of the table that says which class is in which set (64 MiB); see `Program::settle`.
constexpr std::uint64_t kMostWords = (std::uint64_t{1} << 29) / 64 + 1;

}  // namespace

void CharClasses::write(ImageWriter& out) const {
  out.number(set_count_);
  out.number(neighbours_.size());
  for (const Neighbour neighbour : neighbours_) out.number(static_cast<unsigned>(neighbour));
  for (const std::uint64_t bits : bits_) out.word(bits);
  for (std::size_t begin = 0; begin < near_.size();) {
    std::size_t end = begin;
    while (end < near_.size() && near_[end] == near_[begin]) ++end;
    out.number(end - begin);
    out.number(near_[begin]);
    begin = end;
  }
  out.number(far_.size());
  char32_t before = kNear;
  for (const CharRange& run : far_) {
    out.number(run.first - before);
    out.number(run.last);
    before = run.first;
  }
}

std::optional<CharClasses> CharClasses::read(ImageReader& in) {
  CharClasses classes;
  classes.set_count_ = in.below(std::uint64_t{1} << 20);
  const std::size_t count = in.count();
  if (classes.set_count_ < kNeighbours || count == 0) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t neighbour = in.below(kNeighbours);
    if (neighbour == static_cast<unsigned>(Neighbour::Edge)) in.spoil();
    classes.neighbours_.push_back(static_cast<Neighbour>(neighbour));
  }
  const std::uint64_t words = (std::uint64_t{count} * classes.set_count_ + 63) / 64;
  if (words > kMostWords) in.spoil();
  for (std::uint64_t i = 0; i < words && in.good(); ++i) classes.bits_.push_back(in.word());
  classes.read_near(in);
  classes.read_far(in);
  if (!in.good()) return std::nullopt;
  return classes;
}

void CharClasses::read_near(ImageReader& in) {
  while (near_.size() < kNear && in.good()) {
    const std::uint64_t length = in.number();
    const std::uint32_t character_class = in.below(count());
    if (length == 0 || length > kNear - near_.size()) return in.spoil();
    near_.insert(near_.end(), length, character_class);
  }
}

// Every character from `kNear` on lies in a run: the first begins there.
void CharClasses::read_far(ImageReader& in) {
  const std::size_t runs = in.count(2);
  if (runs == 0) in.spoil();
  char32_t begin = kNear;
  for (std::size_t i = 0; i < runs && in.good(); ++i) {
    const std::uint32_t step = in.below(kLastCharacter + 1);
    if ((step == 0) != (i == 0)) in.spoil();
    begin += step;
    far_.push_back({begin, char32_t{in.below(count())}});
  }
}

}  // namespace sallyport::match
