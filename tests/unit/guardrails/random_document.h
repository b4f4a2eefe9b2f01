// Random documents, and texts made of their search terms, in all the spellings that views undo.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "unit/guardrails/spellings.h"

namespace sallyport::guardrails {

using Random = std::mt19937;

inline std::size_t below(Random& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

template <class Choices>
auto pick(Random& random, const Choices& choices) {
  return choices[below(random, std::size(choices))];
}

struct DocumentOptions {
  std::vector<std::string> actions = {"block", "redact", "log"};
  bool views = true;
  bool exceptions = true;
  std::string stage = "output";
};

inline std::string random_list(Random& random, const std::vector<std::string>& pool) {
  std::string list = "[";
  for (std::size_t left = 1 + below(random, 2); left > 0; --left) {
    list += "\"" + pick(random, pool) + "\"" + (left > 1 ? "," : "]");
  }
  return list;
}

inline std::string random_views(Random& random) {
  static const std::vector<std::string> all = {"strip", "nfkc",   "confusables", "percent",
                                               "json",  "base64", "hex"};
  std::string list;
  for (const std::string& view : all) {
    if (below(random, 3) == 0) list += (list.empty() ? "\"" : ",\"") + view + "\"";
  }
  return list.empty() ? "\"percent\"" : list;
}

inline std::string random_check(Random& random, const DocumentOptions& options) {
  static const std::vector<std::string> patterns = {
      "abc",      "a+b",      "(?:ab|ba)c?", "ab.?", "cab$",    "^ab",
      "k[0-9]+?", "(?i)KEY+", "b\\\\s*c",    "é",    "\\\\bab", "a[^x]{0,3}c"};
  static const std::vector<std::string> words = {"abc", "Key", "é", "ab", "ﬁ", "b c", "\u200b"};
  static const std::vector<std::string> exceptions = {"xabc", "abcx", "keys", "ab ab", "b"};
  const bool regex = below(random, 2) == 0;
  std::string check =
      "\"stage\":\"" + options.stage + "\",\"on_fail\":\"" + pick(random, options.actions) + "\"";
  check += regex ? ",\"type\":\"regex\",\"patterns\":" + random_list(random, patterns)
                 : ",\"type\":\"blocklist\",\"words\":" + random_list(random, words);
  if (!regex && below(random, 3) == 0) check += ",\"whole_word\":true";
  if (!regex && below(random, 3) == 0) check += ",\"case_sensitive\":true";
  if (below(random, 3) == 0) check += ",\"replacement\":\"<" + pick(random, words) + ">\"";
  if (options.exceptions && below(random, 3) == 0) {
    check += ",\"except\":" + random_list(random, exceptions);
  }
  if (options.views && below(random, 3) > 0) {
    check += ",\"views\":[" + random_views(random) + "],\"decode_depth\":";
    check += std::to_string(1 + below(random, 2));
  }
  return check;
}

inline std::vector<std::string> random_checks(Random& random, const DocumentOptions& options) {
  std::vector<std::string> checks;
  for (std::size_t left = 1 + below(random, 3); left > 0; --left) {
    checks.push_back(random_check(random, options));
  }
  return checks;
}

inline std::string random_fragment(Random& random) {
  static const std::vector<std::string> plain = {"a",
                                                 "b",
                                                 "c",
                                                 "ab",
                                                 "abc",
                                                 "xabc",
                                                 "abcx",
                                                 "key",
                                                 "KEY",
                                                 " ",
                                                 "\n",
                                                 "k12",
                                                 "é",
                                                 "e\u0301",
                                                 "ａｂｃ",
                                                 "а",
                                                 "%",
                                                 "%6",
                                                 "\\",
                                                 "\\u0",
                                                 "=",
                                                 "\xff",
                                                 "\xe2\x82",
                                                 "\xf0\x9f",
                                                 "ﬁ",
                                                 "fi",
                                                 "\u200b",
                                                 "\u00ad",
                                                 "👨‍👩‍👧",
                                                 "\U0001F3F4",
                                                 "\U000E0067",
                                                 "\u202e",
                                                 "x",
                                                 "0123",
                                                 "zz",
                                                 "\u0301",
                                                 "Ⅷ",
                                                 "\\uD83D",
                                                 "\\uDE00",
                                                 "\ufe0f"};
  std::string text = pick(random, plain);
  switch (below(random, 12)) {
    case 0:
      return percent_encoded(text);
    case 1:
      return json_escaped(text);
    case 2:
      return base64_of(text + pick(random, plain) + "0123456789abcdef");
    case 3:
      return hex_of(text + "abc keys ");
    case 4:
      return percent_encoded(base64_of("abc key 0123456789" + text));
    case 5:
      return percent_encoded(percent_encoded(text));
    default:
      return text;
  }
}

inline std::string random_text(Random& random, std::size_t fragments) {
  std::string text;
  for (std::size_t left = below(random, fragments + 1); left > 0; --left) {
    text += random_fragment(random);
  }
  return text;
}

inline std::vector<std::size_t> random_cuts(Random& random, std::string_view text) {
  std::vector<std::size_t> cuts;
  for (std::size_t at = 0; at < text.size();) {
    at += below(random, 6);
    if (at < text.size()) cuts.push_back(at);
  }
  return cuts;
}

}  // namespace sallyport::guardrails
