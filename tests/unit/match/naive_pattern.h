// Small random patterns and a matcher that shares no code with the product: it walks the tree from
// which it made the pattern, and tries everything. PCRE2 selects the preferred one of several
// ends.
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::match {

// Texts are ASCII here, so that a byte is a character.
inline constexpr std::string_view kLetters = "ab \n";

struct Naive {
  char kind = 'c';  // c: characters, s: sequence, o: choice, r: repeat, a: assertion
  std::string text = {};
  std::string accepts = {};
  std::vector<Naive> parts = {};
  std::size_t least = 0;
  std::size_t most = 0;

  std::string pattern() const {
    std::string joined;
    if (kind == 'c' || kind == 'a') return text;
    for (const Naive& part : parts) {
      if (kind == 'o' && &part != &parts.front()) joined += '|';
      joined += part.pattern();
    }
    return "(?:" + joined + ")" + text;
  }

  bool can_be_empty() const {
    if (kind == 'c') return false;
    if (kind == 'a') return true;
    if (kind == 'r') return least == 0 || parts[0].can_be_empty();
    for (const Naive& part : parts) {
      if (part.can_be_empty() != (kind == 's')) return kind == 'o';
    }
    return kind == 's';
  }

  // After its beginning no match needs more characters than this.
  std::size_t reach() const {
    if (kind == 'c' || kind == 'a') return kind == 'c' ? 1 : 0;
    std::size_t total = 0;
    for (const Naive& part : parts) {
      total = kind == 'o' ? std::max(total, part.reach()) : total + part.reach();
    }
    return kind == 'r' ? total * std::max<std::size_t>(least, 1) : total;
  }
};

inline bool is_word(std::string_view text, std::size_t place) {
  return place < text.size() && (std::isalnum(static_cast<unsigned char>(text[place])) != 0);
}

inline bool asserted(const std::string& what, std::string_view text, std::size_t at) {
  const bool end = at == text.size();
  const bool before = at > 0 && is_word(text, at - 1);
  if (what == "\\A" || what == "^") return at == 0;
  if (what == "(?m:^)") return at == 0 || (text[at - 1] == '\n' && !end);
  if (what == "\\z") return end;
  if (what == "$" || what == "\\Z") return end || (text[at] == '\n' && at + 1 == text.size());
  if (what == "(?m:$)") return end || text[at] == '\n';
  return (before != is_word(text, at)) == (what == "\\b");
}

inline std::set<std::size_t> ends_of(const Naive& tree, std::string_view text, std::size_t at) {
  switch (tree.kind) {
    case 'c':
      if (at < text.size() && tree.accepts.contains(text[at])) return {at + 1};
      return {};
    case 'a':
      if (asserted(tree.text, text, at)) return {at};
      return {};
    case 'o': {
      std::set<std::size_t> ends;
      for (const Naive& part : tree.parts) ends.merge(ends_of(part, text, at));
      return ends;
    }
    default:
      break;
  }
  std::set<std::size_t> reached = {at};
  std::set<std::size_t> all;
  const std::size_t turns = tree.kind == 's' ? tree.parts.size() : tree.most;
  if (tree.kind == 'r' && tree.least == 0) all = reached;
  for (std::size_t turn = 0; turn < turns && !reached.empty(); ++turn) {
    std::set<std::size_t> next;
    for (const std::size_t place : reached) {
      next.merge(ends_of(tree.parts[tree.kind == 's' ? turn : 0], text, place));
    }
    reached = next;
    if (tree.kind == 'r' && turn + 1 >= tree.least) all.insert(reached.begin(), reached.end());
  }
  return tree.kind == 's' ? reached : all;
}

using Random = std::mt19937;

inline std::size_t below(Random& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

inline Naive random_characters(Random& random) {
  static const std::vector<Naive> choices = {
      {.text = "a", .accepts = "a"},       {.text = "b", .accepts = "b"},
      {.text = "[ab]", .accepts = "ab"},   {.text = " ", .accepts = " "},
      {.text = "[^a]", .accepts = "b \n"}, {.text = ".", .accepts = "ab "},
      {.text = "\\w", .accepts = "ab"},    {.text = "\\s", .accepts = " \n"},
      {.text = "\\n", .accepts = "\n"},    {.text = "(?i:A)", .accepts = "a"},
      {.text = "[^\\s\\S]", .accepts = ""}};
  return choices[below(random, choices.size() * 3) % choices.size()];
}

inline Naive random_tree(Random& random, int budget, bool assertions) {
  static const std::vector<std::string> edges = {"\\b", "\\B", "$",      "\\z",
                                                 "\\Z", "^",   "(?m:^)", "(?m:$)"};
  static const std::vector<Naive> repeats = {{.kind = 'r', .text = "*", .least = 0, .most = 40},
                                             {.kind = 'r', .text = "*?", .least = 0, .most = 40},
                                             {.kind = 'r', .text = "+", .least = 1, .most = 40},
                                             {.kind = 'r', .text = "+?", .least = 1, .most = 40},
                                             {.kind = 'r', .text = "?", .least = 0, .most = 1},
                                             {.kind = 'r', .text = "??", .least = 0, .most = 1},
                                             {.kind = 'r', .text = "{2}", .least = 2, .most = 2},
                                             {.kind = 'r', .text = "{1,2}", .least = 1, .most = 2}};
  const std::size_t dice = below(random, 10);
  if (assertions && dice == 0) return {.kind = 'a', .text = edges[below(random, edges.size())]};
  if (budget <= 1 || dice <= 2) return random_characters(random);
  if (dice <= 4) {
    Naive repeat = repeats[below(random, repeats.size())];
    repeat.parts.push_back(random_tree(random, budget - 1, assertions));
    return repeat;
  }
  Naive both{.kind = dice <= 6 ? 'o' : 's'};
  both.parts.push_back(random_tree(random, budget / 2, assertions));
  both.parts.push_back(random_tree(random, budget - budget / 2, assertions));
  return both;
}

inline Naive random_pattern(Random& random, bool assertions) {
  while (true) {
    Naive tree = random_tree(random, 4, assertions);
    if (!tree.can_be_empty() && tree.reach() <= 4) return tree;
  }
}

inline std::string random_text(Random& random, std::size_t most,
                               std::string_view letters = kLetters) {
  std::string text;
  for (std::size_t left = below(random, most + 1); left > 0; --left) {
    text += letters[below(random, letters.size())];
  }
  return text;
}

// Searches a whole text with PCRE2, without JIT for reproducible results.
class Pcre2 {
 public:
  explicit Pcre2(const std::string& pattern, std::uint32_t options = PCRE2_UTF) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options,
                              &error, &offset, nullptr));
    if (code_) data_.reset(pcre2_match_data_create_from_pattern(code_.get(), nullptr));
  }

  bool good() const { return code_ != nullptr; }
  // Returns the preferred end of a match that begins exactly there.
  std::optional<std::size_t> end_from(std::string_view text, std::size_t start) const {
    const int found =
        pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), start,
                    PCRE2_ANCHORED | PCRE2_NOTEMPTY, data_.get(), nullptr);
    if (found < 0) return std::nullopt;
    return pcre2_get_ovector_pointer(data_.get())[1];
  }

 private:
  struct Free {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  };
  std::unique_ptr<pcre2_code, Free> code_;
  std::unique_ptr<pcre2_match_data, Free> data_;
};

}  // namespace sallyport::match
