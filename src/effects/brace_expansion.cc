#include "effects/brace_expansion.h"

#include <algorithm>
#include <charconv>

#include "effects/shell_parser.h"

namespace sallyport::effects {

namespace {

constexpr std::size_t kMostBraceWords = 1024;
constexpr std::size_t kMostAtoms = std::size_t{256} << 10;

// A letter that may be part of a brace expression, or a whole part of the word.
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
    partner_.resize(atoms_.size(), 0);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
      if (atoms_[i].letter == '{') open.push_back(i);
      if (atoms_[i].letter == '}' && !open.empty()) {
        partner_[open.back()] = i;
        open.pop_back();
      }
    }
    balanced_ = open.empty();
  }

  bool balanced() const { return balanced_; }
  bool plain() const {
    return std::ranges::none_of(
        atoms_, [](const Atom& atom) { return atom.letter == ',' || atom.letter == '.'; });
  }
  std::optional<std::vector<Atoms>> expand() { return expand(0, atoms_.size(), 0); }

 private:
  std::optional<std::vector<Atoms>> expand(std::size_t from, std::size_t to, int level) {
    if (level > kMostLevels) return std::nullopt;
    std::vector<Atoms> out{{}};
    for (std::size_t i = from; i < to; ++i) {
      const std::size_t end = partner_[i];
      std::optional<std::vector<Atoms>> choices;
      if (end > i + 1) {
        std::vector<std::size_t> commas = separators(i, end);
        if (commas.size() > kMostBraceWords) return std::nullopt;
        if (!commas.empty()) {
          choices.emplace();
          commas.push_back(end);
          std::size_t start = i + 1;
          for (const std::size_t comma : commas) {
            auto inner = expand(start, comma, level + 1);
            if (!inner) return std::nullopt;
            std::ranges::move(*inner, std::back_inserter(*choices));
            start = comma + 1;
          }
        } else {
          bool good = true;
          choices = sequence(i + 1, end, good);
          if (!good) return std::nullopt;
        }
      }
      if (choices) {
        if (!multiply(out, *choices)) return std::nullopt;
        i = end;
      } else {
        for (Atoms& made : out) made.push_back(atoms_[i]);
        made_ += out.size();
        if (made_ > kMostAtoms) return std::nullopt;
      }
    }
    return out;
  }

  std::vector<std::size_t> separators(std::size_t open, std::size_t close) const {
    std::vector<std::size_t> out;
    for (std::size_t i = open + 1; i < close; ++i) {
      if (atoms_[i].letter == ',') out.push_back(i);
      if (partner_[i] > i) i = partner_[i];
    }
    return out;
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

  // `1..9`, `a..e`, each with a step or not. Nothing for other text; `good` false: not sure.
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
  std::vector<std::size_t> partner_{};
  bool balanced_ = true;
  std::size_t made_ = 0;
};

}  // namespace

std::optional<std::vector<std::vector<Part>>> brace_expanded(const std::vector<Part>& parts) {
  Braces braces(parts);
  if (!braces.balanced()) {
    if (!braces.plain()) return std::nullopt;
    return std::vector<std::vector<Part>>{parts};
  }
  const auto expanded = braces.expand();
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
        // What the part runs is found in the word as it is written.
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
