#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/json.hpp>
#include <cmath>
#include <cstring>
#include <random>

#include "base/digest.h"
#include "base/encoding.h"
#include "sallyport/json.h"

namespace sallyport {
namespace {

std::string canonical(std::string_view text) {
  const Result<ParsedJson> parsed = parse_json(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message);
  return parsed ? canonical_json(parsed->value) : "";
}

std::string number(double value) {
  std::string out;
  append_canonical_number(out, value);
  return out;
}

// LE-7
TEST(CanonicalJsonTest, TheVectorsOfTheSpecificationHold) {
  EXPECT_EQ(canonical(R"({"b":1.0,"a":-0,"c":1E21,"d":1E-7})"),
            R"({"a":0,"b":1,"c":1e+21,"d":1e-7})");
  EXPECT_EQ(canonical(R"({"\ufb33":1,"\ud83d\ude00":2})"), "{\"😀\":2,\"\ufb33\":1}");
}

struct Example {
  std::string_view input;
  std::string_view output;
};

// The inputs and outputs that the RFC's authors publish with it. Two public implementations that
// share no code (webpki.org's and rfc8785.py) give the same bytes.
constexpr Example kPublished[] = {
    {R"([
  56,
  {
    "d": true,
    "10": null,
    "1": [ ]
  }
])",
     R"([56,{"1":[],"10":null,"d":true}])"},
    {R"({
  "peach": "This sorting order",
  "péché": "is wrong according to French",
  "pêche": "but canonicalization MUST",
  "sin":   "ignore locale"
})",
     R"({"peach":"This sorting order","péché":"is wrong according to French",)"
     R"("pêche":"but canonicalization MUST","sin":"ignore locale"})"},
    {R"({
  "1": {"f": {"f": "hi","F": 5} ,"\n": 56.0},
  "10": { },
  "": "empty",
  "a": { },
  "111": [ {"e": "yes","E": "no" } ],
  "A": { }
})",
     R"({"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},)"
     R"("111":[{"E":"no","e":"yes"}],"A":{},"a":{}})"},
    {R"({
  "Unnormalized Unicode":"A\u030a"
})",
     "{\"Unnormalized Unicode\":\"A\u030a\"}"},
    {R"({
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
})",
     R"({"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],)"
     R"("string":"€$\u000f\nA'B\"\\\\\"/"})"},
    {R"({
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\u000a": "Newline",
  "1": "One",
  "\u0080": "Control\u007f",
  "\ud83d\ude02": "Smiley",
  "\u00f6": "Latin Small Letter O With Diaeresis",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "</script>": "Browser Challenge"
})",
     "{\"\\n\":\"Newline\",\"\\r\":\"Carriage Return\",\"1\":\"One\","
     "\"</script>\":\"Browser Challenge\",\"\xc2\x80\":\"Control\x7f\","
     "\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😂\":\"Smiley\","
     "\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"},
};

// LE-7, LE-11
TEST(CanonicalJsonTest, ThePublishedExamplesHold) {
  for (const Example& example : kPublished) EXPECT_EQ(canonical(example.input), example.output);
}

// LE-7, RFC 8785 appendix B
TEST(CanonicalJsonTest, TheNumberTableOfTheRfcHolds) {
  struct Row {
    std::uint64_t bits;
    std::string_view text;
  };
  for (const Row& row :
       std::initializer_list<Row>{{0x0000000000000000, "0"},
                                  {0x8000000000000000, "0"},
                                  {0x0000000000000001, "5e-324"},
                                  {0x8000000000000001, "-5e-324"},
                                  {0x7fefffffffffffff, "1.7976931348623157e+308"},
                                  {0xffefffffffffffff, "-1.7976931348623157e+308"},
                                  {0x4340000000000000, "9007199254740992"},
                                  {0xc340000000000000, "-9007199254740992"},
                                  {0x4430000000000000, "295147905179352830000"},
                                  {0x44b52d02c7e14af5, "9.999999999999997e+22"},
                                  {0x44b52d02c7e14af6, "1e+23"},
                                  {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
                                  {0x444b1ae4d6e2ef4e, "999999999999999700000"},
                                  {0x444b1ae4d6e2ef4f, "999999999999999900000"},
                                  {0x444b1ae4d6e2ef50, "1e+21"},
                                  {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
                                  {0x3eb0c6f7a0b5ed8d, "0.000001"},
                                  {0x41b3de4355555553, "333333333.3333332"},
                                  {0x41b3de4355555554, "333333333.33333325"},
                                  {0x41b3de4355555555, "333333333.3333333"},
                                  {0x41b3de4355555556, "333333333.3333334"},
                                  {0x41b3de4355555557, "333333333.33333343"},
                                  {0xbecbf647612f3696, "-0.0000033333333333333333"},
                                  {0x43143ff3c1cb0959, "1424953923781206.2"}}) {
    EXPECT_EQ(number(std::bit_cast<double>(row.bits)), row.text);
    EXPECT_EQ(canonical(row.text), row.text);
  }
}

// Edge cases at the head of the published number stream.
constexpr auto kEdges = std::to_array<std::uint64_t>({
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001,
    0xc46696695dbd1cc3, 0xc43211ede4974a35, 0xc3fce97ca0f21056, 0xc3c7213080c1a6ac,
    0xc39280f39a348556, 0xc35d9b1f5d20d557, 0xc327af4c4a80aaac, 0xc2f2f2a36ecd5556,
    0xc2be51057e155558, 0xc28840d131aaaaac, 0xc253670dc1555557, 0xc21f0b4935555557,
    0xc1e8d5d42aaaaaac, 0xc1b3de4355555556, 0xc17fca0555555556, 0xc1496e6aaaaaaaab,
    0xc114585555555555, 0xc0e046aaaaaaaaab, 0xc0aa0aaaaaaaaaaa, 0xc074d55555555555,
    0xc040aaaaaaaaaaab, 0xc00aaaaaaaaaaaab, 0xbfd5555555555555, 0xbfa1111111111111,
    0xbf6b4e81b4e81b4f, 0xbf35d867c3ece2a5, 0xbf0179ec9cbd821e, 0xbecbf647612f3696,
    0xbe965e9f80f29212, 0xbe61e54c672874db, 0xbe2ca213d840baf8, 0xbdf6e80fe033c8c6,
    0xbdc2533fe68fd3d2, 0xbd8d51ffd74c861c, 0xbd5774ccac3d3817, 0xbd22c3d6f030f9ac,
    0xbcee0624b3818f79, 0xbcb804ea293472c7, 0xbc833721ba905bd3, 0xbc4ebe9c5db3c61e,
    0xbc18987d17c304e5, 0xbbe3ad30dfcf371d, 0xbbaf7b816618582f, 0xbb792f9ab81379bf,
    0xbb442615600f9499, 0xbb101e77800c76e1, 0xbad9ca58cce0be35, 0xbaa4a1e0a3e6fe90,
    0xba708180831f320d, 0xba3a68cd9e985016, 0x446696695dbd1cc3, 0x443211ede4974a35,
    0x43fce97ca0f21056, 0x43c7213080c1a6ac, 0x439280f39a348556, 0x435d9b1f5d20d557,
    0x4327af4c4a80aaac, 0x42f2f2a36ecd5556, 0x42be51057e155558, 0x428840d131aaaaac,
    0x4253670dc1555557, 0x421f0b4935555557, 0x41e8d5d42aaaaaac, 0x41b3de4355555556,
    0x417fca0555555556, 0x41496e6aaaaaaaab, 0x4114585555555555, 0x40e046aaaaaaaaab,
    0x40aa0aaaaaaaaaaa, 0x4074d55555555555, 0x4040aaaaaaaaaaab, 0x400aaaaaaaaaaaab,
    0x3fd5555555555555, 0x3fa1111111111111, 0x3f6b4e81b4e81b4f, 0x3f35d867c3ece2a5,
    0x3f0179ec9cbd821e, 0x3ecbf647612f3696, 0x3e965e9f80f29212, 0x3e61e54c672874db,
    0x3e2ca213d840baf8, 0x3df6e80fe033c8c6, 0x3dc2533fe68fd3d2, 0x3d8d51ffd74c861c,
    0x3d5774ccac3d3817, 0x3d22c3d6f030f9ac, 0x3cee0624b3818f79, 0x3cb804ea293472c7,
    0x3c833721ba905bd3, 0x3c4ebe9c5db3c61e, 0x3c18987d17c304e5, 0x3be3ad30dfcf371d,
    0x3baf7b816618582f, 0x3b792f9ab81379bf, 0x3b442615600f9499, 0x3b101e77800c76e1,
    0x3ad9ca58cce0be35, 0x3aa4a1e0a3e6fe90, 0x3a708180831f320d, 0x3a3a68cd9e985016,
    0x4024000000000000, 0x4014000000000000, 0x3fe0000000000000, 0x3fa999999999999a,
    0x3f747ae147ae147b, 0x3f40624dd2f1a9fc, 0x3f0a36e2eb1c432d, 0x3ed4f8b588e368f1,
    0x3ea0c6f7a0b5ed8d, 0x3e6ad7f29abcaf48, 0x3e35798ee2308c3a, 0x3ed539223589fa95,
    0x3ed4ff26cd5a7781, 0x3ed4f95a762283ff, 0x3ed4f8c60703520c, 0x3ed4f8b72f19cd0d,
    0x3ed4f8b5b31c0c8d, 0x3ed4f8b58d1c461a, 0x3ed4f8b5894f7f0e, 0x3ed4f8b588ee37f3,
    0x3ed4f8b588e47da4, 0x3ed4f8b588e3849c, 0x3ed4f8b588e36bb5, 0x3ed4f8b588e36937,
    0x3ed4f8b588e368f8, 0x3ed4f8b588e368f1, 0x3ff0000000000000, 0xbff0000000000000,
    0xbfeffffffffffffa, 0xbfeffffffffffffb, 0x3feffffffffffffa, 0x3feffffffffffffb,
    0x3feffffffffffffc, 0x3feffffffffffffe, 0xbfefffffffffffff, 0xbfefffffffffffff,
    0x3fefffffffffffff, 0x3fefffffffffffff, 0x3fd3333333333332, 0x3fd3333333333333,
    0x3fd3333333333334, 0x0010000000000000, 0x000ffffffffffffd, 0x000fffffffffffff,
    0x7fefffffffffffff, 0xffefffffffffffff, 0x4340000000000000, 0xc340000000000000,
    0x4430000000000000, 0x44b52d02c7e14af5, 0x44b52d02c7e14af6, 0x44b52d02c7e14af7,
    0x444b1ae4d6e2ef4e, 0x444b1ae4d6e2ef4f, 0x444b1ae4d6e2ef50, 0x3eb0c6f7a0b5ed8c,
    0x3eb0c6f7a0b5ed8d, 0x41b3de4355555553, 0x41b3de4355555554, 0x41b3de4355555555,
    0x41b3de4355555556, 0x41b3de4355555557, 0xbecbf647612f3696, 0x43143ff3c1cb0959,
});

// The published stream: edge cases, 2,000 neighbours of the least normal number, then SHA-256 of
// itself again and again.
class NumberStream {
 public:
  double next() {
    const std::size_t index = index_++;
    if (index < kEdges.size()) return std::bit_cast<double>(kEdges[index]);
    if (index < kEdges.size() + 2000) {
      return std::bit_cast<double>(0x0010000000000000 + index - kEdges.size());
    }
    while (true) {
      if (used_ == sizeof block_) {
        block_ = sha256(text_of(block_));
        used_ = 0;
      }
      double value = 0;
      std::memcpy(&value, block_.data() + used_, sizeof value);
      used_ += sizeof value;
      if (value != 0 && std::isfinite(value)) return value;
    }
  }

 private:
  std::size_t index_ = 0;
  Hash block_{};
  std::size_t used_ = sizeof(Hash);
};

// LE-7, LE-11: the checksum of the first 100,000 lines as the RFC's authors publish it
TEST(CanonicalJsonTest, AHundredThousandPublishedNumbersHaveTheirForm) {
  NumberStream stream;
  std::string lines;
  for (int i = 0; i < 100'000; ++i) {
    const double value = stream.next();
    char bits[17];
    std::snprintf(bits, sizeof bits, "%llx", std::bit_cast<unsigned long long>(value));
    lines.append(bits).append(",").append(number(value)).append("\n");
  }
  EXPECT_EQ(lines.size(), 4'031'728U);
  EXPECT_EQ(hex(sha256(lines)), "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7");
}

// LE-11
TEST(CanonicalJsonTest, ACanonicalNumberIsReadAsTheSameDouble) {
  NumberStream stream;
  for (int i = 0; i < 10'000; ++i) {
    const double value = stream.next();
    const Result<ParsedJson> parsed = parse_json(number(value));
    ASSERT_TRUE(parsed) << number(value);
    EXPECT_EQ(parsed->value.to_number<double>(), value) << number(value);
  }
}

// LE-7
TEST(CanonicalJsonTest, StringsHaveTheShortestEscapes) {
  std::string text;
  for (char c = 0; c < 0x21; ++c) text += c;
  text += "\"\\/\x7f\u0080\u2028\u2029\uffff😀";
  std::string out;
  append_canonical_string(out, text);
  EXPECT_EQ(out,
            "\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r"
            "\\u000e\\u000f\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019"
            "\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f \\\"\\\\/\x7f\u0080\u2028\u2029\uffff😀\"");
  EXPECT_EQ(canonical(out), out);
}

std::u16string utf16(std::string_view text) {
  std::u16string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    char32_t point = more == 0 ? lead : lead & (0x3f >> more);
    for (int k = 1; k <= more; ++k) point = point << 6 | (text[i + k] & 0x3f);
    i += static_cast<std::size_t>(more) + 1;
    if (point < 0x10000) {
      out += static_cast<char16_t>(point);
    } else {
      out += static_cast<char16_t>(0xd800 + ((point - 0x10000) >> 10));
      out += static_cast<char16_t>(0xdc00 + ((point - 0x10000) & 0x3ff));
    }
  }
  return out;
}

// Text from the code points where the orders of UTF-8 and UTF-16 differ.
std::string random_text(std::mt19937& random, std::size_t length) {
  constexpr std::string_view kPieces[] = {
      "",    "a", "b", "\"",     "\\", "\n", "\x01",       "\x7f", "é", "ÿ", "߿", "ࠀ", "€",
      "퟿", "",  "ﬃ", "\uffff", "𐀀",  "😀", "\U0010ffff", "/",    "~", "0", "$", " "};
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += kPieces[random() % std::size(kPieces)];
  return text;
}

// LE-7
TEST(CanonicalJsonTest, MembersAreSortedByUtf16CodeUnits) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::string a = random_text(random, random() % 4);
    const std::string b = random_text(random, random() % 4);
    EXPECT_EQ(canonical_less(a, b), utf16(a) < utf16(b)) << a << ' ' << b;
    EXPECT_FALSE(canonical_less(a, a));
  }
  EXPECT_EQ(canonical(R"({"é":1,"z":2,"":3,"\uffff":4,"😀":5,"\ud7fe":6,"aa":7,"a":8})"),
            "{\"\":3,\"a\":8,\"aa\":7,\"z\":2,\"é\":1,\"\ud7fe\":6,\"😀\":5,\"\uffff\":4}");
}

json::value random_value(std::mt19937& random, int depth) {
  switch (random() % (depth > 0 ? 9 : 7)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<std::int64_t>(random() % 200) - 100;
    case 3:
      return (random() % 2 == 0 ? 1 : -1) * (static_cast<std::int64_t>(random()) << 21);
    case 4: {
      const std::uint64_t bits = static_cast<std::uint64_t>(random()) << 32 | random();
      const auto value = std::bit_cast<double>(bits);
      return std::isfinite(value) ? value : 0.5;
    }
    case 5:
      return static_cast<double>(random()) / 1024 - 1e6;
    case 6:
      return json::string(random_text(random, random() % 12));
    case 7: {
      json::array array;
      for (auto n = random() % 5; n > 0; --n) array.push_back(random_value(random, depth - 1));
      return array;
    }
    default: {
      json::object object;
      for (auto n = random() % 12; n > 0; --n) {
        object[random_text(random, random() % 4)] = random_value(random, depth - 1);
      }
      return object;
    }
  }
}

// LE-11
TEST(CanonicalJsonTest, EncodingADecodedCanonicalTextGivesTheSameBytes) {
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = canonical_json(random_value(random, 5));
    const Result<ParsedJson> parsed = parse_json(text);
    ASSERT_TRUE(parsed) << text << parsed.error().message;
    ASSERT_EQ(canonical_json(parsed->value), text);
  }
}

// LE-7, LE-9
TEST(CanonicalJsonTest, CanonicalTextIsKnownFromAnyOther) {
  const auto by_parsing = [](std::string_view text) {
    const Result<json::value> value = parse_own_json(text);
    return value && canonical_json(*value) == text;
  };
  std::mt19937 random(4);
  int canonical_ones = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = canonical_json(random_value(random, 4));
    for (int change = 0; change < 4; ++change) {
      ASSERT_EQ(is_canonical_json(text), by_parsing(text)) << text;
      canonical_ones += is_canonical_json(text) ? 1 : 0;
      constexpr std::string_view kPieces = "{}[],:\"\\ue0019.-+ntf \n\x80";
      const char piece = kPieces[random() % kPieces.size()];
      const std::size_t at = random() % text.size();
      if (change == 1) text.insert(at, 1, piece);
      if (change != 1) text[at] = piece;
    }
  }
  EXPECT_GT(canonical_ones, 2000);
  for (const std::string_view text : {"",
                                      " 1",
                                      "1 ",
                                      "-0",
                                      "1.0",
                                      "01",
                                      "9007199254740992",
                                      R"({"b":1,"a":2})",
                                      R"({"a":1,"a":1})",
                                      R"("\u0041")",
                                      R"("\u000A")",
                                      R"("\u000a")",
                                      R"("\u001F")",
                                      R"("\/")",
                                      "\"\xff\"",
                                      "[1,]",
                                      "\xEF\xBB\xBF 1",
                                      R"({"\u0001":1,"\n":2,"\t":3})",
                                      R"("\u00")",
                                      "\"\\",
                                      "[",
                                      "nul"}) {
    EXPECT_FALSE(is_canonical_json(text)) << text;
  }
  for (const Example& example : kPublished) {
    EXPECT_FALSE(is_canonical_json(example.input));
    EXPECT_EQ(is_canonical_json(example.output), by_parsing(example.output));
  }
  EXPECT_TRUE(is_canonical_json(R"({"\u0001":"\u001f","\t":[],"\n":{},"a":-1.5e-7})"));
  EXPECT_TRUE(is_canonical_json(std::string(128, '[') + std::string(128, ']')));
  EXPECT_FALSE(is_canonical_json(std::string(129, '[') + std::string(129, ']')));
}

// LE-11
TEST(CanonicalJsonTest, TheOrderInWhichMembersCameDoesNotMatter) {
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    json::object object;
    while (object.size() < 12) object[random_text(random, 3)] = random();
    std::vector<std::pair<std::string, json::value>> members;
    for (const auto& member : object) members.emplace_back(member.key(), member.value());
    std::ranges::shuffle(members, random);
    json::object shuffled;
    for (const auto& [name, value] : members) shuffled[name] = value;
    EXPECT_EQ(canonical_json(object), canonical_json(shuffled));
  }
}

// LE-7
TEST(CanonicalJsonTest, AnEscapeIsFoundWhereverItStands) {
  const std::pair<char, std::string> escaped[] = {
      {'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}, {'\0', "\\u0000"}, {'\x1f', "\\u001f"}};
  for (std::size_t size = 1; size <= 40; ++size) {
    const std::string plain(size, '\x7f');
    EXPECT_EQ(canonical_json(json::value(plain)), '"' + plain + '"');
    for (std::size_t at = 0; at < size; ++at) {
      for (const auto& [c, written] : escaped) {
        std::string text = plain;
        text[at] = c;
        const std::string expected =
            '"' + plain.substr(0, at) + written + plain.substr(at + 1) + '"';
        EXPECT_EQ(canonical_json(json::value(text)), expected) << size << " " << at;
      }
    }
  }
}

// LE-7
TEST(CanonicalJsonTest, WholeNumbersArePrintedAsTheDoubleTheyAre) {
  EXPECT_EQ(canonical_json(9007199254740991), "9007199254740991");
  EXPECT_EQ(canonical_json(-9007199254740991), "-9007199254740991");
  EXPECT_EQ(canonical_json(std::uint64_t{18446744073709551615U}), "18446744073709552000");
  EXPECT_EQ(canonical_json(std::numeric_limits<std::int64_t>::min()), "-9223372036854776000");
  EXPECT_EQ(canonical_json(-0.0), "0");
  EXPECT_EQ(canonical_json(56.0), "56");
}

// The members of large objects are ordered by numbers derived from their names.
TEST(CanonicalJsonTest, ManyMembersHaveTheOrderOfFew) {
  std::vector<std::string> parts{"",           "a",           "ab",          std::string("a\0", 2),
                                 "\x7f",       "\u00e9",      "\u07ff",      "\u0800",
                                 "\ud7fe",     "\ue000",      "\uffff",      "\U00010000",
                                 "\U0010ffff", "zzzzzzzzzzz", "zzzzzzzzzzzz"};
  for (const std::string& prefix : {std::string(), std::string("common "), std::string("\uffff")}) {
    json::object object;
    std::vector<std::string> names;
    for (const std::string& a : parts) {
      for (const std::string& b : parts) names.push_back(prefix + a + b);
    }
    std::ranges::reverse(names);
    for (const std::string& name : names) object[name] = 1;
    ASSERT_GT(object.size(), 64u);
    std::ranges::sort(names, canonical_less);
    const auto [first, last] = std::ranges::unique(names);
    names.erase(first, last);
    std::string expected = "{";
    for (const std::string& name : names) {
      if (expected.size() > 1) expected += ',';
      append_canonical_string(expected, name);
      expected += ":1";
    }
    EXPECT_EQ(canonical_json(object), expected + "}");
  }
}

}  // namespace
}  // namespace sallyport
