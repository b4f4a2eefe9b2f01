#include "match/pattern_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/try.h"
#include "match/class_reader.h"
#include "match/escape_reader.h"

namespace sallyport::match {

namespace {

constexpr unsigned kMostRepeats = 1000;
constexpr unsigned kDeepestGroup = 250;  // as PCRE2

struct Options {
  bool caseless = false;
  bool dot_all = false;
  bool multi_line = false;
  bool extended = false;
};

// A tree and the product of the repeats nested in it.
struct Weighed {
  Tree tree;
  std::uint64_t repeats = 1;
};

class PatternReader {
 public:
  PatternReader(std::string_view text, Alphabet alphabet) : cursor_(text), alphabet_(alphabet) {}

  Result<Parsed> read() {
    Options options;
    SALLYPORT_TRY(Weighed whole, read_choice(options));
    if (!cursor_.done()) return cursor_.refuse("syntax", "a bracket that nothing opened");
    return Parsed{.tree = std::move(whole.tree), .asserts_word_edge = asserts_word_edge_};
  }

 private:
  Result<Weighed> read_choice(Options options) {
    if (++depth_ > kDeepestGroup)
      return cursor_.refuse("too_large", "groups that are nested too deep");
    Weighed choice{.tree = {.kind = Tree::Kind::Choice}};
    do {
      SALLYPORT_TRY(Weighed branch, read_sequence(options));
      choice.repeats = std::max(choice.repeats, branch.repeats);
      choice.tree.parts.push_back(std::move(branch.tree));
    } while (!quoting_ && cursor_.take("|"));
    --depth_;
    if (choice.tree.parts.size() == 1) {
      Tree only = std::move(choice.tree.parts[0]);
      choice.tree = std::move(only);
    }
    return choice;
  }

  // Options set in a sequence stay set in the alternatives after it.
  Result<Weighed> read_sequence(Options& options) {
    Weighed sequence{.tree = {.kind = Tree::Kind::Sequence}};
    while (true) {
      skip_ignored(options);
      if (cursor_.done()) break;
      if (!quoting_ && (cursor_.peek() == '|' || cursor_.peek() == ')')) break;
      SALLYPORT_TRY(Weighed item, read_atom(options));
      SALLYPORT_CHECK_OK(read_repeats(item, options));
      sequence.repeats = std::max(sequence.repeats, item.repeats);
      sequence.tree.parts.push_back(std::move(item.tree));
    }
    return sequence;
  }

  void skip_behind(char32_t end) {
    while (!cursor_.done() && cursor_.next() != end) {
    }
  }

  void skip_ignored(const Options& options) {
    while (!cursor_.done()) {
      if (cursor_.take("\\E")) {
        quoting_ = false;
      } else if (quoting_ || !skip_unquoted(options)) {
        return;
      }
    }
  }

  bool skip_unquoted(const Options& options) {
    if (cursor_.take("\\Q")) {
      quoting_ = true;
    } else if (cursor_.take("(?#")) {
      skip_behind(')');
    } else if (options.extended && is_layout(cursor_.peek())) {
      cursor_.skip(1);
    } else if (options.extended && cursor_.peek() == '#') {
      skip_behind('\n');
    } else {
      return false;
    }
    return true;
  }

  static bool is_layout(char32_t c) {
    return (c >= '\t' && c <= '\r') || c == ' ' || c == 0x85 || c == 0x200E || c == 0x200F ||
           c == 0x2028 || c == 0x2029;
  }

  Result<Weighed> read_atom(Options& options) {
    const char32_t c = cursor_.next();
    if (quoting_) return literal(c, options);
    switch (c) {
      case '(':
        return read_group(options);
      case '[': {
        SALLYPORT_TRY(CharSet set, read_class(cursor_, {alphabet_, options.caseless}));
        return Weighed{Tree::of(std::move(set))};
      }
      case '.':
        return Weighed{
            Tree::of(options.dot_all ? CharSet::all() : CharSet{{'\n', '\n'}}.complement())};
      case '^':
        return Weighed{Tree::of(options.multi_line ? Assertion::LineStart : Assertion::TextStart)};
      case '$':
        return Weighed{Tree::of(options.multi_line ? Assertion::LineEnd : Assertion::FinalEnd)};
      case '\\':
        return read_escaped(options);
      default:
        return literal(c, options);
    }
  }

  static Weighed literal(char32_t c, const Options& options) {
    const CharSet one{{c, c}};
    return {Tree::of(options.caseless ? one.folded() : one)};
  }

  Result<Weighed> read_escaped(const Options& options) {
    SALLYPORT_TRY(const Escape escape, read_escape(cursor_, alphabet_, false));
    if (const auto* c = std::get_if<char32_t>(&escape)) return literal(*c, options);
    if (const auto* set = std::get_if<CharSet>(&escape)) return Weighed{Tree::of(*set)};
    const Assertion which = std::get<Assertion>(escape);
    if (which == Assertion::WordEdge || which == Assertion::NoWordEdge) asserts_word_edge_ = true;
    return Weighed{Tree::of(which)};
  }

  Result<Weighed> read_group(Options& options) {
    if (cursor_.peek() == '*') return cursor_.refuse("unsupported", "a (*VERB)");
    if (!cursor_.take("?")) return read_rest_of_group(options);
    SALLYPORT_CHECK_OK(refuse_special_group());
    if (cursor_.take("P<") || cursor_.take("<") || cursor_.take("'")) {
      while (!cursor_.done() && cursor_.peek() != '>' && cursor_.peek() != '\'') cursor_.skip(1);
      cursor_.skip(1);
      return read_rest_of_group(options);
    }
    Options changed = options;
    SALLYPORT_CHECK_OK(read_options(changed));
    if (cursor_.take(":")) return read_rest_of_group(changed);
    cursor_.take(")");
    options = changed;
    return Weighed{};
  }

  Result<Weighed> read_rest_of_group(const Options& options) {
    SALLYPORT_TRY(Weighed inner, read_choice(options));
    if (!cursor_.take(")")) return cursor_.refuse("syntax", "a group that is not closed");
    return inner;
  }

  Result<void> refuse_special_group() const {
    for (const char* look : {"=", "!", "<=", "<!", "*", "<*"}) {
      if (cursor_.looking_at(look)) return cursor_.refuse("look_around", "look-around");
    }
    if (cursor_.looking_at(">")) return cursor_.refuse("atomic", "an atomic group");
    if (cursor_.looking_at("P=")) return cursor_.refuse("back_reference", "a back-reference");
    return {};
  }

  Result<void> read_options(Options& options) {
    bool value = true;
    while (!cursor_.done() && cursor_.peek() != ':' && cursor_.peek() != ')') {
      const char32_t letter = cursor_.next();
      bool* option = letter == 'i'   ? &options.caseless
                     : letter == 's' ? &options.dot_all
                     : letter == 'm' ? &options.multi_line
                     : letter == 'x' ? &options.extended
                                     : nullptr;
      if (letter == '-' && value && !(cursor_.peek() >= '0' && cursor_.peek() <= '9')) {
        value = false;
      } else if (option == nullptr || (letter == 'x' && cursor_.peek() == 'x')) {
        return cursor_.refuse("unsupported", "this kind of group or option");
      } else {
        *option = value;
      }
    }
    return {};
  }

  Result<void> read_repeats(Weighed& item, const Options& options) {
    while (true) {
      skip_ignored(options);
      unsigned least = 0;
      unsigned most = Tree::kNoLimit;
      if (quoting_ || cursor_.done()) return {};
      if (cursor_.take("+")) {
        least = 1;
      } else if (cursor_.take("?")) {
        most = 1;
      } else if (!cursor_.take("*")) {
        SALLYPORT_TRY(const bool counted, read_count(least, most));
        if (!counted) return {};
        const std::uint64_t times = most == Tree::kNoLimit ? least : most;
        item.repeats *= std::max<std::uint64_t>(times, 1);
      }
      if (item.repeats > kMostRepeats) {
        return cursor_.refuse("too_large",
                              fmt::format("more than {} nested repeats", kMostRepeats));
      }
      if (cursor_.take("+")) return cursor_.refuse("atomic", "a possessive quantifier");
      Tree body = std::move(item.tree);
      item.tree = Tree{.kind = Tree::Kind::Repeat, .least = least, .most = most};
      item.tree.greedy = !cursor_.take("?");
      item.tree.parts.push_back(std::move(body));
    }
  }

  // {m}, {m,} or {m,n}; anything else that begins with a brace stands for itself.
  Result<bool> read_count(unsigned& least, unsigned& most) {
    std::size_t length = 1;
    const auto number = [&](unsigned& value) {
      const std::size_t begin = length;
      value = 0;
      for (; cursor_.peek(length) >= '0' && cursor_.peek(length) <= '9'; ++length) {
        value = std::min(value * 10 + static_cast<unsigned>(cursor_.peek(length) - '0'), 100'000u);
      }
      return length > begin;
    };
    if (cursor_.peek() != '{' || !number(least)) return false;
    most = least;
    if (cursor_.peek(length) == ',') {
      ++length;
      if (!number(most)) most = Tree::kNoLimit;
    }
    if (cursor_.peek(length) != '}') return false;
    cursor_.skip(length + 1);
    if (least > kMostRepeats || (most > kMostRepeats && most != Tree::kNoLimit)) {
      return cursor_.refuse("too_large", fmt::format("a repeat count over {}", kMostRepeats));
    }
    return true;
  }

  PatternCursor cursor_;
  Alphabet alphabet_;
  bool quoting_ = false;
  bool asserts_word_edge_ = false;
  unsigned depth_ = 0;
};

}  // namespace

Result<Parsed> read_pattern(std::string_view text, Alphabet alphabet) {
  return PatternReader(text, alphabet).read();
}

}  // namespace sallyport::match
