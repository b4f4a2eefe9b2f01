// Classes of bytes, and the word edges of PI-54.
//
// Only ASCII letters and digits form words: a key directly after a Chinese or accented character,
// where a blank is unusual, is still a key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sallyport::guards {

using CharMask = std::uint32_t;

inline constexpr CharMask kDigit = 1U << 0;
inline constexpr CharMask kUpper = 1U << 1;
inline constexpr CharMask kLower = 1U << 2;
inline constexpr CharMask kUnderscore = 1U << 3;
inline constexpr CharMask kDash = 1U << 4;
inline constexpr CharMask kPlus = 1U << 5;
inline constexpr CharMask kSlash = 1U << 6;
inline constexpr CharMask kEquals = 1U << 7;
inline constexpr CharMask kDot = 1U << 8;
inline constexpr CharMask kTilde = 1U << 9;
inline constexpr CharMask kPercent = 1U << 10;
inline constexpr CharMask kColon = 1U << 11;
inline constexpr CharMask kBlank = 1U << 12;    // space and tab
inline constexpr CharMask kLineEnd = 1U << 13;  // line feed and carriage return
inline constexpr CharMask kQuote = 1U << 14;    // " ' `
inline constexpr CharMask kBracket = 1U << 15;  // () [] {} <>
inline constexpr CharMask kDollar = 1U << 16;
inline constexpr CharMask kHexLetter = 1U << 17;  // a-f A-F
inline constexpr CharMask kBeyondAscii = 1U << 18;

inline constexpr CharMask kLetter = kUpper | kLower;
inline constexpr CharMask kAlnum = kLetter | kDigit;
inline constexpr CharMask kWord = kAlnum | kUnderscore;
inline constexpr CharMask kBase64 = kAlnum | kPlus | kSlash | kEquals;

constexpr std::array<CharMask, 256> make_char_classes() {
  std::array<CharMask, 256> classes{};
  const auto mark = [&classes](std::string_view bytes, CharMask mask) {
    for (const char c : bytes) classes[static_cast<unsigned char>(c)] |= mask;
  };
  mark("0123456789", kDigit);
  mark("ABCDEFGHIJKLMNOPQRSTUVWXYZ", kUpper);
  mark("abcdefghijklmnopqrstuvwxyz", kLower);
  mark("abcdefABCDEF", kHexLetter);
  mark("_", kUnderscore);
  mark("-", kDash);
  mark("+", kPlus);
  mark("/", kSlash);
  mark("=", kEquals);
  mark(".", kDot);
  mark("~", kTilde);
  mark("%", kPercent);
  mark(":", kColon);
  mark(" \t", kBlank);
  mark("\r\n", kLineEnd);
  mark("\"'`", kQuote);
  mark("()[]{}<>", kBracket);
  mark("$", kDollar);
  for (std::size_t i = 128; i < 256; ++i) classes[i] |= kBeyondAscii;
  return classes;
}

inline constexpr std::array<CharMask, 256> kCharClasses = make_char_classes();

constexpr bool is(char c, CharMask mask) {
  return (kCharClasses[static_cast<unsigned char>(c)] & mask) != 0;
}

// False after the end, so that a look-ahead needs no bounds check.
constexpr bool is_at(std::string_view text, std::size_t at, CharMask mask) {
  return at < text.size() && is(text[at], mask);
}

// The first position from `at` on that is not of `mask`.
constexpr std::size_t run_end(std::string_view text, std::size_t at, CharMask mask) {
  while (is_at(text, at, mask)) ++at;
  return at;
}

// The first position of the run of `mask` that ends before `at`.
constexpr std::size_t run_begin(std::string_view text, std::size_t at, CharMask mask) {
  while (at > 0 && is(text[at - 1], mask)) --at;
  return at;
}

constexpr bool left_edge(std::string_view text, std::size_t begin) {
  return begin == 0 || !is(text[begin - 1], kWord);
}

constexpr bool right_edge(std::string_view text, std::size_t end) {
  return !is_at(text, end, kWord);
}

constexpr bool holds(std::string_view text, CharMask mask) {
  for (const char c : text) {
    if (is(c, mask)) return true;
  }
  return false;
}

}  // namespace sallyport::guards
