#include <simdjson.h>

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/exact_numbers.h"
#include "sallyport/json.h"

namespace sallyport {

namespace {

template <class Word>
Word loaded(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// The length of the common prefix. Compares words: an object may have a hundred thousand names with
// a common prefix, and each is compared about twenty times.
std::size_t common_bytes(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t i = 0;
  while (i + 8 <= most &&
         loaded<std::uint64_t>(a.data() + i) == loaded<std::uint64_t>(b.data() + i)) {
    i += 8;
  }
  while (i < most && a[i] == b[i]) ++i;
  return i;
}

}  // namespace

bool canonical_less(std::string_view a, std::string_view b) {
  // Fast path: most names differ in their first letter.
  if (!a.empty() && !b.empty() && a[0] != b[0] && ((a[0] | b[0]) & 0x80) == 0) return a[0] < b[0];
  const std::size_t at = common_bytes(a, b);
  if (at == b.size()) return false;
  if (at == a.size()) return true;
  const auto p = static_cast<unsigned char>(a[at]);
  const auto q = static_cast<unsigned char>(b[at]);
  // UTF-8 orders by code point. UTF-16 puts the surrogates of four-byte characters (lead 0xF0 and
  // above) before U+E000..U+FFFF (lead 0xEE and 0xEF); elsewhere the two orders agree.
  const bool p_astral = p >= 0xf0;
  const bool q_astral = q >= 0xf0;
  if (p_astral != q_astral && (p_astral ? q : p) >= 0xee) return p_astral;
  return p < q;
}

namespace {

// True if one of eight bytes needs an escape: a control character, a quote or a backslash. Bytes
// over 0x7f do not.
bool needs_escape(std::uint64_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  constexpr std::uint64_t kHigh = 0x8080808080808080u;
  const auto has_zero = [](std::uint64_t x) { return (x - kOnes) & ~x & kHigh; };
  const std::uint64_t control = (bytes - kOnes * 0x20) & ~bytes & kHigh;
  return (control | has_zero(bytes ^ (kOnes * '"')) | has_zero(bytes ^ (kOnes * '\\'))) != 0;
}

// The same for sixteen bytes, in one register.
bool needs_escape_16(const char* from) {
  using Bytes = unsigned char __attribute__((vector_size(16)));
  const auto bytes = loaded<Bytes>(from);
  const auto found = (bytes < 0x20) | (bytes == '"') | (bytes == '\\');
  const auto halves = loaded<std::array<std::uint64_t, 2>>(reinterpret_cast<const char*>(&found));
  return (halves[0] | halves[1]) != 0;
}

// Checks overlapping blocks instead of single bytes, because most texts are short.
bool needs_escape(std::string_view text) {
  const char* const begin = text.data();
  const std::size_t size = text.size();
  if (size >= 16) {
    for (std::size_t i = 0; i + 16 < size; i += 16) {
      if (needs_escape_16(begin + i)) return true;
    }
    return needs_escape_16(begin + size - 16);
  }
  if (size >= 8) {
    return needs_escape(loaded<std::uint64_t>(begin)) ||
           needs_escape(loaded<std::uint64_t>(begin + size - 8));
  }
  constexpr std::uint64_t kBlanks = 0x2020202020202020u;
  if (size >= 4) {
    const std::uint64_t last = loaded<std::uint32_t>(begin + size - 4);
    return needs_escape(last << 32 | loaded<std::uint32_t>(begin));
  }
  if (size >= 2) {
    const std::uint64_t last = loaded<std::uint16_t>(begin + size - 2);
    return needs_escape(kBlanks << 32 | last << 16 | loaded<std::uint16_t>(begin));
  }
  return size == 1 && needs_escape(kBlanks << 8 | static_cast<unsigned char>(*begin));
}

}  // namespace

bool needs_json_escape(std::string_view text) {
  return needs_escape(text);
}

void append_canonical_string(std::string& out, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  if (!needs_escape(text)) {
    out += text;
    out += '"';
    return;
  }
  std::size_t plain = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    while (i + 8 <= text.size() && !needs_escape(loaded<std::uint64_t>(text.data() + i))) i += 8;
    if (i == text.size()) break;
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, plain, i - plain);
    plain = i + 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += "\\u00";
        out += kDigits[c >> 4];
        out += kDigits[c & 15];
    }
  }
  out.append(text, plain, text.size() - plain);
  out += '"';
}

void append_canonical_number(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "NaN";  // no JSON: every reader refuses it
    return;
  }
  if (number == 0) {
    out += '0';
    return;
  }
  if (number < 0) out += '-';
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, std::abs(number), std::chars_format::scientific)
          .ptr;
  // Shortest digits as d.ddde[+-]xx; ECMAScript places the point differently.
  const std::string_view text(buffer, end);
  const std::size_t e = text.find('e');
  std::string digits(1, text[0]);
  if (e > 2) digits.append(text.substr(2, e - 2));
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), end, exponent);
  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;  // digits before the point
  if (count <= point && point <= 21) {
    out += digits;
    out.append(static_cast<std::size_t>(point - count), '0');
  } else if (0 < point && point <= 21) {
    out.append(digits, 0, static_cast<std::size_t>(point));
    out += '.';
    out.append(digits, static_cast<std::size_t>(point));
  } else if (-6 < point && point <= 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-point), '0');
    out += digits;
  } else {
    out += digits[0];
    if (count > 1) {
      out += '.';
      out.append(digits, 1);
    }
    out += 'e';
    out += exponent < 0 ? '-' : '+';
    out += std::to_string(std::abs(exponent));
  }
}

namespace {

// How to write a whole number that a double cannot hold.
enum class Large { Rounded, Exact };

template <Large kLarge, class Integer>
void append_integer(std::string& out, Integer value) {
  constexpr auto kExact = static_cast<Integer>(9007199254740991);
  bool exact = value <= kExact;
  if constexpr (std::is_signed_v<Integer>) exact = exact && value >= -kExact;
  if (kLarge == Large::Rounded && !exact) {
    return append_canonical_number(out, static_cast<double>(value));
  }
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

using Members = boost::container::small_vector<const json::key_value_pair*, 32>;

// Eight bytes from `at` on, as a number with the order of names (see `canonical_less`).
std::uint64_t order_of(std::string_view name, std::size_t at) {
  std::uint64_t order = 0;
  for (std::size_t i = at; i < at + 8; ++i) {
    std::uint64_t byte = i < name.size() ? static_cast<unsigned char>(name[i]) : 0;
    if (byte == 0xee || byte == 0xef) byte += 8;  // after every first byte of a four-byte character
    order = order << 8 | byte;
  }
  return order;
}

// Sorts many names by numbers. Each name is compared about twenty times, and names of one object
// often have a common prefix.
void sort_many(Members& members) {
  struct Keyed {
    std::uint64_t order;
    const json::key_value_pair* member;
  };
  const std::string_view first = members.front()->key();
  std::size_t common = first.size();
  for (const auto* const member : members) {
    common = common_bytes(first.substr(0, common), member->key());
  }
  std::vector<Keyed> keyed;
  keyed.reserve(members.size());
  for (const auto* const member : members) {
    keyed.push_back({order_of(member->key(), common), member});
  }
  std::sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) {
    if (a.order != b.order) return a.order < b.order;
    return canonical_less(a.member->key(), b.member->key());
  });
  std::ranges::transform(keyed, members.begin(), &Keyed::member);
}

template <Large kLarge>
void append_value(std::string& out, const json::value& value);

template <Large kLarge>
void append_array(std::string& out, const json::array& array) {
  out += '[';
  bool first = true;
  for (const json::value& item : array) {
    if (!std::exchange(first, false)) out += ',';
    append_value<kLarge>(out, item);
  }
  out += ']';
}

template <Large kLarge>
void append_object(std::string& out, const json::object& object) {
  constexpr std::size_t kMany = 64;
  Members members;
  for (const json::key_value_pair& member : object) members.push_back(&member);
  if (members.size() > kMany) {
    sort_many(members);
  } else {
    std::sort(members.begin(), members.end(),
              [](const auto* a, const auto* b) { return canonical_less(a->key(), b->key()); });
  }
  out += '{';
  for (const json::key_value_pair* member : members) {
    if (out.back() != '{') out += ',';
    append_canonical_string(out, member->key());
    out += ':';
    append_value<kLarge>(out, member->value());
  }
  out += '}';
}

template <Large kLarge>
void append_value(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      break;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      break;
    case json::kind::int64:
      append_integer<kLarge>(out, value.get_int64());
      break;
    case json::kind::uint64:
      append_integer<kLarge>(out, value.get_uint64());
      break;
    case json::kind::double_:
      append_canonical_number(out, value.get_double());
      break;
    case json::kind::string:
      append_canonical_string(out, value.get_string());
      break;
    case json::kind::array:
      append_array<kLarge>(out, value.get_array());
      break;
    case json::kind::object:
      append_object<kLarge>(out, value.get_object());
      break;
  }
}

}  // namespace

void append_canonical_json(std::string& out, const json::value& value) {
  append_value<Large::Rounded>(out, value);
}

void append_exact_json(std::string& out, const json::value& value) {
  append_value<Large::Exact>(out, value);
}

void append_exact_json(std::string& out, const json::array& items) {
  append_array<Large::Exact>(out, items);
}

void append_exact_json(std::string& out, const json::object& members) {
  append_object<Large::Exact>(out, members);
}

std::string canonical_json(const json::value& value) {
  // Reserves room for a common body. Growing step by step costs as much as writing it.
  constexpr std::size_t kCommon = 1024;
  std::string out;
  if (value.is_structured()) out.reserve(kCommon);
  append_canonical_json(out, value);
  return out;
}

bool is_utf8(std::string_view text) {
  // Most texts are short ASCII, for which starting the vector code costs more than it saves.
  constexpr std::uint64_t kHigh = 0x8080808080808080u;
  std::uint64_t seen = 0;
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t bytes;
    std::memcpy(&bytes, text.data() + i, sizeof bytes);
    seen |= bytes;
  }
  for (; i < text.size(); ++i) seen |= static_cast<unsigned char>(text[i]);
  return (seen & kHigh) == 0 || simdjson::validate_utf8(text.data(), text.size());
}

namespace {

// Null if there is none. Called for every value of every entry, so it returns a plain pointer.
const char* fault_of(const json::value& value, std::size_t depth) {
  switch (value.kind()) {
    case json::kind::string:
      return is_utf8(value.get_string()) ? nullptr : "a string is not valid UTF-8";
    case json::kind::double_:
      return std::isfinite(value.get_double()) ? nullptr : "a number is not finite";
    case json::kind::array:
      if (depth == 0) return "nested too deep";
      for (const json::value& item : value.get_array()) {
        if (const char* const fault = fault_of(item, depth - 1)) return fault;
      }
      return nullptr;
    case json::kind::object:
      if (depth == 0) return "nested too deep";
      for (const json::key_value_pair& member : value.get_object()) {
        if (!is_utf8(member.key())) return "a member name is not valid UTF-8";
        if (const char* const fault = fault_of(member.value(), depth - 1)) return fault;
      }
      return nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

Result<void> check_json(const json::value& value, std::size_t depth) {
  if (const char* const fault = fault_of(value, depth)) return fail(ErrorCode::InvalidInput, fault);
  return {};
}

}  // namespace sallyport
