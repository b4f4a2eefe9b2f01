#include "effects/brace_expansion.h"

#include <algorithm>
#include <charconv>

#include "effects/shell_parser.h"

namespace sallyport::effects {

namespace {

constexpr std::size_t kMostBraceWords = 1024;
constexpr std::size_t kMostAtoms = std::size_t{256} << 10;
constexpr std::size_t kMostReadings = 64;  // of one word, on average

// A letter that may belong to a brace expression, or a whole part of the word.
struct Atom {
  char letter = 0;
  const Part* part = nullptr;
};
using Atoms = std::vector<Atom>;

class Braces {
 public:
  explicit Braces(const std::vector<Part>& parts) {
    for (const Part& part : parts) {
      if (part.kind == Part::Kind::Text && !part.quoted) {
        for (const char c : part.text) atoms_.push_back({.letter = c});
      } else {
        atoms_.push_back({.part = &part});
      }
    }
    steps_left_ = kMostReadings * (atoms_.size() + kMostReadings);
  }

  std::optional<std::vector<Atoms>> expand() { return expand(0, atoms_.size(), 0); }

 private:
  // Like bash 5.2: a closing brace without a comma or dots before it is a letter, and the open
  // expression continues.
  std::optional<std::vector<Atoms>> expand(std::size_t from, std::size_t to, int level) {
    if (level > kMostLevels) return std::nullopt;
    std::vector<Atoms> out{{}};
    std::size_t begin = from;  // of the text after the last expansion
    for (std::size_t i = from; i < to; ++i) {
      std::optional<std::size_t> end;
      if (atoms_[i].letter == '{') {
        if (is_behind_quoted_blank(i, to)) return std::nullopt;
        if (i != begin || !(i + 1 == to || atoms_[i + 1].letter == '}')) end = close_of(i, to);
        if (steps_left_ == 0) return std::nullopt;
      }
      if (!end) {
        if (!add(out, i, i + 1)) return std::nullopt;
        continue;
      }
      bool good = true;
      const std::optional<std::vector<Atoms>> choices = choices_of(i, *end, level, good);
      if (!good) return std::nullopt;
      if (choices ? !multiply(out, *choices) : !add(out, i, *end + 1)) return std::nullopt;
      i = *end;
      begin = i + 1;
    }
    return out;
  }

  // Reads the content of two braces. No value: the braces are letters. `good` false: unsure.
  std::optional<std::vector<Atoms>> choices_of(std::size_t open, std::size_t close, int level,
                                               bool& good) {
    const auto has_comma = [](const Atom& atom) { return atom.letter == ','; };
    const auto begin = atoms_.begin() + static_cast<std::ptrdiff_t>(open);
    const auto end = atoms_.begin() + static_cast<std::ptrdiff_t>(close);
    if (std::none_of(begin, end, has_comma)) {
      // bash looks for a comma in quotes and substitutions too.
      good = std::none_of(begin, end, may_hide_comma);
      return good ? sequence(open + 1, close, good) : std::nullopt;
    }
    std::vector<std::size_t> ends = separators(open, close);
    good = ends.size() <= kMostBraceWords;
    if (!good) return std::nullopt;
    ends.push_back(close);
    std::vector<Atoms> choices;
    std::size_t start = open + 1;
    for (const std::size_t at : ends) {
      auto inner = expand(start, at, level + 1);
      good = inner.has_value();
      if (!good) return std::nullopt;
      std::ranges::move(*inner, std::back_inserter(choices));
      start = at + 1;
    }
    return choices;
  }

  static bool may_hide_comma(const Atom& atom) {
    if (atom.part == nullptr) return false;
    const bool simple = atom.part->kind == Part::Kind::Text ||
                        (atom.part->kind == Part::Kind::Parameter && atom.part->plain);
    return !simple || atom.part->text.contains(',');
  }

  // bash reads an empty pair of braces after a blank as letters, also after a quoted blank.
  bool is_behind_quoted_blank(std::size_t open, std::size_t to) const {
    if (open == 0 || atoms_[open - 1].part == nullptr) return false;
    const std::string& text = atoms_[open - 1].part->text;
    return !text.empty() && std::string_view(" \t\n").contains(text.back()) &&
           (open + 1 == to || atoms_[open + 1].letter == '}');
  }

  std::optional<std::size_t> close_of(std::size_t open, std::size_t to) {
    std::size_t level = 0;
    bool divided = false;
    for (std::size_t i = open + 1; i < to; ++i) {
      if (steps_left_ == 0) return std::nullopt;
      --steps_left_;
      const char c = atoms_[i].letter;
      if (c == '}' && level == 0 && divided) return i;
      if (c == '{') {
        ++level;
      } else if (c == '}') {
        level -= level > 0 ? 1 : 0;
      } else if (level == 0) {
        const bool dots = c == '.' && i + 1 < to && atoms_[i + 1].letter == '.' &&
                          (i + 2 == to || atoms_[i + 2].letter != '}');
        divided = divided || c == ',' || dots;
      }
    }
    return std::nullopt;
  }

  std::vector<std::size_t> separators(std::size_t open, std::size_t close) const {
    std::vector<std::size_t> out;
    std::size_t level = 0;
    for (std::size_t i = open + 1; i < close; ++i) {
      const char c = atoms_[i].letter;
      if (c == ',' && level == 0) out.push_back(i);
      if (c == '{') ++level;
      if (c == '}' && level > 0) --level;
    }
    return out;
  }

  // These atoms, unchanged.
  bool add(std::vector<Atoms>& out, std::size_t from, std::size_t to) {
    made_ += out.size() * (to - from);
    if (made_ > kMostAtoms) return false;
    const auto begin = atoms_.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = atoms_.begin() + static_cast<std::ptrdiff_t>(to);
    for (Atoms& made : out) made.insert(made.end(), begin, end);
    return true;
  }

  bool multiply(std::vector<Atoms>& out, const std::vector<Atoms>& choices) {
    if (out.size() * choices.size() > kMostBraceWords) return false;
    std::vector<Atoms> next;
    for (const Atoms& start : out) {
      for (const Atoms& choice : choices) {
        made_ += start.size() + choice.size();
        if (made_ > kMostAtoms) return false;
        next.push_back(start);
        next.back().insert(next.back().end(), choice.begin(), choice.end());
      }
    }
    out = std::move(next);
    return true;
  }

  // Reads `1..9` and `a..e`, with or without a step. No value for other text. `good` false: unsure.
  std::optional<std::vector<Atoms>> sequence(std::size_t from, std::size_t to, bool& good) const {
    if (to - from > 40) return std::nullopt;
    std::string text;
    for (std::size_t i = from; i < to; ++i) {
      if (atoms_[i].part != nullptr) return std::nullopt;
      text += atoms_[i].letter;
    }
    const std::size_t dots = text.find("..");
    if (dots == std::string::npos) return std::nullopt;
    const std::string first = text.substr(0, dots);
    std::string last = text.substr(dots + 2);
    long step = 0;
    if (const std::size_t more = last.find(".."); more != std::string::npos) {
      const std::optional<long> given = number(last.substr(more + 2));
      good = given.has_value();
      if (!good) return std::nullopt;
      step = std::abs(*given);
      last.resize(more);
    }
    const std::optional<long> low = number(first);
    const std::optional<long> high = number(last);
    const bool letters = first.size() == 1 && last.size() == 1 && !low && !high;
    if (!(low && high) && !letters) return std::nullopt;
    if (letters) {
      const auto within = [&](char a, char b) {
        return first[0] >= a && first[0] <= b && last[0] >= a && last[0] <= b;
      };
      good = within('a', 'z') || within('A', 'Z');
      if (!good) return std::nullopt;
    }
    const long start = letters ? first[0] : *low;
    const long end = letters ? last[0] : *high;
    if (step == 0) step = 1;
    good = std::abs(end - start) / step < static_cast<long>(kMostBraceWords);
    if (!good) return std::nullopt;
    const std::size_t width = letters ? 0 : padding(first, last);
    std::vector<Atoms> out;
    for (long at = start; start <= end ? at <= end : at >= end; at += start <= end ? step : -step) {
      std::string made = letters ? std::string(1, static_cast<char>(at)) : std::to_string(at);
      while (made.size() < width) made.insert(at < 0 ? 1 : 0, "0");
      out.emplace_back();
      for (const char c : made) out.back().push_back({.letter = c});
    }
    return out;
  }

  static std::optional<long> number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() ||
        std::abs(value) > 1'000'000'000) {
      return std::nullopt;
    }
    return value;
  }

  static std::size_t padding(std::string_view first, std::string_view last) {
    const auto padded = [](std::string_view text) {
      const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
      return digits.size() > 1 && digits[0] == '0';
    };
    return padded(first) || padded(last) ? std::max(first.size(), last.size()) : 0;
  }

  Atoms atoms_{};
  std::size_t steps_left_ = 0;
  std::size_t made_ = 0;
};

}  // namespace

std::optional<std::vector<std::vector<Part>>> brace_expanded(const std::vector<Part>& parts) {
  const auto expanded = Braces(parts).expand();
  if (!expanded) return std::nullopt;
  std::vector<std::vector<Part>> out;
  std::size_t bytes = 0;
  for (const Atoms& atoms : *expanded) {
    std::vector<Part>& made = out.emplace_back();
    for (const Atom& atom : atoms) {
      // Braces come first: `$x{a,b}` is `$xa $xb`, and `{$,a}x` is `$x ax`.
      const bool joins =
          !made.empty() && made.back().bare && is_name(std::string("_") + atom.letter);
      if (expanded->size() > 1 && (joins || atom.letter == '$')) return std::nullopt;
      if (atom.part != nullptr) {
        const Part& part = *atom.part;
        bytes += part.text.size();
        if (bytes > kMostAtoms) return std::nullopt;
        // Commands in the part are read from the unexpanded word.
        made.push_back({.kind = part.kind,
                        .quoted = part.quoted,
                        .text = part.text,
                        .plain = part.plain,
                        .bare = part.bare});
      } else if (made.empty() || made.back().kind != Part::Kind::Text || made.back().quoted) {
        made.push_back({.text = std::string(1, atom.letter)});
      } else {
        made.back().text += atom.letter;
      }
    }
  }
  return out;
}

}  // namespace sallyport::effects
