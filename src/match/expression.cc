#include "match/expression.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/try.h"
#include "match/pattern_reader.h"
#include "match/utf8.h"

namespace sallyport::match {

namespace {

constexpr int kPcre2TooLarge = 120;

struct FreeCode {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeContext {
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
};

// PCRE2 decides what is well-formed. It is not used for matching.
Result<void> check_with_pcre2(const std::string& text, Alphabet alphabet) {
  const std::unique_ptr<pcre2_compile_context, FreeContext> context(
      pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  const std::uint32_t options = PCRE2_UTF | (alphabet == Alphabet::Unicode ? PCRE2_UCP : 0);
  int error = 0;
  PCRE2_SIZE offset = 0;
  const std::unique_ptr<pcre2_code, FreeCode> code(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), options, &error,
                    &offset, context.get()));
  if (code) return {};
  std::array<PCRE2_UCHAR, 160> message{};
  pcre2_get_error_message(error, message.data(), message.size());
  return fail(ErrorCode::InvalidInput,
              fmt::format("pattern `{}` is not valid at byte {}: {}", well_formed(text), offset,
                          reinterpret_cast<const char*>(message.data())),
              {}, error == kPcre2TooLarge ? "too_large" : "syntax");
}

std::uint64_t widest(const CharSet& set) {
  if (set.empty()) return 0;
  const char32_t last = set.ranges().back().last;
  return last < 0x80 ? 1 : last < 0x800 ? 2 : last < 0x10000 ? 3 : 4;
}

std::optional<std::uint64_t> longest(const Tree& tree) {
  if (tree.kind == Tree::Kind::Characters) return widest(tree.characters);
  std::uint64_t total = 0;
  for (const Tree& part : tree.parts) {
    const auto inner = longest(part);
    if (!inner) return std::nullopt;
    total = tree.kind == Tree::Kind::Choice ? std::max(total, *inner) : total + *inner;
  }
  if (tree.kind != Tree::Kind::Repeat || total == 0) return total;
  if (tree.most == Tree::kNoLimit) return std::nullopt;
  return total * tree.most;
}

Result<Parsed> parse_pattern(const Expression& expression) {
  auto alphabet = expression.unicode.value_or(true) ? Alphabet::Unicode : Alphabet::Ascii;
  auto read = read_pattern(expression.text, alphabet);
  // Counts first: some patterns must not be given to any compiler.
  if (!read && read.error().cause == "too_large") return std::unexpected(read.error());
  SALLYPORT_CHECK_OK(check_with_pcre2(expression.text, alphabet));
  if (!read) return std::unexpected(std::move(read).error());
  if (read->asserts_word_edge && alphabet == Alphabet::Unicode) {
    if (expression.unicode) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("pattern `{}` asserts a word edge (\\b or \\B), which is not offered "
                              "together with Unicode classes",
                              expression.text),
                  {}, "unicode_boundary");
    }
    alphabet = Alphabet::Ascii;
    read = read_pattern(expression.text, alphabet);
    if (!read) return std::unexpected(std::move(read).error());
  }
  read->ascii_classes = alphabet == Alphabet::Ascii;
  return read;
}

Parsed parse_word(const Expression& expression) {
  static const CharSet parts_of_words = word_parts();
  std::vector<char32_t> word;
  for (std::string_view rest = expression.text; !rest.empty();) {
    const Decoded next = decode_first(rest);
    word.push_back(next.character);
    rest.remove_prefix(next.size);
  }
  Tree tree{.kind = Tree::Kind::Sequence};
  const auto glued = [&](char32_t c) {
    return expression.whole_word && parts_of_words.contains(c);
  };
  if (!word.empty() && glued(word.front())) {
    tree.parts.push_back(Tree::of(Assertion::NotAfterWord));
  }
  for (const char32_t c : word) {
    const CharSet one{{c, c}};
    tree.parts.push_back(Tree::of(expression.caseless ? one.folded() : one));
  }
  if (!word.empty() && glued(word.back())) {
    tree.parts.push_back(Tree::of(Assertion::NotBeforeWord));
  }
  return {.tree = std::move(tree)};
}

}  // namespace

bool Tree::can_be_empty() const {
  switch (kind) {
    case Kind::Characters:
      return false;
    case Kind::Sequence:
      return std::ranges::all_of(parts, &Tree::can_be_empty);
    case Kind::Choice:
      return std::ranges::any_of(parts, &Tree::can_be_empty);
    case Kind::Repeat:
      return least == 0 || parts[0].can_be_empty();
    default:
      return true;
  }
}

Result<Parsed> parse(const Expression& expression) {
  Parsed parsed;
  if (expression.kind == Expression::Kind::Word) {
    parsed = parse_word(expression);
  } else {
    SALLYPORT_TRY(parsed, parse_pattern(expression));
  }
  if (parsed.tree.can_be_empty()) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("pattern `{}` can match without consuming a character", expression.text), {},
        "empty_match");
  }
  parsed.longest = longest(parsed.tree);
  return parsed;
}

}  // namespace sallyport::match
