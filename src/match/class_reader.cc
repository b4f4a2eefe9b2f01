#include "match/class_reader.h"

#include <string>

#include "base/try.h"

namespace sallyport::match {

namespace {

class ClassReader {
 public:
  ClassReader(PatternCursor& cursor, ClassReading options) : cursor_(cursor), options_(options) {}

  Result<CharSet> read() {
    // PCRE2 reads these two as edges of a word and not as classes.
    if (cursor_.looking_at("[:<:]]") || cursor_.looking_at("[:>:]]")) {
      return cursor_.refuse("unsupported", "[[:<:]] or [[:>:]] instead of \\b");
    }
    const bool negated = cursor_.take("^");
    bool first = true;
    while (!cursor_.done()) {
      if (!quoting_ && cursor_.peek() == ']' && !first) break;
      if (skip_quotes()) continue;
      first = false;
      SALLYPORT_CHECK_OK(read_item());
    }
    cursor_.take("]");
    return negated ? set_.complement() : set_;
  }

 private:
  bool skip_quotes() {
    if (cursor_.take("\\E")) {
      quoting_ = false;
      return true;
    }
    if (quoting_ || !cursor_.take("\\Q")) return false;
    quoting_ = true;
    return true;
  }

  Result<void> read_item() {
    if (!quoting_ && cursor_.looking_at("[:") && read_posix()) return {};
    SALLYPORT_TRY(const Escape begin, read_member());
    if (const auto* named = std::get_if<CharSet>(&begin)) {
      set_.add(*named);
      return {};
    }
    const char32_t low = std::get<char32_t>(begin);
    while (skip_quotes()) {
    }
    if (quoting_ || cursor_.peek() != '-' || cursor_.peek(1) == ']' || cursor_.peek(1) == 0) {
      return add({low, low});
    }
    cursor_.skip(1);
    while (skip_quotes()) {
    }
    if (!quoting_ && cursor_.peek() == ']') {  // the hyphen of [a-\E] stands for itself
      SALLYPORT_CHECK_OK(add({'-', '-'}));
      return add({low, low});
    }
    SALLYPORT_TRY(const Escape end, read_member());
    if (const auto* high = std::get_if<char32_t>(&end)) return add({low, *high});
    return cursor_.refuse("syntax", "a range that ends in a class");
  }

  Result<Escape> read_member() {
    if (quoting_ || cursor_.peek() != '\\') return cursor_.next();
    cursor_.skip(1);
    return read_escape(cursor_, options_.alphabet, true);
  }

  bool read_posix() {
    std::string name;
    std::size_t length = 2;
    const bool negated = cursor_.peek(length) == '^';
    if (negated) ++length;
    while (cursor_.peek(length) >= 'a' && cursor_.peek(length) <= 'z') {
      name.push_back(static_cast<char>(cursor_.peek(length++)));
    }
    if (cursor_.peek(length) != ':' || cursor_.peek(length + 1) != ']') return false;
    const bool ascii = options_.alphabet == Alphabet::Ascii;
    if (options_.caseless && ascii && (name == "lower" || name == "upper")) name = "alpha";
    const auto set = posix_class(name, options_.alphabet);
    if (!set) return false;
    cursor_.skip(length + 2);
    set_.add(negated ? set->complement() : *set);
    return true;
  }

  Result<void> add(CharRange range) {
    if (range.first > range.last) return cursor_.refuse("syntax", "a range that runs backwards");
    set_.add(options_.caseless ? CharSet{range}.folded() : CharSet{range});
    return {};
  }

  PatternCursor& cursor_;
  ClassReading options_;
  bool quoting_ = false;
  CharSet set_;
};

}  // namespace

Result<CharSet> read_class(PatternCursor& cursor, ClassReading options) {
  return ClassReader(cursor, options).read();
}

}  // namespace sallyport::match
