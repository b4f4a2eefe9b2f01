#include "guardrails/check/hole_search.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>

#include "guardrails/check/check_set.h"
#include "match/program.h"

namespace sallyport::guardrails {

namespace {

// A pattern that matches every find of a detector as a whole.
struct Form {
  std::string_view detector;
  std::string_view pattern;
  // Words of the form, separated by `|`; to the last of them each of `characters` is added, as often
  // as makes the shortest word (`least`) and, of the first, the longest.
  std::string_view words;
  std::string_view characters = {};
  std::size_t least = 0;
  std::size_t most = 0;
};

// Longer than the longest line that is read (RU-54), for forms without a limit.
constexpr std::size_t kLong = std::size_t{70} * 1024;

constexpr auto kForms = std::to_array<Form>({
    {"aws_access_key_id", "A[KS]IA[A-Z0-9]{16}", "AKIAIOSFODNN7EXAMPLE|ASIA", "A0", 16, 16},
    {"github_token", "(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})",
     "ghp_0123456789abcdefghijABCDEFGHIJ012345|ghs_000000000000000000000000000000000000|github_"
     "pat_",
     "aZ0_", 22, 255},
    {"gitlab_token", "glpat-[A-Za-z0-9_-]{20,}", "glpat-0123456789abcdefghij|glpat-", "aZ0_-", 20,
     kLong},
    {"slack_token", "xox[abeprs]-[A-Za-z0-9-]{10,}", "xoxb-0123456789|xoxp-", "aZ0-", 10, kLong},
    {"google_api_key", "AIza[A-Za-z0-9_-]{35}", "AIza0123456789abcdefghij0123456789ABCDE|AIza",
     "aZ0_-", 35, 35},
    {"model_api_key", "sk-[A-Za-z0-9_-]{20,}", "sk-0123456789abcdefghij|sk-", "aZ0_-", 20, kLong},
    {"stripe_key", "[sr]k_live_[A-Za-z0-9]{16,}", "sk_live_0123456789abcdef|rk_live_", "aZ0", 16,
     kLong},
    {"us_ssn", "[0-9]{3}-[0-9]{2}-[0-9]{4}", "123-45-6789|001-01-0001|899-99-9999"},
    {"email", "[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+",
     "a@example.org|-a@b.cc|+a@b.cc|%a@b.cc|_@0.cc|--a@b.cc|1.2%41@a--b.xn--c|a@b.", "c", 2, kLong},
    {"phone_e164", "[+][0-9]{8,15}", "+12025550123|+00000000|+999999999999999"},
    {"iban", "[A-Z]{2}[0-9]{2}[A-Z0-9 ]{11,45}",
     "DE89370400440532013000|GB29 NWBK 6016 1331 9268 19|NO9386011117947"},
});
// The form of every other detector: any text.
constexpr Form kAnyText{"", "[\\s\\S]+", ""};

// The last form is any text.
std::size_t form_of(std::string_view detector) {
  const auto found = std::ranges::find(kForms, detector, &Form::detector);
  return static_cast<std::size_t>(found - kForms.begin());
}

const Form& form_at(std::size_t index) {
  return index < kForms.size() ? kForms[index] : kAnyText;
}

constexpr std::string_view kMark = "[REDACTED:";

std::vector<std::string> words_of(const Form& form) {
  std::vector<std::string> words;
  std::string_view rest = form.words;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find('|'));
    words.emplace_back(word);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  if (form.characters.empty()) return words;
  const std::string head = std::move(words.back());
  words.pop_back();
  for (const char c : form.characters) words.push_back(head + std::string(form.least, c));
  words.push_back(head + std::string(form.most, form.characters.front()));
  return words;
}

// The words of all forms of a hole; none if one of the forms is any text.
std::vector<std::string> words_of(const TextPiece& hole) {
  std::vector<std::string> all;
  for (const std::size_t form : hole.forms) {
    std::vector<std::string> words = words_of(form_at(form));
    if (words.empty()) return {};
    std::ranges::move(words, std::back_inserter(all));
  }
  return all;
}

// Runs patterns over a text with holes: at a hole to every state that a word of its form reaches.
class HoleSearch {
 public:
  enum class Side { May, Must };
  // `May`: some filling of the holes hits. `Must`: every filling hits. For `May`, assertions count
  // as met and a search that grows too large is `true`; for `Must`, as not met and `false`. So both
  // err to the undecided side.
  static bool hits(const std::vector<match::Expression>& patterns,
                   const std::vector<TextPiece>& pieces, Side side) {
    HoleSearch search(side);
    if (!search.compile(patterns, pieces)) return side == Side::May;
    return search.run(pieces);
  }

 private:
  using Nodes = std::set<std::uint32_t>;
  struct State {
    bool hit = false;
    Nodes nodes{};
    auto operator<=>(const State&) const = default;
  };
  static constexpr std::size_t kMostStates = 5'000;

  explicit HoleSearch(Side side) : side_(side) {}

  bool compile(const std::vector<match::Expression>& patterns,
               const std::vector<TextPiece>& pieces) {
    const auto add = [&](const match::Expression& expression) {
      const Result<match::Parsed> parsed = match::parse(expression);
      return parsed && program_.add(parsed->tree);
    };
    for (const match::Expression& pattern : patterns) {
      if (!add(pattern)) return false;
    }
    patterns_ = static_cast<std::uint32_t>(patterns.size());
    for (const TextPiece& piece : pieces) {
      for (const std::size_t form : piece.forms) {
        if (entries_.contains(form)) continue;
        entries_[form] = patterns_ + static_cast<std::uint32_t>(entries_.size());
        if (!add({.text = std::string(form_at(form).pattern)})) return false;
      }
    }
    return program_.settle();
  }

  void close(std::uint32_t node, State& state, bool assertions) const {
    std::vector<std::uint32_t> open{node};
    std::set<std::uint32_t> seen;
    while (!open.empty()) {
      const std::uint32_t next = open.back();
      open.pop_back();
      if (!seen.insert(next).second) continue;
      const match::Node& at = program_.nodes()[next];
      switch (at.kind) {
        case match::Node::Kind::Accept:
          state.hit = true;
          break;
        case match::Node::Kind::Split:
          open.push_back(at.out);
          open.push_back(at.other);
          break;
        case match::Node::Kind::Assert:
          if (assertions) open.push_back(at.out);
          break;
        case match::Node::Kind::Characters:
          state.nodes.insert(next);
          break;
      }
    }
  }

  // A match may begin at every place.
  State begun(State state) const {
    if (state.hit) return {.hit = true};
    for (std::uint32_t entry = 0; entry < patterns_; ++entry) {
      close(program_.start_of(entry), state, side_ == Side::May);
    }
    return state.hit ? State{.hit = true} : state;
  }

  State stepped(const State& state, std::uint32_t character, bool begins) const {
    if (state.hit && begins) return state;
    State next;
    for (const std::uint32_t node : state.nodes) {
      const match::Node& at = program_.nodes()[node];
      if (program_.classes().contains(at.set, character)) {
        close(at.out, next, begins ? side_ == Side::May : true);
      }
    }
    return begins ? begun(std::move(next)) : next;
  }

  bool run(const std::vector<TextPiece>& pieces) {
    std::set<State> states{begun({})};
    for (const TextPiece& piece : pieces) {
      states = piece.forms.empty() ? over_text(states, piece.text) : over_hole(states, piece);
      if (states.size() > kMostStates || too_many_) return side_ == Side::May;
    }
    const auto is_hit = [](const State& state) { return state.hit; };
    return side_ == Side::May ? std::ranges::any_of(states, is_hit)
                              : std::ranges::all_of(states, is_hit);
  }

  std::set<State> over_text(std::set<State> states, std::string_view text) const {
    for (std::size_t at = 0; at < text.size();) {
      const char32_t character = next_character(text, at);
      const std::uint32_t its_class = program_.classes().of(character);
      std::set<State> next;
      for (const State& state : states) next.insert(stepped(state, its_class, true));
      states = std::move(next);
    }
    return states;
  }

  static char32_t next_character(std::string_view text, std::size_t& at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t character = size == 1 ? lead : lead & (0xffu >> (size + 1));
    for (std::size_t i = 1; i < size && at + i < text.size(); ++i) {
      character = character << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fu);
    }
    at += size;
    return character;
  }

  std::set<State> over_hole(const std::set<State>& states, const TextPiece& piece) {
    using Pair = std::pair<State, State>;  // of the patterns, of the form
    std::set<Pair> seen;
    std::deque<Pair> open;
    std::set<State> ends;
    for (const std::size_t form : piece.forms) {
      State start;
      close(program_.start_of(entries_[form]), start, true);
      for (const State& state : states) {
        if (seen.emplace(state, start).second) open.emplace_back(state, start);
      }
    }
    while (!open.empty()) {
      const Pair pair = std::move(open.front());
      open.pop_front();
      if (seen.size() > kMostStates) {
        too_many_ = true;
        return {};
      }
      for (std::uint32_t its_class = 0; its_class < program_.classes().count(); ++its_class) {
        State form = stepped(pair.second, its_class, false);
        const bool complete = std::exchange(form.hit, false);
        if (form.nodes.empty() && !complete) continue;
        State state = stepped(pair.first, its_class, true);
        if (complete) ends.insert(state);
        if (form.nodes.empty()) continue;
        Pair next{std::move(state), std::move(form)};
        if (seen.insert(next).second) open.push_back(std::move(next));
      }
    }
    return ends;
  }

  Side side_;
  match::Program program_;
  std::uint32_t patterns_ = 0;
  std::map<std::size_t, std::uint32_t> entries_;
  bool too_many_ = false;
};

std::vector<match::Expression> expressions_of(const Check& check,
                                              const std::vector<std::string>& entries,
                                              bool exceptions) {
  std::vector<match::Expression> all;
  for (const std::string& entry : entries) all.push_back(expression_of(check, entry, exceptions));
  return all;
}

HoleReach reach_of(const std::vector<match::Expression>& patterns,
                   const std::vector<TextPiece>& pieces) {
  HoleReach reach{.may = HoleSearch::hits(patterns, pieces, HoleSearch::Side::May)};
  reach.must = reach.may && HoleSearch::hits(patterns, pieces, HoleSearch::Side::Must);
  return reach;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// The normalisers change nothing of a text in ASCII; decoders may (GR-38).
bool shows_only_the_text(const Check& check, const std::vector<TextPiece>& pieces) {
  return std::ranges::all_of(check.views,
                             [](View view) {
                               return view == View::Strip || view == View::Nfkc ||
                                      view == View::Confusables;
                             }) &&
         std::ranges::all_of(check.entries, is_ascii) &&
         std::ranges::all_of(check.except, is_ascii) &&
         std::ranges::all_of(pieces, [](const TextPiece& piece) {
           return is_ascii(piece.text) && (piece.forms.empty() || !words_of(piece).empty());
         });
}

}  // namespace

std::optional<std::vector<TextPiece>> pieces_of(std::string_view text,
                                                const std::vector<HoleKind>& holes) {
  std::vector<TextPiece> pieces;
  std::size_t marks = 0;
  while (true) {
    const std::size_t at = text.find(kMark);
    if (at == std::string_view::npos) break;
    const std::size_t end = text.find(']', at);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view category = text.substr(at + kMark.size(), end - at - kMark.size());
    TextPiece hole{.text = std::string(text.substr(at, end + 1 - at))};
    for (const HoleKind& each : holes) {
      if (each.category != category) continue;
      const std::size_t form = form_of(each.detector);
      if (std::ranges::find(hole.forms, form) == hole.forms.end()) hole.forms.push_back(form);
    }
    if (hole.forms.empty()) return std::nullopt;
    pieces.push_back({.text = std::string(text.substr(0, at))});
    pieces.push_back(std::move(hole));
    ++marks;
    text.remove_prefix(end + 1);
  }
  pieces.push_back({.text = std::string(text)});
  if (marks != holes.size()) return std::nullopt;
  return pieces;
}

std::string word_in(const TextPiece& hole, std::size_t place, std::size_t which) {
  const std::vector<std::string> words = words_of(hole);
  return words.empty() ? "x" : words[(place + which) % words.size()];
}

std::string filled(const std::vector<TextPiece>& pieces, std::size_t which) {
  std::string text;
  std::size_t place = 0;
  for (const TextPiece& piece : pieces) {
    text += piece.forms.empty() ? piece.text : word_in(piece, place++, which);
  }
  return text;
}

std::size_t words_of(const std::vector<TextPiece>& pieces) {
  std::size_t most = 0;
  for (const TextPiece& piece : pieces) {
    if (piece.forms.empty()) continue;
    const std::size_t words = words_of(piece).size();
    if (words == 0) return 0;
    most = std::max(most, words);
  }
  return most;
}

HoleReach reach_of(const Check& check, const std::vector<TextPiece>& pieces) {
  HoleReach reach = reach_of(expressions_of(check, check.entries, false), pieces);
  // An exception may take a hit back, and a view may show one that the text does not.
  const auto exceptions = expressions_of(check, check.except, true);
  if (reach.must && !exceptions.empty()) reach.must = !reach_of(exceptions, pieces).may;
  if (!check.views.empty() && !shows_only_the_text(check, pieces)) reach.may = true;
  return reach;
}

}  // namespace sallyport::guardrails
