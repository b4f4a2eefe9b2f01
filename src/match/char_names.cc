// The named sets of the dialect, as PCRE2 10.42 defines them.
#include <unicode/uchar.h>
#include <unicode/uset.h>

#include <cctype>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "match/char_set.h"

namespace sallyport::match {

namespace {

struct CloseSet {
  void operator()(USet* set) const { uset_close(set); }
};

CharSet integer_property(UProperty which, std::int32_t value) {
  const std::unique_ptr<USet, CloseSet> set(uset_openEmpty());
  UErrorCode status = U_ZERO_ERROR;
  uset_applyIntPropertyValue(set.get(), which, value, &status);
  std::vector<CharRange> ranges;
  for (std::int32_t i = 0; U_SUCCESS(status) && i < uset_getItemCount(set.get()); ++i) {
    UChar32 first = 0;
    UChar32 last = 0;
    if (uset_getItem(set.get(), i, &first, &last, nullptr, 0, &status) == 0) {
      ranges.push_back({static_cast<char32_t>(first), static_cast<char32_t>(last)});
    }
  }
  return CharSet(std::move(ranges));
}

// Walking the properties of all characters takes milliseconds, so each answer is kept.
CharSet remembered(UProperty which, std::int32_t value) {
  static Guarded<std::map<std::pair<int, std::int32_t>, CharSet>> answers;
  return answers.with([&](auto& known) {
    const auto [place, fresh] = known.try_emplace({which, value});
    if (fresh) place->second = integer_property(which, value);
    return place->second;
  });
}

CharSet categories(std::uint32_t mask) {
  return remembered(UCHAR_GENERAL_CATEGORY_MASK, static_cast<std::int32_t>(mask));
}

CharSet without(const CharSet& from, const CharSet& taken) {
  CharSet rest = from.complement();
  rest.add(taken);
  return rest.complement();
}

CharSet joined(CharSet a, const CharSet& b) {
  a.add(b);
  return a;
}

// `graph` and `print` leave out the format characters that have no look of their own.
CharSet with_visible_format(std::uint32_t hidden, const CharSet& invisible) {
  const CharSet shown = categories(~(hidden | U_GC_C_MASK) & 0x3FFFFFFF);
  return joined(shown, without(categories(U_GC_CF_MASK), invisible));
}

CharSet ascii_posix(std::string_view name) {
  static const std::map<std::string_view, int (*)(int)> tests = {
      {"alpha", std::isalpha}, {"lower", std::islower}, {"upper", std::isupper},
      {"alnum", std::isalnum}, {"blank", std::isblank}, {"cntrl", std::iscntrl},
      {"digit", std::isdigit}, {"graph", std::isgraph}, {"print", std::isprint},
      {"punct", std::ispunct}, {"space", std::isspace}, {"xdigit", std::isxdigit}};
  CharSet result;
  const auto test = tests.find(name);
  for (int c = 0; test != tests.end() && c < 128; ++c) {
    if (test->second(c) != 0) result.add(CharRange{char32_t(c), char32_t(c)});
  }
  return result;
}

CharSet unicode_posix(std::string_view name) {
  const CharSet bidi = {{0x061C, 0x061C}, {0x2066, 0x2069}};
  if (name == "alpha") return categories(U_GC_L_MASK);
  if (name == "lower") return categories(U_GC_LL_MASK);
  if (name == "upper") return categories(U_GC_LU_MASK);
  if (name == "alnum") return categories(U_GC_L_MASK | U_GC_N_MASK);
  if (name == "blank") return horizontal_spaces();
  if (name == "cntrl") return categories(U_GC_CC_MASK);
  if (name == "digit") return categories(U_GC_ND_MASK);
  if (name == "space") return spaces(Alphabet::Unicode);
  if (name == "punct") return joined(categories(U_GC_P_MASK), ascii_posix("punct"));
  if (name == "graph") {
    return with_visible_format(U_GC_Z_MASK, joined(bidi, CharSet{{0x180E, 0x180E}}));
  }
  if (name == "print") return with_visible_format(U_GC_ZL_MASK | U_GC_ZP_MASK, bidi);
  return ascii_posix(name);
}

}  // namespace

CharSet digits(Alphabet alphabet) {
  return alphabet == Alphabet::Ascii ? CharSet{{'0', '9'}} : categories(U_GC_ND_MASK);
}

CharSet word_characters(Alphabet alphabet) {
  if (alphabet == Alphabet::Ascii) return {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  return joined(categories(U_GC_L_MASK | U_GC_N_MASK), CharSet{{'_', '_'}});
}

CharSet word_parts() {
  return joined(categories(U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK), CharSet{{'_', '_'}});
}

CharSet spaces(Alphabet alphabet) {
  if (alphabet == Alphabet::Ascii) return {{'\t', '\r'}, {' ', ' '}};
  return joined(categories(U_GC_Z_MASK), joined(horizontal_spaces(), vertical_spaces()));
}

CharSet horizontal_spaces() {
  return {{'\t', '\t'},     {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x180E, 0x180E},
          {0x2000, 0x200A}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};
}

CharSet vertical_spaces() {
  return {{'\n', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}};
}

std::optional<CharSet> posix_class(std::string_view name, Alphabet alphabet) {
  if (name == "word") return word_characters(alphabet);
  if (name == "ascii") return CharSet{{0, 127}};
  CharSet set = alphabet == Alphabet::Ascii ? ascii_posix(name) : unicode_posix(name);
  if (set.empty()) return std::nullopt;
  return set;
}

std::optional<CharSet> property(std::string_view given) {
  const std::string name(given);
  if (name == "Any" || name == "any") return CharSet::all();
  if (name == "L&") return categories(U_GC_LC_MASK);
  const std::int32_t mask = u_getPropertyValueEnum(UCHAR_GENERAL_CATEGORY_MASK, name.c_str());
  if (mask != UCHAR_INVALID_CODE) return categories(static_cast<std::uint32_t>(mask));
  const std::int32_t script = u_getPropertyValueEnum(UCHAR_SCRIPT, name.c_str());
  if (script == UCHAR_INVALID_CODE) return std::nullopt;
  return remembered(UCHAR_SCRIPT_EXTENSIONS, script);
}

}  // namespace sallyport::match
